// Stop tokens with a time limit.
#include "core/base/stop_after.h"

#include <catch2/catch.hpp>

using namespace heddle;

TEST_CASE("a stop token with a time limit stops when its time is over, or when the other one does", "[core]") {
  std::stop_source other;
  {
    const StopAfter soon(other.get_token(), 0);
    while (!soon.token().stop_requested()) std::this_thread::yield();
    CHECK_FALSE(other.stop_requested());
  }
  const StopAfter late(other.get_token(), 1e300);
  CHECK_FALSE(late.token().stop_requested());
  other.request_stop();
  CHECK(late.token().stop_requested());
  CHECK(StopAfter(other.get_token(), 1e300).token().stop_requested());
}

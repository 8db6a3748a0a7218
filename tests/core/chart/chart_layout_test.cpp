// Ticks and numbers of the time axis.
#include "core/chart/chart_layout.h"

#include <catch2/catch.hpp>

using namespace heddle;

TEST_CASE("ticks are 1, 2, 5 times a power of ten, never closer than asked", "[core]") {
  CHECK(tick_step(0.1, 7) == 1);
  CHECK(tick_step(3, 7) == 5);
  CHECK(tick_step(11, 7) == 20);
  CHECK(tick_step(100, 7) == 100);
  CHECK(tick_step(101, 7) == 200);
}

TEST_CASE("ticks meet the windows where II is a multiple of a power of two", "[core]") {
  CHECK(tick_step(100, 2048) == 128);
  CHECK(tick_step(300, 2048) == 512);
  CHECK(tick_step(3000, 2048) == 4096);
  for (const double minimum : {1.0, 10.0, 100.0, 1000.0, 10000.0, 1e9}) {
    const Cycle step = tick_step(minimum, 192);
    CHECK(static_cast<double>(step) >= minimum);
  }
}

TEST_CASE("thousands stand apart", "[core]") {
  CHECK(grouped(0) == "0");
  CHECK(grouped(999) == "999");
  CHECK(grouped(1024) == "1 024");
  CHECK(grouped(-1024) == "-1 024");
  CHECK(grouped(-100) == "-100");
  CHECK(grouped(1234567) == "1 234 567");
}

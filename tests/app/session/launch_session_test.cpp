// The launch of a PTX in the session: a check again that is cancelled leaves the answer that was there.
#include <catch2/catch.hpp>

#include <atomic>
#include <thread>

#include "app/session/commands.h"
#include "app/session/environment.h"
#include "app/session/launch_state.h"
#include "app/session/session.h"
#include "tests/support/fake_solver.h"
#include "tests/support/wait.h"

using namespace heddle;
using namespace heddle::app;

TEST_CASE("a cancelled check of a launch leaves the earlier answer", "[app]") {
  std::atomic<int> calls = 0;
  Environment environment;
  environment.solve = test::solve_toy;
  environment.run = {"", "", "no GPU in tests"};
  environment.launch = [&](const std::string& path, std::stop_token stop) -> Result<OpenedLaunches> {
    OpenedLaunches opened(1);
    opened[0].as.name = path;
    opened[0].as.checked.emplace();
    if (++calls == 1) {
      opened[0].as.checked->instructions = 100;
      return opened;
    }
    while (!stop.stop_requested()) std::this_thread::yield();
    opened[0].as.checked->verdict = ptx::CheckVerdict::Stopped;
    opened[0].as.checked->stopped = "stopped from outside";
    return opened;
  };
  Session session(std::move(environment));
  const auto settle = [&] { REQUIRE(test::wait_until([&] { return !session.launch().active(); }, [&] { session.pump(); })); };
  session.apply(OpenLaunch{"gemm.ptx"});
  settle();
  REQUIRE(session.launch().answer());
  session.apply(CheckLaunch{});
  CHECK(session.launch().active());
  session.apply(CancelLaunch{});
  settle();
  CHECK(calls == 2);
  REQUIRE(session.launch().answer());
  CHECK(session.launch().answer()->front().as.checked->verdict == ptx::CheckVerdict::InOrder);
  CHECK(session.launch().answer()->front().as.checked->instructions == 100);
  CHECK(session.close(test::kPatience));
}

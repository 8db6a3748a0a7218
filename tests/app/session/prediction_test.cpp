// What the session knows of whole kernels: worked out in the background, kept per schedule, never of what is not settled.
#include <atomic>
#include <catch2/catch.hpp>

#include "app/session/environment.h"
#include "app/session/prediction_state.h"
#include "app/session/proposal_commands.h"
#include "app/session/session.h"
#include "app/window/parts/header_model.h"
#include "app/window/tabs/whole_kernel/simulate_model.h"
#include "core/formats/kernel_json.h"
#include "core/formats/machine_json.h"
#include "core/problem/resolve.h"
#include "tests/support/fake_solver.h"
#include "tests/support/paths.h"
#include "tests/support/wait.h"

using namespace heddle;
using namespace heddle::app;

namespace {

std::atomic<int> asked = 0, asked_details = 0;

/// 1 us for every cycle of II.
SimulationAnswer predict_by_ii(const PredictionSubject& of, std::stop_token) {
  ++(of.details ? asked_details : asked);
  SimulationAnswer answer;
  answer.kernel.microseconds = static_cast<double>(of.entry->schedule.ii);
  answer.kernel.tflops = 100.0;
  answer.kernel.tiles = 10;
  answer.kernel.clock.mhz = 1500;
  answer.trust = {false, "model, not validated", "not validated"};
  if (of.details) answer.parts = {{"tensor", 0.5, ""}, {"clock", 0.5, ""}};
  return answer;
}

Environment environment(PredictFunction predict) {
  Environment e;
  e.solve = test::solve_toy;
  e.clock = [] { return 0.0; };
  e.predict = std::move(predict);
  return e;
}

void settle(Session& session) {
  session.pump();
  REQUIRE(test::wait_until([&] { return !session.live().active() && !session.predictions().active(); }, [&] { session.pump(); }));
  session.pump();
}

}  // namespace

TEST_CASE("the shown schedule's whole kernel is predicted once, and known again after undo and redo", "[app]") {
  asked = asked_details = 0;
  Session session(environment(predict_by_ii));
  session.apply(OpenPair{"toy_fig1", "toy", true});
  settle(session);
  REQUIRE(session.content().entry());
  const auto first = session.predictions().of(session.content(), *session.content().entry());
  REQUIRE(first);
  CHECK(asked == 1);
  session.apply(RemoveSchedule{0});
  settle(session);
  session.apply(Undo{});
  settle(session);
  CHECK(session.predictions().of(session.content(), *session.content().entry()) == first);
  CHECK(asked == 1);
}

TEST_CASE("the header says time, speed, CTAs, clock and trust, and that they are predicted terms", "[app]") {
  Session session(environment(predict_by_ii));
  session.apply(OpenPair{"toy_fig1", "toy", true});
  settle(session);
  const WholeKernelModel whole = build_header(session).whole;
  CHECK(whole.speed == "2.0 us · 100 TFLOP/s");
  CHECK(whole.terms == "1 CTA per SM · 1500 MHz · model, not validated");
  CHECK(whole_kernel_speed(session, *session.content().entry()) == "100 TFLOP/s");
}

TEST_CASE("details are worked out only while they are looked at", "[app]") {
  asked_details = 0;
  Session session(environment(predict_by_ii));
  session.apply(OpenPair{"toy_fig1", "toy", true});
  settle(session);
  CHECK(asked_details == 0);
  CHECK_FALSE(session.predictions().details(session.content(), *session.content().entry()));
  session.apply(show_tab(BottomTab::Simulate));
  settle(session);
  CHECK(asked_details == 1);
  const auto details = session.predictions().details(session.content(), *session.content().entry());
  REQUIRE(details);
  const SimulateModel model = build_simulate(*details, *session.content().problem);
  REQUIRE(model.bar.pieces.size() == 2);
  CHECK(model.bar.pieces[1].share == "25.0 %");
}

TEST_CASE("where latencies are not always the same, details have the period against shared memory, for the tab's curve", "[app]") {
  const Instance instance = make_instance(spec_of(read_kernel(test::repository_path("tests/kernels/ring.json")).value(),
                                                  read_machine(test::repository_path("tests/kernels/ring_machine.json")).value()))
                                .value();
  ScheduleEntry entry;
  entry.schedule.ii = 64;
  entry.schedule.ops = {{0, GroupId(0)}, {270, GroupId(1)}};
  entry.schedule.groups = {{"producer", 1, 24}, {"consumer", 4, 24}};
  entry.schedule.depths = {8};
  PredictionSubject subject{instance, std::make_shared<ScheduleEntry>(entry)};
  CHECK_FALSE(built_in_prediction()(subject, {}).depths);
  subject.details = true;
  const SimulateModel model = build_simulate(built_in_prediction()(subject, {}), instance.problem());
  REQUIRE(model.depths.size() == 23);
  CHECK(model.latencies == "fetch 270:80%,700:18%,1400:2%, scheduled for 270");
  CHECK(model.depths[7].now);
  CHECK(model.depths[7].kib == 2);
  CHECK(model.depths[7].high == 109.5);
  CHECK(model.depths[7].about.find("item 8: 2 048 bytes of shared memory") == 0);
  for (const DepthPoint& d : model.depths) CHECK((d.simulated > d.low - 5 && d.simulated < d.high + 5));
}

TEST_CASE("nothing is predicted for an illegal schedule, nor without a simulator; a failure is no answer", "[app]") {
  SECTION("illegal") {
    Session session(environment(predict_by_ii));
    session.apply(OpenPair{"toy_fig1", "toy", true});
    settle(session);
    Schedule broken = session.content().entry()->schedule;
    broken.ops[1].start = 0;
    session.apply(AdoptSchedule{broken, "broken", false});
    settle(session);
    REQUIRE_FALSE(session.content().entry()->verdict.valid());
    CHECK_FALSE(session.predictions().of(session.content(), *session.content().entry()));
    CHECK(whole_kernel(session, *session.content().entry()).why_not == "the schedule breaks rules of the model");
  }
  SECTION("without one") {
    Session session(environment({}));
    session.apply(OpenPair{"toy_fig1", "toy", true});
    settle(session);
    CHECK_FALSE(build_header(session).whole.known());
  }
  SECTION("it fails") {
    Session session(
        environment([](const PredictionSubject&, std::stop_token) -> SimulationAnswer { throw std::runtime_error("no luck"); }));
    session.apply(OpenPair{"toy_fig1", "toy", true});
    settle(session);
    const WholeKernelModel whole = build_header(session).whole;
    CHECK_FALSE(whole.known());
    CHECK(whole.why_not == "no luck");
  }
}

// Drops on the real solver: what is dropped inside the exact band keeps II, what lies outside raises it or has a reason.
#include <catch2/catch.hpp>

#include "app/session/environment.h"
#include "app/session/proposal_commands.h"
#include "app/session/question_state.h"
#include "app/session/session.h"
#include "app/window/chart/chart_overlay.h"
#include "app/window/chart/legal_band.h"
#include "tests/support/patient.h"
#include "tests/support/wait.h"

using namespace heddle;
using namespace heddle::app;

#ifdef HEDDLE_HAS_SOLVER
namespace {

void settle(Session& session) {
  REQUIRE(test::wait_until([&] { return !(session.live().active() || session.asking()); }, [&] { session.pump(); }));
}

const ScheduleEntry& shown(const Session& session) {
  REQUIRE(session.content().entry());
  return *session.content().entry();
}

Environment with_patience() {
  Environment environment;
  environment.solve = test::patient(environment.solve);
  environment.ask = test::patient(environment.ask);
  return environment;
}

/// Bands are about II: the answers are of least II, and not the orders that are predicted to be the fastest.
Environment of_least_ii() {
  Environment environment = with_patience();
  environment.solve = [solve = environment.solve](const solver::SolveRequest& request, std::stop_token stop,
                                                  const solver::SolveListener& listener) {
    solver::SolveRequest least = request;
    least.by_time.reset();
    return solve(least, std::move(stop), listener);
  };
  return environment;
}

void drop_at_both_ends(const char* kernel, const char* machine, const char* name) {
  INFO(kernel << " " << machine << " " << name);
  Session session(of_least_ii());
  session.apply(OpenPair{kernel, machine, true});
  settle(session);
  const Problem& problem = *session.content().problem;
  const Schedule before = shown(session).schedule;
  const Cycle ii = before.ii;
  const OpId op = problem.find_op(name);
  REQUIRE(op.valid());
  session.apply(Ask{Topic::Slack, {}});
  settle(session);
  REQUIRE(session.answered(Topic::Slack));
  const auto* slack = session.question(Topic::Slack).as<SlackRanges>();
  REQUIRE(slack);
  const LegalBand band = legal_band(problem, {}, shown(session).schedule, op, slack);
  const LegalBand paths = legal_band(problem, {}, shown(session).schedule, op, nullptr);
  REQUIRE(band.exact);
  REQUIRE(paths.earliest);
  CHECK_FALSE(paths.exact);
  CHECK(paths.contains(before.start(op)));
  CHECK(*paths.latest - *paths.earliest <= 2 * stage_count(before) * ii);
  CHECK(band.alone_earliest >= *band.earliest);
  CHECK(band.alone_latest <= *band.latest);
  for (const Cycle start : {*band.earliest, *band.latest}) {
    session.apply(MoveOp{op, start, {}});
    settle(session);
    const Schedule& made = shown(session).schedule;
    CHECK(shown(session).verdict.valid());
    CHECK(made.ii == ii);
    const OpId still = slack->anchor;
    CHECK(made.start(op) - made.start(still) == start - before.start(still));
    session.apply(Undo{});
  }
  // One cycle further out: no schedule at this II.
  session.apply(MoveOp{op, *band.latest + 1, {}});
  settle(session);
  if (!session.live().refuted()) CHECK(shown(session).schedule.ii > ii);
  session.close(test::kPatience);
}

}  // namespace

TEST_CASE("a drop inside the exact band keeps II, one outside does not", "[app]") {
  drop_at_both_ends("toy_fig1", "toy", "O");
  drop_at_both_ends("attention_forward_hopper", "h100", "PV0");
}

TEST_CASE("a drop on attention forward brings a legal schedule with the bar where it was dropped", "[app]") {
  Session session(with_patience());
  session.apply(OpenPair{"attention_forward_hopper", "h100", true});
  settle(session);
  const Problem& problem = *session.content().problem;
  const Schedule before = shown(session).schedule;
  for (std::size_t v = 0; v < problem.ops.size(); v += 3) {
    INFO(problem.ops[v].name);
    const Cycle start = before.ops[v].start + 64;
    session.apply(MoveOp{OpId(v), start, {}});
    settle(session);
    const bool found = !session.live().refuted();
    if (found) {
      CHECK(shown(session).verdict.valid());
      CHECK(shown(session).schedule.start(OpId(v)) == start);
      CHECK(session.content().baseline == std::size_t{0});
      const ChartOverlay overlay = build_overlay(session);
      CHECK(overlay.proposed.empty());
      CHECK_FALSE(overlay.differing.empty());
    }
    session.apply(Undo{});
    CHECK(same_program(shown(session).schedule, before));
  }
  session.close(test::kPatience);
}
#endif

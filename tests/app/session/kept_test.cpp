// What is kept when the question changes: schedules that stay legal, and proofs that still hold; and that one gesture is one step of undo.
#include <catch2/catch.hpp>

#include "app/session/environment.h"
#include "app/session/proposal_commands.h"
#include "app/session/session.h"
#include "core/schedule/constraint_text.h"
#include "tests/support/fake_solver.h"
#include "tests/support/wait.h"

using namespace heddle;
using namespace heddle::app;

namespace {

struct Solved {
  int solves = 0;
  Session session;
  Solved() : session(environment()) {
    session.apply(OpenPair{"toy_fig1", "toy", true});
    settle();
    REQUIRE(content().entry());
    REQUIRE(content().entry()->status == Status::Optimal);
  }
  Environment environment() {
    Environment made;
    made.solve = [this](const solver::SolveRequest& request, std::stop_token stop, const solver::SolveListener& listener) {
      ++solves;
      return test::solve_toy(request, stop, listener);
    };
    return made;
  }
  void settle() {
    REQUIRE(test::wait_until([&] { return !session.live().active(); }, [&] { session.pump(); }));
  }
  const Content& content() { return session.content(); }
  UserConstraint demand(const char* text) { return parse_constraint(text, *content().problem).value(); }
};

/// Permits more: what was legal stays so.
Change capacity_of_tc(std::int64_t value) {
  Change change;
  change.kind = ChangeKind::Capacity;
  change.unit = "TC";
  change.value = value;
  return change;
}

}  // namespace

TEST_CASE("a schedule that stays legal under another number is kept and proved again, in one step of undo", "[app]") {
  Solved s;
  const Schedule shown = s.content().entry()->schedule;
  s.session.apply(SetChange{capacity_of_tc(2), true});
  s.settle();
  CHECK(s.content().schedules.size() == 1);
  CHECK(s.content().entry()->schedule.ops == shown.ops);
  CHECK(s.content().entry()->status == Status::Optimal);
  s.session.apply(Undo{});
  CHECK(s.content().changes.empty());
  CHECK(s.content().schedules.size() == 1);
  CHECK(s.content().entry()->status == Status::Optimal);
  s.session.apply(Redo{});
  CHECK(s.content().entry()->status == Status::Optimal);
  CHECK(s.content().changes.size() == 1);
}

TEST_CASE("a number that is put back brings its proof back without a search", "[app]") {
  Solved s;
  s.session.apply(SetChange{capacity_of_tc(2), false});
  CHECK(s.content().entry()->status == Status::Feasible);
  const int solves = s.solves;
  s.session.apply(RemoveChange{0, true});
  s.settle();
  CHECK(s.content().entry()->status == Status::Optimal);
  CHECK(s.solves == solves);
}

TEST_CASE("a constraint that is switched off takes no proof away", "[app]") {
  Solved s;
  s.session.apply(AddConstraint{s.demand("at most 4 stages"), false});
  CHECK(s.content().entry()->status == Status::Optimal);  // more is demanded of the same problem
  s.session.apply(ToggleConstraint{0});
  CHECK(s.content().entry()->status == Status::Optimal);
  s.session.apply(RemoveConstraint{0});
  CHECK(s.content().entry()->status == Status::Optimal);
}

TEST_CASE("a schedule that broke a constraint is proved as before when that is switched off", "[app]") {
  Solved s;
  s.session.apply(AddConstraint{s.demand("at most 1 stage"), false});
  CHECK(s.content().entry()->status == Status::Invalid);
  for (const ObjectiveValue& objective : s.content().entry()->objectives) CHECK_FALSE(objective.proved);
  s.session.apply(ToggleConstraint{0});
  CHECK(s.content().entry()->status == Status::Optimal);
  CHECK(s.content().entry()->objectives.front().proved);
}

TEST_CASE("what was proved under a constraint is not proved without it", "[app]") {
  Solved s;
  s.session.apply(AddConstraint{s.demand("at most 4 stages"), false});
  s.session.apply(RemoveSchedule{0});
  s.session.apply(StartSolve{});
  s.settle();
  CHECK(s.content().entry()->status == Status::Optimal);
  s.session.apply(ToggleConstraint{0});
  CHECK(s.content().entry()->status == Status::Feasible);
  s.session.apply(ToggleConstraint{0});
  CHECK(s.content().entry()->status == Status::Optimal);
}

TEST_CASE("solving what is proved adds no twin", "[app]") {
  Solved s;
  s.session.apply(StartSolve{});
  s.settle();
  CHECK(s.content().schedules.size() == 1);
  CHECK(s.solves == 1);
}

TEST_CASE("what is pointed at goes with the schedule that it is about", "[app]") {
  Solved s;
  Schedule other = s.content().entry()->schedule;
  other.ii = 4;
  s.session.apply(AdoptSchedule{other, "by hand", false});
  s.session.apply(show_highlight(Highlight{"a finding", {OpId(1)}, {}, {}}));
  CHECK(s.session.view().reveal);
  s.session.apply(SelectSchedule{0});
  CHECK(s.session.view().highlight.why.empty());
}

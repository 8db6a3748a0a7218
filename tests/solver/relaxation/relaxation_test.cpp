// The engine that decides dependences and units without Z3: single rules, limits, repeatability.
#include <catch2/catch.hpp>

#include <chrono>
#include <thread>

#include "core/analysis/bounds.h"
#include "solver/relaxation/relaxation.h"
#include "solver/relaxation/relaxed_problem.h"
#include "tests/support/problem_builder.h"
#include "tests/support/random_problem.h"

using namespace heddle;
using namespace heddle::solver;

namespace {

constexpr std::uint64_t kPlenty = 10 * kRelaxationEffortPerSecond;

Answer answer_at(const Problem& problem, Cycle ii, const Constraints& constraints = {}) {
  return decide_relaxation(problem, constraints, ii, solver::Relaxation::Units, {kPlenty, {}}).answer;
}

/// a and b alternate on two units and depend on each other within one iteration; c fills what b leaves free on TC.
Problem tight_loop(Cycle filler) {
  test::ProblemBuilder b;
  const OpId first = b.op("first", "TC", 10), second = b.op("second", "EXP", 10), third = b.op("third", "TC", 10);
  b.edge(first, second);
  b.edge(second, third);
  b.edge(third, first, 1);
  b.op("filler", "TC", filler);
  return b.problem;
}

}  // namespace

TEST_CASE("a recurrence leaves gaps on a unit, and what does not fit into them is refuted", "[solver][relaxation]") {
  // first at 0, second at 10, third at 20: TC is free for 10 cycles at 10 and for II - 30 at 30.
  CHECK(answer_at(tight_loop(10), 30) == Answer::Yes);
  CHECK(answer_at(tight_loop(11), 30) == Answer::No);
  CHECK(answer_at(tight_loop(11), 31) == Answer::Yes);
  // The bounds know nothing of this: TC is busy for 31 cycles, the recurrence takes 30.
  CHECK(compute_bounds(tight_loop(15)).min_ii() == 35);
  CHECK(answer_at(tight_loop(15), 34) == Answer::No);
  CHECK(answer_at(tight_loop(15), 35) == Answer::Yes);
}

TEST_CASE("uses that fit a unit together do not exclude each other", "[solver][relaxation]") {
  test::ProblemBuilder b;
  for (const char* name : {"a", "b", "c"}) b.op(name, "TC", 10);
  b.problem.units[0].capacity = 2;
  CHECK(answer_at(b.problem, 11) == Answer::Yes);  // a relaxation: three at once would not fit, pairs do
  CHECK(answer_at(b.problem, 10) == Answer::No);   // but three that are always on do not
  for (Op& op : b.problem.ops) op.uses[0].amount = 2;
  CHECK(answer_at(b.problem, 29) == Answer::No);
  CHECK(answer_at(b.problem, 30) == Answer::Yes);
}

TEST_CASE("two uses of one op and uses with an offset keep their places", "[solver][relaxation]") {
  test::ProblemBuilder b;
  const OpId twice = b.op("twice", "TC", 2);
  b.problem.ops[twice.index()].uses.push_back({UnitId(std::size_t{0}), 5, 2, 1});
  b.op("between", "TC", 3);
  // twice: [0, 2) and [5, 7); 3 cycles fit between at any II >= 7, but at II = 5 and 6 the second use falls on the first.
  CHECK(answer_at(b.problem, 6) == Answer::No);
  CHECK(answer_at(b.problem, 7) == Answer::Yes);
  b.op("rest", "TC", 2);
  CHECK(answer_at(b.problem, 8) == Answer::No);
  CHECK(answer_at(b.problem, 9) == Answer::Yes);
}

TEST_CASE("with one group left, all instruction windows exclude each other", "[solver][relaxation]") {
  test::ProblemBuilder b;
  b.op("a", "TC", 5, 20);
  b.op("b", "EXP", 5, 20);
  b.problem.max_groups = 2;
  CHECK(answer_at(b.problem, 20) == Answer::Yes);
  b.problem.max_groups = 1;
  CHECK(answer_at(b.problem, 39) == Answer::No);
  CHECK(answer_at(b.problem, 40) == Answer::Yes);
}

TEST_CASE("groups share out windows and pay for hand-offs", "[solver][relaxation]") {
  test::ProblemBuilder b;
  const OpId a = b.op("a", "TC", 5, 20), c = b.op("c", "EXP", 5, 20);
  b.op("d", "TC", 5, 20);
  b.problem.max_groups = 2;
  const auto with_groups = [&](Cycle ii) { return decide_relaxation(b.problem, {}, ii, solver::Relaxation::Groups, {kPlenty, {}}); };
  CHECK(with_groups(39).answer == Answer::No);  // two of the three windows share a group
  const RelaxationAnswer found = with_groups(40);
  REQUIRE(found.answer == Answer::Yes);
  REQUIRE(found.groups.size() == 3);
  // A recurrence of a and c: within 40 cycles only without a hand-off.
  b.edge(a, c, 0, 60);
  b.edge(c, a, 1, 60);
  const RelaxationAnswer tied = with_groups(40);
  REQUIRE(tied.answer == Answer::Yes);
  CHECK(tied.groups[a.index()] == tied.groups[c.index()]);
}

TEST_CASE("what the user demands as an order counts, switched off it does not", "[solver][relaxation]") {
  Problem problem = tight_loop(10);
  UserConstraint late;
  late.kind = ConstraintKind::Before;
  late.ops = {"second", "third"};
  late.low = 15;
  CHECK(answer_at(problem, 30, {late}) == Answer::No);
  CHECK(answer_at(problem, 35, {late}) == Answer::Yes);
  late.enabled = false;
  CHECK(answer_at(problem, 30, {late}) == Answer::Yes);
}

TEST_CASE("components are shifted into place by whole periods", "[solver][relaxation]") {
  test::ProblemBuilder b;
  const OpId a = b.op("a", "TC", 10), c = b.op("c", "TC", 10), d = b.op("d", "EXP", 7);
  b.edge(a, c);
  b.edge(c, d);
  const RelaxationAnswer answer = decide_relaxation(b.problem, {}, 20, solver::Relaxation::Units, {kPlenty, {}});
  REQUIRE(answer.answer == Answer::Yes);
  CHECK(answer.starts[c.index()] >= answer.starts[a.index()] + 10);
  CHECK(answer.starts[d.index()] >= answer.starts[c.index()] + 10);
}

TEST_CASE("the bound of the relaxation lies between the arithmetic and what is feasible", "[solver][relaxation]") {
  const Problem problem = test::random_mixed_problem(7, 50);
  const RelaxationBound bound =
      relaxation_bound(problem, {}, {compute_bounds(problem).min_ii(), {}, solver::Relaxation::Units}, {kPlenty, {}});
  CHECK(bound.bound == 7509);
  CHECK(bound.feasible == 7509);
}

TEST_CASE("demands that no II meets raise no bound", "[solver][relaxation]") {
  test::ProblemBuilder b;
  b.op("a", "TC", 5);
  b.op("c", "TC", 5);
  Constraints both(2);
  for (std::size_t i = 0; i < 2; ++i) {
    both[i].kind = ConstraintKind::Before;
    both[i].ops = i == 0 ? std::vector<std::string>{"a", "c"} : std::vector<std::string>{"c", "a"};
    both[i].low = 5;
  }
  const RelaxationBound bound = relaxation_bound(b.problem, both, {10, {}, solver::Relaxation::Groups}, {kPlenty, {}});
  CHECK(bound.bound == 10);
  CHECK_FALSE(bound.feasible);
}

TEST_CASE("the same question takes the same way", "[solver][relaxation]") {
  const Problem problem = test::random_mixed_problem(2, 32);
  const RelaxationAnswer one = decide_relaxation(problem, {}, 4953, solver::Relaxation::Units, {kPlenty, {}}),
                         two = decide_relaxation(problem, {}, 4953, solver::Relaxation::Units, {kPlenty, {}});
  CHECK(one.conflicts == two.conflicts);
  CHECK(one.starts == two.starts);
  CHECK(one.effort_left == two.effort_left);
}

TEST_CASE("out of effort, stopped or out of time is no answer", "[solver][relaxation]") {
  const Problem problem = test::random_mixed_problem(16, 50);
  const RelaxationAnswer little = decide_relaxation(problem, {}, 7815, solver::Relaxation::Units, {2000, {}});
  CHECK(little.answer == Answer::Unknown);
  CHECK(little.effort_left == 0);

  QueryLimits past;
  past.deadline = Clock::now();
  CHECK(decide_relaxation(problem, {}, 7815, solver::Relaxation::Units, {kPlenty, past}).answer == Answer::Unknown);
  CHECK_FALSE(relaxation_bound(problem, {}, {7815, {}, solver::Relaxation::Units}, {kPlenty, past}).feasible);

  std::stop_source source;
  QueryLimits stoppable;
  stoppable.stop = source.get_token();
  std::thread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    source.request_stop();
  });
  CHECK(decide_relaxation(problem, {}, 7815, solver::Relaxation::Units, {std::uint64_t{1} << 60, stoppable}).answer == Answer::Unknown);
  stopper.join();
}

TEST_CASE("absurd numbers are no answer rather than a wrong one", "[solver][relaxation]") {
  Problem problem = tight_loop(10);
  CHECK(answer_at(problem, Cycle{1} << 40) == Answer::Unknown);
  for (Op& op : problem.ops) op.latency = op.uses[0].duration = Cycle{1} << 40;
  for (Edge& e : problem.edges) e.latency = Cycle{1} << 40;
  CHECK(answer_at(problem, Cycle{1} << 41) == Answer::No);
  CHECK(answer_at(problem, Cycle{1} << 43) == Answer::Unknown);
  CHECK(relax(Problem{}, {}, 5, {5}).parts.empty());
  CHECK(decide_relaxation(Problem{}, {}, 5, solver::Relaxation::Units, {kPlenty, {}}).answer == Answer::Yes);
}

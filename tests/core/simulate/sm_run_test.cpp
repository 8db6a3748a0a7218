// The event-by-event engine: against the step-by-step one where both must agree, queues at units, several CTAs and tiles.
#include "core/simulate/sm_run.h"

#include <catch2/catch.hpp>

#include <numeric>
#include <random>
#include <set>

#include "core/analysis/channels.h"
#include "core/simulate/unit_queue.h"
#include "tests/support/random_problem.h"
#include "tests/support/random_schedule.h"
#include "tests/support/small_problem.h"

using namespace heddle;
using namespace heddle::test;

namespace {

/// Uses that begin with their op and leave no room for each other: what the event graph orders completely.
void make_exclusive(Problem& p) {
  for (Unit& unit : p.units) unit.capacity = 1;
  for (Op& op : p.ops)
    for (UnitUse& use : op.uses) {
      use.offset = 0;
      use.amount = 1;
    }
}

/// Two ops of a group in one slot: the engines may issue them in different orders.
bool has_ties(const Schedule& s) {
  std::set<std::pair<GroupId, Cycle>> taken;
  for (std::size_t v = 0; v < s.ops.size(); ++v)
    if (!taken.insert({s.ops[v].group, s.slot(OpId(v))}).second) return true;
  return false;
}

}  // namespace

TEST_CASE("both engines agree on schedules whose units are in order, fill and drain included", "[core]") {
  int ran = 0;
  for (std::uint32_t seed = 1; seed <= 3000; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(seed);
    Problem p = random_problem(seed, {.max_ops = 8, .max_cost = 9});
    make_exclusive(p);
    const Schedule s = random_schedule(p, random);
    SimulateOptions options;
    options.trips = 1 + random() % 40;
    options.timeline = 50;
    if (random() % 2) options.jitter = {.percent = 30, .shape = JitterShape::Uniform, .seed = seed, .every_op = true};
    const Simulation steps = simulate(p, s, options);
    if (steps.deadlock || has_ties(s)) continue;
    const SmRun events = run_sm(loop_program(p, s, SimulateOptions{}), {{{options.trips}}, 1, false}, options);
    if (events.run.deadlock) continue;  // a circle of waits that take no time: at one cycle for steps, stuck for events
    ++ran;
    CHECK(events.run.fault == "");
    CHECK(events.run.cycles == steps.cycles);
    REQUIRE(events.run.timeline.size() == steps.timeline.size());
    std::vector<std::vector<Cycle>> starts(p.ops.size(), std::vector<Cycle>(static_cast<std::size_t>(options.trips)));
    for (const SimulatedOp& op : steps.timeline) starts[op.op.index()][static_cast<std::size_t>(op.iteration)] = op.start;
    for (const SimulatedOp& op : events.run.timeline) CHECK(op.start == starts[op.op.index()][static_cast<std::size_t>(op.iteration)]);
    for (std::size_t g = 0; g < s.groups.size(); ++g) {
      CHECK(events.run.groups[g].busy == steps.groups[g].busy);
      CHECK(events.run.groups[g].idle == steps.groups[g].idle);
    }
  }
  CHECK(ran > 500);
}

TEST_CASE("an asynchronous op queues at its unit while its stream goes on, a synchronous one holds it", "[core]") {
  Problem p = empty_problem();
  const UnitId u = add_unit(p, "U");
  add_op(p, "first", 100, 1, {{u, 0, 100, 1}});
  add_op(p, "second", 100, 1, {{u, 0, 100, 1}});
  add_op(p, "after", 1, 1);
  const Schedule s = place(p, 300, {{0, 0}, {100, 1}, {101, 1}});
  for (const bool asynchronous : {true, false}) {
    p.ops[1].asynchronous = asynchronous;
    SimulateOptions options;
    options.arbitration = Arbitration::FirstCome;
    options.trips = 1;
    options.timeline = 1;
    const Simulation run = simulate(p, s, options);
    REQUIRE(run.timeline.size() == 3);
    Cycle after = 0;
    for (const SimulatedOp& op : run.timeline) {
      if (op.op == OpId(2)) after = op.start;
      if (op.op == OpId(1)) CHECK((op.start == 100 && op.issue == (asynchronous ? 0 : 100)));
    }
    CHECK(after == (asynchronous ? 1 : 101));
    CHECK(run.ops[1].queued == (asynchronous ? 100 : 0));
    CHECK(run.ops[1].stalls[static_cast<std::size_t>(StallReason::Unit)] == (asynchronous ? 0 : 100));
  }
}

TEST_CASE("a unit serves amounts that fit together at once, in the order of the requests", "[core]") {
  UnitQueue unit(3);
  CHECK(unit.earliest(0, 2) == 0);
  unit.take(0, 10, 2);
  CHECK(unit.earliest(1, 1) == 1);
  unit.take(1, 4, 1);
  CHECK(unit.earliest(2, 3) == 10);
  unit.take(10, 5, 3);
  CHECK(unit.earliest(3, 1) == 15);  // it would fit at 5, but no request overtakes another
  CHECK(unit.earliest(40, 3) == 40);
}

TEST_CASE("CTAs share the units of their SM, and tiles follow each other", "[core]") {
  Problem p = empty_problem();
  const UnitId u = add_unit(p, "U");
  add_op(p, "use", 10, 10, {{u, 0, 10, 1}});
  add_op(p, "rest", 30, 30);
  add_edge(p, OpId(0), OpId(1), 10);
  const Schedule s = place(p, 40, {{0, 0}, {10, 0}});
  const CtaProgram program = loop_program(p, s, SimulateOptions{});
  SimulateOptions options;
  CHECK(run_sm(program, {{{5}}, 1, false}, options).run.cycles == 200);
  CHECK(run_sm(program, {{{5, 5, 5}}, 1, false}, options).run.cycles == 600);
  CHECK(run_sm(program, {{{5, 5, 5, 5}}, 4, false}, options).run.cycles == 230);     // one after the other on the unit, then in step
  CHECK(run_sm(program, {{{5, 5, 5, 5, 5}}, 5, false}, options).run.cycles == 280);  // the unit is full
  const SmRun persistent = run_sm(program, {{{5, 5}, {5}}, 2, true}, options);
  CHECK(persistent.run.cycles == 400);
  CHECK(persistent.first_tile == 200);
  options.most_ops = 100;
  CHECK(run_sm(program, {{{1000}}, 1, false}, options).run.fault.find("too many") != std::string::npos);
}

TEST_CASE("groups far ahead of each other are followed all the same", "[core]") {
  Problem p = empty_problem();
  const OpId fast = add_op(p, "fast", 1, 1), slow = add_op(p, "slow", 50, 50);
  add_edge(p, fast, slow, 1);
  const Schedule s = place(p, 50, {{0, 0}, {1, 1}});
  const SmRun run = run_sm(loop_program(p, s, SimulateOptions{}), {{{20'000}}, 1, false}, {});
  CHECK(run.run.fault == "");
  CHECK(run.run.cycles == 1 + 50 * 20'000);
}

TEST_CASE("the period of events is exact where they repeat themselves: the sustainable one with units in order", "[core]") {
  int exact = 0, first_come = 0;
  for (std::uint32_t seed = 1; seed <= 2000; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(seed);
    Problem p = random_problem(seed, {.max_ops = 8, .max_cost = 9});
    make_exclusive(p);
    const Schedule s = random_schedule(p, random);
    if (has_ties(s)) continue;
    const Simulation steps = simulate(p, s);
    if (steps.deadlock) continue;
    const SmRun events = run_sm(loop_program(p, s, SimulateOptions{}), {{{1024}}, 1, false}, {});
    if (events.run.deadlock) continue;
    if (events.run.period.exact) {
      ++exact;
      CHECK(events.run.period.weight * steps.period.tokens == steps.period.weight * events.run.period.tokens);
    }
    SimulateOptions options;
    options.arbitration = Arbitration::FirstCome;
    const Simulation now = simulate(p, s, options);
    REQUIRE(now.fault == "");
    if (!now.period.exact) continue;
    ++first_come;
    // What repeats itself goes on at that rate, whatever the length.
    options.trips = 1024 + 128 * now.period.tokens;
    const Simulation later = simulate(p, s, options);
    CHECK(std::abs(later.cycles - now.cycles - 128 * now.period.weight) <= 2 * now.period.weight);
  }
  CHECK(exact > 300);
  CHECK(first_come > 300);
}

TEST_CASE("first come, first served: absurd trip counts are extrapolated, and say so", "[core]") {
  Problem p = empty_problem();
  const UnitId u = add_unit(p, "U");
  add_op(p, "a", 7, 1, {{u, 0, 7, 1}});
  add_op(p, "b", 9, 9, {{u, 0, 3, 1}});
  add_edge(p, OpId(0), OpId(1), 7);
  add_edge(p, OpId(1), OpId(0), 3, 2);
  const Schedule s = place(p, 20, {{0, 0}, {7, 1}});
  SimulateOptions options;
  options.arbitration = Arbitration::FirstCome;
  options.trips = 1'000'000'000'000;
  options.most_ops = 50'000;
  const Simulation run = simulate(p, s, options);
  CHECK(run.extrapolated);
  CHECK(run.trips == options.trips);
  CHECK(run.period.exact);
  CHECK(run.period.cycles() == 10);
  CHECK(static_cast<double>(run.cycles) == Approx(1e13).epsilon(1e-6));
  for (const GroupTime& g : run.groups) CHECK(std::accumulate(g.stalls.begin(), g.stalls.end(), g.busy + g.idle) == run.cycles);
}

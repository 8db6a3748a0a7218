// The event-by-event engine: against the step-by-step one where both must agree, queues at units, several CTAs and tiles.
#include "core/simulate/sm_run.h"

#include <catch2/catch.hpp>

#include <numeric>
#include <random>
#include <set>

#include "core/analysis/channels.h"
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
    const SmRun events = run_sm(loop_program(p, s, Arbitration::Scheduled), {{{options.trips}}, 1, false}, options);
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

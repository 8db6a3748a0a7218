// Units that serve several groups side by side, turns on the tensor cores that barriers keep, and the pace of a group's own arithmetic.
#include <catch2/catch.hpp>

#include <numeric>
#include <random>
#include <set>

#include "core/analysis/turns.h"
#include "core/simulate/pace.h"
#include "core/simulate/simulate.h"
#include "tests/support/random_problem.h"
#include "tests/support/random_schedule.h"
#include "tests/support/small_problem.h"

using namespace heddle;
using namespace heddle::test;

namespace {

/// Two groups, each with one product of 640 cycles and arithmetic of 1000 that waits for it and that the next product waits for.
struct PingPong {
  Problem problem = empty_problem();
  Schedule schedule;

  PingPong() {
    const UnitId tc = add_unit(problem, "TC");
    problem.units[tc.index()].role = UnitRole::Tensor;
    for (const char* name : {"A", "B"}) {
      const OpId product = add_op(problem, std::string("mma") + name, 640, 4, {{tc, 0, 640, 1}});
      problem.ops[product.index()].asynchronous = true;
      const OpId work = add_op(problem, std::string("work") + name, 1000, 1000);
      add_edge(problem, product, work, 640).waits = true;
      add_edge(problem, work, product, 1000, 1);
    }
    schedule = place(problem, 1640, {{0, 0}, {640, 0}, {640, 1}, {1280, 1}});
    for (ScheduleGroup& group : schedule.groups) group.warps = 4;
  }

  Simulation run(bool turns, Cycle apart = 0, Cycle turn_cost = 0) const {
    SimulateOptions options;
    options.arbitration = Arbitration::Interleaved;
    options.turns = turns;
    options.apart = apart;
    options.turn_cost = turn_cost;
    options.timeline = 1;
    return simulate(problem, schedule, options);
  }
};

Cycle start_of(const Simulation& run, std::size_t op) {
  for (const SimulatedOp& one : run.timeline)
    if (one.op == OpId(op)) return one.start;
  return -1;
}

}  // namespace

TEST_CASE("products that ask at the same time are served side by side, and end at about the same time", "[core]") {
  const PingPong two;
  const Simulation together = two.run(false);
  CHECK(start_of(together, 0) + 640 == 1280 - 64);  // seen from its end: ten parts of each, in turn
  CHECK(start_of(together, 2) + 640 == 1280);
  // Neither gets ahead: as long as both need the unit at once, both take twice the time.
  CHECK(together.period.exact);
  CHECK(together.period.cycles() == 640 + 576 + 1000);
}

TEST_CASE("turns keep groups apart, and so does luck; the distance between groups stays as it began", "[core]") {
  const PingPong two;
  CHECK(two.run(true).period.cycles() == 1640);
  CHECK(two.run(true, 0, 40).period.cycles() == 1640);   // 320 cycles of room
  CHECK(two.run(true, 0, 400).period.cycles() == 2080);  // 2 * (640 + 400)
  CHECK(two.run(false, 820).period.cycles() == 1640);
  const double near = two.run(false, 320).period.cycles();
  CHECK(near > 1640);
  CHECK(near < two.run(false).period.cycles());
}

TEST_CASE("turns are kept where groups of four warps have other work, and change hands four times at most", "[core]") {
  const PingPong two;
  REQUIRE(kept_turns(two.problem, two.schedule).size() == 1);
  Schedule narrow = two.schedule;
  narrow.groups[1].warps = 8;
  CHECK(kept_turns(two.problem, narrow).empty());
  CHECK(contested_turns(two.problem, narrow).empty());
  Problem idle = two.problem;
  idle.ops[3].window = 0;
  CHECK(contested_turns(idle, two.schedule).empty());

  // Six products of two groups that alternate: six changes of hands.
  Problem many = empty_problem();
  const UnitId tc = add_unit(many, "TC");
  many.units[tc.index()].role = UnitRole::Tensor;
  std::vector<std::pair<Cycle, int>> places;
  for (int k = 0; k < 6; ++k) {
    many.ops[add_op(many, "p" + std::to_string(k), 10, 1, {{tc, 0, 10, 1}}).index()].asynchronous = true;
    places.emplace_back(10 * k, k % 2);
  }
  for (int g = 0; g < 2; ++g) add_op(many, "w" + std::to_string(g), 5, 5), places.emplace_back(60, g);
  Schedule schedule = place(many, 70, places);
  for (ScheduleGroup& group : schedule.groups) group.warps = 4;
  CHECK(contested_turns(many, schedule).size() == 1);
  CHECK(kept_turns(many, schedule).empty());
}

TEST_CASE("the pace of arithmetic lengthens the streams that compute, not the units and not what is asynchronous", "[core]") {
  Problem p = empty_problem();
  p.units = {{"TC", UnitRole::Tensor, 1, "", ""}, {"FMA", UnitRole::Float, 1, "", ""}, {"SMEM", UnitRole::Smem, 1, "", ""}};
  const OpId mma = add_op(p, "mma", 500, 8, {{UnitId(0), 0, 500, 1}});
  p.ops[mma.index()].asynchronous = true;
  const OpId add = add_op(p, "add", 105, 101, {{UnitId(1), 0, 101, 1}}), read = add_op(p, "read", 60, 50, {{UnitId(2), 0, 50, 1}});
  const ValueId sum = add_registers(p, add, 8);
  add_edge(p, add, read, 105).value = sum;
  StreamCosts streams;
  streams.arithmetic_percent = 150;
  pace(p, streams);
  CHECK(p.op(add).window == 152);  // 101 * 1.5, rounded up
  CHECK(p.op(add).latency == 156);
  CHECK(p.op(add).uses[0].duration == 101);
  CHECK(p.edges[0].latency == 156);
  CHECK(p.op(mma).window == 8);
  CHECK(p.op(mma).uses[0].duration == 500);
  CHECK(p.op(read).window == 50);
}

TEST_CASE("a product takes longer in a loop that computes, most of all with an operand in registers", "[core]") {
  StreamCosts streams;
  streams.product_percent = 110, streams.register_product_percent = 130;
  for (const bool computes : {false, true}) {
    Problem p = empty_problem();
    p.units = {{"TC", UnitRole::Tensor, 1, "", ""}, {"FMA", UnitRole::Float, 1, "", ""}};
    const OpId shared = add_op(p, "shared", 542, 8, {{UnitId(0), 0, 512, 1}}), own = add_op(p, "own", 542, 8, {{UnitId(0), 0, 512, 1}});
    p.ops[shared.index()].asynchronous = p.ops[own.index()].asynchronous = true;
    p.ops[shared.index()].rule = "mma.ss", p.ops[own.index()].rule = "mma.rs";
    if (computes) add_op(p, "add", 20, 10, {{UnitId(1), 0, 10, 1}});
    const ValueId sum = add_registers(p, own, 8);
    add_edge(p, own, shared, 542).value = sum;
    pace(p, streams);
    CHECK(p.op(shared).uses[0].duration == (computes ? 564 : 512));  // 51.2 cycles more, rounded up
    CHECK(p.op(own).uses[0].duration == (computes ? 666 : 512));
    CHECK(p.op(own).latency == (computes ? 696 : 542));
    CHECK(p.edges[0].latency == (computes ? 696 : 542));
  }
}

TEST_CASE("interleaved: every op runs, no unit does more than it can, and what repeats itself goes on so", "[core]") {
  int exact = 0;
  for (std::uint32_t seed = 1; seed <= 600; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(seed);
    Problem p = random_problem(seed, {.max_ops = 8, .max_cost = 300});
    const UnitRole roles[] = {UnitRole::Tensor, UnitRole::Float, UnitRole::Special, UnitRole::Copy};
    for (Unit& unit : p.units) unit.role = roles[random() % 4];
    for (Op& op : p.ops) {  // one use of a unit by an op: with two at once the queue looks at each alone
      std::set<UnitId> used;
      std::erase_if(op.uses, [&](const UnitUse& use) { return !used.insert(use.unit).second; });
    }
    const Schedule s = random_schedule(p, random);
    SimulateOptions options;
    options.arbitration = Arbitration::Interleaved;
    options.turns = random() % 2;
    options.turn_cost = static_cast<Cycle>(random() % 50);
    options.apart = static_cast<Cycle>(random() % 500);
    options.trips = 256;
    const Simulation run = simulate(p, s, options);
    if (!run.fault.empty()) {
      if (run.fault.find("too many to simulate") != std::string::npos) continue;  // a tiny II, thousands of iterations at once
      CHECK(run.deadlock);
      CHECK(simulate(p, s).deadlock);  // only where the order itself cannot run
      continue;
    }
    CHECK(run.simulated_ops == 256 * static_cast<std::int64_t>(p.ops.size()));
    for (const GroupTime& g : run.groups) CHECK(std::accumulate(g.stalls.begin(), g.stalls.end(), g.busy + g.idle) == run.cycles);
    std::vector<std::int64_t> work(p.units.size(), 0);
    for (const Op& op : p.ops)
      for (const UnitUse& use : op.uses) work[use.unit.index()] += use.duration * use.amount;
    for (std::size_t u = 0; u < work.size(); ++u) CHECK(work[u] * 256 <= run.cycles * p.units[u].capacity);
    if (!run.period.exact) continue;
    ++exact;
    options.trips = 256 + 32 * run.period.tokens;
    const Simulation later = simulate(p, s, options);
    CHECK(std::abs(later.cycles - run.cycles - 32 * run.period.weight) <= 2 * run.period.weight);
  }
  CHECK(exact > 150);
}

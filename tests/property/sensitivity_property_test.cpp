// Every side of every row against exhaustive search on the problem with that number.
#include <catch2/catch.hpp>

#include "core/analysis/bounds.h"
#include "core/analysis/retime.h"
#include "core/analysis/stretch.h"
#include "core/check/checker.h"
#include "core/problem/problem.h"
#include "solver/questions/sensitivity.h"
#include "tests/support/brute_force.h"
#include "tests/support/random_problem.h"

using namespace heddle;

namespace {

constexpr int kStages = 3;
constexpr Cycle kLimit = 16;
constexpr std::int64_t kBudget = 40'000;

/// What resolve() would make of the changes.
Problem changed_problem(Problem p, const Changes& changes) {
  for (const Change& c : changes) {
    if (c.kind == ChangeKind::Capacity)
      for (Unit& unit : p.units)
        if (unit.name == c.unit) unit.capacity = changed(c, unit.capacity);
    if (c.kind == ChangeKind::Limit) p.limits.smem_bytes = changed(c, p.limits.smem_bytes);
    for (std::size_t v = 0; v < p.ops.size(); ++v) {
      Op& op = p.ops[v];
      if (op.name != c.op) continue;
      if (c.kind == ChangeKind::Window) op.window = changed(c, op.window);
      if (c.kind == ChangeKind::Duration)
        for (UnitUse& use : op.uses) use.duration = changed(c, use.duration);
      if (c.kind != ChangeKind::Latency) continue;
      op.latency = changed(c, op.latency);
      for (Edge& e : p.edges)
        if (e.from == OpId(v)) e.latency = op.latency;
    }
  }
  return p;
}

Changes changed_numbers(const Problem& p) {
  Changes numbers;
  const auto add = [&](ChangeKind kind, std::string op, std::string unit, std::string field) {
    Change& c = numbers.emplace_back();
    c.kind = kind;
    c.op = std::move(op);
    c.unit = std::move(unit);
    c.field = std::move(field);
  };
  for (const Op& op : p.ops)
    for (const ChangeKind kind : {ChangeKind::Latency, ChangeKind::Window, ChangeKind::Duration}) add(kind, op.name, "", "");
  for (const Unit& unit : p.units) add(ChangeKind::Capacity, "", unit.name, "");
  add(ChangeKind::Limit, "", "", "smem_bytes");
  return numbers;
}

}  // namespace

TEST_CASE("what sensitivity says about a number is what exhaustive search finds with that number", "[property]") {
  test::RandomProblemOptions shape;
  shape.max_ops = 4;
  int compared = 0, moved = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Problem base = changed_problem(test::random_problem(seed, shape), {});
    solver::SensitivityRequest request;
    request.solve.problem = base;
    request.solve.objectives = {};
    request.numbers = changed_numbers(base);
    request.percent = 60;
    request.problem_with = [&](const Changes& changes) -> Result<Problem> { return changed_problem(base, changes); };
    const Sensitivity answer = solver::sensitivity(request);
    CAPTURE(seed);
    if (answer.status == Status::Infeasible) continue;
    REQUIRE(answer.complete());
    REQUIRE(answer.rows.size() == request.numbers.size());
    for (Change number : request.numbers) {
      const std::string text = describe(number), name = text.substr(0, text.rfind('='));
      const auto row = std::find_if(answer.rows.begin(), answer.rows.end(), [&](const auto& r) { return r.number == name; });
      REQUIRE(row != answer.rows.end());
      for (const auto& [side, percent] : {std::pair(&row->less, -60), std::pair(&row->more, 60)}) {
        number.effect = ChangeEffect::Percent;
        number.value = percent;
        const Problem problem = changed_problem(base, {number});
        CAPTURE(name, percent, side->ii);
        if (side->same_problem) {
          CHECK(problem_hash(problem) == problem_hash(base));
          continue;
        }
        const auto truth = test::brute_force_minimum(problem, kStages, kLimit, {}, kBudget);
        if (truth.gave_up) continue;
        ++compared;
        moved += side->ii != answer.ii;
        if (truth.ii == 0) {
          CHECK((side->ii > kLimit || !test::brute_force(problem, side->ii, kStages, {}, kBudget).schedule));
        } else if (side->ii != truth.ii) {  // the solver looks at more stages, so it may do better, never worse
          CHECK(side->ii < truth.ii);
          CHECK(!test::brute_force(problem, side->ii, kStages, {}, kBudget).schedule);
        }
        if (side->in_order) CHECK(*side->in_order >= std::max(side->ii, side->order_bound));
      }
    }
  }
  CAPTURE(compared, moved);
  CHECK(compared > 400);
  CHECK(moved > 60);
}

TEST_CASE("a retiming that the checker accepts is no better than the order's bound, nor than the best schedule", "[property]") {
  int legal = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const Problem problem = test::random_problem(seed);
    const auto best = test::brute_force_minimum(problem, kStages, kLimit, {}, kBudget);
    if (!best.schedule) continue;
    Problem other = problem;
    for (std::size_t v = 0; v < other.ops.size(); v += 2) other.ops[v].window += 1;
    for (Edge& e : other.edges) e.latency += static_cast<Cycle>(seed % 3);
    CAPTURE(seed);
    const Cycle bound = order_bound(other, *best.schedule);
    for (const Schedule& s : retimings(other, *best.schedule)) {
      if (!check(other, s).valid()) continue;  // rings deeper than allowed, for one
      CHECK(s.ii >= bound);
      ++legal;
      CHECK(s.ii >= best.ii);  // the numbers only grew
    }
    // The order of a legal schedule allows at least its own II.
    CHECK(order_bound(problem, *best.schedule) <= best.ii);
  }
  CHECK(legal > 100);
}

TEST_CASE("a schedule with idle cycles inserted is one for the larger numbers", "[property]") {
  int stretches = 0;
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    const Problem easy = test::random_problem(seed);
    if (!monotone_in_ii(easy)) continue;
    const auto best = test::brute_force_minimum(easy, kStages, kLimit, {}, kBudget);
    if (!best.schedule) continue;
    Changes some = changed_numbers(easy);
    Changes changes;
    for (std::size_t i = 0; i < 2; ++i) {
      changes.push_back(some[(seed * 7 + i * 5) % some.size()]);
      changes.back().effect = ChangeEffect::Add;
      changes.back().value = changes.back().op.empty() ? 0 : 1 + static_cast<std::int64_t>((seed + i) % 3);
    }
    Problem hard = changed_problem(easy, changes);
    for (Channel& channel : hard.channels)
      for (Reader& reader : channel.readers)
        if (seed % 3 == 0 && reader.release > 0) reader.release += 2;
    for (Edge& e : hard.edges)
      if (seed % 5 == 0 && e.hold > 0) e.hold += 1;
    const auto grown = growth(easy, hard);
    if (!grown) continue;
    CAPTURE(seed, describe(changes[0]), describe(changes[1]));
    const Schedule later = refitted(hard, stretched(*best.schedule, *grown));
    CHECK(later.ii == best.ii + *stretch_bound(easy, hard));
    std::string objections;
    for (const Violation& v : check(hard, later).violations) objections += v.family + ": " + v.message + "\n";
    CHECK(objections == "");
    for (std::size_t c = 0; c < later.depths.size(); ++c) CHECK(later.depths[c] <= best.schedule->depths[c]);
    ++stretches;
  }
  CHECK(stretches > 100);
}

TEST_CASE("what is at least as strict has no smaller least II", "[property]") {
  int compared = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    test::RandomProblemOptions shape;
    shape.max_ops = 4;
    const Problem a = test::random_problem(seed, shape);
    Changes some = changed_numbers(a);
    Change change = some[seed % some.size()];
    change.effect = ChangeEffect::Percent;
    change.value = seed % 2 ? 60 : -60;
    const Problem b = changed_problem(a, {change});
    const bool more = at_least_as_strict(a, b), less = at_least_as_strict(b, a);
    CAPTURE(seed, describe(change));
    CHECK((more || less));
    const auto of_a = test::brute_force_minimum(a, kStages, kLimit, {}, kBudget),
               of_b = test::brute_force_minimum(b, kStages, kLimit, {}, kBudget);
    if (of_a.gave_up || of_b.gave_up || of_a.ii == 0 || of_b.ii == 0) continue;
    if (more) CHECK(of_a.ii >= of_b.ii);
    if (less) CHECK(of_b.ii >= of_a.ii);
    ++compared;
  }
  CHECK(compared > 80);
}

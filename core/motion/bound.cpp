#include "core/motion/bound.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/base/integer_division.h"
#include "core/motion/motion.h"
#include "core/problem/warp_work.h"

namespace heddle::motion {
namespace {

std::string cycles(Ticks ticks) { return fmt::format("{}", ceil_div(ticks, kCycle)); }

/// What tensor cores do in an iteration, and which kinds of mma there are.
struct TensorWork {
  Ticks ticks = 0;
  bool shared = false, registers = false;

  explicit TensorWork(const Problem& problem) {
    for (std::size_t v = 0; v < problem.ops.size(); ++v) {
      const Op& op = problem.ops[v];
      if (warp_role(problem, OpId(v)) != WarpRole::Product) continue;
      const std::int64_t count = std::max(1, op.instructions);
      ticks += count * ceil_div(tensor_cycles(op, problem.units) * kCycle, count);
      (op.from_registers ? registers : shared) = true;
    }
  }
  /// Of the kinds that there are.
  std::int64_t least(const ByOperand& numbers) const {
    if (!registers) return shared ? numbers.shared.value : 0;
    return shared ? std::min(numbers.shared.value, numbers.registers.value) : numbers.registers.value;
  }
};

WarpWork work_of(const Problem& problem, OpId op) {
  if (warp_role(problem, op) != WarpRole::Arithmetic) return {};
  return problem.op(op).work == WarpWork{} ? usual_work(problem.op(op), problem.units) : problem.op(op).work;
}

PeriodBound tensor_bound(const Problem& problem) {
  const TensorWork work(problem);
  std::int64_t reads = 0, cost = work.least(problem.contention.product_per_read);
  for (std::size_t v = 0; v < problem.ops.size(); ++v) {
    const WarpWork w = work_of(problem, OpId(v));
    reads += w.reads;
    // One instruction a cycle: idle cycles hide no more reads than instructions have. And mmas never lose more than 19 of 20 cycles.
    if (w.reads > 0) cost = std::min(cost, 950 * w.issue / w.reads);
  }
  const Ticks lost = reads * cost / 1000;
  if (lost == 0) return {work.ticks, fmt::format("tensor core {} cycles", cycles(work.ticks))};
  return {work.ticks + lost, fmt::format("tensor core {} + {} register reads that delay it {} = {} cycles", cycles(work.ticks),
                                         cycles(reads), cycles(lost), cycles(work.ticks + lost))};
}

void add_unit_bounds(const Problem& problem, std::vector<PeriodBound>& bounds) {
  for (std::size_t u = 0; u < problem.units.size(); ++u) {
    const Unit& unit = problem.units[u];
    if (unit.role == UnitRole::Tensor || unit.role == UnitRole::Float || unit.role == UnitRole::Alu || unit.role == UnitRole::Special)
      continue;
    PeriodBound bound;
    for (std::size_t v = 0; v < problem.ops.size(); ++v)
      for (const UnitUse& use : problem.ops[v].uses) {
        if (use.unit != UnitId(u) || warp_role(problem, OpId(v)) != WarpRole::Copy) continue;
        bound.ticks += use.duration * use.amount * kCycle / unit.capacity;
        bound.sentence += (bound.sentence.empty() ? unit.name + ": " : " + ") + problem.ops[v].name;
      }
    if (bound.ticks == 0) continue;
    bound.sentence += fmt::format(" need {} cycles", cycles(bound.ticks));
    bounds.push_back(std::move(bound));
  }
}

}  // namespace

std::vector<PeriodBound> period_bounds(const Problem& problem) {
  std::vector<PeriodBound> bounds{tensor_bound(problem)};
  WarpWork all;
  for (std::size_t v = 0; v < problem.ops.size(); ++v) {
    const WarpWork w = work_of(problem, OpId(v));
    all.specials += w.specials;
    all.issue += w.issue;
  }
  const Ticks special = kCyclesOfSpecial * all.specials;
  bounds.push_back(
      {special, fmt::format("{} special functions, {} cycles each = {} cycles", cycles(all.specials), kCyclesOfSpecial, cycles(special))});
  bounds.push_back({all.issue, fmt::format("{} instructions of arithmetic, one a cycle", cycles(all.issue))});
  add_unit_bounds(problem, bounds);
  std::stable_sort(bounds.begin(), bounds.end(), [](const PeriodBound& a, const PeriodBound& b) { return a.ticks > b.ticks; });
  std::erase_if(bounds, [](const PeriodBound& bound) { return bound.ticks == 0; });
  return bounds;
}

namespace {

/// How long a group is at least held by the instructions of a step: all but those that are accepted and not begun, and the one that runs,
/// have run.
Ticks held_by(const Problem& problem, const Step& step) {
  const Contention& c = problem.contention;
  const std::int64_t queued = c.queued.of(step.registers).value, each = c.issue_step.value * kCycle;
  Ticks held = step.count * each;
  if (queued > 0) held = std::max(held, (step.count - 1 - queued) * step.each + each);
  return held + (step.first ? c.fence.value * kCycle : 0);
}

/// One stretch of arithmetic: at least so long with an idle tensor core, and beside a busy one.
struct Stretch {
  Ticks idle = 0, busy = 0;
};

}  // namespace

PeriodBound group_bound(const Problem& problem, const std::vector<Step>& circle) {
  const TensorWork work(problem);
  const Contention& c = problem.contention;
  std::vector<Stretch> stretches;
  Ticks held = 0, idle = 0, busy = 0;
  for (const Step& step : circle) {
    held += step.held + step.ready;
    if (step.kind == StepKind::Issue) held += held_by(problem, step);
    if (step.kind != StepKind::Arithmetic) continue;
    const Ticks least = std::max(step.work.issue, kCyclesOfSpecial * step.work.specials);
    const Ticks late = (work.least(c.late_per_read) * step.work.reads + c.late_per_special.value * step.work.specials) / 1000;
    stretches.push_back({std::max(step.work.alone, least), std::max(step.work.alone + late, least)});
    idle += stretches.back().idle;
    busy += stretches.back().busy;
  }
  // What gains most by it runs beside an idle tensor core.
  std::stable_sort(stretches.begin(), stretches.end(), [](const Stretch& a, const Stretch& b) {
    return static_cast<__int128>(a.busy) * b.idle > static_cast<__int128>(b.busy) * a.idle;
  });
  Ticks period = work.ticks, left = held + busy - work.ticks;
  for (const Stretch& s : stretches) {
    if (left <= 0 || s.busy >= left) {
      if (left > 0) period += static_cast<Ticks>(static_cast<__int128>(left) * s.idle / s.busy);
      left = 0;
      break;
    }
    period += s.idle;
    left -= s.busy;
  }
  period += std::max<Ticks>(0, left);
  return {period, fmt::format("held {} + arithmetic {} alone, {} beside mmas that take {}: at least {} cycles", cycles(held), cycles(idle),
                              cycles(busy), cycles(work.ticks), cycles(period))};
}

}  // namespace heddle::motion

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

/// The least time in which an op's reads can run: what is left of it where it hides under special functions (as_compiled.h), which takes
/// none of its reads away; of a maximum half may hide.
Ticks least_time(const Problem& problem, OpId id, const WarpWork& work) {
  if (!problem.contention.reordered) return work.alone;
  const std::int64_t issue = problem.op(id).kind == "reduce_max" ? work.issue / 2 : work.issue;
  const Ticks hides = work.alone - work.exposed;
  Ticks left = work.specials > 0 ? std::clamp<Ticks>(issue - work.specials, 0, hides) : hides;
  for (const Edge& e : problem.edges) {
    if (!e.value.valid() || (e.from != id && e.to != id)) continue;
    const std::int64_t specials = work_of(problem, e.from == id ? e.to : e.from).specials;
    if (specials > work.specials && issue <= kCyclesOfSpecial * specials)
      left = std::min(left, hides * problem.contention.hidden.value / 100);
  }
  return work.exposed + left;
}

/// What register reads take from the tensor core.
struct ReadLoss {
  std::int64_t reads = 0;   ///< of an iteration, 1/256
  Ticks taken = 0;          ///< at least; reads beside an idle tensor core take none, but time
  std::int64_t each = 0;    ///< the least, in thousandths of a cycle
  std::int64_t hidden = 0;  ///< that an idle cycle of the tensor core hides at most, in thousandths of a cycle
  Ticks ticks() const { return taken; }

  ReadLoss(const Problem& problem, const TensorWork& work) : each(work.least(problem.contention.product_per_read)) {
    // One instruction a cycle: idle cycles hide no more reads than instructions have. And mmas never lose more than 19 of 20 cycles.
    for (std::size_t v = 0; v < problem.ops.size(); ++v) {
      const WarpWork w = work_of(problem, OpId(v));
      reads += w.reads;
      if (w.reads > 0) each = std::min(each, 950 * w.issue / w.reads);
    }
    for (std::size_t v = 0; v < problem.ops.size(); ++v) {
      const WarpWork w = work_of(problem, OpId(v));
      taken += std::min(w.reads * each / 1000, least_time(problem, OpId(v), w));
    }
    for (std::size_t v = 0; v < problem.ops.size() && each > 0; ++v)
      if (const WarpWork w = work_of(problem, OpId(v)); w.reads > 0) hidden = std::max(hidden, ceil_div(each * w.reads, w.issue));
  }
};

PeriodBound tensor_bound(const Problem& problem) {
  const TensorWork work(problem);
  const ReadLoss loss(problem, work);
  const Ticks all = work.ticks + loss.ticks();
  if (loss.ticks() == 0) return {all, fmt::format("tensor core {} cycles", cycles(all))};
  return {all, fmt::format("tensor core {} + {} register reads that delay it {} = {} cycles", cycles(work.ticks), cycles(loss.reads),
                           cycles(loss.ticks()), cycles(all))};
}

void add_unit_bounds(const Problem& problem, std::vector<PeriodBound>& bounds) {
  for (std::size_t u = 0; u < problem.units.size(); ++u) {
    const Unit& unit = problem.units[u];
    if (unit.role == UnitRole::Tensor || is_arithmetic(unit.role)) continue;
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

/// How long a group is at least held by the instructions of a step: before the last one is accepted all of them have run but those that may
/// be in flight.
Ticks held_by(const Problem& problem, const CircleStep& step) {
  const Contention& c = problem.contention;
  const std::int64_t most = c.in_flight.value, each = c.issue_step.value * kCycle;
  Ticks held = step.count * each;
  if (most > 0) held = std::max(held, (step.count - most) * step.each + each);
  if (step.first) held += (c.fence.value + (step.registers ? c.register_fence.value : 0)) * kCycle;
  return held;
}

/// One stretch of arithmetic: at least so long with an idle tensor core, and beside a busy one.
struct Stretch {
  Ticks idle = 0, busy = 0;
};

}  // namespace

PeriodBound group_bound(const Problem& problem, const std::vector<CircleStep>& circle) {
  const TensorWork work(problem);
  const Contention& c = problem.contention;
  std::vector<Stretch> stretches;
  Ticks held = 0, idle = 0, busy = 0;
  for (const CircleStep& step : circle) {
    held += step.held + step.ready;
    if (step.kind == CircleStepKind::Issue) held += held_by(problem, step);
    if (step.kind != CircleStepKind::Arithmetic) continue;
    const Ticks least = std::max(step.work.issue, kCyclesOfSpecial * step.work.specials);
    const Ticks late = (work.least(c.late_per_read) * step.work.reads + c.late_per_special.value * step.work.specials) / 1000;
    stretches.push_back({std::max(step.work.alone, least), std::max(step.work.alone + late, least)});
    idle += stretches.back().idle;
    busy += stretches.back().busy;
  }
  // What gains most by it runs beside an idle tensor core. With I idle cycles a period is at least the bound of the tensor core + I - what
  // they hide.
  std::stable_sort(stretches.begin(), stretches.end(), [](const Stretch& a, const Stretch& b) {
    return static_cast<__int128>(a.busy) * b.idle > static_cast<__int128>(b.busy) * a.idle;
  });
  const ReadLoss loss(problem, work);
  Ticks period = work.ticks + loss.ticks(), left = held + busy - period;
  for (const Stretch& s : stretches) {
    if (left <= 0) break;
    const Ticks longer = s.idle * (1000 - loss.hidden) / 1000, gain = s.busy - s.idle + longer;
    if (gain >= left) period += static_cast<Ticks>(static_cast<__int128>(left) * longer / gain);
    if (gain < left) period += longer;
    left -= gain;
  }
  period += std::max<Ticks>(0, left);
  return {period, fmt::format("held {} + arithmetic {} alone, {} beside mmas, which take {}: at least {} cycles", cycles(held),
                              cycles(idle), cycles(busy), cycles(work.ticks + loss.ticks()), cycles(period))};
}

}  // namespace heddle::motion

#include "core/check/period_bound.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/check/period_circle.h"

namespace heddle::check_period {
namespace {

constexpr std::int64_t kThousand = 1000;

std::int64_t rounded(std::int64_t ticks) { return (ticks + kTicks / 2) / kTicks; }

/// The least that is left of an op's own time where it hides (period_circle.h), 1/256 cycles; of a maximum half may.
std::int64_t least_time(const Problem& problem, OpId id) {
  const Op& op = problem.op(id);
  const WarpWork& work = op.work;
  const std::int64_t instructions = op.kind == "reduce_max" ? work.issue / 2 : work.issue;
  const auto hosts = [&](OpId other) {
    return other != id && problem.op(other).work.specials > 0 && kCyclesOfSpecial * problem.op(other).work.specials >= instructions;
  };
  const std::int64_t hideable = work.alone - work.exposed;
  std::int64_t left = work.specials > 0 ? std::min(hideable, work.issue - work.specials) : hideable;
  for (const Edge& e : problem.edges) {
    if (!e.value.valid()) continue;
    if (e.from == id && hosts(e.to)) left = std::min(left, hideable / 4);
    if (e.to == id && hosts(e.from)) left = std::min(left, hideable * problem.contention.hidden.value / 100);
  }
  return problem.contention.reordered ? work.exposed + left : work.alone;
}

}  // namespace

PeriodSums period_sums(const Problem& problem) {
  PeriodSums sums;
  const Contention& numbers = problem.contention;
  std::vector<Cycle> busy(problem.units.size(), 0), copied(problem.units.size(), 0);
  std::int64_t dearest = kThousand / 3;  // an idle third of a cycle
  for (std::size_t v = 0; v < problem.ops.size(); ++v) {
    const Op& op = problem.ops[v];
    const bool product = is_product(problem, OpId(v));
    for (const UnitUse& use : op.uses) {
      const bool tensor = problem.unit(use.unit).role == UnitRole::Tensor;
      if (product && tensor) busy[use.unit.index()] += use.work();
      if (op.asynchronous && !product) copied[use.unit.index()] += use.work();
    }
    if (product) dearest = std::min(dearest, numbers.product_per_read.of(op.from_registers).value);
    if (product || op.asynchronous || !numbers.known) continue;
    sums.reads += op.work.reads;
    sums.specials += op.work.specials;
    sums.issue += op.work.issue;
  }
  for (std::size_t u = 0; u < busy.size(); ++u) {
    sums.tensor = std::max(sums.tensor, busy[u]);
    sums.copies = std::max(sums.copies, copied[u]);
  }
  sums.per_read = sums.tensor > 0 && numbers.known ? dearest : 0;
  const std::int64_t delay = sums.reads * sums.per_read / kThousand;
  std::int64_t certain_delay = 0;
  for (std::size_t v = 0; v < problem.ops.size(); ++v)
    if (!problem.ops[v].asynchronous && numbers.known)
      certain_delay += std::min(problem.ops[v].work.reads * sums.per_read / kThousand, least_time(problem, OpId(v)));

  const std::int64_t tensor = sums.tensor * kTicks + delay, specials = sums.specials * kCyclesOfSpecial, issue = sums.issue,
                     copies = sums.copies * kTicks;
  sums.ticks = std::max({tensor, specials, issue, copies});
  sums.certain = std::max({sums.tensor * kTicks + certain_delay, specials, issue, copies});
  if (sums.ticks == tensor)
    sums.sentence = fmt::format("tensor core {}{} = {} cycles", sums.tensor,
                                delay > 0 ? fmt::format(" + {} register reads that delay it {}", rounded(sums.reads), rounded(delay)) : "",
                                rounded(tensor));
  else if (sums.ticks == specials)
    sums.sentence =
        fmt::format("{} special functions of {} cycles = {} cycles", rounded(sums.specials), kCyclesOfSpecial, rounded(specials));
  else if (sums.ticks == issue)
    sums.sentence = fmt::format("{} instructions of a cycle = {} cycles", rounded(sums.issue), rounded(sums.issue));
  else
    sums.sentence = fmt::format("copies that keep one unit busy = {} cycles", sums.copies);
  return sums;
}

}  // namespace heddle::check_period

#include "core/simulate/op_costs.h"

#include <algorithm>

#include "core/base/integer_division.h"
#include "core/simulate/tally.h"

namespace heddle {
namespace {

/// Cycles in which an interleaved unit serves one op before it looks at the next: about one wgmma, or a few arithmetic instructions of
/// each warp.
constexpr Cycle kPart = 64;

bool interleaves(const Unit& unit) { return unit.role == UnitRole::Tensor || is_arithmetic(unit.role); }

void cut_in_parts(const Op& op, const Problem& problem, const std::vector<OpUse>& uses, OpCost& cost) {
  Cycle longest = 0;
  bool interleaved = false;
  for (std::uint32_t u = cost.first_use; u < cost.last_use; ++u) {
    if (uses[u].offset > 0) return;
    interleaved |= interleaves(problem.units[uses[u].unit]);
    longest = std::max(longest, uses[u].duration);
  }
  if (!interleaved) return;
  cost.parts = std::max<std::int64_t>(1, ceil_div(longest, kPart));
  cost.laned = op.asynchronous;
  cost.whole = cost.laned ? longest : std::max(longest, op.window);
}

}  // namespace

OpCosts op_costs(const CtaProgram& program, const SimulateOptions& options) {
  const Problem& problem = program.problem;
  OpCosts costs;
  std::vector<char> waits(problem.ops.size(), 0);
  for (const Edge& e : problem.edges)
    if (e.waits || program.schedule.group(e.from) != program.schedule.group(e.to)) waits[e.to.index()] = 1;
  for (std::size_t v = 0; v < problem.ops.size(); ++v) {
    const Op& op = problem.ops[v];
    OpCost cost;
    cost.latency = op.latency;
    cost.window = op.window;
    cost.end = end_of(op);
    cost.group = static_cast<std::uint32_t>(program.schedule.ops[v].group.index());
    cost.first_use = static_cast<std::uint32_t>(costs.uses.size());
    for (const UnitUse& use : op.uses)
      if (use.duration > 0 && use.amount > 0)
        costs.uses.push_back({static_cast<std::uint32_t>(use.unit.index()), use.offset, use.duration, use.amount});
    cost.last_use = static_cast<std::uint32_t>(costs.uses.size());
    cost.blocking = op.window > 0 || waits[v] || program.sections[v] != CtaSection::Loop;
    cost.queues = op.asynchronous && options.arbitration != Arbitration::Scheduled;
    cost.jitters = varies(options.jitter, op);
    if (options.arbitration == Arbitration::Interleaved) cut_in_parts(op, problem, costs.uses, cost);
    costs.ops.push_back(cost);
  }
  Cycle apart = 0;
  for (const CtaStream& stream : program.streams) {
    const auto product =
        std::find_if(stream.loop.begin(), stream.loop.end(), [&](const auto& op) { return op.stage == 0 && costs.ops[op.op].laned; });
    const bool found = product != stream.loop.end();
    costs.first_product.push_back(found ? product->op : OpCosts::kNone);
    costs.apart.push_back(found ? apart : 0);
    if (found) apart += options.apart;
  }
  return costs;
}

}  // namespace heddle

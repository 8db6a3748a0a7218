#include "core/simulate/supply.h"

#include <algorithm>

#include "core/base/integer_division.h"
#include "core/simulate/pace.h"

namespace heddle {
namespace {

/// Bytes that the op has L2 move: what it loads or stores; a reduction is read and written there.
std::int64_t moved_bytes(const TileOp& op, const Problem& problem, std::size_t index) {
  if (op.tensor.empty()) return 0;
  std::int64_t bytes = 0;
  for (const Value& value : problem.values)
    if (op.outputs.empty() ? value.name == op.inputs.front().value : value.producer.index() == index) bytes += value.bytes;
  return op.kind == "atomic_add" ? 2 * bytes : bytes;
}

bool names(const TileOp& op, const std::string& dimension) {
  return std::any_of(op.at.begin(), op.at.end(), [&](const Expr& coordinate) {
    const auto used = coordinate.names();
    return std::find(used.begin(), used.end(), dimension) != used.end();
  });
}

void lengthen(Problem& problem, std::size_t index, Cycle cycles) {
  Op& op = problem.ops[index];
  for (UnitUse& use : op.uses) {
    if (problem.units[use.unit.index()].role != UnitRole::Copy || use.duration >= cycles) continue;
    const Cycle more = cycles - use.duration;
    use.duration = cycles;
    delay_results(problem, OpId(index), more);
    for (Channel& channel : problem.channels)
      for (Reader& reader : channel.readers)
        if (reader.op.index() == index) reader.release += more;
  }
}

}  // namespace

SuppliedProblem supplied_by_l2(const Instance& instance, int cluster, std::int64_t sms) {
  const Kernel& kernel = instance.kernel();
  const Machine& machine = instance.machine();
  const Problem& problem = instance.problem();
  SuppliedProblem supplied{problem, 0};
  std::vector<std::int64_t> bytes;
  for (std::size_t i = 0; i < kernel.body.size() && i < problem.ops.size(); ++i) bytes.push_back(moved_bytes(kernel.body[i], problem, i));
  const auto least = [&](const GridDim& dimension) {
    std::vector<std::int64_t> left = bytes;
    for (std::size_t i = 0; i < left.size(); ++i)
      if (!kernel.body[i].outputs.empty() && !names(kernel.body[i], dimension.name)) left[i] = ceil_div(left[i], cluster);
    return left;
  };
  const auto sum = [](const std::vector<std::int64_t>& list) {
    std::int64_t all = 0;
    for (const std::int64_t b : list) all += b;
    return all;
  };
  std::vector<std::int64_t> drawn = bytes;
  if (cluster > 1)
    for (const GridDim& dimension : kernel.grid)
      if (const auto left = least(dimension); sum(left) < sum(drawn)) drawn = left;
  supplied.l2_bytes = sum(drawn);
  const std::int64_t rate = machine.shared.l2_bytes;
  if (rate == 0) return supplied;
  for (std::size_t i = 0; i < drawn.size(); ++i)
    if (drawn[i] > 0) lengthen(supplied.problem, i, ceil_div(drawn[i] * std::max<std::int64_t>(1, sms), rate * machine.sm_count));
  return supplied;
}

}  // namespace heddle

#include "core/simulate/pace.h"

#include <algorithm>

#include "core/base/integer_division.h"
#include "core/base/saturate.h"

namespace heddle {

void delay_results(Problem& problem, OpId op, Cycle more) {
  problem.ops[op.index()].latency += more;
  for (Edge& edge : problem.edges)
    if (edge.from == op && edge.value.valid()) edge.latency += more;
}

namespace {

/// Holds its stream while it computes.
bool computes(const Op& op, const std::vector<Unit>& units) {
  return !op.asynchronous && std::any_of(op.uses.begin(), op.uses.end(), [&](const UnitUse& use) {
    return use.duration > 0 && is_arithmetic(units[use.unit.index()].role);
  });
}

/// A product beside arithmetic. Returns by how many cycles it is longer.
Cycle slow_product(Op& op, const std::vector<Unit>& units, const StreamCosts& streams) {
  const std::int64_t percent = op.rule.ends_with(".rs") ? streams.register_product_percent : streams.product_percent;
  Cycle more = 0;
  for (UnitUse& use : op.uses)
    if (op.asynchronous && units[use.unit.index()].role == UnitRole::Tensor) {
      more = ceil_div(sat_mul(use.duration, percent - 100), 100);
      use.duration += more;
    }
  op.latency += more;
  return more;
}

}  // namespace

Cycle pace(Op& op, const std::vector<Unit>& units, const StreamCosts& streams) {
  if (!computes(op, units)) return 0;
  const Cycle more = ceil_div(sat_mul(op.window, streams.arithmetic_percent - 100), 100);
  op.window += more;
  op.latency += more;
  return more;
}

void pace(Problem& problem, const StreamCosts& streams) {
  const bool arithmetic = std::any_of(problem.ops.begin(), problem.ops.end(), [&](const Op& op) { return computes(op, problem.units); });
  std::vector<Cycle> more;
  for (Op& op : problem.ops) more.push_back(pace(op, problem.units, streams) + (arithmetic ? slow_product(op, problem.units, streams) : 0));
  for (Edge& edge : problem.edges)
    if (edge.value.valid()) edge.latency += more[edge.from.index()];
  for (Channel& channel : problem.channels)
    for (Reader& reader : channel.readers) reader.release += more[reader.op.index()];
}

}  // namespace heddle

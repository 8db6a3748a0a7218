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

Cycle pace(Op& op, const std::vector<Unit>& units, std::int64_t percent) {
  const auto computes = [&](const UnitUse& use) {
    const UnitRole role = units[use.unit.index()].role;
    return use.duration > 0 && (role == UnitRole::Float || role == UnitRole::Alu || role == UnitRole::Special);
  };
  if (op.asynchronous || percent == 100 || std::none_of(op.uses.begin(), op.uses.end(), computes)) return 0;
  const Cycle more = ceil_div(sat_mul(op.window, percent - 100), 100);
  op.window += more;
  op.latency += more;
  return more;
}

void pace(Problem& problem, std::int64_t percent) {
  std::vector<Cycle> more;
  for (Op& op : problem.ops) more.push_back(pace(op, problem.units, percent));
  for (Edge& edge : problem.edges)
    if (edge.value.valid()) edge.latency += more[edge.from.index()];
  for (Channel& channel : problem.channels)
    for (Reader& reader : channel.readers) reader.release += more[reader.op.index()];
}

}  // namespace heddle

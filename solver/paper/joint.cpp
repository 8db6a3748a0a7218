#include "solver/paper/joint.h"

#include <exception>

namespace heddle::solver::paper {

JointAnswer swp_and_ws(const PaperGraph& graph, const Options& options, const JointQuery& query, const QueryLimits& limits) {
  try {
    return options.form == PaperForm::Literal ? joint_literal(graph, options, query, limits) : joint_compact(graph, options, query, limits);
  } catch (const Stopped&) {
  } catch (const std::exception&) {  // the solver gave up, or memory ran out
  }
  return {};
}

bool valid_modulo_schedule(const PaperGraph& graph, Cycle ii, Cycle length, const std::vector<Cycle>& starts) {
  for (std::size_t v = 0; v < graph.nodes.size(); ++v)
    if (starts[v] < 0 || starts[v] >= length || starts[v] + graph.nodes[v].cycles > length) return false;
  for (const Arc& arc : graph.arcs)
    if (starts[arc.to] + arc.distance * ii < starts[arc.from] + arc.delay) return false;
  std::vector<std::vector<std::int64_t>> used(graph.unit_capacity.size(), std::vector<std::int64_t>(static_cast<std::size_t>(ii), 0));
  for (std::size_t v = 0; v < graph.nodes.size(); ++v)
    for (const TableUse& use : graph.nodes[v].table)
      for (Cycle c = use.offset; c < use.offset + use.duration; ++c) {
        std::int64_t& amount = used[use.unit][static_cast<std::size_t>((starts[v] + c) % ii)];
        amount += use.amount;
        if (amount > graph.unit_capacity[use.unit]) return false;
      }
  return true;
}

}  // namespace heddle::solver::paper

#include "core/triton/kernel/joins.h"

#include <algorithm>
#include <vector>

#include "core/triton/kernel/chain.h"

namespace heddle::triton {

Joins find_joins(const LoopText& text, Scalars& scalars) {
  Joins joins;
  for (std::size_t n = 0; n < text.graph.nodes.size(); ++n) {
    const mlir::Op& reduction = text.op(n);
    if (work_of(text.program, reduction) != OpRole::Reduce) continue;
    const std::string what = reduction_of(*text.program.module, reduction);
    if (what != "max" && what != "sum") continue;
    const std::vector<std::int64_t>& extents = text.program.operand_type(reduction, 0).tile.shape;
    if (extents.size() == 2 && (extents[0] == 1 || extents[1] == 1)) continue;
    const mlir::Op& yield = text.op(text.flow.body()->ops.back());
    if (std::ranges::any_of(yield.operands, [&](mlir::ValueId v) { return text.flow.through_branches(v) == reduction.results[0]; }))
      continue;
    const GraphEdge* reader = nullptr;
    std::size_t readers = 0;
    for (const GraphEdge& edge : text.graph.edges)
      if (edge.from == n) {
        ++readers;
        reader = &edge;
      }
    if (readers != 1 || reader->distance != 0) continue;
    const std::size_t chain = text.graph.nodes[reader->to].fused, last = text.graph.fused[chain].back();
    const TileNode &a = text.graph.nodes[n], &b = text.graph.nodes[last];
    const auto role = work_of(text.program, text.op(last));
    if (role != OpRole::Elements || a.stage != b.stage || a.cluster != b.cluster || a.partitions != b.partitions ||
        joins.reduction.contains(chain))
      continue;
    if (text.result(reduction).tile.shape != text.result(text.op(last)).tile.shape) continue;
    std::vector<mlir::OpId> members;
    for (const std::size_t m : text.graph.fused[chain]) members.push_back(text.graph.nodes[m].op);
    const Chain built = build_chain(text.flow, scalars, text.graph.nodes[last].op, members, text.row_vectors);
    const auto input = std::find_if(built.inputs.begin(), built.inputs.end(), [&](const ChainInput& in) {
      return in.source.op == text.graph.nodes[n].op && in.source.distance == 0;
    });
    if (!built.fault.empty() || input == built.inputs.end()) continue;
    if (!joined_reduction(built, static_cast<std::size_t>(input - built.inputs.begin()), what == "max")) continue;
    joins.chain[n] = chain;
    joins.reduction[chain] = n;
  }
  return joins;
}

}  // namespace heddle::triton

#include "core/triton/kernel/loop_text.h"

#include <algorithm>

namespace heddle::triton {

LoopText::LoopText(const TritonProgram& in, const LoopSite& site, TextReading how, TileGraph of)
    : program(in), loop(site), reading(how), graph(std::move(of)), flow(in, site.op) {
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) nodes.emplace(graph.nodes[n].op, n);
  row_vectors = std::none_of(graph.nodes.begin(), graph.nodes.end(), [&](const TileNode& node) {
    const mlir::Op& each = program.module->op(node.op);
    const auto flat = [&](mlir::ValueId v) { return program.type(v).tile.tile() && program.type(v).tile.shape.size() > 1; };
    return std::any_of(each.results.begin(), each.results.end(), flat) || std::any_of(each.operands.begin(), each.operands.end(), flat);
  });
}

std::optional<std::size_t> LoopText::node_of(mlir::OpId op) const {
  const auto it = nodes.find(op);
  return it == nodes.end() ? std::nullopt : std::optional(it->second);
}

bool LoopText::transposed_view(mlir::ValueId value) const {
  bool odd = false;
  for (int passage = 0; passage < 256; ++passage) {
    value = flow.carried(value).value;
    const mlir::OpId definer = program.module->value(value).definer;
    if (!definer.valid()) break;
    const mlir::Op& each = op(definer);
    const std::string name = find_op(each.name) ? present_name(each.name) : each.name;
    if (name == "ttg.memdesc_trans" || name == "tt.trans") odd = !odd;
    const auto role = work_of(program, each);
    const bool alloc = role == OpRole::SharedAlloc && !each.operands.empty() && !is_tile_op(program, flow, each);
    if ((role != OpRole::View && !alloc) || each.operands.empty()) break;
    value = each.operands[0];
  }
  return odd;
}

}  // namespace heddle::triton

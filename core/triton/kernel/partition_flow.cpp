#include "core/triton/kernel/partition_flow.h"

#include <map>

#include "core/triton/memory/pipeline.h"
#include "core/triton/memory/places.h"
#include "core/triton/read/decisions.h"
#include "core/triton/read/ops.h"
#include "core/triton/read/order.h"

namespace heddle::triton {

PartitionFlow::PartitionFlow(const TritonProgram& program, const LoopSite& loop) {
  const mlir::Module& module = *program.module;
  const mlir::Block* body = module.body(loop.op);
  if (!body) return;
  std::map<mlir::OpId, std::size_t> place;
  for (const mlir::OpId id : body->ops) {
    if (module.op(id).name == "scf.yield") continue;
    place.emplace(id, ops.size());
    ops.push_back(id);
    partitions.push_back(partitions_of_op(module.op(id)));
  }
  tile.assign(ops.size(), false);
  readers.resize(ops.size());
  sources.resize(ops.size());
  for (const auto& found : {edges_of(program, loop), overwrites_of(program, loop)})
    for (const SsaEdge& edge : found) {
      const auto from = place.find(edge.from), to = place.find(edge.to);
      if (from == place.end() || to == place.end()) continue;
      readers[from->second].push_back(edges.size());
      sources[to->second].push_back(edges.size());
      edges.push_back({from->second, to->second, edge.distance, edge.token});
    }
  std::vector<std::size_t> reached;
  const auto reach = [&](std::size_t op) {
    if (tile[op]) return;
    tile[op] = true;
    reached.push_back(op);
  };
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const std::string& name = module.op(ops[i]).name;
    if (is_descriptor_load(name) || is_tensor_product(name) || present_name(name) == "ttng.tmem_load") reach(i);
  }
  while (!reached.empty()) {
    const std::size_t op = reached.back();
    reached.pop_back();
    for (const std::size_t edge : readers[op]) reach(edges[edge].to);
  }
}

mlir::OpId specialized_loop(const TritonProgram& program, mlir::OpId loop) {
  for (mlir::OpId at = loop; at.valid(); at = program.module->around(at))
    if (program.module->op(at).find("tt.warp_specialize")) return at;
  return loop;
}

bool touches_tensor_memory(std::string_view name) {
  const std::string present = present_name(name);
  return present == "ttng.tmem_load" || present == "ttng.tmem_store";
}

bool is_partition_view(std::string_view name) {
  return is_view(name) || name == "tt.expand_dims" || name == "tt.broadcast" || present_name(name) == "ttg.convert_layout";
}

mlir::ValueId tensor_storage(const TritonProgram& program, const mlir::Op& op) {
  const mlir::Module& module = *program.module;
  const std::vector<mlir::ValueId> operands = plain_operands(op);
  // A store names what it stores first.
  const std::size_t at = is_tensor_product(op.name) ? 2 : present_name(op.name) == "ttng.tmem_store" ? 1 : 0;
  if (at >= operands.size()) return {};
  mlir::ValueId value = operands[at];
  for (mlir::OpId made = module.value(value).definer; made.valid(); made = module.value(value).definer) {
    const mlir::Op& maker = module.op(made);
    if (present_name(maker.name) == "ttng.tmem_alloc") return value;
    if (!is_view(maker.name) || maker.operands.empty()) return {};
    value = maker.operands.front();
  }
  return {};
}

}  // namespace heddle::triton

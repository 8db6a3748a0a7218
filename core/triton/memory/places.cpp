// Loops that hold a reader but not the maker keep the memory until they end: the next iteration reads again.
#include "core/triton/memory/places.h"

#include <algorithm>

namespace heddle::triton {

bool is_view(std::string_view name) {
  const std::size_t dot = name.find('.');
  if (dot != std::string_view::npos) name.remove_prefix(dot + 1);
  return name.starts_with("memdesc_") || name == "tmem_subslice";
}

Places::Places(const TritonProgram& program)
    : program_(program),
      at_(program.module->ops.size(), 0),
      begins_(program.module->ops.size(), 0),
      specialize_(program.module->ops.size(), -1),
      region_(program.module->ops.size(), -1),
      readers_(program.module->values.size()),
      flows_(program.module->values.size()) {
  const mlir::Module& module = *program.module;
  std::int64_t next = 0;
  if (program.function.valid()) number(program.function, next, -1, -1);
  const auto flow = [&](mlir::ValueId from, mlir::ValueId to) { flows_[from.index()].push_back(to); };
  for (std::size_t i = 0; i < module.ops.size(); ++i) {
    const mlir::Op& op = module.ops[i];
    const mlir::OpId id(i);
    for (const mlir::ValueId operand : op.operands) readers_[operand.index()].push_back(id);
    if (is_view(op.name) && !op.operands.empty() && !op.results.empty()) flow(op.operands.front(), op.results.front());
    if (op.name == "arith.select" && op.operands.size() == 3 && !op.results.empty())
      for (const std::size_t k : {1u, 2u}) flow(op.operands[k], op.results.front());
    if (op.name == "scf.for")
      if (const mlir::Block* body = module.body(id))
        for (std::size_t k = 3; k < op.operands.size(); ++k) {
          if (k - 2 < body->arguments.size()) flow(op.operands[k], body->arguments[k - 2]);
          if (k - 3 < op.results.size()) flow(op.operands[k], op.results[k - 3]);
        }
    if (op.name.starts_with("ttg.warp_specialize"))
      for (const mlir::RegionId region : op.regions)
        if (!module.region(region).blocks.empty()) {
          const mlir::Block& block = module.block(module.region(region).blocks.front());
          for (std::size_t k = 0; k < block.arguments.size() && k < op.operands.size(); ++k) flow(op.operands[k], block.arguments[k]);
        }
    if (op.name == "scf.yield" || op.name == "scf.condition" || op.name == "ttg.warp_yield") {
      const mlir::OpId around = module.around(id);
      if (!around.valid()) continue;
      const mlir::Op& parent = module.op(around);
      const std::size_t skip = op.name == "scf.condition" ? 1 : 0;
      for (std::size_t k = skip; k < op.operands.size(); ++k) {
        if (k - skip < parent.results.size()) flow(op.operands[k], parent.results[k - skip]);
        // A loop's next iteration; of scf.while both regions hand on.
        if (parent.name == "scf.for") {
          if (const mlir::Block* body = module.body(around); body && k + 1 < body->arguments.size())
            flow(op.operands[k], body->arguments[k + 1]);
        } else if (parent.name == "scf.while") {
          if (const mlir::Block* other = module.body(around, skip ? 1 : 0); other && k - skip < other->arguments.size())
            flow(op.operands[k], other->arguments[k - skip]);
        }
      }
    }
    if (op.name == "scf.while")
      if (const mlir::Block* before = module.body(id))
        for (std::size_t k = 0; k < op.operands.size() && k < before->arguments.size(); ++k) flow(op.operands[k], before->arguments[k]);
  }
}

void Places::number(mlir::OpId id, std::int64_t& next, int specialize, int region) {
  const mlir::Op& op = program_.module->op(id);
  specialize_[id.index()] = specialize;
  region_[id.index()] = region;
  begins_[id.index()] = next;
  const bool specializes = op.name.starts_with("ttg.warp_specialize");
  int which = 0;
  for (const mlir::RegionId inside : op.regions) {
    for (const mlir::BlockId block : program_.module->region(inside).blocks)
      for (const mlir::OpId each : program_.module->block(block).ops)
        number(each, next, specializes ? static_cast<int>(id.index()) : specialize, specializes ? which : region);
    ++which;
  }
  at_[id.index()] = next;
  next += kStep;
}

std::vector<mlir::ValueId> Places::names(mlir::ValueId value) const {
  std::vector<mlir::ValueId> found{value};
  std::vector<bool> seen(flows_.size());
  seen[value.index()] = true;
  for (std::size_t i = 0; i < found.size(); ++i)
    for (const mlir::ValueId next : flows_[found[i].index()])
      if (!seen[next.index()]) {
        seen[next.index()] = true;
        found.push_back(next);
      }
  return found;
}

std::int64_t Places::end_of_use(mlir::OpId maker, mlir::OpId reader) const {
  std::int64_t end = at(reader) + kStep;
  for (mlir::OpId around = program_.module->around(reader); around.valid(); around = program_.module->around(around)) {
    const bool holds_maker = begins(around) <= at(maker) && at(maker) <= at(around);
    if (holds_maker) break;
    const std::string& name = program_.module->op(around).name;
    if (name == "scf.for" || name == "scf.while") end = std::max(end, at(around));
    if (name.starts_with("ttg.warp_specialize")) end = std::max(end, at(around) + kStep);
  }
  return end;
}

Life Places::life(mlir::OpId maker, mlir::ValueId value) const {
  Life life{at(maker), at(maker) + kStep};
  for (const mlir::ValueId name : names(value))
    for (const mlir::OpId reader : readers(name)) life.end = std::max(life.end, end_of_use(maker, reader));
  return life;
}

mlir::ValueId Places::root(mlir::ValueId value) const {
  const mlir::Module& module = *program_.module;
  for (int i = 0; i < 64; ++i) {
    const mlir::Value& known = module.value(value);
    if (known.definer.valid()) {
      const mlir::Op& op = module.op(known.definer);
      if (!is_view(op.name) || op.operands.empty()) return value;
      value = op.operands.front();
      continue;
    }
    if (!known.block.valid()) return value;
    const mlir::OpId around = module.region(module.block(known.block).parent).parent;
    if (!around.valid()) return value;
    const mlir::Op& op = module.op(around);
    if (op.name.starts_with("ttg.warp_specialize") && known.index < op.operands.size())
      value = op.operands[known.index];
    else if (op.name == "scf.for" && known.index >= 1 && known.index + 2 < op.operands.size())
      value = op.operands[known.index + 2];
    else
      return value;
  }
  return value;
}

}  // namespace heddle::triton

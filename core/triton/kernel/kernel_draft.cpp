#include "core/triton/kernel/kernel_draft.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/kernel/map_expression.h"

namespace heddle::triton {
namespace {

std::string fresh(const std::string& name, std::set<std::string>& taken) {
  const std::string wanted = kernel_name(name);
  std::string free = wanted;
  for (int i = 2; !taken.insert(free).second; ++i) free = fmt::format("{}_{}", wanted, i);
  return free;
}

bool beside_product(const TritonProgram& program, const TritonLayout& layout) {
  if (layout.kind != TritonLayout::Kind::Slice || layout.parent.empty()) return false;
  const TritonLayout::Kind parent = layout.parent[0].kind;
  return parent == TritonLayout::Kind::NvidiaMma || (program.target >= 100 && parent == TritonLayout::Kind::Linear);
}

/// A vector beside an mma's tile: on Hopper a thread has two of every eight columns and two of every 64 rows, on Blackwell a row.
std::int64_t vector_registers(const TritonProgram& program, const Type& type, std::int64_t extent) {
  const bool column = type.layout.kind == TritonLayout::Kind::Slice && type.layout.dim == 0, blackwell = program.target >= 100;
  return std::max<std::int64_t>(1, extent / (column ? (blackwell ? 1 : 4) : blackwell ? 128 : 32));
}

}  // namespace

void LoopKernelDraft::refuse(const mlir::Op& op, std::string why) {
  if (error.faults.size() < 64) error.faults.push_back({text.program.file, fmt::format("{}", op.line), std::move(why), {}});
}

std::vector<std::int64_t> LoopKernelDraft::shape_of(const Type& type, bool held_transposed) const {
  std::vector<std::int64_t> shape = type.tile.shape;
  if (shape.empty()) return {1};
  // Ops that only have a price look at no places.
  if (shape.size() > 2) shape = {type.tile.elements() / std::max<std::int64_t>(1, shape.back()), shape.back()};
  if (shape.size() == 1 && text.row_vectors) shape.insert(shape.begin(), 1);
  // A tile of one row or one column is a vector beside tiles of two dimensions.
  if (shape.size() == 2 && !text.row_vectors && (shape[0] == 1 || shape[1] == 1)) return {std::max(shape[0], shape[1])};
  if (held_transposed && shape.size() == 2) std::swap(shape[0], shape[1]);
  return shape;
}

std::string LoopKernelDraft::add_value(const std::string& name, const Type& type, Space space, bool held_transposed) {
  const std::string free = fresh(name, value_names);
  TileValue value;
  value.name = free;
  value.dtype = dump::nearest_dtype(type.tile);
  if (type.tile.bits == 1) value.dtype = DType::F32;  // a flag of a comparison: 0 or 1
  if (type.tile.tile() && !is_float(type) && type.tile.bits > 1 && type.tile.bits < 32)
    scalars.note(fmt::format("integers of {0} bits are taken as numbers of {0} bits", type.tile.bits));
  value.space = space;
  std::vector<std::int64_t> shape = shape_of(type, held_transposed);
  for (const std::int64_t extent : shape) value.shape.emplace_back(extent);
  // Row statistics are held several times; who reads by the text knows exactly, else it follows from the mma's layout.
  if (space == Space::Register) {
    const std::int64_t exact = registers_per_thread(type, text.program.num_warps);
    if (text.reading == TextReading::Triton && exact > 0)
      value.registers = Expr(exact);
    else if (shape.size() == 1 && beside_product(text.program, type.layout))
      value.registers = Expr(vector_registers(text.program, type, shape[0]));
    else if (type.tile.shape.empty())
      value.registers = Expr(1);
  }
  transposed[free] = held_transposed;
  extents[free] = std::move(shape);
  native.kernel.values.push_back(std::move(value));
  return free;
}

TileOp& LoopKernelDraft::add_op(const OpSite& site, std::string name, std::string kind, std::vector<Operand> inputs,
                                std::vector<std::string> outputs) {
  std::vector<TileOp>& list = site.part == KernelPart::Prologue ? native.kernel.prologue
                              : site.part == KernelPart::Body   ? native.kernel.body
                                                                : native.kernel.epilogue;
  TileOp& op = list.emplace_back();
  op.name = fresh(name, op_names);
  op.kind = std::move(kind);
  op.inputs = std::move(inputs);
  op.outputs = std::move(outputs);
  if (site.part == KernelPart::Body) {
    Origin& origin = native.origins.emplace_back();
    origin.op = op.name;
    const auto node = text.node_of(mlir::OpId(static_cast<std::size_t>(&site.from - text.program.module->ops.data())));
    set_origin(node ? text.graph.fused[text.graph.nodes[*node].fused] : std::vector<std::size_t>{}, site.from);
  }
  return op;
}

void LoopKernelDraft::set_origin(const std::vector<std::size_t>& nodes, const mlir::Op& from) {
  Origin& origin = native.origins.back();
  const mlir::Op* first = &from;
  for (const std::size_t n : nodes) origin.of.push_back(text.graph.nodes[n].op);
  if (nodes.empty()) origin.of.push_back(mlir::OpId(static_cast<std::size_t>(&from - text.program.module->ops.data())));
  const mlir::Location& place = text.program.module->location(*first);
  origin.file = place.file;
  origin.line = place.line;
  // What a library function computes is looked for where it was called.
  for (const auto& [file, line] : place.callers)
    if (origin.file.find("triton/language") != std::string::npos || origin.file.empty()) {
      origin.file = file;
      origin.line = line;
    }
  origin.text_line = first->line;
  const mlir::Op& staged = text.flow.in_turn(from);
  if (staged.find("loop.stage")) origin.stage = staged.integer("loop.stage", 0);
  if (staged.find("loop.cluster")) origin.cluster = staged.integer("loop.cluster", 0);
  if (!nodes.empty() && !text.graph.nodes[nodes.back()].partitions.empty())
    origin.partition = text.graph.nodes[nodes.back()].partitions.front();
}

void LoopKernelDraft::add_chain(const OpSite& site, const Chain& chain, const std::string& name, const std::vector<Operand>& inputs) {
  NativeOp said = native_op(chain);
  const bool swapped = said.attrs.contains("swapped") && std::get<bool>(said.attrs["swapped"]);
  said.attrs.erase("swapped");
  std::vector<Operand> operands;
  for (const std::size_t k : said.inputs) operands.push_back(inputs[k]);
  if (said.kind == "convert" && !operands.empty()) {
    const auto type_of = [&](const std::string& value) { return native.kernel.find_value(value)->dtype; };
    if (type_of(operands[0].value) == type_of(name)) said.kind = "copy";
  }
  if (said.kind == "map") {
    const auto* expr = std::get_if<std::string>(&said.attrs["expr"]);
    const Result<MapExpression> expression = MapExpression::parse(*expr, operands.size());
    if (!expression) return refuse(site.from, "its chain of element functions is too long: " + expression.error().faults.front().message);
    const Result<MapExpression> paid = MapExpression::parse(expression_text(chain.term, true), operands.size());
    const MapExpression::Counts counts = paid ? paid->counts() : expression->counts();
    said.attrs["fma"] = counts.fma;
    said.attrs["alu"] = counts.alu;
    said.attrs["mufu"] = counts.mufu;
  }
  TileOp& made = add_op(site, name, said.kind, std::move(operands), {name});
  made.attrs = std::move(said.attrs);
  if (said.kind == "mask" || (said.kind == "map" && !chain.at.empty())) {
    made.at = chain.at;
    while (made.at.size() < 2) made.at.emplace_back(0);
    if (swapped) std::swap(made.at[0], made.at[1]);
  }
}

}  // namespace heddle::triton

#include "core/kernel/infer.h"

#include <algorithm>
#include <optional>

#include "core/base/words.h"
#include "core/kernel/op_kind.h"
#include "core/kernel/op_shapes.h"

namespace heddle {
namespace {

struct Inferred {
  std::optional<DType> dtype;
  std::optional<std::vector<Expr>> shape;
  std::optional<Space> space;
};

bool moves(std::string_view kind) {
  return one_of(kind, {"copy", "smem_load", "smem_store", "tmem_load", "tmem_store", "mask", "broadcast"});
}

/// What `op` says of the value that it defines, of operands as they are known; an operand that is the value itself says nothing.
Inferred inferred(const Kernel& kernel, const TileOp& op, const OmittedByValue& left_out) {
  Inferred found;
  const std::string_view kind = op.kind;
  const auto left = [&](const TileValue& v) {
    const auto it = left_out.find(v.name);
    return it == left_out.end() ? OmittedMembers{} : it->second;
  };
  std::vector<const TileValue*> operands;
  for (const Operand& in : op.inputs) operands.push_back(in.value == op.outputs[0] ? nullptr : kernel.find_value(in.value));
  const auto shape_of = [&](std::size_t k) -> const std::vector<Expr>* {
    return k < operands.size() && operands[k] && !left(*operands[k]).shape ? &operands[k]->shape : nullptr;
  };

  if (kind == "opaque" || kind == "gather" || !find_op_kind(kind)) return found;
  found.space = one_of(kind, {"tma_load", "smem_store"}) || is_async_load(op) ? Space::Smem
                : kind == "tmem_store"                                        ? Space::Tmem
                                                                              : Space::Register;

  if (one_of(kind, {"tma_load", "load"})) {
    if (const Tensor* tensor = kernel.find_tensor(op.tensor)) found.dtype = tensor->dtype;
    return found;
  }
  if (one_of(kind, {"mma", "reduce_max", "reduce_sum", "reduce_min", "exp2", "elementwise", "map"})) found.dtype = DType::F32;
  if (one_of(kind, {"reduce_xor", "reduce_argmax"})) found.dtype = DType::I32;
  if (moves(kind) && !operands.empty() && operands[0] && !left(*operands[0]).dtype) found.dtype = operands[0]->dtype;

  if (kind == "mma") {
    const auto *a = shape_of(0), *b = shape_of(1);
    if (a && b && a->size() == 2 && b->size() == 2 && !op.attrs.contains("column"))
      found.shape = {(*a)[flag_attr(op, "transpose_a")], (*b)[!flag_attr(op, "transpose_b")]};
  } else if (is_reduction(kind)) {
    const std::int64_t axis = integer_attr(op, "axis", 1);
    if (const auto* in = shape_of(0); in && in->size() == 2 && (axis == 0 || axis == 1))
      found.shape = {(*in)[axis == 0 ? 1 : 0]};
    else if (in && in->size() == 1)
      found.shape = {Expr(1)};
  } else if (kind == "smem_load" && flag_attr(op, "transpose")) {
    if (const auto* in = shape_of(0); in && in->size() == 2) found.shape = {(*in)[1], (*in)[0]};
  } else if (!one_of(kind, {"fill", "broadcast"}) && !op.attrs.contains("column")) {
    // All operands must be known, because one with more dimensions would decide.
    const std::vector<Expr>* most = nullptr;
    for (std::size_t k = 0; k < operands.size(); ++k) {
      const auto* shape = shape_of(k);
      if (!shape && op.inputs[k].value != op.outputs[0]) return found;
      if (shape && (!most || shape->size() > most->size())) most = shape;
    }
    if (most) found.shape = *most;
  }
  return found;
}

/// Every op that defines one value, those of the loop first.
std::map<std::string, std::vector<const TileOp*>, std::less<>> definitions(const Kernel& kernel) {
  std::map<std::string, std::vector<const TileOp*>, std::less<>> all;
  for (const auto* list : {&kernel.body, &kernel.epilogue, &kernel.prologue})
    for (const TileOp& op : *list)
      if (op.outputs.size() == 1) all[op.outputs[0]].push_back(&op);
  return all;
}

bool same(const std::vector<Expr>& a, const std::vector<Expr>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Expr& x, const Expr& y) { return x.text() == y.text(); });
}

}  // namespace

void infer_values(Kernel& kernel, OmittedByValue& left_out) {
  const auto defined_by = definitions(kernel);
  for (bool more = !left_out.empty(); more;) {
    more = false;
    for (TileValue& value : kernel.values) {
      const auto left = left_out.find(value.name);
      const auto ops = defined_by.find(value.name);
      if (left == left_out.end() || ops == defined_by.end()) continue;
      for (const TileOp* op : ops->second) {
        const Inferred found = inferred(kernel, *op, left_out);
        OmittedMembers& still = left->second;
        const OmittedMembers before = still;
        if (still.dtype && found.dtype) value.dtype = *found.dtype, still.dtype = false;
        if (still.shape && found.shape) value.shape = *found.shape, still.shape = false;
        if (still.space && found.space) value.space = *found.space, still.space = false;
        more = more || before.dtype != still.dtype || before.shape != still.shape || before.space != still.space;
      }
    }
  }
  std::erase_if(left_out, [](const auto& value) { return !value.second.any(); });
}

OmittedByValue what_follows(const Kernel& kernel) {
  OmittedByValue follows;
  for (const TileValue& value : kernel.values) follows[value.name] = {true, true, true};
  // What is not found again, or found to be something else, must be said; that may say more of others.
  while (true) {
    Kernel again = kernel;
    for (TileValue& value : again.values)
      if (follows[value.name].shape) value.shape.clear();
    OmittedByValue left = follows;
    infer_values(again, left);
    const TileValue* said = nullptr;
    for (std::size_t v = 0; v < kernel.values.size() && !said; ++v) {
      const TileValue &is = kernel.values[v], &found = again.values[v];
      OmittedMembers& own = follows[is.name];
      const auto it = left.find(is.name);
      const OmittedMembers lost = it == left.end() ? OmittedMembers{} : it->second;
      const OmittedMembers wrong{own.dtype && (lost.dtype || found.dtype != is.dtype),
                                 own.shape && (lost.shape || !same(found.shape, is.shape)),
                                 own.space && (lost.space || found.space != is.space)};
      if (!wrong.any()) continue;
      said = &is;
      own = {own.dtype && !wrong.dtype, own.shape && !wrong.shape, own.space && !wrong.space};
    }
    if (!said) return follows;
  }
}

}  // namespace heddle

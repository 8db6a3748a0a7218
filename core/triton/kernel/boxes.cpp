#include "core/triton/kernel/boxes.h"

#include <fmt/format.h>

#include <algorithm>

namespace heddle::triton {
namespace {

bool by_descriptor(std::optional<OpRole> role) {
  return role == OpRole::DescriptorLoad || role == OpRole::DescriptorStore || role == OpRole::DescriptorReduce;
}

TensorRole use_of(const LoopText& text, const mlir::Op& op) {
  const auto role = work_of(text.program, op);
  if (role == OpRole::DescriptorLoad || role == OpRole::PointerLoad) return TensorRole::Input;
  return role == OpRole::DescriptorReduce || role == OpRole::Atomic ? TensorRole::InOut : TensorRole::Output;
}

/// The tensor of this name, or with a number behind it, and of this shape: one that is there already, used like this too.
std::string tensor_of(Kernel& kernel, const std::string& name, const std::string& element, const std::vector<std::string>& shape,
                      TensorRole use) {
  dump::TileType type;
  type.element = element;
  type.bits = element.starts_with("f8") ? 8 : element == "f32" || element == "i32" ? 32 : 16;
  const std::string wanted = kernel_name(name);
  const auto same = [&](const Tensor& t) {
    return t.shape.size() == shape.size() &&
           std::equal(shape.begin(), shape.end(), t.shape.begin(), [](const std::string& s, const Expr& e) { return e.text() == s; });
  };
  std::string free = wanted;
  Tensor* tensor = nullptr;
  for (int i = 2;; ++i) {
    const auto it = std::find_if(kernel.tensors.begin(), kernel.tensors.end(), [&](const Tensor& t) { return t.name == free; });
    if (it == kernel.tensors.end()) break;
    if (same(*it)) {
      tensor = &*it;
      break;
    }
    free = fmt::format("{}_{}", wanted, i);
  }
  if (!tensor) {
    tensor = &kernel.tensors.emplace_back();
    tensor->name = free;
    tensor->role = use;
    tensor->dtype = dump::nearest_dtype(type);
    for (const std::string& extent : shape) tensor->shape.push_back(expr_of(extent));
  }
  if (tensor->role != use) tensor->role = TensorRole::InOut;
  return free;
}

TensorBox descriptor_box(LoopKernelDraft& draft, const mlir::Op& each, const Type& tile) {
  const LoopText& text = draft.text;
  const mlir::Module& module = *text.program.module;
  TensorBox box;
  mlir::ValueId descriptor = each.operands.empty() ? mlir::ValueId{} : each.operands[0];
  for (const mlir::ValueId operand : each.operands)
    if (text.program.type(operand).descriptor) descriptor = operand;
  // Coordinates stand in brackets.
  std::vector<mlir::ValueId> places;
  for (std::size_t i = 0; i < each.operands.size(); ++i)
    if (i < each.bracketed.size() && each.bracketed[i] && text.program.type(each.operands[i]).tile.shape.empty())
      places.push_back(each.operands[i]);
  for (const mlir::ValueId place : places) box.at.push_back(draft.scalars.text(place));
  std::string name = "tensor";
  std::vector<std::string> shape;
  if (descriptor.valid()) {
    for (int passage = 0; passage < 64; ++passage) {
      descriptor = text.flow.carried(descriptor).value;
      const mlir::OpId definer = module.value(descriptor).definer;
      if (!definer.valid() || work_of(text.program, text.op(definer)) != OpRole::View || text.op(definer).operands.empty()) break;
      descriptor = text.op(definer).operands[0];
    }
    const mlir::Value& value = module.value(descriptor);
    name = value.name;
    if (value.definer.valid() && text.op(value.definer).name == "tt.make_tensor_descriptor") {
      // pointer, [shape], [strides]
      const mlir::Op& made = text.op(value.definer);
      if (!made.operands.empty()) name = module.value(text.flow.carried(made.operands[0]).value).name;
      for (std::size_t d = 0; d < box.at.size() && d + 1 < made.operands.size(); ++d)
        shape.push_back(draft.scalars.text(made.operands[d + 1]));
    } else if (!value.definer.valid() && value.block.valid()) {
      for (const mlir::ValueId argument : module.block(value.block).arguments)
        for (std::size_t d = 0; d < box.at.size(); ++d)
          if (module.value(argument).name == fmt::format("{}.shape.{}", name, d) && shape.size() == d)
            shape.push_back(draft.scalars.text(argument));
    }
  }
  while (shape.size() < box.at.size())
    shape.push_back(draft.scalars.param(fmt::format("{}_shape_{}", name, shape.size()), 4096, 256,
                                        "an extent of the tensor, which the text does not say"));
  const std::size_t rank = draft.shape_of(tile, false).size();
  while (box.at.size() < rank) {
    box.at.insert(box.at.begin(), "0");
    shape.insert(shape.begin(), "1");
  }
  box.tensor = tensor_of(draft.native.kernel, name, tile.tile.element, shape, use_of(text, each));
  return box;
}

TensorBox pointer_box(LoopKernelDraft& draft, const mlir::Op& each, const Type& tile) {
  const LoopText& text = draft.text;
  const mlir::Module& module = *text.program.module;
  TensorBox box;
  auto affine = each.operands.empty() ? std::nullopt : draft.scalars.affine(each.operands[0]);
  std::string name = "memory";
  if (affine && affine->pointer.valid()) name = module.value(affine->pointer).name;
  const auto tensor = [&](const std::vector<std::string>& shape) {
    return tensor_of(draft.native.kernel, name, tile.tile.element, shape, use_of(text, each));
  };
  const auto length = [&](const std::string& of) {
    return draft.scalars.param(fmt::format("{}_{}", name, of), 4096, 256, "an extent of the tensor, which the text does not say");
  };
  // A tile of one row or one column is a vector.
  for (std::size_t d = tile.tile.shape.size(); affine && tile.tile.shape.size() == 2 && d-- > 0;)
    if (tile.tile.shape[d] == 1 && affine->strides.size() == 2)
      affine->strides.erase(affine->strides.begin() + static_cast<std::ptrdiff_t>(d));
  const std::size_t rank = affine ? affine->strides.size() : tile.tile.shape.size();
  const Expr base = affine ? affine->base : Expr();
  const auto of_base = [&](Operator op, const Expr& by) { return combine(op, {base, by}).text(); };
  if (affine && rank == 2 && affine->strides.size() == rank) {
    const Expr &down = affine->strides[0], &across = affine->strides[1];
    box.transposed = down.text() == "1" && across.text() != "1";
    const Expr& line = box.transposed ? down : across;
    const Expr& pitch = box.transposed ? across : down;
    if (line.text() == "1" && !pitch.is_zero()) {
      // Memory as rows of `pitch` elements: what the place of an element is divided by.
      box.at = {of_base(Operator::Divide, pitch), of_base(Operator::Modulo, pitch)};
      if (pitch.text() == "1" || base.is_zero()) box.at = {base.text(), "0"};
      box.tensor = tensor({length("rows"), pitch.text()});
      return box;
    }
    box.transposed = false;
  }
  if (affine && rank == 0) {
    box.at = {base.text()};
    box.tensor = tensor({length("length")});
    return box;
  }
  if (affine && rank == 1 && affine->strides.size() == rank) {
    const Expr& stride = affine->strides[0];
    if (stride.text() == "1") {
      box.at = {base.text()};
      std::vector<std::string> shape{length("length")};
      if (text.row_vectors) {
        box.at.insert(box.at.begin(), "0");
        shape.insert(shape.begin(), "1");
      }
      box.tensor = tensor(shape);
      return box;
    }
    if (!stride.is_zero()) {
      draft.scalars.note(fmt::format("line {} takes every {}th element of '{}': it is taken as stored the other way round", each.line,
                                     stride.text(), name));
      box.at = {of_base(Operator::Modulo, stride), of_base(Operator::Divide, stride)};
      box.tensor = tensor({stride.text(), length("rows")});
      return box;
    }
  }
  draft.scalars.note(fmt::format(
      "the addresses of line {} are no affine function of the place in the tile: which elements it touches is not modelled", each.line));
  std::vector<std::string> shape;
  for (const std::int64_t extent : draft.shape_of(tile, false)) {
    shape.push_back(std::to_string(extent));
    box.at.emplace_back("0");
  }
  box.tensor = tensor(shape);
  return box;
}

}  // namespace

void TensorBox::put(TileOp& op) const {
  op.tensor = tensor;
  for (const std::string& place : at) op.at.push_back(expr_of(place));
}

TensorBox box_of(LoopKernelDraft& draft, const mlir::Op& op, const Type& tile) {
  return by_descriptor(work_of(draft.text.program, op)) ? descriptor_box(draft, op, tile) : pointer_box(draft, op, tile);
}

}  // namespace heddle::triton

#include "core/kernel/edit.h"

#include <algorithm>

#include "core/base/assert.h"
#include "core/kernel/op_kind.h"

namespace heddle {
namespace {

constexpr OpList kLists[] = {OpList::Prologue, OpList::Body, OpList::Epilogue};

bool name_taken(const Kernel& kernel, const std::string& name) {
  const auto is = [&](const auto& thing) { return thing.name == name; };
  for (const OpList list : kLists)
    for (const TileOp& op : ops_of(kernel, list))
      if (op.name == name || std::find(op.outputs.begin(), op.outputs.end(), name) != op.outputs.end()) return true;
  return std::any_of(kernel.values.begin(), kernel.values.end(), is);
}

std::string free_name(const Kernel& kernel, const std::string& wanted) {
  std::string name = wanted;
  for (int n = 2; name_taken(kernel, name); ++n) name = wanted + std::to_string(n);
  return name;
}

bool defined_elsewhere(const Kernel& kernel, const std::string& value, const TileOp& but) {
  for (const OpList list : kLists)
    for (const TileOp& op : ops_of(kernel, list))
      if (&op != &but && std::find(op.outputs.begin(), op.outputs.end(), value) != op.outputs.end()) return true;
  return false;
}

const OpKind& kind_named(std::string_view name) {
  const OpKind* kind = find_op_kind(name);
  HEDDLE_ASSERT(kind, "a kind of the catalogue");
  return *kind;
}

/// An expression that names every input.
std::string expression_for(std::size_t inputs) {
  std::string expression = inputs == 0 ? "0" : "x0";
  for (std::size_t k = 1; k < inputs; ++k) expression += " + x" + std::to_string(k);
  return expression;
}

/// A function with so many operands, the usual one first.
std::string function_for(std::size_t operands) {
  for (const ElementwiseFunction& f : elementwise_functions())
    if (static_cast<std::size_t>(f.operands) == operands) return f.name;
  return elementwise_functions().front().name;
}

}  // namespace

std::vector<TileOp>& ops_of(Kernel& kernel, OpList list) {
  return list == OpList::Prologue ? kernel.prologue : list == OpList::Body ? kernel.body : kernel.epilogue;
}
const std::vector<TileOp>& ops_of(const Kernel& kernel, OpList list) {
  return list == OpList::Prologue ? kernel.prologue : list == OpList::Body ? kernel.body : kernel.epilogue;
}

std::optional<OpPlace> find_place(const Kernel& kernel, std::string_view name) {
  // What the graph shows is the loop's body.
  for (const OpList list : {OpList::Body, OpList::Prologue, OpList::Epilogue}) {
    const std::vector<TileOp>& ops = ops_of(kernel, list);
    const auto found = std::find_if(ops.begin(), ops.end(), [&](const TileOp& op) { return op.name == name; });
    if (found != ops.end()) return OpPlace{list, static_cast<std::size_t>(found - ops.begin())};
  }
  return std::nullopt;
}

void remove_op(Kernel& kernel, OpPlace place) {
  std::vector<TileOp>& ops = ops_of(kernel, place.list);
  const TileOp gone = ops[place.index];
  std::vector<std::string> values;
  for (const std::string& value : gone.outputs)
    if (!defined_elsewhere(kernel, value, ops[place.index])) values.push_back(value);
  ops.erase(ops.begin() + static_cast<std::ptrdiff_t>(place.index));
  for (const std::string& value : values)
    for (const OpList list : kLists)
      for (TileOp& op : ops_of(kernel, list)) {
        if (!gone.inputs.empty()) {
          for (Operand& operand : op.inputs)
            if (operand.value == value) operand = {gone.inputs.front().value, operand.distance + gone.inputs.front().distance};
        } else {
          std::erase_if(op.inputs, [&](const Operand& operand) { return operand.value == value; });
        }
      }
  std::erase_if(kernel.values, [&](const TileValue& v) { return std::find(values.begin(), values.end(), v.name) != values.end(); });
  std::erase_if(kernel.free, [&](const FreeAxis& axis) { return std::find(values.begin(), values.end(), axis.value) != values.end(); });
  std::erase_if(kernel.order, [&](const OrderEdge& e) { return e.from == gone.name || e.to == gone.name; });
}

std::string insert_op_behind(Kernel& kernel, OpPlace place, std::string_view kind_name) {
  const OpKind& kind = kind_named(kind_name);
  std::vector<TileOp>& ops = ops_of(kernel, place.list);
  const TileOp& before = ops[place.index];
  TileOp op;
  op.name = free_name(kernel, kind.name);
  op.kind = kind.name;
  if (kind.max_inputs != 0) {
    if (!before.outputs.empty())
      op.inputs.push_back({before.outputs.front(), 0});
    else if (!before.inputs.empty())
      op.inputs.push_back(before.inputs.front());
  }
  if (op.kind == "elementwise") op.attrs["fn"] = function_for(op.inputs.size());
  if (op.kind == "map") op.attrs["expr"] = expression_for(op.inputs.size());
  if ((kind.reads_tensor || kind.writes_tensor) && !kernel.tensors.empty()) {
    const auto fits = [&](const Tensor& t) { return is_written(t.role) != kind.reads_tensor; };
    const auto tensor = std::find_if(kernel.tensors.begin(), kernel.tensors.end(), fits);
    op.tensor = tensor == kernel.tensors.end() ? kernel.tensors.front().name : tensor->name;
    op.at.assign(kernel.find_tensor(op.tensor)->shape.size(), Expr(0));
  }
  if (kind.outputs != 0) {
    op.outputs.push_back(free_name(kernel, op.name + "_out"));
    TileValue value;
    value.name = op.outputs.front();
    if (const TileValue* like = op.inputs.empty() ? nullptr : kernel.find_value(op.inputs.front().value)) {
      value.dtype = like->dtype;
      value.shape = like->shape;
    }
    value.space = op.kind == "smem_store" || op.kind == "tma_load" ? Space::Smem : op.kind == "tmem_store" ? Space::Tmem : Space::Register;
    kernel.values.push_back(std::move(value));
    if (!op.inputs.empty() && !before.outputs.empty())
      for (std::size_t i = place.index + 1; i < ops.size(); ++i)
        for (Operand& operand : ops[i].inputs)
          if (operand.value == before.outputs.front() && operand.distance == 0) operand.value = op.outputs.front();
  }
  const std::string name = op.name;
  ops.insert(ops.begin() + static_cast<std::ptrdiff_t>(place.index) + 1, std::move(op));
  return name;
}

void rename_op(Kernel& kernel, OpPlace place, const std::string& name) {
  std::string& old = ops_of(kernel, place.list)[place.index].name;
  for (OrderEdge& edge : kernel.order) {
    if (edge.from == old) edge.from = name;
    if (edge.to == old) edge.to = name;
  }
  old = name;
}

void set_kind(Kernel& kernel, OpPlace place, std::string_view kind_name) {
  const OpKind& kind = kind_named(kind_name);
  TileOp& op = ops_of(kernel, place.list)[place.index];
  op.kind = kind.name;
  std::erase_if(op.attrs, [&](const auto& attr) { return !kind.find_attribute(attr.first); });
  if (!kind.reads_tensor && !kind.writes_tensor) {
    op.tensor.clear();
    op.at.clear();
  }
  if (op.kind == "elementwise" && !op.attrs.contains("fn")) op.attrs["fn"] = function_for(op.inputs.size());
  if (op.kind == "map" && !op.attrs.contains("expr")) op.attrs["expr"] = expression_for(op.inputs.size());
}

std::vector<Operand> operands_for(const Kernel& kernel, OpPlace place) {
  std::vector<Operand> found;
  const auto add = [&](const TileOp& op, int distance) {
    for (const std::string& value : op.outputs)
      if (std::none_of(found.begin(), found.end(), [&](const Operand& o) { return o.value == value && o.distance == distance; }))
        found.push_back({value, distance});
  };
  for (const OpList list : kLists) {
    const std::vector<TileOp>& ops = ops_of(kernel, list);
    const std::size_t end = list == place.list ? place.index : ops.size();
    for (std::size_t i = 0; i < end; ++i) add(ops[i], 0);
    if (list == place.list) break;
  }
  if (place.list == OpList::Body)
    for (const TileOp& op : kernel.body) add(op, 1);
  return found;
}

}  // namespace heddle

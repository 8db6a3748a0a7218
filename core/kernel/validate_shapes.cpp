// Every op of the three lists under two sets of parameter values.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "core/kernel/op_kind.h"
#include "core/kernel/op_shapes.h"
#include "core/kernel/validate.h"

namespace heddle {
namespace {

std::map<std::string, TileShape> shapes_of_values(const Kernel& kernel, const Scope& scope) {
  std::map<std::string, TileShape> shapes;
  for (const TileValue& value : kernel.values) {
    TileShape shape;
    for (const Expr& extent : value.shape)
      if (const auto size = extent.evaluate(scope); size.ok() && *size >= 1) shape.push_back(*size);
    if (!shape.empty() && shape.size() == value.shape.size()) shapes.emplace(value.name, std::move(shape));
  }
  return shapes;
}

void judge(const Kernel& kernel, const Scope& scope, const std::string& when, std::vector<Fault>& faults) {
  const auto known = shapes_of_values(kernel, scope);
  const auto shape_of = [&](const std::string& name) {
    const auto it = known.find(name);
    return it == known.end() ? nullptr : &it->second;
  };
  const auto list = [&](const char* name, const std::vector<TileOp>& ops) {
    for (std::size_t i = 0; i < ops.size(); ++i) {
      const TileOp& op = ops[i];
      const OpKind* kind = find_op_kind(op.kind);
      const int inputs = static_cast<int>(op.inputs.size());
      if (!kind || inputs < kind->min_inputs || inputs > kind->max_inputs || static_cast<int>(op.outputs.size()) != kind->outputs) continue;
      std::vector<const TileShape*> operands;
      for (const Operand& operand : op.inputs) operands.push_back(shape_of(operand.value));
      const TileShape* result = op.outputs.empty() ? nullptr : shape_of(op.outputs[0]);
      if (std::find(operands.begin(), operands.end(), nullptr) != operands.end() || (!op.outputs.empty() && !result)) continue;
      const Tensor* tensor = kernel.find_tensor(op.tensor);
      for (ShapeFault& f : shape_faults(op, operands, result, tensor ? std::optional(tensor->shape.size()) : std::nullopt))
        faults.push_back({kernel.source, fmt::format("/{}/{}{}", name, i, f.where),
                          fmt::format("{}op '{}' ({}): {}", when, op.name, op.kind, f.message), std::move(f.hint)});
    }
  };
  list("prologue", kernel.prologue);
  list("body", kernel.body);
  list("epilogue", kernel.epilogue);
}

}  // namespace

std::vector<Fault> validate_shapes(const Kernel& kernel) {
  Scope usual, small;
  std::string sizes;
  for (const Param& p : kernel.params) {
    usual[p.name] = p.value;
    small[p.name] = p.eval_value.value_or(p.value);
  }
  for (const auto& [name, value] : small) sizes += fmt::format("{}{}={}", sizes.empty() ? "" : ", ", name, value);
  std::vector<Fault> faults;
  judge(kernel, usual, "", faults);
  if (faults.empty() && usual != small) judge(kernel, small, fmt::format("at the evaluation sizes ({}): ", sizes), faults);
  return faults;
}

}  // namespace heddle

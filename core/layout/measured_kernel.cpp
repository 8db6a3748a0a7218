#include "core/layout/measured_kernel.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/saturate.h"
#include "core/base/text_style.h"
#include "core/kernel/op_shapes.h"

namespace heddle {
namespace {

LayoutPlan::Family family_of(const Kernel& kernel, const Machine& machine) {
  using Family = LayoutPlan::Family;
  const bool hopper = machine.arch == "sm_90a", blackwell = machine.arch.starts_with("sm_10");
  if (!hopper && !blackwell) return Family::None;
  const bool multiplies = std::any_of(kernel.body.begin(), kernel.body.end(), [](const TileOp& op) { return op.kind == "mma"; });
  return !multiplies ? Family::Rows : blackwell ? Family::TensorProducts : Family::Products;
}

}  // namespace

MeasuredKernel measure(const Kernel& kernel, const Scope& params, const Machine& machine) {
  MeasuredKernel measured{kernel, params, machine, family_of(kernel, machine), {}, {}, 0, 0, {}};
  measured.shapes.reserve(kernel.values.size());
  for (std::size_t v = 0; v < kernel.values.size(); ++v) {
    const TileValue& value = kernel.values[v];
    std::vector<std::int64_t>& shape = measured.shapes.emplace_back();
    for (const Expr& extent : value.shape) shape.push_back(extent.evaluate(params).value());
    measured.index.emplace(value.name, v);
    // Without products all tiles share their rows and columns.
    if (value.space == Space::Register && shape.size() == 2) measured.rows = shape[0], measured.columns = shape[1];
  }
  for (const auto* list : {&kernel.prologue, &kernel.body, &kernel.epilogue})
    measured.ops.insert(measured.ops.end(), list->begin(), list->end());
  return measured;
}

bool MeasuredKernel::takes_by_column(const TileOp& op, std::size_t input) const {
  if (op.kind != "map") return integer_attr(op, "axis", 0) == 1 && !is_reduction(op.kind);
  return map_lay(op, input, shapes[index_of(op.inputs[input].value)], shapes[index_of(op.outputs[0])]) == Lay::AlongColumns;
}

bool MeasuredKernel::along_columns(std::size_t v) const {
  std::vector<std::string_view> names{value(v).name};
  for (std::size_t n = 0; n < names.size(); ++n)
    for (const TileOp& op : ops)
      for (std::size_t k = 0; k < op.inputs.size(); ++k) {
        if (op.inputs[k].value != names[n] || op.outputs.empty()) continue;
        if (takes_by_column(op, k)) return true;
        const bool each = op.kind == "map" || op.kind == "elementwise" || op.kind == "exp2" || op.kind == "convert" || op.kind == "copy";
        if (each && shapes[index_of(op.outputs[0])].size() == 1 && std::find(names.begin(), names.end(), op.outputs[0]) == names.end())
          names.push_back(op.outputs[0]);
      }
  return false;
}

int MeasuredKernel::usual_span(std::size_t v) const {
  const std::int64_t row = sat_mul(shapes[v][1], bits(v)) / 8;
  return row == 64 || row == 32 ? static_cast<int>(row) : 128;
}

std::string MeasuredKernel::asker(const TileOp& op) const {
  const char* who = op.kind == "mma" ? (tensor_products() ? "tcgen05.mma" : "wgmma") : is_copy(op) ? "TMA" : op.kind.c_str();
  return fmt::format("{} of '{}'", who, printable(op.name));
}

}  // namespace heddle

#include "core/layout/plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/json.h"
#include "core/base/saturate.h"
#include "core/base/suggest.h"
#include "core/base/text_style.h"
#include "core/kernel/free_axes.h"
#include "core/kernel/op_shapes.h"
#include "core/kernel/packed.h"
#include "core/layout/known.h"
#include "core/layout/planner.h"

namespace heddle {
namespace {

constexpr std::int64_t kPlannedWarps = 4;
constexpr const char* kRelabelledResult = "accumulator relabelled";
constexpr const char* kUnknownShape = "has a shape that is spread over threads in no known way";
constexpr const char* kUnpackable = "is of a prepacked tensor, and is no tile of 64 rows and whole blocks of columns";

/// Reads and writes element by element.
bool is_each(const TileOp& op) {
  return op.kind == "map" || op.kind == "elementwise" || op.kind == "exp2" || op.kind == "mask" || op.kind == "broadcast";
}

}  // namespace

bool is_copy(const TileOp& op) {
  return op.kind == "tma_load" || op.kind == "tma_store" || (op.kind == "atomic_add" && op.outputs.empty());
}

const std::string& tile_of_copy(const TileOp& copy) { return copy.outputs.empty() ? copy.inputs.front().value : copy.outputs.front(); }

const OpPlan* LayoutPlan::find(std::string_view op) const {
  const auto it = ops.find(op);
  return it == ops.end() ? nullptr : &it->second;
}

std::int64_t LayoutPlan::scratch_bytes() const {
  std::int64_t bytes = 0;
  for (const auto& [name, op] : ops) bytes = sat_add(bytes, op.scratch_bytes);
  return bytes;
}

std::string asker_of(const TileOp& op, bool tensor_products) {
  const char* who = op.kind == "mma" ? (tensor_products ? "tcgen05.mma" : "wgmma") : is_copy(op) ? "TMA" : op.kind.c_str();
  return fmt::format("{} of '{}'", who, printable(op.name));
}

LayoutPlan plan_layouts(const Kernel& kernel, const Scope& params, const Machine& machine, const LayoutChoices& choices,
                        const std::string& file, std::vector<Fault>& faults) {
  return Planner(kernel, params, machine, choices, file, faults).run();
}

Planner::Planner(const Kernel& kernel, const Scope& params, const Machine& machine, const LayoutChoices& choices, const std::string& file,
                 std::vector<Fault>& faults)
    : kernel_(kernel), params_(params), machine_(machine), choices_(choices), file_(file), faults_(faults) {
  plan_.choices = choices;
}

void Planner::lay_out() {
  find_family();
  measure();
  find_packed();
  lay_out_values();
  if (!choices_.layouts.empty()) order_axes();
  if (!choices_.layouts.empty()) take_layouts();
}

LayoutPlan Planner::run() {
  lay_out();
  if (!choices_.instructions.empty()) take_instructions();
  plan_ops();
  return std::move(plan_);
}

void Planner::fault(std::string pointer, std::string message, std::string hint) {
  faults_.push_back({file_, std::move(pointer), std::move(message), std::move(hint)});
}

void Planner::find_family() {
  using Family = LayoutPlan::Family;
  const bool hopper = machine_.arch == "sm_90a", blackwell = machine_.arch.starts_with("sm_10");
  if (!hopper && !blackwell) return;
  const bool multiplies = std::any_of(kernel_.body.begin(), kernel_.body.end(), [](const TileOp& op) { return op.kind == "mma"; });
  plan_.family = !multiplies ? Family::Rows : blackwell ? Family::TensorProducts : Family::Products;
}

void Planner::measure() {
  shapes_.reserve(kernel_.values.size());
  for (std::size_t v = 0; v < kernel_.values.size(); ++v) {
    Shape& shape = shapes_.emplace_back();
    for (const Expr& extent : value(v).shape) shape.push_back(extent.evaluate(params_).value());
    index_.emplace(value(v).name, v);
    // Without products all tiles share their rows and columns.
    if (value(v).space == Space::Register && shape.size() == 2) rows_ = shape[0], columns_ = shape[1];
  }
}

void Planner::lay_out_values() {
  plan_.values.resize(kernel_.values.size());
  for (std::size_t v = 0; v < plan_.values.size(); ++v) {
    ValuePlan& out = plan_.values[v];
    std::int64_t elements = 1;
    for (const std::int64_t extent : shapes_[v]) elements = sat_mul(elements, extent);
    if (plan_.family == LayoutPlan::Family::None)
      out.unknown = "is of a machine that no kernel is written for";
    else if (value(v).space == Space::Tmem)
      out.unknown = "lies in tensor memory";
    else if (value(v).space == Space::Global)
      out.unknown = "lies in global memory";
    else if (shapes_[v].size() != 1 && shapes_[v].size() != 2)
      out.unknown = kUnknownShape;
    else if (elements > kMostLayoutElements)
      out.unknown = fmt::format("has more than {} elements", kMostLayoutElements);
    else if (value(v).space == Space::Register)
      lay_out_registers(v);
    else
      lay_out_shared(v);
  }
}

void Planner::put(std::size_t v, const LayoutKey& key, const char* otherwise) {
  if (const auto stored = stored_layout(key)) {
    plan_.values[v].layout = stored->layout;
    plan_.values[v].text = stored->text;
  } else {
    plan_.values[v].unknown = otherwise;
  }
}

void Planner::lay_out_registers(std::size_t v) {
  const Shape& shape = shapes_[v];
  ValuePlan& out = plan_.values[v];
  const bool tile = shape.size() == 2;
  // Extents are positive: the resolver has measured them.
  switch (plan_.family) {
    case LayoutPlan::Family::Products: {
      if (tile && is_packed(v)) return put(v, {LayoutForm::PackedOperand, shape[0], shape[1], bits(v)}, kUnpackable);
      if (const auto quads = tile && bits(v) == 8 ? quads_of(v) : std::nullopt)
        return put(v, {*quads, shape[0], shape[1], 8}, "is transposed, and its rows or columns are no multiple of 128");
      if (tile) {
        if (shape[0] != 64 || shape[1] % 16 != 0 || shape[1] > 256) {
          out.unknown = "is no tile of 64 rows and 16 to 256 columns, as one warpgroup holds";
          return;
        }
        const bool narrow_a = bits(v) == 8 && std::any_of(kernel_.body.begin(), kernel_.body.end(), [&](const TileOp& op) {
                                return op.kind == "mma" && op.inputs[0].value == value(v).name;
                              });
        return put(v, {narrow_a && shape[1] % 32 == 0 ? LayoutForm::Operand : LayoutForm::Accumulator, 64, shape[1], bits(v)},
                   kUnknownShape);
      }
      if (shape[0] % 8 == 0 && along_columns(v)) return put(v, {LayoutForm::Accumulator, 64, shape[0], bits(v), 0, 0}, kUnknownShape);
      if (shape[0] == 64) return put(v, {LayoutForm::Accumulator, 64, 16, bits(v), 0, 1}, kUnknownShape);
      break;
    }
    case LayoutPlan::Family::Rows:
      if (tile) {
        if (shape[0] != rows_ || shape[1] != columns_ || rows_ % 4 != 0 || columns_ % 256 != 0) {
          out.unknown = "does not have the rows (a multiple of 4) and columns (a multiple of 256) of the kernel's other tiles";
          return;
        }
        return put(v, {LayoutForm::WarpRows, rows_, columns_, bits(v)}, kUnknownShape);
      }
      if (rows_ % 4 != 0 || columns_ % 256 != 0 || rows_ == 0) break;
      if (shape[0] == rows_) return put(v, {LayoutForm::WarpRows, rows_, columns_, bits(v), 0, 1}, kUnknownShape);
      if (shape[0] == columns_) return put(v, {LayoutForm::WarpRows, rows_, columns_, bits(v), 0, 0}, kUnknownShape);
      break;
    case LayoutPlan::Family::TensorProducts:
      if (tile) {
        if (shape[0] != 128 || shape[1] % 16 != 0 || shape[1] > 256) {
          out.unknown = "is no tile of 128 rows and 16 to 256 columns, a row for each thread of a warpgroup";
          return;
        }
        return put(v, {LayoutForm::ThreadRows, 128, shape[1], bits(v)}, kUnknownShape);
      }
      if (along_columns(v)) {
        out.unknown = "is one number per column in registers, where each thread has a row: it can be in shared memory";
        return;
      }
      if (shape[0] == 128) return put(v, {LayoutForm::ThreadRows, 128, 16, bits(v), 0, 1}, kUnknownShape);
      break;
    case LayoutPlan::Family::None: break;
  }
  out.unknown = kUnknownShape;
}

std::optional<LayoutForm> Planner::quads_of(std::size_t v) const {
  const auto maker_of = [&](std::string_view name) -> const TileOp* {
    for (const auto* list : {&kernel_.prologue, &kernel_.body, &kernel_.epilogue})
      for (const TileOp& op : *list)
        if (!op.outputs.empty() && op.outputs[0] == name) return &op;
    return nullptr;
  };
  const auto turns = [](const TileOp* op) { return op && op->kind == "smem_load" && flag_attr(*op, "transpose"); };
  const TileOp* maker = maker_of(value(v).name);
  if (turns(maker)) return LayoutForm::QuadsDown;
  if (maker && maker->kind == "copy" && turns(maker_of(maker->inputs[0].value))) return LayoutForm::QuadsAcross;
  return std::nullopt;
}

int Planner::usual_span(std::size_t v) const {
  const std::int64_t row = sat_mul(shapes_[v][1], bits(v)) / 8;
  return row == 64 || row == 32 ? static_cast<int>(row) : 128;
}

void Planner::lay_out_shared(std::size_t v) {
  const Shape& shape = shapes_[v];
  if (shape.size() == 1) return put(v, {LayoutForm::Vector, 1, shape[0], bits(v)}, kUnknownShape);
  if (const auto order = packed_order(v))
    return put(v, {LayoutForm::Packed, shape[0], shape[1], bits(v), *order == PackedOrder::Lines ? 1 : 0}, kUnpackable);
  const bool panels = plan_.family != LayoutPlan::Family::Rows;
  // Panels of 128 bytes for products and their swizzle, narrower where a row has just 64 or 32 bytes; else rows as wide as a box may be.
  put(v, {LayoutForm::Panels, shape[0], shape[1], bits(v), panels ? usual_span(v) : 0},
      panels ? "is no whole panels of 128 bytes" : "is no whole panels of 256 columns");
}

bool Planner::takes_by_column(const TileOp& op, std::size_t input) const {
  if (op.kind != "map") return integer_attr(op, "axis", 0) == 1 && !is_reduction(op.kind);
  return map_lay(op, input, shapes_[index_of(op.inputs[input].value)], shapes_[index_of(op.outputs[0])]) == Lay::AlongColumns;
}

/// Some op lays it over a tile, one element for each column, or what is computed of it element by element.
bool Planner::along_columns(std::size_t v) const {
  std::vector<std::string_view> names{value(v).name};
  for (std::size_t n = 0; n < names.size(); ++n)
    for (const auto* list : {&kernel_.prologue, &kernel_.body, &kernel_.epilogue})
      for (const TileOp& op : *list)
        for (std::size_t k = 0; k < op.inputs.size(); ++k) {
          if (op.inputs[k].value != names[n] || op.outputs.empty()) continue;
          if (takes_by_column(op, k)) return true;
          const bool each = op.kind == "map" || op.kind == "elementwise" || op.kind == "exp2" || op.kind == "convert" || op.kind == "copy";
          if (each && shapes_[index_of(op.outputs[0])].size() == 1 && std::find(names.begin(), names.end(), op.outputs[0]) == names.end())
            names.push_back(op.outputs[0]);
        }
  return false;
}

// ---- choices

std::string Planner::objection(std::size_t v, const Layout& layout) {
  if (const auto order = packed_order(v))
    return known_name(layout, bits(v)) == (*order == PackedOrder::Lines ? "packed lines" : "packed")
               ? std::string()
               : fmt::format("'{}' is a tile of a prepacked tensor, and lies as it does there", printable(value(v).name));
  const std::optional<int> swizzle = swizzle_of(layout, bits(v)), relabelled = relabelled_swizzle(layout, bits(v));
  // Products are harder to please than copies.
  std::string by_copy;
  for (const auto* list : {&kernel_.prologue, &kernel_.body, &kernel_.epilogue})
    for (const TileOp& op : *list) {
      const auto reads = [&](std::size_t k) { return k < op.inputs.size() && op.inputs[k].value == value(v).name; };
      if (op.kind == "mma" && (reads(0) || reads(1)) && swizzle.value_or(0) == 0 && !(relabelled && !reads(0)))
        return fmt::format("'{}' is read by {}, which needs panels of 32, 64 or 128 bytes", printable(value(v).name),
                           asker_of(op, tensor_products()));
      if (op.kind == "mma" && reads(1))
        if (std::string why = order_objection(op); !why.empty()) return why;
      const bool moved = is_copy(op) && (reads(0) || (!op.outputs.empty() && op.outputs[0] == value(v).name));
      if (moved && !swizzle && by_copy.empty() && known_name(layout, bits(v)) == kAtomsOf32)
        by_copy = fmt::format("'{}' is {} {}, which exchanges pieces of 16 bytes, not of 32, {}", printable(value(v).name),
                              reads(0) ? "read by" : "written by", asker_of(op, tensor_products()),
                              tensor_products() ? "as far as it is written" : "on this machine");
      if (moved && !swizzle && !(relabelled && op.kind == "tma_load") && by_copy.empty())
        by_copy = fmt::format("'{}' is {} {}, which needs panels", printable(value(v).name), reads(0) ? "read by" : "written by",
                              asker_of(op, tensor_products()));
    }
  if (by_copy.empty() && layout.extent(LayoutAxis::Offset) > layout.elements())
    return fmt::format("'{}' has {} elements and would take the room of {}, and padding is not written yet", printable(value(v).name),
                       layout.elements(), layout.extent(LayoutAxis::Offset));
  return by_copy;
}

std::vector<Planner::Laid> Planner::laid_by(const TileOp& op) const {
  std::vector<Laid> laid;
  const auto in_registers = [&](std::size_t v, std::size_t dimensions) {
    return value(v).space == Space::Register && shapes_[v].size() == dimensions;
  };
  const auto add = [&](std::size_t vector, std::size_t tile, bool by_column) {
    if (shapes_[vector][0] > 1 && shapes_[vector][0] == shapes_[tile][by_column ? 1 : 0]) laid.push_back({vector, tile, by_column});
  };
  if (op.outputs.empty()) return laid;
  const std::size_t result = index_of(op.outputs[0]);
  if (is_reduction(op.kind)) {
    if (op.inputs.empty() || !in_registers(result, 1)) return laid;
    if (const std::size_t tile = index_of(op.inputs[0].value); in_registers(tile, 2)) add(result, tile, integer_attr(op, "axis", 1) == 0);
    return laid;
  }
  if (!is_each(op) || !in_registers(result, 2)) return laid;
  for (std::size_t k = 0; k < op.inputs.size(); ++k)
    if (const std::size_t v = index_of(op.inputs[k].value); in_registers(v, 1)) add(v, result, takes_by_column(op, k));
  return laid;
}

std::string Planner::register_objection(std::size_t v) const {
  const Layout& layout = *plan_.values[v].layout;
  const std::string name = printable(value(v).name);
  const bool tile = shapes_[v].size() == 2;
  for (const auto* list : {&kernel_.prologue, &kernel_.body, &kernel_.epilogue})
    for (const TileOp& op : *list) {
      const std::string asker = asker_of(op, tensor_products());
      const bool made = std::find(op.outputs.begin(), op.outputs.end(), value(v).name) != op.outputs.end();
      if (op.kind == "mma" && products() && tile && shapes_[v][0] == 64) {
        const std::int64_t columns = shapes_[v][1];
        const bool a = op.inputs[0].value == value(v).name;
        const bool accumulates = made || (op.inputs.size() > 2 && op.inputs[2].value == value(v).name);
        const auto other = relabelled(accumulator_layout(columns), 1);
        if (accumulates && !same_places(layout, accumulator_layout(columns)) && !(other && same_places(layout, *other)))
          return fmt::format("'{}' is the accumulator of {}", name, asker);
        if (accumulates)
          if (std::string why = order_objection(op); !why.empty()) return why;
        if (a && (columns * bits(v) % 256 != 0 || !same_places(layout, operand_layout(columns, bits(v)))))
          return fmt::format("'{}' is an operand of {}, which takes it as \"operand\"", name, asker);
      }
      for (const Laid& laid : laid_by(op)) {
        const std::size_t other = laid.vector == v ? laid.tile : laid.vector;
        if ((laid.vector != v && laid.tile != v) || !plan_.values[other].layout) continue;
        const Layout follows = without_dimension(*plan_.values[laid.tile].layout, laid.by_column ? 0 : 1);
        if (!same_places(follows, *plan_.values[laid.vector].layout))
          return fmt::format("'{}' and '{}', which lies as {}, meet in {}: a number per {} lies where its {} does", name,
                             printable(value(other).name), plan_.values[other].text, asker, laid.by_column ? "column" : "row",
                             laid.by_column ? "column" : "row");
      }
      const bool takes = std::any_of(op.inputs.begin(), op.inputs.end(), [&](const Operand& in) { return in.value == value(v).name; });
      if ((!is_each(op) && !is_reduction(op.kind)) || (!made && !takes)) continue;
      // Vectors over a tile are not laid over each other.
      if (!tile && !op.outputs.empty() && shapes_[index_of(op.outputs[0])].size() != 1) continue;
      std::vector<std::string> others = op.outputs;
      for (const Operand& in : op.inputs) others.push_back(in.value);
      for (const std::string& other : others) {
        const std::size_t o = index_of(other);
        const ValuePlan& plan = plan_.values[o];
        if (o == v || value(o).space != Space::Register || shapes_[o] != shapes_[v] || !plan.layout) continue;
        if (!same_places(*plan.layout, layout))
          return fmt::format("'{}' and '{}', which lies as {}, meet element by element in {}", name, printable(other), plan.text, asker);
      }
    }
  return {};
}

std::string Planner::order_objection(const TileOp& op) const {
  if (!products() || op.inputs.size() < 2 || op.outputs.empty()) return {};
  const std::size_t b = index_of(op.inputs[1].value), d = index_of(op.outputs[0]);
  const auto &rows = plan_.values[b].layout, &columns = plan_.values[d].layout;
  if (!rows || !columns || shapes_[d].size() != 2) return {};
  const bool of_rows = relabelled_swizzle(*rows, bits(b)).has_value(), of_columns = known_name(*columns, bits(d)) == kRelabelledResult;
  if (of_rows && !flag_attr(op, "transpose_b"))
    return fmt::format("{} reads '{}' column by column", asker_of(op, false), printable(value(b).name));
  if (of_rows == of_columns) return {};
  return fmt::format("{} makes '{}', which lies as {}, of '{}', which lies as {}: columns and rows are ordered otherwise",
                     asker_of(op, false), printable(value(d).name), plan_.values[d].text, printable(value(b).name), plan_.values[b].text);
}

bool Planner::feeds_operand(std::string_view name) const {
  // From the loads on.
  std::vector<std::string_view> on_its_way;
  const auto is = [&](const std::string& each) { return std::find(on_its_way.begin(), on_its_way.end(), each) != on_its_way.end(); };
  bool fed = false;
  for (const TileOp& op : kernel_.body) {
    const bool moves = op.kind == "smem_load" || op.kind == "copy" || op.kind == "smem_store";
    if (op.kind == "tma_load" || (moves && is(op.inputs[0].value))) on_its_way.push_back(op.outputs[0]);
  }
  for (std::vector<std::string_view> reached{name}; !reached.empty() && is(std::string(name));) {
    const std::string_view from = reached.back();
    reached.pop_back();
    for (const TileOp& op : kernel_.body) {
      if (op.inputs.empty() || op.outputs.empty() || op.inputs[0].value != from) continue;
      if (op.kind == "smem_load" || op.kind == "copy" || op.kind == "smem_store") {
        reached.push_back(op.outputs[0]);
        fed = fed || (op.kind == "smem_store" && std::any_of(kernel_.body.begin(), kernel_.body.end(), [&](const TileOp& each) {
                        return each.kind == "mma" && each.inputs[1].value == op.outputs[0];
                      }));
      }
    }
  }
  return fed;
}

std::string Planner::order(const FreeAxis& axis) {
  if (!products()) return "it is for wgmma that axes are relabelled";
  const AxisWalk walk = walk_axis(kernel_, params_, axis);
  if (!walk.objection.empty()) return walk.objection;
  std::vector<std::pair<std::size_t, std::string>> others;
  for (const auto& [name, dimension] : walk.along) {
    const std::size_t v = index_of(name);
    const Shape& shape = shapes_[v];
    const std::string quoted = "'" + printable(name) + "'";
    bool operand = false, read_by_row = false, boxed = true;
    for (const auto* list : {&kernel_.prologue, &kernel_.body, &kernel_.epilogue})
      for (const TileOp& op : *list) {
        const auto reads = [&, &value = name](std::size_t k) { return k < op.inputs.size() && op.inputs[k].value == value; };
        const bool multiplies = op.kind == "mma", tb = flag_attr(op, "transpose_b");
        if (multiplies && reads(0)) operand = true;
        if (multiplies && reads(1)) (dimension == (tb ? 0u : 1u) ? read_by_row : operand) = true;
        if (op.kind == "tma_load" && op.outputs[0] == name) {
          const Tensor* tensor = kernel_.find_tensor(op.tensor);
          const std::size_t rank = tensor ? tensor->shape.size() : 0;
          const auto rows = rank >= 2 ? tensor->shape[rank - 2].evaluate(params_) : Result<std::int64_t>(0);
          // Boxes with rows in another order do not end in the middle of a tensor.
          boxed = boxed && rows.ok() && *rows > 0 && *rows % shape[0] == 0;
        } else if (std::find(op.outputs.begin(), op.outputs.end(), name) != op.outputs.end()) {
          boxed = false;
        }
      }
    if (operand && read_by_row) return fmt::format("{} is an operand of two products, whose order differs", quoted);
    if (operand || feeds_operand(name)) continue;  // along K everything stays in its order
    if (shape.size() != 2 || shape[dimension] % 16 != 0)
      return fmt::format("{} lies along it, and is no tile with a multiple of 16 of it", quoted);
    if (value(v).space == Space::Register) {
      if (dimension != 1 || plan_.values[v].text != "accumulator")
        return fmt::format("{} lies along it, and not as a result of wgmma", quoted);
      others.emplace_back(v, kRelabelledResult);
    } else {
      if (!read_by_row || dimension != 0 || !boxed)
        return fmt::format(
            "{} lies along it, and is not brought by TMA for a product that takes it row by row, with whole tiles in its tensor", quoted);
      others.emplace_back(v, plan_.values[v].text + " relabelled");
    }
  }
  std::vector<Fault> none;
  for (const auto& [v, text] : others) {
    const auto stored = stored_layout(text, shapes_[v], bits(v), {}, {}, none);
    if (!stored) return fmt::format("'{}' does not lie as {}", printable(value(v).name), text);
    plan_.values[v] = {stored->layout, stored->text, true, {}};
  }
  return {};
}

void Planner::order_axes() {
  for (const FreeAxis& axis : kernel_.free) {
    const auto said = choices_.layouts.find(axis.name);
    if (said == choices_.layouts.end() || said->second == kNaturalOrder) continue;
    const std::string pointer = pointer_to("/layouts", axis.name);
    if (said->second != kRelabelledOrder)
      fault(pointer, fmt::format("the axis '{}' cannot be ordered as \"{}\"", axis.name, printable(said->second)),
            fmt::format("it is \"{}\" or \"{}\"", kNaturalOrder, kRelabelledOrder));
    else if (std::string why = order(axis); !why.empty())
      fault(pointer, fmt::format("the axis '{}' cannot be relabelled: {}", axis.name, why));
  }
}

void Planner::take_layouts() {
  std::vector<std::pair<std::size_t, ValuePlan>> before;
  std::vector<std::string> free = names_of(kernel_.free);
  for (const Tensor& tensor : kernel_.tensors)
    if (tensor.packing == Packing::Free) free.push_back(tensor.name);
  for (const auto& [name, text] : choices_.layouts) {
    const std::string pointer = pointer_to("/layouts", name);
    const auto it = index_.find(name);
    if (std::find(free.begin(), free.end(), name) != free.end()) continue;
    if (it == index_.end()) {
      std::vector<std::string> known = names_of(kernel_.values);
      known.insert(known.end(), free.begin(), free.end());
      std::string hint = did_you_mean(name, known);
      fault(pointer, fmt::format("kernel '{}' has no value '{}'", kernel_.name, printable(name)),
            hint.empty() ? "its values: " + list_of(known) : std::move(hint));
      continue;
    }
    const std::size_t v = it->second;
    ValuePlan& plan = plan_.values[v];
    if (plan_.family == LayoutPlan::Family::None || (value(v).space != Space::Register && value(v).space != Space::Smem)) {
      fault(pointer, fmt::format("the layout of '{}' cannot be chosen: it {}", printable(name), plan.unknown));
      continue;
    }
    const auto stored = stored_layout(text, shapes_[v], bits(v), file_, pointer, faults_);
    if (!stored) continue;
    if (stored->layout->shape != shapes_[v]) {
      fault(pointer, fmt::format("\"{}\" is a layout of {}, and '{}' is {}", printable(text), shape_text(stored->layout->shape),
                                 printable(name), shape_text(shapes_[v])));
      continue;
    }
    const bool one = stored->layout->bases == decltype(Layout::bases){} && stored->layout->repeats.empty();  // element, wherever it lies
    if (!one && stored->layout->in_memory() != (value(v).space == Space::Smem)) {
      std::string hint;
      for (const auto* list : {&kernel_.prologue, &kernel_.body, &kernel_.epilogue})
        for (const TileOp& op : *list) {
          if ((op.kind != "smem_store" && op.kind != "smem_load") || op.inputs.empty() || op.outputs.empty()) continue;
          const std::string &from = op.inputs[0].value, &to = op.outputs[0];
          if (from == name || to == name)
            hint = fmt::format("'{}' moves it {} '{}', of which that can be said", op.name, from == name ? "to" : "from",
                               from == name ? to : from);
        }
      fault(pointer,
            fmt::format("'{}' lies in {}, and \"{}\" is a layout of {}", printable(name),
                        value(v).space == Space::Smem ? "shared memory" : "registers", printable(text),
                        stored->layout->in_memory() ? "memory" : "registers"),
            std::move(hint));
      continue;
    }
    if (const Layout& layout = *stored->layout; value(v).space == Space::Register && (layout.extent(LayoutAxis::Lane) != kWarpLanes ||
                                                                                      layout.extent(LayoutAxis::Warp) != kPlannedWarps)) {
      fault(pointer,
            fmt::format("\"{}\" spreads '{}' over {} lanes of {} warps, and a group has {} lanes in each of {} warps", printable(text),
                        printable(name), layout.extent(LayoutAxis::Lane), layout.extent(LayoutAxis::Warp), kWarpLanes, kPlannedWarps),
            "lanes and warps that hold copies have bases of zeros");
      continue;
    }
    before.emplace_back(v, plan);
    plan = {stored->layout, stored->text, true, {}};
  }
  // Every choice is in place before one is judged: several may fit only together.
  std::vector<std::pair<std::size_t, ValuePlan>> undone;
  for (auto& [v, old] : before) {
    const bool memory = value(v).space == Space::Smem;
    const std::string why = memory ? objection(v, *plan_.values[v].layout) : register_objection(v);
    if (why.empty()) continue;
    const std::string& text = choices_.layouts.find(value(v).name)->second;
    fault(pointer_to("/layouts", value(v).name), fmt::format("{}; you chose {}", why, printable(text)),
          memory             ? "\"panels 128\", \"panels 64\" and \"panels 32\" suit products and TMA"
          : old.text.empty() ? std::string()
                             : fmt::format("by default it lies as {}", old.text));
    undone.emplace_back(v, std::move(old));
  }
  for (auto& [v, old] : undone) plan_.values[v] = std::move(old);
}

}  // namespace heddle

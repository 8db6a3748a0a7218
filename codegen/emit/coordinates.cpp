#include "codegen/emit/coordinates.h"

#include <algorithm>
#include <limits>

#include "codegen/emit/index_text.h"
#include "codegen/emit/places.h"
#include "codegen/emit/sizes.h"
#include "core/base/expr_node.h"
#include "core/base/saturate.h"
#include "core/kernel/op_kind.h"
#include "core/kernel/packed.h"

namespace heddle::codegen {
namespace {

bool is_in_parentheses(const std::string& text) {
  int depth = 0;
  for (std::size_t i = 0; i + 1 < text.size(); ++i)
    if (depth += (text[i] == '(') - (text[i] == ')'); depth == 0) return false;
  return text.size() > 1 && text.back() == ')';
}

std::string in_parentheses(const std::string& text) { return text.find(' ') == std::string::npos ? text : "(" + text + ")"; }

/// The largest magnitude that a part of the expression comes to; what is looked up, and names without a number, count as nothing.
std::int64_t largest_part(const Expr::Node& node, const Scope& most) {
  std::vector<std::int64_t> of;
  std::int64_t inner = 0;
  for (const Expr::Node& child : node.children) {
    of.push_back(largest_part(child, most));
    inner = std::max(inner, of.back());
  }
  switch (node.op) {
    case Operator::Constant: return node.constant < 0 ? -std::max(node.constant, -std::numeric_limits<std::int64_t>::max()) : node.constant;
    case Operator::Name: {
      const auto known = most.find(node.name);
      return known == most.end() ? 0 : std::max<std::int64_t>(known->second, 0);
    }
    case Operator::LookUp: return 0;
    case Operator::Add:
    case Operator::Subtract: return sat_add(of[0], of[1]);
    case Operator::Multiply: return sat_mul(of[0], of[1]);
    default: return inner;
  }
}

/// Coordinates are computed in 32 bits: a product that needs more is another place.
bool fits_32_bits(const EmitContext& emit, const Expr& at) {
  Scope most = emit.program.params;
  for (const GridDim& dim : emit.kernel.grid)
    if (const auto size = dim.size.evaluate(emit.program.params)) most[dim.name] = *size;
  most[emit.kernel.loop.variable] = emit.program.trips;
  return largest_part(at.root(), most) <= std::numeric_limits<std::int32_t>::max();
}

}  // namespace

std::vector<std::string> coordinates(EmitContext& emit, OpRef::List list, std::int64_t iteration, const TileOp& op) {
  std::vector<std::string> variables, texts;
  for (std::size_t d = 0; d < emit.kernel.grid.size(); ++d) {
    variables.push_back(emit.kernel.grid[d].name);
    texts.push_back(emit.grid.names[d]);
  }
  const bool body = list == OpRef::List::Body;
  const bool from_end = emit.section->after && emit.program.varies;
  add_size_variables(emit, variables, texts);
  if (looks_rows_up(op)) variables.emplace_back(kRowName), texts.emplace_back("r");
  variables.push_back(emit.kernel.loop.variable);
  texts.emplace_back(from_end ? "trips" : "i");
  const bool packed = emit.tiles.plan->packed.contains(op.tensor);
  std::vector<std::string> result;
  for (const Expr& at : op.at) {
    auto affine = at.affine(emit.program.params, variables);
    const Tensor* tensor = emit.kernel.find_tensor(op.tensor);
    const bool last = &at == &op.at.back();
    const bool by_number = (packed && &op.at.back() - &at < 2) || (tensor && tensor->dtype == DType::I4 && last);
    const bool computed = !affine && !by_number;  // operation by operation, of the loop's index as it is here
    if (computed) affine = Affine{0, std::vector<std::int64_t>(variables.size(), 0)}, affine->coefficients.back() = 1;
    if (!affine) {
      emit.refuse("coordinates", op, fmt::format("'{}' moves packed numbers or numbers of 4 bits at a place that is looked up", op.name));
      return std::vector<std::string>(op.at.size(), "0");
    }
    if (packed && &op.at.back() - &at < 2) {
      // By blocks, and by rows of blocks.
      const std::int64_t columns = packed_columns(bits_of(tensor->dtype)), block = last ? columns : kPackedRows,
                         rows = last ? kRowsOfBlock : 1;
      bool whole = affine->constant % block == 0;
      for (std::int64_t& c : affine->coefficients) whole = whole && c % block == 0, c = c / block * rows;
      affine->constant = affine->constant / block * rows;
      if (!whole)
        emit.refuse("coordinates", op, fmt::format("'{}' moves a part of a prepacked block of {} x {}", op.name, kPackedRows, columns));
    } else if (tensor && tensor->dtype == DType::I4 && last) {
      // Numbers of 4 bits are found by the byte.
      bool even = affine->constant % 2 == 0;
      for (std::int64_t& c : affine->coefficients) even = even && c % 2 == 0, c /= 2;
      affine->constant /= 2;
      if (!even) emit.refuse("coordinates", op, fmt::format("'{}' reads numbers of 4 bits from the middle of a byte on", op.name));
    }
    std::int64_t& loop = affine->coefficients.back();
    const std::int64_t counted_from = from_end ? emit.program.trips : emit.section->loop ? emit.section->first : 0;
    const std::int64_t add = loop * (list == OpRef::List::Prologue ? 0 : body ? iteration - counted_from : emit.program.trips);
    if ((!emit.section->loop && !from_end) || !body) loop = 0;
    std::string text = affine_text(*affine, texts, add);
    if (computed && !fits_32_bits(emit, at))
      emit.refuse("coordinates", op,
                  fmt::format("'{}' reads or writes at a place whose computation needs more than 32 bits: {}", op.name, at.text()));
    if (computed) {
      std::vector<std::string> here = texts;
      here.back() = text.find(' ') == std::string::npos ? text : "(" + text + ")";
      const auto whole = index_text(emit, at.root(), variables, here);
      if (!whole)
        emit.refuse("coordinates", op, fmt::format("'{}' reads or writes at a place that cannot be computed: {}", op.name, at.text()));
      text = whole.value_or("0");
      if (is_in_parentheses(text)) text = text.substr(1, text.size() - 2);
      if (text.find("look_up(") != std::string::npos) {
        const std::string place = fmt::format("place{}", emit.places++);
        emit.text.line("const int {} = {};", place, text);
        text = place;
      }
    }
    result.insert(result.begin(), text);
  }
  if (packed) result.insert(result.begin(), "0");
  return result;
}

std::vector<std::string> coordinates(EmitContext& emit, const Step& step, const TileOp& op) {
  return coordinates(emit, step.op.list, step.iteration, op);
}

std::string row_text(EmitContext& emit, const Step& step, const TileOp& op, const Expr& row) {
  TileOp place = op;
  place.tensor.clear();  // however its numbers are packed, rows are counted as they are
  place.at = {row};
  return coordinates(emit, step, place)[0];
}

std::vector<std::string> box_coordinates(EmitContext& emit, const Step& step, const TileOp& op) {
  auto at = coordinates(emit, step, op);
  if (step.round_to > 1) at[0] = fmt::format("({} & {})", in_parentheses(at[0]), -step.round_to);
  return at;
}

std::vector<std::string> relabelled_coordinates(EmitContext& emit, const TileOp& op, const std::vector<std::string>& at) {
  if (at.size() < 2 || at.size() > 3) return at;  // map_of() has refused it
  const std::size_t rank = op.at.size();
  const auto [names, counts] = indices_of(emit.kernel, emit.program.params, emit.program.trips);
  const auto row = op.at[rank - 2].affine(emit.program.params, names);
  const bool whole = row && row->constant % 16 == 0 &&
                     std::all_of(row->coefficients.begin(), row->coefficients.end(), [](std::int64_t c) { return c % 16 == 0; });
  if (!whole)
    emit.refuse("tensor_map", op,
                fmt::format("'{}' brings rows in another order, 16 by 16, and does not begin at a multiple of 16", op.name));
  const auto rows = emit.kernel.find_tensor(op.tensor)->shape[rank - 2].evaluate(emit.program.params);
  // Beyond a matrix lies the next one, where a map of whole matrices would give zeros.
  const auto [least, most] = row ? range_of(*row, counts) : std::pair<std::int64_t, std::int64_t>{};
  const TileValue* tile = op.outputs.empty() ? nullptr : emit.kernel.find_value(op.outputs[0]);
  const auto height = tile && tile->shape.size() == 2 ? tile->shape[0].evaluate(emit.program.params) : Result<std::int64_t>(16);
  if (whole && rows.ok() && height.ok() && (least < 0 || most + *height > *rows))
    emit.refuse("tensor_map", op,
                fmt::format("'{}' brings rows in another order, 16 by 16, and reaches beyond the {} rows of a matrix", op.name, *rows));
  std::string block = fmt::format("{} / 16", in_parentheses(at[1]));
  if (at.size() > 2) block = fmt::format("{} * {} + {}", in_parentheses(at[2]), rows.ok() ? *rows / 16 : 0, block);
  return {at[0], "0", "0", "0", block};
}

std::string value_text(EmitContext& emit, const Place& place) {
  const int unit = rounded_load(emit.program, place.value);
  const auto load = [&](const TileOp& op) { return !op.outputs.empty() && op.outputs[0] == emit.kernel.values[place.value].name; };
  const auto& body = emit.kernel.body;
  if (unit == 1) return slot_text(emit, place);
  const auto in_body = std::find_if(body.begin(), body.end(), load);
  const bool looped = in_body != body.end();
  const TileOp& op = looped ? *in_body : *std::find_if(emit.kernel.prologue.begin(), emit.kernel.prologue.end(), load);
  const auto at = coordinates(emit, looped ? OpRef::List::Body : OpRef::List::Prologue, place.iteration, op);
  return fmt::format("{} + ({} & {}) * {}", slot_text(emit, place), in_parentheses(at[0]), unit - 1,
                     bits_of(emit.kernel.values[place.value].dtype) / 8);
}

std::string with_panel(const std::vector<std::string>& at, int offset) {
  std::string text;
  for (std::size_t d = 0; d < at.size(); ++d) {
    if (d > 0) text += ", ";
    text += at[d];
    if (d == 0 && offset > 0) text = text == "0" ? fmt::format("{}", offset) : fmt::format("{} + {}", text, offset);
  }
  return text;
}

}  // namespace heddle::codegen

// The kinds in the order of the catalogue. A tile is seen as rows x columns, columns being its last dimension.
#include "core/kernel/op_semantics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/core.h>

#include "core/base/assert.h"
#include "core/base/saturate.h"
#include "core/kernel/map_expression.h"
#include "core/kernel/op_kind.h"
#include "core/kernel/rounding.h"

namespace heddle {

namespace {

const std::string kFine;

// ---- attributes

std::optional<float> number(const TileOp& op, const char* name) {
  const auto attr = op.attrs.find(name);
  return attr == op.attrs.end() ? std::nullopt : number_of(attr->second);
}

std::string bad_number(const TileOp& op, const char* name) {
  return op.attrs.contains(name) && !number(op, name) ? fmt::format("attribute '{}' is not a decimal number", name) : kFine;
}

// ---- shapes

std::int64_t width_of(const Array& a) { return columns_of(a.shape); }
std::int64_t rows_of(const Array& a) { return width_of(a) == 0 ? 0 : a.size() / width_of(a); }

/// An operand laid over the result's rows and columns.
struct View {
  const float* data = nullptr;
  std::int64_t row_stride = 0, column_stride = 0;
  float at(std::int64_t row, std::int64_t column) const { return data[row * row_stride + column * column_stride]; }
};

View view_over(const Array& in, const Array& out, const std::optional<Lay>& lay) {
  HEDDLE_ASSERT(lay.has_value(), "shapes have been checked");
  switch (*lay) {
    case Lay::Same: return {in.data.data(), width_of(out), 1};
    case Lay::One: return {in.data.data(), 0, 0};
    case Lay::AlongRows: return {in.data.data(), 1, 0};
    case Lay::AlongColumns: break;
  }
  return {in.data.data(), 0, 1};
}

// ---- global memory

/// Calls visit(tensor offset, tile offset, count) for every run of elements of the tile that lies inside the tensor, and before the first
/// row that is left as it is.
/// The tile's dimensions are the tensor's last ones; the leading ones have extent 1.
template <class Visit>
std::string visit_box(const OpCall& call, const Array& tile, Visit visit) {
  const auto& extents = call.tensor->array.shape;
  if (call.at.size() != extents.size())
    return fmt::format("'at' has {} coordinates, tensor '{}' has {} dimensions", call.at.size(), call.op->tensor, extents.size());
  const std::size_t rank = extents.size(), lead = rank - tile.shape.size();
  const std::int64_t width = width_of(tile), runs = rows_of(tile);
  const auto end_of = [&](std::size_t d) {
    return d == lead && call.before ? std::min(extents[d], std::int64_t{saturate(*call.before)}) : extents[d];
  };
  for (std::int64_t run = 0; run < runs; ++run) {
    std::int64_t rest = run, offset = 0, stride = 1, skip = 0, count = 1;
    bool inside = true;
    for (std::size_t d = rank; d-- > 0;) {
      const bool innermost = d + 1 == rank && !tile.shape.empty();
      std::int64_t index = saturate(call.at[d]);
      if (innermost) {
        skip = std::clamp<std::int64_t>(-index, 0, width);
        count = std::clamp<std::int64_t>(sat_add(end_of(d), -index), 0, width) - skip;
        index += skip;
        inside = inside && count > 0;
      } else {
        if (d >= lead) {
          index = sat_add(index, rest % tile.shape[d - lead]);
          rest /= tile.shape[d - lead];
        }
        inside = inside && index >= 0 && index < end_of(d);
      }
      if (!inside) break;
      offset += index * stride;
      stride *= extents[d];
    }
    if (inside) visit(offset, run * width + skip, count);
  }
  return kFine;
}

std::string do_load(const OpCall& call) {
  std::fill(call.output->data.begin(), call.output->data.end(), 0.0f);
  return visit_box(call, *call.output, [&](std::int64_t from, std::int64_t to, std::int64_t count) {
    std::copy_n(call.tensor->array.data.begin() + from, count, call.output->data.begin() + to);
  });
}

std::string do_store(const OpCall& call) {
  const Array& tile = *call.inputs[0];
  return visit_box(call, tile, [&](std::int64_t to, std::int64_t from, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) call.tensor->array.data[to + i] = round_to(call.tensor->dtype, tile.data[from + i]);
  });
}

std::string do_atomic_add(const OpCall& call) {
  const Array& tile = *call.inputs[0];
  return visit_box(call, tile, [&](std::int64_t to, std::int64_t from, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      float& cell = call.tensor->array.data[to + i];
      cell = round_to(call.tensor->dtype, cell + tile.data[from + i]);
    }
  });
}

/// What a tile holds as a number: -1 where it is no row of so many.
std::int64_t number_of_row(float x, std::int64_t rows) {
  return x >= 0 && x < static_cast<float>(rows) ? static_cast<std::int64_t>(x) : -1;
}

std::string do_gather(const OpCall& call) {
  Array& out = *call.output;
  const auto& extents = call.tensor->array.shape;
  if (call.at.size() != 2)
    return fmt::format("'at' has {} coordinates; expected a row, which is not looked at, and a column", call.at.size());
  for (std::int64_t r = 0; r < out.shape[0]; ++r) {
    const std::int64_t row = call.inputs.empty() ? call.rows[r] : number_of_row(call.inputs[0]->data[r], extents[0]);
    for (std::int64_t c = 0; c < out.shape[1]; ++c) {
      const std::int64_t column = sat_add(call.at[1], c);
      const bool inside = row >= 0 && row < extents[0] && column >= 0 && column < extents[1];
      out.data[r * out.shape[1] + c] = inside ? call.tensor->array.data[row * extents[1] + column] : 0.0f;
    }
  }
  return kFine;
}

// ---- tensor core

std::vector<float> transposed(const Array& a) {
  std::vector<float> t(a.data.size());
  for (std::int64_t i = 0; i < a.shape[0]; ++i)
    for (std::int64_t j = 0; j < a.shape[1]; ++j) t[j * a.shape[0] + i] = a.data[i * a.shape[1] + j];
  return t;
}

std::string do_mma(const OpCall& call) {
  const Array &a = *call.inputs[0], &b = *call.inputs[1];
  Array& out = *call.output;
  const bool ta = flag_attr(*call.op, "transpose_a"), tb = flag_attr(*call.op, "transpose_b");
  const std::int64_t m = a.shape[ta], k = a.shape[!ta], width = b.shape[!tb], n = out.shape[1];
  const std::int64_t column = integer_attr(*call.op, "column", 0), first = integer_attr(*call.op, "row", 0);
  if (call.inputs.size() == 3) {
    out.data = call.inputs[2]->data;
  } else {
    std::fill(out.data.begin(), out.data.end(), 0.0f);
  }
  std::vector<float> storage_a, storage_b;
  const float* left = a.data.data();
  const float* right = b.data.data();
  if (ta) left = (storage_a = transposed(a)).data();
  if (tb) right = (storage_b = transposed(b)).data();
  for (std::int64_t i = 0; i < m && !(call.stop && call.stop->stop_requested()); ++i) {
    float* __restrict row = out.data.data() + i * n;
    for (std::int64_t l = 0; l < k; ++l) {
      const float factor = left[i * k + l];
      const float* __restrict from = right + (first + l) * width + column;
      for (std::int64_t j = 0; j < n; ++j) row[j] += factor * from[j];
    }
  }
  return kFine;
}

// ---- moves

std::string do_copy(const OpCall& call) {
  call.output->data = call.inputs[0]->data;
  return kFine;
}

std::string do_smem_load(const OpCall& call) {
  if (!flag_attr(*call.op, "transpose")) return do_copy(call);
  const Array& in = *call.inputs[0];
  Array& out = *call.output;
  const std::int64_t rows = out.shape[0], columns = out.shape[1];
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c) out.data[r * columns + c] = in.data[c * rows + r];
  return kFine;
}

std::string do_tmem_load(const OpCall& call) {
  const Array& in = *call.inputs[0];
  Array& out = *call.output;
  const std::int64_t first = integer_attr(*call.op, "column", 0), width = width_of(out), from = width_of(in);
  for (std::int64_t r = 0; r < out.shape[0]; ++r) std::copy_n(in.data.begin() + r * from + first, width, out.data.begin() + r * width);
  return kFine;
}

std::string do_fill(const OpCall& call) {
  if (auto complaint = bad_number(*call.op, "value"); !complaint.empty()) return complaint;
  std::fill(call.output->data.begin(), call.output->data.end(), number(*call.op, "value").value_or(0.0f));
  return kFine;
}

// ---- reductions

/// Calls visit(line, place along the axis, element) for all of a tile. A vector is one line.
template <class Visit>
void visit_lines(const OpCall& call, Visit visit) {
  const Array& in = *call.inputs[0];
  const bool rows = in.shape.size() == 1 || integer_attr(*call.op, "axis", 1) == 1;
  const std::int64_t width = width_of(in);
  for (std::int64_t r = 0; r < rows_of(in); ++r)
    for (std::int64_t c = 0; c < width; ++c) visit(rows ? r : c, rows ? c : r, in.data[r * width + c]);
}

/// r[line] = combine over the tile's axis, starting at `start`.
template <class Combine>
std::string reduce(const OpCall& call, float start, Combine combine) {
  Array& out = *call.output;
  if (auto complaint = bad_number(*call.op, "scale"); !complaint.empty()) return complaint;
  const float scale = number(*call.op, "scale").value_or(1.0f);
  std::fill(out.data.begin(), out.data.end(), start);
  visit_lines(call, [&](std::int64_t line, std::int64_t, float x) { out.data[line] = combine(out.data[line], scale * x); });
  return kFine;
}

std::string do_reduce_max(const OpCall& call) {
  auto complaint = reduce(call, -std::numeric_limits<float>::infinity(), [](float a, float b) { return std::max(a, b); });
  if (complaint.empty()) complaint = bad_number(*call.op, "keep_within");
  const float within = number(*call.op, "keep_within").value_or(0.0f);
  if (complaint.empty() && !(within >= 0)) complaint = "attribute 'keep_within' must not be negative";
  if (complaint.empty() && within > 0 && call.inputs.size() < 2)
    complaint = "attribute 'keep_within' needs a second input, the old maximum";
  if (complaint.empty() && call.inputs.size() > 1)
    for (std::int64_t i = 0; i < call.output->size(); ++i) {
      float& most = call.output->data[i];
      const float old = call.inputs[1]->data[i];
      if (!(most - old > within)) most = old;
    }
  return complaint;
}

std::string do_reduce_sum(const OpCall& call) {
  auto complaint = reduce(call, 0.0f, [](float a, float b) { return a + b; });
  if (!complaint.empty()) return complaint;
  const Array& in = *call.inputs[0];
  const float count = static_cast<float>(in.size()) / static_cast<float>(std::max<std::int64_t>(call.output->size(), 1));
  for (std::int64_t i = 0; i < call.output->size(); ++i) {
    float& cell = call.output->data[i];
    if (flag_attr(*call.op, "mean")) cell /= count;
    if (call.inputs.size() > 1) cell += call.inputs[1]->data[i] * (call.inputs.size() > 2 ? call.inputs[2]->data[i] : 1.0f);
  }
  return kFine;
}

std::string do_reduce_min(const OpCall& call) {
  auto complaint = reduce(call, std::numeric_limits<float>::infinity(), [](float a, float b) { return std::min(a, b); });
  if (complaint.empty() && call.inputs.size() > 1)
    for (std::int64_t i = 0; i < call.output->size(); ++i) call.output->data[i] = std::min(call.output->data[i], call.inputs[1]->data[i]);
  return complaint;
}

/// Floats hold whole numbers exactly up to 2^24; what lies beyond has lost its low bits before it comes here.
std::string do_reduce_xor(const OpCall& call) {
  const auto bits = [](float x) { return static_cast<std::int64_t>(round_to(DType::I32, x)); };
  const auto both = [&](float a, float b) { return static_cast<float>(bits(a) ^ bits(b)); };
  auto complaint = reduce(call, 0.0f, both);
  if (complaint.empty() && call.inputs.size() > 1)
    for (std::int64_t i = 0; i < call.output->size(); ++i) call.output->data[i] = both(call.output->data[i], call.inputs[1]->data[i]);
  return complaint;
}

std::string do_reduce_argmax(const OpCall& call) {
  std::vector<float> most(call.output->data.size(), -std::numeric_limits<float>::infinity());
  std::fill(call.output->data.begin(), call.output->data.end(), 0.0f);
  visit_lines(call, [&](std::int64_t line, std::int64_t place, float x) {
    if (!(x > most[line])) return;
    most[line] = x;
    call.output->data[line] = static_cast<float>(place);
  });
  return kFine;
}

// ---- element by element

using ElementFunction = float (*)(float, float, float);

/// r = function(scale * a, b, c). Operands that are not given have the value `missing`.
std::string map_elements(const OpCall& call, ElementFunction function, float missing) {
  Array& out = *call.output;
  const std::int64_t axis = integer_attr(*call.op, "axis", 0);
  if (auto complaint = bad_number(*call.op, "scale"); !complaint.empty()) return complaint;
  const float scale = number(*call.op, "scale").value_or(1.0f);
  std::array<View, 3> views{{{&missing, 0, 0}, {&missing, 0, 0}, {&missing, 0, 0}}};
  for (std::size_t i = 0; i < call.inputs.size(); ++i)
    views[i] = view_over(*call.inputs[i], out, lay_over(call.inputs[i]->shape, out.shape, axis));
  const std::int64_t rows = rows_of(out), columns = width_of(out);
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c)
      out.data[r * columns + c] = function(scale * views[0].at(r, c), views[1].at(r, c), views[2].at(r, c));
  return kFine;
}

std::string do_exp2(const OpCall& call) {
  return map_elements(
      call, [](float a, float b, float) { return std::exp2(a - b); }, 0.0f);
}

std::string do_broadcast(const OpCall& call) {
  return map_elements(
      call, [](float a, float, float) { return a; }, 0.0f);
}

float sigmoid(float a) { return 1.0f / (1.0f + std::exp(-a)); }

struct NamedFunction {
  std::string_view name;
  std::size_t operands;
  ElementFunction function;
};

constexpr std::array<NamedFunction, 22> kFunctions{{
    {"add", 2, [](float a, float b, float) { return a + b; }},
    {"sub", 2, [](float a, float b, float) { return a - b; }},
    {"mul", 2, [](float a, float b, float) { return a * b; }},
    {"div", 2, [](float a, float b, float) { return a / b; }},
    {"max", 2, [](float a, float b, float) { return std::max(a, b); }},
    {"min", 2, [](float a, float b, float) { return std::min(a, b); }},
    {"fma", 3, [](float a, float b, float c) { return a * b + c; }},
    {"select", 3, [](float a, float b, float c) { return a != 0 ? b : c; }},
    {"scale", 2, [](float a, float b, float) { return a * b; }},
    {"copy", 1, [](float a, float, float) { return a; }},
    {"neg", 1, [](float a, float, float) { return -a; }},
    {"abs", 1, [](float a, float, float) { return std::fabs(a); }},
    {"recip", 1, [](float a, float, float) { return 1.0f / a; }},
    {"sqrt", 1, [](float a, float, float) { return std::sqrt(a); }},
    {"rsqrt", 2, [](float a, float b, float) { return 1.0f / std::sqrt(a + b); }},
    {"square", 1, [](float a, float, float) { return a * a; }},
    {"log2", 1, [](float a, float, float) { return std::log2(a); }},
    {"sigmoid", 1, [](float a, float, float) { return sigmoid(a); }},
    {"silu", 1, [](float a, float, float) { return a * sigmoid(a); }},
    {"tanh", 1, [](float a, float, float) { return std::tanh(a); }},
    {"relu", 1, [](float a, float, float) { return std::max(a, 0.0f); }},
    {"gelu", 1, [](float a, float, float) { return 0.5f * a * (1.0f + std::erf(a * 0.70710678f)); }},
}};

std::string do_elementwise(const OpCall& call) {
  const auto* name = call.op->attr<std::string>("fn");
  if (!name) return "attribute 'fn' must name a function";
  const auto it = std::find_if(kFunctions.begin(), kFunctions.end(), [&](const NamedFunction& f) { return f.name == *name; });
  if (it == kFunctions.end()) return fmt::format("unknown function '{}'", *name);
  if (auto complaint = bad_number(*call.op, "value"); !complaint.empty()) return complaint;
  const auto value = number(*call.op, "value");
  const bool optional_operand = value.has_value() || *name == "rsqrt";
  if (call.inputs.size() != it->operands && !(optional_operand && call.inputs.size() + 1 == it->operands))
    return fmt::format("function '{}' takes {} operands (the last may be attribute 'value'), found {}", *name, it->operands,
                       call.inputs.size());
  return map_elements(call, it->function, value.value_or(0.0f));
}

std::string do_map(const OpCall& call) {
  const auto* text = call.op->attr<std::string>("expr");
  if (!text) return "attribute 'expr' must have an expression";
  const Result<MapExpression> expression = MapExpression::parse(*text, call.inputs.size());
  if (!expression.ok()) return expression.error().faults.front().message;
  if (call.at.size() < expression->places())
    return fmt::format("'at' has {} coordinates; its expression names {}", call.at.size(), expression->places());
  Array& out = *call.output;
  std::array<View, MapExpression::kMostInputs> views{};
  for (std::size_t k = 0; k < call.inputs.size(); ++k)
    views[k] = view_over(*call.inputs[k], out, map_lay(*call.op, k, call.inputs[k]->shape, out.shape));
  const bool vector = out.shape.size() == 1;  // its elements are rows
  const std::int64_t columns = vector ? 1 : width_of(out), rows = columns == 0 ? 0 : out.size() / columns;
  std::array<float, MapExpression::kMostInputs> x{};
  for (std::int64_t r = 0; r < rows && !(call.stop && call.stop->stop_requested()); ++r)
    for (std::int64_t c = 0; c < columns; ++c) {
      for (std::size_t k = 0; k < call.inputs.size(); ++k) x[k] = vector ? views[k].at(0, r) : views[k].at(r, c);
      out.data[r * columns + c] = expression->evaluate(x, r, c, call.at);
    }
  return kFine;
}

std::string do_mask(const OpCall& call) {
  const Array& in = *call.inputs[0];
  Array& out = *call.output;
  if (auto complaint = bad_number(*call.op, "value"); !complaint.empty()) return complaint;
  if (call.at.size() != 2) return fmt::format("'at' has {} coordinates; expected a row and a column", call.at.size());
  const float value = number(*call.op, "value").value_or(0.0f);
  const bool transposed = flag_attr(*call.op, "transpose");
  const std::int64_t columns = width_of(in);
  const bool before = flag_attr(*call.op, "before"), along_rows = before && integer_attr(*call.op, "axis", 1) == 0;
  for (std::int64_t i = 0; i < in.size(); ++i) {
    const std::int64_t first = sat_add(call.at[0], before ? -1 : i / columns),
                       second = sat_add(call.at[1], along_rows ? i / columns : i % columns);
    out.data[i] = (transposed ? first <= second : second <= first) ? in.data[i] : value;
  }
  return kFine;
}

/// What a kind computes, of operands whose shapes fit.
template <OpFunction Function>
std::string checked(const OpCall& call) {
  std::array<const TileShape*, MapExpression::kMostInputs> shapes{};
  for (std::size_t i = 0; i < call.inputs.size(); ++i) shapes[i] = &call.inputs[i]->shape;
  const std::optional<std::size_t> rank = call.tensor ? std::optional(call.tensor->array.shape.size()) : std::nullopt;
  const auto faults =
      shape_faults(*call.op, std::span(shapes.data(), call.inputs.size()), call.output ? &call.output->shape : nullptr, rank);
  return faults.empty() ? Function(call) : faults.front().message;
}

struct NamedKind {
  std::string_view name;
  OpFunction function;
};

constexpr std::array<NamedKind, 24> kOps{{{"tma_load", checked<do_load>},
                                          {"tma_store", checked<do_store>},
                                          {"load", checked<do_load>},
                                          {"store", checked<do_store>},
                                          {"mma", checked<do_mma>},
                                          {"tmem_load", checked<do_tmem_load>},
                                          {"tmem_store", checked<do_copy>},
                                          {"smem_load", checked<do_smem_load>},
                                          {"smem_store", checked<do_copy>},
                                          {"reduce_max", checked<do_reduce_max>},
                                          {"reduce_sum", checked<do_reduce_sum>},
                                          {"reduce_min", checked<do_reduce_min>},
                                          {"reduce_xor", checked<do_reduce_xor>},
                                          {"reduce_argmax", checked<do_reduce_argmax>},
                                          {"map", checked<do_map>},
                                          {"exp2", checked<do_exp2>},
                                          {"elementwise", checked<do_elementwise>},
                                          {"mask", checked<do_mask>},
                                          {"convert", checked<do_copy>},
                                          {"copy", checked<do_copy>},
                                          {"fill", checked<do_fill>},
                                          {"broadcast", checked<do_broadcast>},
                                          {"atomic_add", checked<do_atomic_add>},
                                          {"gather", checked<do_gather>}}};

std::int64_t product(const std::vector<std::int64_t>& shape) {
  std::int64_t size = 1;
  for (std::int64_t extent : shape) size = sat_mul(size, extent);
  return size;
}

}  // namespace

OpFunction find_op_function(std::string_view kind) {
  const auto it = std::find_if(kOps.begin(), kOps.end(), [&](const NamedKind& op) { return op.name == kind; });
  return it == kOps.end() ? nullptr : it->function;
}

Result<std::vector<std::int64_t>> looked_up_rows(const TileOp& op, std::int64_t rows, Scope& scope) {
  std::vector<std::int64_t> numbers;
  Error error;
  for (std::int64_t r = 0; r < rows && error.faults.empty(); ++r) {
    scope[kRowName] = r;
    const Result<std::int64_t> row = op.at.at(0).evaluate(scope);
    row ? numbers.push_back(*row) : void(error = row.error());
  }
  scope.erase(kRowName);
  if (!error.faults.empty()) return error;
  return numbers;
}

std::int64_t work_of(const TileOp& op, std::span<const std::vector<std::int64_t>> input_shapes,
                     const std::vector<std::int64_t>& output_shape) {
  std::int64_t work = output_shape.empty() ? 1 : product(output_shape);
  if (op.kind == "mma" && !input_shapes.empty() && input_shapes[0].size() == 2)
    return std::max<std::int64_t>(1, sat_mul(work, input_shapes[0][flag_attr(op, "transpose_a") ? 0 : 1]));
  for (const auto& shape : input_shapes) work = std::max(work, product(shape));
  return std::max<std::int64_t>(1, work);
}

}  // namespace heddle

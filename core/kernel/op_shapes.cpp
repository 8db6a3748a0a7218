#include "core/kernel/op_shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "core/base/saturate.h"
#include "core/base/text_style.h"

namespace heddle {
namespace {

std::int64_t elements_of(const TileShape& shape) {
  std::int64_t size = 1;
  for (const std::int64_t extent : shape) size = sat_mul(size, extent);
  return size;
}

struct ShapeCheck {
  const TileOp& op;
  std::span<const TileShape* const> inputs;
  const TileShape* result;
  std::optional<std::size_t> rank;
  std::vector<ShapeFault> faults{};

  const TileShape& in(std::size_t k) const { return *inputs[k]; }
  void fault(std::string where, std::string message, std::string hint = {}) {
    faults.push_back({std::move(where), std::move(message), std::move(hint)});
  }
  static std::string input(std::size_t k) { return fmt::format("/in/{}", k); }
  std::string name(std::size_t k) const { return k < op.inputs.size() ? op.inputs[k].value : std::string(); }
};

/// Result and operand k are of one shape.
void equal(ShapeCheck& c, std::size_t k) {
  if (c.in(k) != *c.result)
    c.fault(c.input(k), fmt::format("operand '{}' is {}, the result is {}; expected equal shapes", c.name(k), shape_text(c.in(k)),
                                    shape_text(*c.result)));
}

void move(ShapeCheck& c) { equal(c, 0); }

void smem_load(ShapeCheck& c) {
  if (!flag_attr(c.op, "transpose")) return move(c);
  const TileShape &in = c.in(0), &out = *c.result;
  if (in.size() != 2 || out.size() != 2 || in[0] != out[1] || in[1] != out[0])
    c.fault("/in/0", fmt::format("operand '{}' is {}, the result is {}; expected the rows of one for the columns of the other", c.name(0),
                                 shape_text(in), shape_text(out)));
}

void box(ShapeCheck& c) {
  const TileShape& tile = c.result ? *c.result : c.in(0);
  if (c.rank && tile.size() > *c.rank)
    c.fault(c.result ? "/out/0" : "/in/0",
            fmt::format("a tile of shape {} does not fit tensor '{}' of {}; expected no more dimensions than the tensor has",
                        shape_text(tile), c.op.tensor, count_of(*c.rank, "dimension")));
}

void gather(ShapeCheck& c) {
  if ((c.rank && *c.rank != 2) || c.result->size() != 2)
    return c.fault("", fmt::format("gather takes rows of a two-dimensional tensor into a two-dimensional tile; the tile is {}",
                                   shape_text(*c.result)));
  if (!c.inputs.empty() && c.in(0) != TileShape{(*c.result)[0]})
    c.fault("/in/0", fmt::format("index '{}' is {}, but the result has {} rows; expected one number for each", c.name(0),
                                 shape_text(c.in(0)), (*c.result)[0]));
}

void mma(ShapeCheck& c) {
  const TileShape &a = c.in(0), &b = c.in(1), &d = *c.result;
  const bool ta = flag_attr(c.op, "transpose_a"), tb = flag_attr(c.op, "transpose_b"), part = c.op.attrs.contains("column"),
             slice = c.op.attrs.contains("row");
  const auto all = [&] {
    return fmt::format(
        "A{} is {}, B{} is {}, D is {}; expected [M,K] [K,N] -> [M,N], or fewer columns with `column`, fewer rows of B with `row`",
        ta ? " (transposed)" : "", shape_text(a), tb ? " (transposed)" : "", shape_text(b), shape_text(d));
  };
  if (a.size() != 2 || b.size() != 2 || d.size() != 2)
    return c.fault(a.size() != 2 ? "/in/0" : b.size() != 2 ? "/in/1" : "/out/0", "A, B and D must be two-dimensional: " + all());
  const std::int64_t m = a[ta], k = a[!ta], width = b[!tb], n = d[1], column = integer_attr(c.op, "column", 0),
                     row = integer_attr(c.op, "row", 0);
  if (slice ? row < 0 || row > b[tb] - k : k != b[tb])
    c.fault("/in/1", fmt::format("{}: A has {} for K, B has {}", all(), k, b[tb]),
            "transpose_a and transpose_b say that an operand is stored the other way round");
  else if (d[0] != m || (part ? column < 0 || column > width - n : width != n))
    c.fault("/out/0", fmt::format("{}: M is {}, N is {}", all(), m, width));
  if (c.inputs.size() == 3 && c.in(2) != d)
    c.fault("/in/2",
            fmt::format("the accumulator '{}' is {}, D is {}; expected equal shapes", c.name(2), shape_text(c.in(2)), shape_text(d)));
}

void part(ShapeCheck& c) {
  const TileShape &in = c.in(0), &out = *c.result;
  const std::int64_t first = integer_attr(c.op, "column", 0), width = columns_of(out);
  if (in.size() == 2 && out.size() == 2 && in[0] == out[0] && first >= 0 && first <= columns_of(in) - width) return;
  c.fault("/in/0", fmt::format("columns {} to {} of a {} tile do not make a {} tile; expected as many rows, and columns that there are",
                               first, sat_add(first, width - 1), shape_text(in), shape_text(out)));
}

void reduce(ShapeCheck& c) {
  const TileShape &in = c.in(0), &out = *c.result;
  const std::int64_t axis = integer_attr(c.op, "axis", 1);
  if (in.size() != 1 && in.size() != 2)
    return c.fault("/in/0", fmt::format("operand '{}' is {}; expected one or two dimensions: only such tiles can be reduced", c.name(0),
                                        shape_text(in)));
  if (axis < 0 || axis > 1) return c.fault("/attrs/axis", fmt::format("expected axis 0 or 1, found {}", axis));
  if (in.size() == 1) {  // all of it, whatever the axis
    if (out != TileShape{1})
      c.fault("/out/0",
              fmt::format("reducing a vector of {} leaves one number, the result is {}; expected 1", shape_text(in), shape_text(out)));
  } else if (out != TileShape{in[axis == 0 ? 1 : 0]}) {
    c.fault("/out/0",
            fmt::format("reducing a {} tile along axis {} does not give a {} vector; expected {}", shape_text(in), axis, shape_text(out),
                        in[axis == 0 ? 1 : 0]),
            "axis 1, the default, leaves one number for each row");
  }
  for (std::size_t k = 1; k < c.inputs.size(); ++k) equal(c, k);
}

void elements(ShapeCheck& c) {
  const std::int64_t axis = integer_attr(c.op, "axis", 0);
  for (std::size_t k = 0; k < c.inputs.size(); ++k) {
    if (lay_over(c.in(k), *c.result, axis)) continue;
    const bool other = lay_over(c.in(k), *c.result, 1 - axis).has_value();
    c.fault(c.input(k),
            fmt::format("operand '{}' of shape {} does not lie over a result of shape {}; expected the same shape, one element, or a "
                        "vector along axis {}",
                        c.name(k), shape_text(c.in(k)), shape_text(*c.result), axis),
            other ? fmt::format("along axis {} it would: \"attrs\": {{\"axis\": {}}}", 1 - axis, 1 - axis)
                  : "a vector has one element per row (axis 0, the default) or per column (axis 1)");
  }
}

void map(ShapeCheck& c) {
  if (const auto* along = c.op.attr<std::string>("along")) {
    if (along->size() != c.inputs.size() || along->find_first_not_of("frc1") != std::string::npos)
      return c.fault("/attrs/along", fmt::format("expected {}, one per input, found \"{}\"", count_of(c.inputs.size(), "letter"), *along),
                     "f: full; r: one element per row; c: one per column; 1: one number");
  }
  for (std::size_t k = 0; k < c.inputs.size(); ++k) {
    if (map_lay(c.op, k, c.in(k), *c.result)) continue;
    const bool told = c.op.attrs.contains("along");
    if (!told && lay_over(c.in(k), *c.result, 0) && lay_over(c.in(k), *c.result, 1))
      c.fault(c.input(k),
              fmt::format("operand '{}' of shape {} could lie along the rows or the columns of a result of shape {}", c.name(k),
                          shape_text(c.in(k)), shape_text(*c.result)),
              "attribute `along` says which: a letter per input, r for one element per row, c for one per column");
    else
      c.fault(c.input(k),
              fmt::format("operand '{}' of shape {} does not lie over a result of shape {}{}", c.name(k), shape_text(c.in(k)),
                          shape_text(*c.result), told ? ", as attribute `along` has it" : ""),
              "expected the same shape, one number, or a vector with an element per row or per column");
  }
}

void mask(ShapeCheck& c) {
  equal(c, 0);
  if (c.result->size() != 2)
    c.fault("/out/0", fmt::format("the tile is {}; expected two dimensions: masks lie over rows and columns", shape_text(*c.result)));
  if (flag_attr(c.op, "before") && flag_attr(c.op, "transpose"))
    c.fault("/attrs/transpose", "a mask with `before` has no diagonal", "leave one of them out");
  if (!flag_attr(c.op, "before") && c.op.attrs.contains("axis")) c.fault("/attrs/axis", "only a mask with `before` has an axis");
}

struct Rule {
  std::string_view kind;
  void (*check)(ShapeCheck&);
};

constexpr std::array<Rule, 23> kRules{{{"tma_load", box},
                                       {"tma_store", box},
                                       {"load", box},
                                       {"store", box},
                                       {"atomic_add", box},
                                       {"gather", gather},
                                       {"mma", mma},
                                       {"tmem_load", part},
                                       {"tmem_store", move},
                                       {"smem_load", smem_load},
                                       {"smem_store", move},
                                       {"convert", move},
                                       {"copy", move},
                                       {"reduce_max", reduce},
                                       {"reduce_sum", reduce},
                                       {"reduce_min", reduce},
                                       {"reduce_xor", reduce},
                                       {"reduce_argmax", reduce},
                                       {"map", map},
                                       {"exp2", elements},
                                       {"elementwise", elements},
                                       {"broadcast", elements},
                                       {"mask", mask}}};

}  // namespace

std::string shape_text(const TileShape& shape) {
  std::string text;
  for (const std::int64_t extent : shape) text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text.empty() ? "scalar" : text;
}

std::int64_t columns_of(const TileShape& shape) { return shape.empty() ? 1 : shape.back(); }

std::optional<Lay> lay_over(const TileShape& operand, const TileShape& result, std::int64_t axis) {
  if (operand == result) return Lay::Same;
  if (elements_of(operand) == 1) return Lay::One;
  if (operand.size() != 1 || result.size() != 2 || axis < 0 || axis > 1 || operand[0] != result[static_cast<std::size_t>(axis)])
    return std::nullopt;
  return axis == 0 ? Lay::AlongRows : Lay::AlongColumns;
}

std::optional<Lay> map_lay(const TileOp& op, std::size_t k, const TileShape& operand, const TileShape& result) {
  const auto* along = op.attr<std::string>("along");
  if (!along) {
    const std::optional<Lay> rows = lay_over(operand, result, 0), columns = lay_over(operand, result, 1);
    return rows && columns && rows != columns ? std::nullopt : rows ? rows : columns;
  }
  const auto is = [](bool so, Lay lay) { return so ? std::optional(lay) : std::nullopt; };
  const bool vector = operand.size() == 1, tile = result.size() == 2;
  switch (k < along->size() ? (*along)[k] : '\0') {
    case 'f': return is(operand == result, Lay::Same);
    case 'r': return tile ? is(vector && operand[0] == result[0], Lay::AlongRows) : is(vector && operand == result, Lay::Same);
    case 'c': return is(vector && tile && operand[0] == result[1], Lay::AlongColumns);
    case '1': return is(elements_of(operand) == 1, Lay::One);
    default: return std::nullopt;
  }
}

bool is_reduction(std::string_view kind) { return kind.starts_with("reduce_"); }

std::int64_t integer_attr(const TileOp& op, const char* name, std::int64_t fallback) {
  const auto* value = op.attr<std::int64_t>(name);
  return value ? *value : fallback;
}

bool flag_attr(const TileOp& op, const char* name) {
  const bool* value = op.attr<bool>(name);
  return value && *value;
}

std::string text_attr(const TileOp& op, const char* name) {
  const auto* value = op.attr<std::string>(name);
  return value ? *value : std::string();
}

std::vector<ShapeFault> shape_faults(const TileOp& op, std::span<const TileShape* const> inputs, const TileShape* result,
                                     std::optional<std::size_t> rank) {
  const auto rule = std::find_if(kRules.begin(), kRules.end(), [&](const Rule& r) { return op.kind == r.kind; });
  if (rule == kRules.end()) return {};
  ShapeCheck check{op, inputs, result, rank};
  rule->check(check);
  return std::move(check.faults);
}

}  // namespace heddle

// The expression of a map, element by element: the same text wherever a tile lies; where an element stands in its tile depends on that.
#include <cmath>
#include <optional>

#include "codegen/emit/access_text.h"
#include "codegen/emit/coordinates.h"
#include "codegen/emit/operands.h"
#include "codegen/emit/sizes.h"
#include "codegen/emit/tile_ops.h"
#include "core/kernel/map_expression.h"
#include "core/kernel/map_node.h"
#include "core/kernel/op_shapes.h"

namespace heddle::codegen {
namespace {

using F = MapFunction;

/// Of operands {0}, {1}, {2}, which are in parentheses or names.
const char* text_of(MapFunction function) {
  switch (function) {
    case F::Add: return "({0} + {1})";
    case F::Sub: return "({0} - {1})";
    case F::Mul: return "({0} * {1})";
    case F::Div: return "({0} * recip_({1}))";
    case F::Negate: return "(-{0})";
    case F::Less: return "({0} < {1})";
    case F::LessEqual: return "({0} <= {1})";
    case F::Greater: return "({0} > {1})";
    case F::GreaterEqual: return "({0} >= {1})";
    case F::Equal: return "({0} == {1})";
    case F::NotEqual: return "({0} != {1})";
    case F::Max: return "fmaxf({0}, {1})";
    case F::Min: return "fminf({0}, {1})";
    case F::Fma: return "fmaf({0}, {1}, {2})";
    case F::Select: return "({0} ? {1} : {2})";
    case F::Pow: return "powf({0}, {1})";
    case F::Exp2: return "exp2_({0})";
    case F::Exp: return "exp2_(1.44269504f * {0})";
    case F::Log2: return "log2_({0})";
    case F::Log: return "(0.69314718f * log2_({0}))";
    case F::Rsqrt: return "rsqrt_({0})";
    case F::Sqrt: return "sqrt_({0})";
    case F::Recip: return "recip_({0})";
    case F::Abs: return "fabsf({0})";
    case F::Floor: return "floorf({0})";
    case F::Ceil: return "ceilf({0})";
    case F::Sin: return "sin_({0})";
    case F::Cos: return "sin_({0} + 1.57079633f)";
    case F::Tanh: return "tanh_({0})";
    case F::Erf: return "erff({0})";
    case F::Sigmoid: return "sigmoid_({0})";
    case F::Bf16: return "round_bf16_({0})";
    case F::F16: return "round_f16_({0})";
    case F::E4m3: return "round_e4m3_({0})";
    case F::E5m2: return "round_e5m2_({0})";
    case F::BitAnd: return "({0} & {1})";
    case F::BitOr: return "({0} | {1})";
    case F::BitXor: return "({0} ^ {1})";
    case F::ShiftLeft: return "({0} << {1})";
    case F::ShiftRight: return "({0} >> {1})";
    case F::Wrap: return "(int(unsigned({0}) << (32 - {1})) >> (32 - {1}))";
    case F::Input:
    case F::Number:
    case F::Row:
    case F::Column:
    case F::At: break;
  }
  return "{0}";
}

/// The same of whole numbers.
const char* whole_text_of(MapFunction function) {
  switch (function) {
    case F::Max: return "max({0}, {1})";
    case F::Min: return "min({0}, {1})";
    case F::Abs: return "max({0}, -{0})";
    default: return text_of(function);
  }
}

std::string number_text(const MapNode& node) {
  if (node.whole) return node.whole_number < 0 ? fmt::format("({})", node.whole_number) : std::to_string(node.whole_number);
  if (std::isnan(node.number)) return "__uint_as_float(0x7fffffffu)";
  if (std::isinf(node.number)) return node.number > 0 ? "__uint_as_float(0x7f800000u)" : "__uint_as_float(0xff800000u)";
  return node.number < 0 ? "(" + float_literal(node.number) + ")" : float_literal(node.number);
}

ElementText map_text(const MapExpression& expression, const std::vector<std::string>& inputs) {
  const auto nodes = expression.nodes();
  std::vector<int> readers(nodes.size(), 0);
  bool products = false;  // of coordinates, which may not fit 32 bits
  for (const MapNode& node : nodes) {
    for (std::size_t k = 0; k < node.operands; ++k) ++readers[node.of[k]];
    products = products || (node.whole && node.function == F::Mul);
  }
  const char* whole = products ? "i64" : "int";
  ElementText text;
  std::vector<std::string> words(nodes.size());
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const MapNode& node = nodes[n];
    const auto operand = [&](std::size_t k) {
      if (k >= node.operands) return std::string();
      const MapNode& of = nodes[node.of[k]];
      // A number that is whole becomes a float literal, any other whole part is converted.
      const bool condition = node.function == F::Select && k == 0;
      const bool wholes = is_comparison(node.function) ? nodes[node.of[0]].whole && nodes[node.of[1]].whole : node.whole;
      if (is_of_bits(node.function) && !of.whole) return fmt::format("int({})", words[node.of[k]]);
      if (wholes && !condition && is_comparison(of.function) && readers[node.of[k]] < 2)
        return fmt::format("{}({})", whole, words[node.of[k]]);
      if (!of.whole || wholes || condition) return words[node.of[k]];
      if (of.function == F::Number) return number_text({F::Number, {}, 0, 0, static_cast<float>(of.whole_number)});
      return "float(" + words[node.of[k]] + ")";
    };
    switch (node.function) {
      case F::Input: words[n] = inputs[node.input]; break;
      case F::Number: words[n] = node.whole && products ? fmt::format("i64({})", node.whole_number) : number_text(node); break;
      case F::Row: words[n] = products ? "i64(row)" : "row"; break;
      case F::Column: words[n] = products ? "i64(column)" : "column"; break;
      case F::At: words[n] = fmt::format(fmt::runtime(products ? "i64(at{})" : "at{}"), node.input); break;
      case F::Div:
        if (const MapNode& by = nodes[node.of[1]]; by.constant && by.number != 0) {
          words[n] = fmt::format("({} * {})", operand(0), number_text({F::Number, {}, 0, 0, 1.0f / by.number}));
          break;
        } else if (const MapNode& of = nodes[node.of[0]]; of.constant && of.number == 1) {
          words[n] = fmt::format("recip_({})", operand(1));
          break;
        }
        [[fallthrough]];
      default:
        words[n] = fmt::format(fmt::runtime(node.whole ? whole_text_of(node.function) : text_of(node.function)), operand(0), operand(1),
                               operand(2));
    }
    const bool name = node.operands == 0 && node.function != F::Input;
    if (readers[n] < 2 || name) continue;
    text.before.push_back(fmt::format("const {} m{} = {};", node.whole ? whole : "float", n, words[n]));
    words[n] = fmt::format("m{}", n);
  }
  text.value = nodes.back().whole ? fmt::format("float({})", words.back()) : words.back();
  return text;
}

/// Where element e stands in its tile, or in its vector: "const int row = ...".
std::vector<std::string> place_text(EmitContext& emit, const Step& step, const ThreadTile& layout, bool rows, bool columns) {
  using Kind = ThreadTile::Kind;
  const int skipped = layout.kind == Kind::Matrix ? step.piece.number * emit.tiles.elements_of(step, step.output.value) : 0;
  const std::string piece = emit.tiles.kind == TileKind::ThreadRows && skipped > 0 ? fmt::format(" + {}", skipped) : "";
  const int lanes = emit.tiles.lanes_of_row;
  std::string row, column;
  const Layout* lies = layout.usual ? nullptr : emit.tiles.layout_of(step.output.value);
  const auto first = lies ? coordinate_text(*lies, 0) : std::nullopt;
  const auto second = lies && lies->shape.size() > 1 ? coordinate_text(*lies, 1) : std::nullopt;
  if (lies && (!first || (!second && lies->shape.size() > 1)))
    emit.refuse("layout", op_of(emit.kernel, step.op),
                fmt::format("'{}' asks where elements lie in '{}', which follows no pattern of bits", op_of(emit.kernel, step.op).name,
                            emit.kernel.values[step.output.value].name));
  switch (emit.tiles.kind) {
    case TileKind::Fragments:
      row = layout.kind == Kind::Matrix ? "warp * 16 + lane / 4 + (e >> 1 & 1) * 8" : "warp * 16 + lane / 4 + e * 8";
      column = layout.kind == Kind::Matrix ? "e / 4 * 8 + lane % 4 * 2 + (e & 1)" : "e / 2 * 8 + lane % 4 * 2 + (e & 1)";
      break;
    case TileKind::WarpRows:
      row = layout.kind == Kind::Matrix ? fmt::format("warp * {} + e / {}", layout.rows / 4, layout.columns)
                                        : fmt::format("warp * {} + e", layout.rows / 4);
      if (lanes < 32) row += fmt::format(" * {} + lane / {}", 32 / lanes, lanes);
      column = fmt::format("e{} / 8 * {} + {} * 8 + e % 8", layout.kind == Kind::Matrix ? fmt::format(" % {}", layout.columns) : "",
                           8 * lanes, lanes < 32 ? fmt::format("lane % {}", lanes) : "lane");
      break;
    case TileKind::ThreadRows:
      row = "tid";
      column = "e" + piece;
      break;
  }
  if (first) row = *first, column = second.value_or(*first);
  if (layout.kind == Kind::Columns) row = column;  // the elements of a vector count as rows
  if (layout.kind != Kind::Matrix) column = "0";
  std::vector<std::string> lines;
  if (rows) lines.push_back(fmt::format("const int row = {};", row));
  if (columns) lines.push_back(fmt::format("const int column = {};", column));
  return lines;
}

}  // namespace

void write_map(EmitContext& emit, const Step& step, const TileOp& op) {
  const TiledValue& out = emit.tiles.values[step.output.value];
  if (step.output.kind != Place::Kind::Variable || (out.packed && out.layout->kind != ThreadTile::Kind::Matrix))
    return emit.refuse("operand", op, fmt::format("'{}' does not compute a tile or f32 numbers into registers", op.name));
  const auto expression = MapExpression::parse(text_attr(op, "expr"), op.inputs.size());
  if (!expression.ok()) return emit.refuse("expression", op, fmt::format("'{}' has an expression that cannot be read", op.name));
  const std::size_t refused = emit.refusals.size();
  if (const auto argument = scalar_text(emit, op)) {
    const std::string input = element_text(emit, step, op, 0, *out.layout);
    if (emit.refusals.size() > refused) return;
    const std::string to = begin_result(emit, step);
    write_each_element(emit, step, op, to, {{}, fmt::format("({} * {})", input, *argument)});
    return end_result(emit, step);
  }
  std::vector<std::string> inputs;
  for (std::size_t k = 0; k < step.inputs.size(); ++k)
    inputs.push_back(expression->uses_input(k) ? element_text(emit, step, op, k, *out.layout) : "0.0f");
  if (expression->places() > 0) {
    const auto at = coordinates(emit, step, op);  // innermost first
    std::vector<std::string> places;
    for (std::size_t k = 0; k < expression->places(); ++k)
      if (expression->uses_place(k)) places.push_back(fmt::format("at{} = {}", k, at[at.size() - 1 - k]));
    emit.text.line("const int {};", fmt::join(places, ", "));
  }
  if (emit.refusals.size() > refused) return;
  ElementText text = map_text(*expression, inputs);
  const auto place = place_text(emit, step, *out.layout, expression->uses(F::Row), expression->uses(F::Column));
  text.before.insert(text.before.begin(), place.begin(), place.end());
  const std::string to = begin_result(emit, step);
  write_each_element(emit, step, op, to, text);
  end_result(emit, step);
}

bool makes_powers(const TileOp& op) {
  if (op.kind == "exp2") return true;
  if (op.kind != "map") return false;
  const auto expression = MapExpression::parse(text_attr(op, "expr"), op.inputs.size());
  if (!expression.ok()) return false;
  const MapNode* last = &expression->nodes().back();
  if (last->function == F::Bf16 || last->function == F::F16) last = &expression->nodes()[last->of[0]];
  return last->function == F::Exp2 || last->function == F::Exp;
}

}  // namespace heddle::codegen

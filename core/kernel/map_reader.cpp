// A reader of one pass into a list of nodes, in which equal parts meet and numbers are folded.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <tuple>

#include "core/base/scanner.h"
#include "core/base/suggest.h"
#include "core/base/text_style.h"
#include "core/kernel/map_expression.h"
#include "core/kernel/map_node.h"

namespace heddle {
namespace {

using F = MapFunction;

constexpr std::array<MapFunctionName, 30> kMapFunctions{{
    {"max", F::Max, 2},
    {"min", F::Min, 2},
    {"fma", F::Fma, 3},
    {"select", F::Select, 3},
    {"pow", F::Pow, 2},
    {"exp2", F::Exp2, 1},
    {"exp", F::Exp, 1},
    {"log2", F::Log2, 1},
    {"log", F::Log, 1},
    {"rsqrt", F::Rsqrt, 1},
    {"sqrt", F::Sqrt, 1},
    {"recip", F::Recip, 1},
    {"abs", F::Abs, 1},
    {"floor", F::Floor, 1},
    {"ceil", F::Ceil, 1},
    {"sin", F::Sin, 1},
    {"cos", F::Cos, 1},
    {"tanh", F::Tanh, 1},
    {"erf", F::Erf, 1},
    {"sigmoid", F::Sigmoid, 1},
    {"bf16", F::Bf16, 1},
    {"f16", F::F16, 1},
    {"e4m3", F::E4m3, 1},
    {"e5m2", F::E5m2, 1},
    {"bit_and", F::BitAnd, 2},
    {"bit_or", F::BitOr, 2},
    {"bit_xor", F::BitXor, 2},
    {"shift_left", F::ShiftLeft, 2},
    {"shift_right", F::ShiftRight, 2},
    {"wrap", F::Wrap, 2},
}};

constexpr std::array<std::pair<std::string_view, MapFunction>, 2> kMapPlaces{{{"row", F::Row}, {"col", F::Column}}};

bool is_input_name(std::string_view name) { return name.size() == 2 && name[0] == 'x' && is_digit(name[1]); }
bool is_place_name(std::string_view name) { return name.size() == 3 && name.starts_with("at") && name[2] >= '0' && name[2] <= '7'; }

/// Recursive descent, one function per level of precedence. The first error stops it.
class MapReader {
 public:
  MapReader(std::string_view text, std::size_t inputs) : in_(text), inputs_(inputs) {}

  Result<std::vector<MapNode>> run() {
    if (in_.text().size() > MapExpression::kLongest)
      return Error::input(
          fmt::format("expression of {} characters is longer than the limit of {}", in_.text().size(), MapExpression::kLongest));
    while (!error_ && definition()) {
    }
    const std::size_t root = error_ ? 0 : comparison();
    if (!error_ && in_.peek() != '\0') fail(fmt::format("expected an operator, found '{}'", in_.here()));
    if (!error_ && !in_.at_end()) fail("expected the end");
    if (error_) return *error_;
    return reached(root);
  }

 private:
  void fail(std::string message, std::string hint = {}) {
    if (error_) return;
    constexpr std::size_t kShown = 60;
    const std::string_view text = in_.text();
    const std::size_t from = in_.at() > kShown ? in_.at() - kShown : 0;
    const std::string shown =
        fmt::format("{}{}{}", from > 0 ? "..." : "", text.substr(from, 2 * kShown), text.size() > from + 2 * kShown ? "..." : "");
    error_ = Error::input(fmt::format("{} at column {} of \"{}\"", message, in_.at() + 1, shown), std::move(hint));
  }

  // ---- nodes

  /// The node with this meaning: one that is there already, a number where all operands are numbers, or a new one.
  std::size_t node(MapNode made) {
    if (error_) return 0;
    const auto operand = [&](std::size_t k) -> const MapNode& { return nodes_[made.of[k]]; };
    const auto all = [&](auto member) {
      bool so = true;
      for (std::size_t k = 0; k < made.operands; ++k) so = so && operand(k).*member;
      return so;
    };
    if (made.operands > 0) {
      made.constant = all(&MapNode::constant);
      switch (made.function) {
        case F::Add:
        case F::Sub:
        case F::Mul:
        case F::Negate:
        case F::Max:
        case F::Min:
        case F::Abs:
        case F::Select: made.whole = all(&MapNode::whole); break;
        default: made.whole = is_comparison(made.function) || is_of_bits(made.function);
      }
      if (made.constant) made = folded(made);
    }
    const auto key =
        std::tuple(made.function, made.of, made.input, made.whole, made.whole_number, std::bit_cast<std::uint32_t>(made.number));
    if (const auto it = known_.find(key); it != known_.end()) return it->second;
    if (nodes_.size() == MapExpression::kMostNodes) {
      fail(fmt::format("more than {} parts", MapExpression::kMostNodes));
      return 0;
    }
    nodes_.push_back(made);
    return known_[key] = nodes_.size() - 1;
  }

  MapNode folded(const MapNode& made) const {
    std::array<MapNode, 4> own{};
    std::array<MapSlot, 4> slots{};
    MapNode last = made;
    for (std::size_t k = 0; k < made.operands; ++k) {
      own[k] = nodes_[made.of[k]];
      if (own[k].whole)
        slots[k].whole = own[k].whole_number;
      else
        slots[k].real = own[k].number;
      last.of[k] = k;
    }
    own[3] = last;
    compute_map_node(own, 3, slots.data());
    MapNode number{F::Number};
    number.constant = true;
    number.whole = made.whole;
    if (made.whole) number.whole_number = slots[3].whole;
    number.number = made.whole ? static_cast<float>(slots[3].whole) : slots[3].real;
    return number;
  }

  std::size_t call(MapFunction function, std::array<std::size_t, 3> of, std::size_t operands) {
    MapNode made{function, of, operands};
    return node(made);
  }
  std::size_t binary(MapFunction function, std::size_t a, std::size_t b) { return call(function, {a, b, 0}, 2); }

  /// What the result needs, in the same order.
  std::vector<MapNode> reached(std::size_t root) const {
    std::vector<bool> needed(nodes_.size(), false);
    needed[root] = true;
    for (std::size_t n = root + 1; n-- > 0;)
      for (std::size_t k = 0; needed[n] && k < nodes_[n].operands; ++k) needed[nodes_[n].of[k]] = true;
    std::vector<std::size_t> place(nodes_.size(), 0);
    std::vector<MapNode> kept;
    for (std::size_t n = 0; n <= root; ++n) {
      if (!needed[n]) continue;
      place[n] = kept.size();
      kept.push_back(nodes_[n]);
      for (std::size_t k = 0; k < kept.back().operands; ++k) kept.back().of[k] = place[kept.back().of[k]];
    }
    return kept;
  }

  // ---- grammar

  /// "t = expression;"
  bool definition() {
    in_.skip_blanks();
    const std::size_t begin = in_.at();
    const std::string name(in_.name());
    const bool defines = !name.empty() && in_.peek() == '=' && in_.here(1) != '=';
    if (!defines) return in_.go(begin), false;
    if (is_reserved(name) || named_.contains(name)) {
      in_.go(begin);
      fail(fmt::format("'{}' has a meaning already", name), "choose another name");
      return false;
    }
    in_.take("=");
    const std::size_t value = comparison();
    if (!error_ && !in_.take(";")) fail("expected ';' after the part with a name");
    named_[name] = value;
    return true;
  }

  static bool is_reserved(std::string_view name) {
    return is_input_name(name) || is_place_name(name) || name == "inf" ||
           std::any_of(kMapPlaces.begin(), kMapPlaces.end(), [&](const auto& p) { return p.first == name; }) ||
           std::any_of(kMapFunctions.begin(), kMapFunctions.end(), [&](const MapFunctionName& f) { return f.name == name; });
  }

  std::optional<MapFunction> comparison_operator() {
    static constexpr std::pair<std::string_view, MapFunction> kTokens[] = {
        {"<=", F::LessEqual}, {">=", F::GreaterEqual}, {"==", F::Equal}, {"!=", F::NotEqual}, {"<", F::Less}, {">", F::Greater}};
    for (const auto& [token, function] : kTokens)
      if (in_.take(token)) return function;
    return std::nullopt;
  }

  std::size_t comparison() {
    const std::size_t left = sum();
    const auto function = error_ ? std::nullopt : comparison_operator();
    if (!function) return left;
    const std::size_t result = binary(*function, left, sum());
    if (!error_ && comparison_operator()) fail("comparisons do not chain", "use parentheses, or min(a < b, b < c)");
    return result;
  }

  std::size_t sum() {
    std::size_t left = product();
    while (!error_) {
      if (in_.take("+"))
        left = binary(F::Add, left, product());
      else if (in_.take("-"))
        left = binary(F::Sub, left, product());
      else
        break;
    }
    return left;
  }

  std::size_t product() {
    std::size_t left = unary();
    while (!error_) {
      if (in_.take("*"))
        left = binary(F::Mul, left, unary());
      else if (in_.take("/"))
        left = binary(F::Div, left, unary());
      else
        break;
    }
    return left;
  }

  std::size_t unary() {
    if (++depth_ > MapExpression::kDeepest) fail(fmt::format("expression nested deeper than {}", MapExpression::kDeepest));
    std::size_t result = 0;
    if (!error_) result = in_.take("-") ? call(F::Negate, {unary(), 0, 0}, 1) : primary();
    --depth_;
    return result;
  }

  std::size_t primary() {
    const char c = in_.peek();
    if (is_digit(c) || c == '.') return literal();
    if (begins_name(c)) return name_or_call();
    if (in_.take("(")) {
      const std::size_t inner = comparison();
      if (!error_ && !in_.take(")")) fail("expected ')'");
      return inner;
    }
    fail(in_.at_end() ? "expected a number, a name or '(', found the end" : fmt::format("expected a number, a name or '(', found '{}'", c));
    return 0;
  }

  std::size_t literal() {
    MapNode number{F::Number};
    number.constant = true;
    double value = 0;
    const std::size_t begin = in_.at();
    // Beyond the range of double only the smallest and the largest numbers are left; they are none of float's either.
    const bool fits = in_.number(value) == std::errc() && std::fabs(value) <= std::numeric_limits<float>::max();
    if (!fits || begins_name(in_.here()) || in_.here() == '.') {
      in_.go(begin);
      fail(fits ? "expected a decimal number" : "number does not fit 32-bit floating point", fits ? "" : "infinity is written inf");
      return 0;
    }
    number.number = static_cast<float>(value);
    const auto whole = read_number<std::int32_t>(in_.since(begin));
    number.whole = whole.has_value();
    number.whole_number = whole.value_or(0);
    return node(number);
  }

  std::size_t name_or_call() {
    const std::size_t begin = in_.at();
    const std::string name(in_.name());
    const auto unknown = [&](const char* what, const std::vector<std::string>& known) {
      in_.go(begin);
      fail(fmt::format("unknown {} '{}' (known: {})", what, name, list_of(known, 40)), did_you_mean(name, known));
      return std::size_t{0};
    };
    if (in_.peek() == '(') {
      const auto* function =
          std::find_if(kMapFunctions.begin(), kMapFunctions.end(), [&](const MapFunctionName& f) { return name == f.name; });
      if (function == kMapFunctions.end()) {
        std::vector<std::string> known;
        for (const MapFunctionName& f : kMapFunctions) known.emplace_back(f.name);
        return unknown("function", known);
      }
      in_.take("(");
      std::array<std::size_t, 3> of{};
      std::size_t given = 0;
      if (in_.peek() != ')') {
        do {
          const std::size_t operand = comparison();
          if (given < of.size()) of[given] = operand;
          ++given;
        } while (!error_ && in_.take(","));
      }
      if (!error_ && !in_.take(")")) fail("expected ',' or ')'");
      if (!error_ && given != function->operands)
        fail(fmt::format("{} takes {}, found {}", name, count_of(function->operands, "argument"), given));
      return call(function->function, of, function->operands);
    }
    if (const auto it = named_.find(name); it != named_.end()) return it->second;
    if (name == "inf") {
      MapNode number{F::Number};
      number.constant = true;
      number.number = std::numeric_limits<float>::infinity();
      return node(number);
    }
    for (const auto& [place, function] : kMapPlaces) {
      if (place != name) continue;
      MapNode coordinate{function};
      coordinate.whole = true;
      return node(coordinate);
    }
    if (is_place_name(name)) {
      MapNode place{F::At};
      place.input = static_cast<std::size_t>(name[2] - '0');
      place.whole = true;
      return node(place);
    }
    if (is_input_name(name)) {
      MapNode input{F::Input};
      input.input = static_cast<std::size_t>(name[1] - '0');
      if (input.input < inputs_) return node(input);
      in_.go(begin);
      fail(fmt::format("'{}' is no input; the op has {}", name, inputs_), "x0 is the first");
      return 0;
    }
    std::vector<std::string> known{"row", "col", "at0", "at1", "inf"};
    for (std::size_t k = 0; k < inputs_; ++k) known.push_back(fmt::format("x{}", k));
    for (const auto& [own, value] : named_) known.push_back(own);
    return unknown("name", known);
  }

  Scanner in_;
  std::size_t inputs_;
  int depth_ = 0;
  std::optional<Error> error_;
  std::vector<MapNode> nodes_;
  std::map<std::tuple<MapFunction, std::array<std::size_t, 3>, std::size_t, bool, std::int64_t, std::uint32_t>, std::size_t> known_;
  std::map<std::string, std::size_t> named_;
};

}  // namespace

std::span<const MapFunctionName> map_functions() { return kMapFunctions; }

Result<MapExpression> MapExpression::parse(std::string_view text, std::size_t inputs) {
  Result<std::vector<MapNode>> nodes = MapReader(text, std::min(inputs, kMostInputs)).run();
  if (!nodes.ok()) return nodes.error();
  MapExpression expression;
  expression.nodes_ = std::move(*nodes);
  return expression;
}

std::string moved_map_expression(std::string_view text, std::string_view name, const std::string& offset) {
  std::string out;
  // A number may end in letters ("1e5"), which are no name.
  for (Scanner in(text); !in.at_end(); in.go(in.at() + 1)) {
    const std::string_view word = in.run([](char c) { return in_name(c) || c == '.'; });
    out += word == name ? fmt::format("({} + {})", name, offset) : std::string(word);
    if (!in.at_end()) out += in.here();
  }
  return out;
}

}  // namespace heddle

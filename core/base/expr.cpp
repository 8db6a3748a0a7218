// Recursive descent makes a small tree of bounded depth, and every operation on it is checked.
#include "core/base/expr.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <set>

#include "core/base/expr_node.h"
#include "core/base/scanner.h"
#include "core/base/suggest.h"
#include "core/base/text_style.h"

namespace heddle {

namespace {

using Node = Expr::Node;
using Number = Result<std::int64_t>;
using Affine = Expr::Affine;

constexpr std::size_t kMaxLength = 4096;
constexpr int kMaxDepth = 200;

struct Function {
  const char* name;
  Operator op;
  std::size_t min_arguments, max_arguments;
};
constexpr Function kFunctions[] = {{"min", Operator::Min, 1, kMaxLength},
                                   {"max", Operator::Max, 1, kMaxLength},
                                   {"ceil_div", Operator::CeilDiv, 2, 2},
                                   {"cbrt", Operator::CubeRoot, 1, 1},
                                   {"if", Operator::If, 3, 3}};

/// The longer ones first.
constexpr std::pair<std::string_view, Operator> kComparisons[] = {{"<=", Operator::LessEqual}, {">=", Operator::GreaterEqual},
                                                                  {"==", Operator::Equal},     {"!=", Operator::NotEqual},
                                                                  {"<", Operator::Less},       {">", Operator::Greater}};

/// Recursive descent, one function per level of precedence. The first error stops it: `error_` is set and every level
/// returns what it has.
class Parser {
 public:
  explicit Parser(std::string_view text) : in_(text) {}

  Result<Node> run() {
    if (in_.text().size() > kMaxLength)
      return Error::input(fmt::format("expression of {} characters is longer than the limit of {}", in_.text().size(), kMaxLength));
    Node root = comparison();
    if (!error_ && !in_.done()) fail(fmt::format("expected an operator, found '{}'", in_.here()));
    if (error_) return *error_;
    return root;
  }

 private:
  void fail(std::string message, std::string hint = {}) {
    if (!error_) error_ = Error::input(fmt::format("{} at column {} of \"{}\"", message, in_.at() + 1, in_.text()), std::move(hint));
  }

  static Node binary(Operator op, Node left, Node right) {
    Node node{op, 0, {}, {}};
    node.children.push_back(std::move(left));
    node.children.push_back(std::move(right));
    return node;
  }

  std::optional<Operator> comparison_operator() {
    for (const auto& [token, op] : kComparisons)
      if (in_.take(token)) return op;
    return std::nullopt;
  }

  Node comparison() {
    Node left = sum();
    const auto op = error_ ? std::nullopt : comparison_operator();
    if (!op) return left;
    Node node = binary(*op, std::move(left), sum());
    if (!error_ && comparison_operator()) fail("comparisons do not chain", "use parentheses, or if(a < b, b < c, 0)");
    return node;
  }

  Node sum() {
    Node left = product();
    while (!error_) {
      if (in_.take("+"))
        left = binary(Operator::Add, std::move(left), product());
      else if (in_.take("-"))
        left = binary(Operator::Subtract, std::move(left), product());
      else
        break;
    }
    return left;
  }

  Node product() {
    Node left = unary();
    while (!error_) {
      if (in_.take("*"))
        left = binary(Operator::Multiply, std::move(left), unary());
      else if (in_.take("/"))
        left = binary(Operator::Divide, std::move(left), unary());
      else if (in_.take("%"))
        left = binary(Operator::Modulo, std::move(left), unary());
      else
        break;
    }
    return left;
  }

  Node unary() {
    if (++depth_ > kMaxDepth) fail(fmt::format("expression nested deeper than {}", kMaxDepth));
    Node node;
    if (!error_) {
      if (in_.take("-")) {
        if (is_digit(in_.peek())) {
          node = literal(true);
        } else {
          node.op = Operator::Negate;
          node.children.push_back(unary());
        }
      } else {
        node = primary();
      }
    }
    --depth_;
    return node;
  }

  Node primary() {
    const char c = in_.peek();
    if (is_digit(c)) return literal(false);
    if (begins_name(c)) return name_or_call();
    if (in_.take("(")) {
      Node inner = comparison();
      if (!error_ && !in_.take(")")) fail("expected ')'");
      return inner;
    }
    if (in_.at_end())
      fail("expected a number, a name or '(', found the end");
    else
      fail(fmt::format("expected a number, a name or '(', found '{}'", c));
    return {};
  }

  /// Negative ones reach one further: the smallest 64-bit integer can be written.
  Node literal(bool negative) {
    Node node;
    std::uint64_t value = 0;
    const std::size_t begin = in_.at();
    if (in_.number(value) != std::errc() || value > std::uint64_t{INT64_MAX} + negative) {
      in_.go(begin);
      fail("number does not fit 64 bits");
      return {};
    }
    node.constant = static_cast<std::int64_t>(negative ? 0 - value : value);
    if (in_.here() == '.' || begins_name(in_.here()))
      fail("expected an integer", in_.here() == '.' ? "cycles and sizes are whole numbers; write a fraction as a*3/2" : "");
    return node;
  }

  Node name_or_call() {
    const std::size_t begin = in_.at();
    Node node;
    node.name = std::string(in_.name());
    if (in_.peek() == '[') return look_up(std::move(node));
    if (in_.peek() != '(') {
      node.op = Operator::Name;
      return node;
    }
    const auto* function =
        std::find_if(std::begin(kFunctions), std::end(kFunctions), [&](const Function& f) { return node.name == f.name; });
    if (function == std::end(kFunctions)) {
      in_.go(begin);
      std::vector<std::string> known;
      for (const Function& f : kFunctions) known.push_back(f.name);
      fail(fmt::format("unknown function '{}' (known: {})", node.name, list_of(known)), did_you_mean(node.name, known));
      return {};
    }
    in_.take("(");
    node.op = function->op;
    if (in_.peek() != ')') {
      do node.children.push_back(comparison());
      while (!error_ && in_.take(","));
    }
    if (!error_ && !in_.take(")")) fail("expected ',' or ')'");
    const std::size_t given = node.children.size();
    if (!error_ && (given < function->min_arguments || given > function->max_arguments))
      fail(fmt::format("{} takes {}{}, found {}", node.name, function->min_arguments == function->max_arguments ? "" : "at least ",
                       count_of(function->min_arguments, "argument"), given));
    return node;
  }

  Node look_up(Node node) {
    in_.take("[");
    node.op = Operator::LookUp;
    do node.children.push_back(comparison());
    while (!error_ && in_.take(","));
    if (!error_ && !in_.take("]")) fail("expected ',' or ']'");
    return node;
  }

  Scanner in_;
  int depth_ = 0;
  std::optional<Error> error_;
};

std::string join(const std::vector<std::string>& parts) { return fmt::format("{}", fmt::join(parts, ", ")); }

/// Whatever is no name and no number stands in parentheses as an operand, but for sums of products: those read well without.
std::string written(const Node& node) {
  std::vector<std::string> plain, closed;
  for (const Node& child : node.children) {
    plain.push_back(written(child));
    const bool bare = child.op == Operator::Name || (child.op == Operator::Constant && child.constant >= 0);
    closed.push_back(bare ? plain.back() : "(" + plain.back() + ")");
  }
  const auto sums = [&](std::size_t i) { return node.children[i].op == Operator::Add || node.children[i].op == Operator::Subtract; };
  const auto compares = [&](std::size_t i) {
    return std::any_of(std::begin(kComparisons), std::end(kComparisons), [&](const auto& c) { return c.second == node.children[i].op; });
  };
  switch (node.op) {
    case Operator::Constant: return std::to_string(node.constant);
    case Operator::Name: return node.name;
    case Operator::LookUp: return fmt::format("{}[{}]", node.name, join(plain));
    case Operator::Negate: return "-" + (node.children[0].op == Operator::Constant ? "(" + plain[0] + ")" : closed[0]);
    case Operator::Add: return fmt::format("{} + {}", compares(0) ? closed[0] : plain[0], sums(1) || compares(1) ? closed[1] : plain[1]);
    case Operator::Subtract: return fmt::format("{} - {}", compares(0) ? closed[0] : plain[0], closed[1]);
    case Operator::Multiply: return fmt::format("{}*{}", closed[0], closed[1]);
    case Operator::Divide: return fmt::format("{} / {}", closed[0], closed[1]);
    case Operator::Modulo: return fmt::format("{} % {}", closed[0], closed[1]);
    default: break;
  }
  for (const auto& [sign, op] : kComparisons)
    if (node.op == op) return fmt::format("{} {} {}", closed[0], sign, closed[1]);
  for (const Function& f : kFunctions)
    if (node.op == f.op) return fmt::format("{}({})", f.name, join(plain));
  HEDDLE_ASSERT(false, "operator without a sign");
}

std::int64_t divide_floor(std::int64_t a, std::int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }
std::int64_t divide_ceil(std::int64_t a, std::int64_t b) { return a / b + (a % b != 0 && (a < 0) == (b < 0)); }

/// The largest whole number whose cube is not above `a`.
std::int64_t cube_root_floor(std::int64_t a) {
  auto root = static_cast<std::int64_t>(std::cbrt(static_cast<double>(a)));
  const auto cube = [](std::int64_t r) { return static_cast<__int128>(r) * r * r; };
  while (cube(root) > a) --root;
  while (cube(root + 1) <= a) ++root;
  return root;
}

Number overflow(const char* what, std::int64_t a, std::int64_t b) {
  return Error::input(fmt::format("{} {} {} does not fit 64 bits", a, what, b));
}

Number divide(Operator op, std::int64_t a, std::int64_t b) {
  const char* what = op == Operator::Modulo ? "%" : "/";
  if (b == 0) return Error::input(fmt::format("division by zero: {} {} 0", a, what));
  // The smallest integer by -1 traps in hardware.
  if (b == -1) {
    if (op == Operator::Modulo) return 0;
    std::int64_t negated = 0;
    if (__builtin_sub_overflow(std::int64_t{0}, a, &negated)) return overflow(what, a, b);
    return negated;
  }
  if (op == Operator::Modulo) return a - b * divide_floor(a, b);
  return op == Operator::CeilDiv ? divide_ceil(a, b) : divide_floor(a, b);
}

Number look_up(const Node& node, const Scope& scope) {
  const IndexTables none;
  const IndexTables& tables = scope.tables ? *scope.tables : none;
  const auto table = tables.find(node.name);
  if (table == tables.end()) {
    std::vector<std::string> known;
    for (const auto& [name, contents] : tables) known.push_back(name);
    std::string hint = did_you_mean(node.name, known);
    if (hint.empty()) hint = known.empty() ? "no index tensors are known here" : "known here: " + list_of(known);
    return Error::input(fmt::format("unknown index tensor '{}'", node.name), std::move(hint));
  }
  const IndexTable& t = table->second;
  if (t.shape.size() != node.children.size())
    return Error::input(
        fmt::format("index tensor '{}' has {} dimensions, found {} subscripts", node.name, t.shape.size(), node.children.size()));
  std::int64_t place = 0;
  for (std::size_t d = 0; d < t.shape.size(); ++d) {
    const Number subscript = evaluate_node(node.children[d], scope);
    if (!subscript) return subscript;
    if (*subscript < 0 || *subscript >= t.shape[d])
      return Error::input(
          fmt::format("subscript {} of index tensor '{}' is {}, expected 0 to {}", d, node.name, *subscript, t.shape[d] - 1));
    place = place * t.shape[d] + *subscript;
  }
  return (*t.values)[static_cast<std::size_t>(place)];
}

}  // namespace

std::optional<Operator> comparison_of(std::string_view sign) {
  for (const auto& [token, op] : kComparisons)
    if (token == sign) return op;
  return std::nullopt;
}

const char* sign_of(Operator op) {
  switch (op) {
    case Operator::Add: return "+";
    case Operator::Subtract: return "-";
    case Operator::Multiply: return "*";
    default: break;
  }
  for (const auto& [sign, comparison] : kComparisons)
    if (comparison == op) return sign.data();
  return nullptr;
}

std::string pairwise(Operator op, const std::vector<std::string>& operands) {
  std::string text = operands.at(0);
  for (std::size_t k = 1; k < operands.size(); ++k)
    text = fmt::format("{}({}, {})", op == Operator::Min ? "min" : "max", text, operands[k]);
  return text;
}

Result<std::int64_t> apply(Operator op, std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  switch (op) {
    case Operator::Add:
      if (__builtin_add_overflow(a, b, &out)) return overflow("+", a, b);
      return out;
    case Operator::Subtract:
      if (__builtin_sub_overflow(a, b, &out)) return overflow("-", a, b);
      return out;
    case Operator::Multiply:
      if (__builtin_mul_overflow(a, b, &out)) return overflow("*", a, b);
      return out;
    case Operator::Divide:
    case Operator::Modulo:
    case Operator::CeilDiv: return divide(op, a, b);
    case Operator::Less: return a < b;
    case Operator::LessEqual: return a <= b;
    case Operator::Greater: return a > b;
    case Operator::GreaterEqual: return a >= b;
    case Operator::Equal: return a == b;
    case Operator::NotEqual: return a != b;
    case Operator::Min: return std::min(a, b);
    case Operator::Max: return std::max(a, b);
    default: break;
  }
  HEDDLE_ASSERT(false, "operator without two operands");
}

Result<std::int64_t> apply(Operator op, std::int64_t a) {
  if (op == Operator::Negate) return apply(Operator::Subtract, 0, a);
  return op == Operator::CubeRoot ? cube_root_floor(a) : a;
}

Result<std::int64_t> evaluate_node(const Node& node, const Scope& scope) {
  switch (node.op) {
    case Operator::Constant: return node.constant;
    case Operator::Name: {
      const auto it = scope.find(node.name);
      if (it != scope.end()) return it->second;
      std::vector<std::string> known;
      for (const auto& [name, value] : scope) known.push_back(name);
      std::string hint = did_you_mean(node.name, known);
      if (hint.empty() && !known.empty()) hint = "known here: " + list_of(known);
      return Error::input(fmt::format("unknown name '{}'", node.name), std::move(hint));
    }
    case Operator::LookUp: return look_up(node, scope);
    case Operator::If: {
      // Lazy: the branch not taken may divide by zero.
      const Number condition = evaluate_node(node.children[0], scope);
      if (!condition) return condition;
      return evaluate_node(node.children[*condition != 0 ? 1 : 2], scope);
    }
    default: break;
  }
  Number left = evaluate_node(node.children[0], scope);
  if (left && node.children.size() == 1) return apply(node.op, *left);
  for (std::size_t i = 1; left && i < node.children.size(); ++i) {
    const Number right = evaluate_node(node.children[i], scope);
    if (!right) return right;
    left = apply(node.op, *left, *right);
  }
  return left;
}

bool mentions(const Expr::Node& node, const std::vector<std::string>& variables) {
  if (node.op == Operator::Name && std::find(variables.begin(), variables.end(), node.name) != variables.end()) return true;
  return std::any_of(node.children.begin(), node.children.end(), [&](const Expr::Node& child) { return mentions(child, variables); });
}

std::optional<Expr::Affine> affine_node(const Node& node, const Scope& scope, const std::vector<std::string>& variables) {
  constexpr std::int64_t kLargest = std::int64_t{1} << 31;
  const auto constant = [&](const Number& value) -> std::optional<Affine> {
    if (!value || *value >= kLargest || *value <= -kLargest) return std::nullopt;
    return Affine{*value, std::vector<std::int64_t>(variables.size(), 0)};
  };
  const auto is_constant = [](const Affine& a) {
    return std::all_of(a.coefficients.begin(), a.coefficients.end(), [](std::int64_t c) { return c == 0; });
  };
  if (node.op == Operator::Name)
    if (const auto it = std::find(variables.begin(), variables.end(), node.name); it != variables.end()) {
      std::optional<Affine> one = constant(0);
      one->coefficients[static_cast<std::size_t>(it - variables.begin())] = 1;
      return one;
    }
  if (node.op == Operator::LookUp && mentions(node, variables)) return std::nullopt;
  if (node.children.empty() || node.op == Operator::LookUp) return constant(evaluate_node(node, scope));
  const std::optional<Affine> left = affine_node(node.children[0], scope, variables);
  if (!left) return std::nullopt;
  if (node.op == Operator::If)
    return is_constant(*left) ? affine_node(node.children[left->constant != 0 ? 1 : 2], scope, variables) : std::nullopt;
  std::optional<Affine> result = left;
  // Every number of both, one by one; nothing where one grows too large.
  const auto each = [&](auto combine) -> std::optional<Affine> {
    for (std::size_t i = 0; i <= variables.size(); ++i) {
      std::int64_t& number = i < variables.size() ? result->coefficients[i] : result->constant;
      const std::optional<Affine> one = constant(combine(number, i));
      if (!one) return std::nullopt;
      number = one->constant;
    }
    return result;
  };
  if (node.op == Operator::Negate) return each([](std::int64_t a, std::size_t) { return apply(Operator::Subtract, 0, a); });
  for (std::size_t k = 1; k < node.children.size(); ++k) {
    const std::optional<Affine> right = affine_node(node.children[k], scope, variables);
    if (!right) return std::nullopt;
    const auto of_right = [&](std::size_t i) { return i < variables.size() ? right->coefficients[i] : right->constant; };
    const bool divides = node.op == Operator::Divide || node.op == Operator::CeilDiv || node.op == Operator::Modulo;
    if (node.op == Operator::Add || node.op == Operator::Subtract) {
      if (!each([&](std::int64_t a, std::size_t i) { return apply(node.op, a, of_right(i)); })) return std::nullopt;
    } else if (node.op == Operator::Multiply && (is_constant(*result) || is_constant(*right))) {
      const std::int64_t factor = is_constant(*right) ? right->constant : result->constant;
      if (!is_constant(*right)) result = right;
      if (!each([&](std::int64_t a, std::size_t) { return apply(Operator::Multiply, a, factor); })) return std::nullopt;
    } else if (divides && is_constant(*right) && right->constant != 0 &&
               std::all_of(result->coefficients.begin(), result->coefficients.end(),
                           [&](std::int64_t c) { return c % right->constant == 0; })) {
      if (!each([&](std::int64_t a, std::size_t) { return apply(node.op, a, right->constant); })) return std::nullopt;
    } else if (is_constant(*result) && is_constant(*right)) {
      const std::optional<Affine> one = constant(apply(node.op, result->constant, right->constant));
      if (!one) return std::nullopt;
      result = one;
    } else {
      return std::nullopt;
    }
  }
  if (node.op == Operator::CubeRoot) return is_constant(*left) ? constant(cube_root_floor(left->constant)) : std::nullopt;
  return result;
}

namespace {

bool exact_node(const Node& node, const Scope& scope) {
  if (node.op == Operator::If) {
    const Number condition = evaluate_node(node.children[0], scope);
    return condition && exact_node(node.children[0], scope) && exact_node(node.children[*condition != 0 ? 1 : 2], scope);
  }
  for (const Node& child : node.children)
    if (!exact_node(child, scope)) return false;
  if (node.op != Operator::Divide) return evaluate_node(node, scope).ok();
  const Number left = evaluate_node(node.children[0], scope), right = evaluate_node(node.children[1], scope);
  return left && right && *right != 0 && (*right == -1 || *left % *right == 0);
}

void collect_names(const Node& node, Operator of, std::set<std::string>& names) {
  if (node.op == of) names.insert(node.name);
  for (const Node& child : node.children) collect_names(child, of, names);
}

std::vector<std::string> collected(const Node& node, Operator of) {
  std::set<std::string> names;
  collect_names(node, of, names);
  return {names.begin(), names.end()};
}

std::int64_t divisor_node(const Node& node, const Scope& scope, const std::vector<std::string>& variables) {
  if (!mentions(node, variables)) {
    const Number value = evaluate_node(node, scope);
    return value && *value != INT64_MIN ? std::abs(*value) : 1;
  }
  if (node.op == Operator::LookUp) {
    const auto table = scope.tables ? scope.tables->find(node.name) : IndexTables::const_iterator{};
    if (!scope.tables || table == scope.tables->end()) return 1;
    std::int64_t common = 0;
    for (const std::int32_t value : *table->second.values)
      if (common = std::gcd(common, std::int64_t{value}); common == 1) break;
    return common;
  }
  if (node.children.empty()) return 1;  // a variable
  std::vector<std::int64_t> of;
  for (const Node& child : node.children) of.push_back(divisor_node(child, scope, variables));
  switch (node.op) {
    case Operator::Negate: return of[0];
    case Operator::Add:
    case Operator::Subtract: return std::gcd(of[0], of[1]);
    case Operator::Multiply: {
      std::int64_t product = 0;
      return __builtin_mul_overflow(of[0], of[1], &product) ? 1 : product;
    }
    case Operator::Min:
    case Operator::Max: return std::accumulate(of.begin(), of.end(), std::int64_t{0}, std::gcd<std::int64_t, std::int64_t>);
    case Operator::If: return std::gcd(of[1], of[2]);
    case Operator::Divide:
    case Operator::CeilDiv:
    case Operator::Modulo:
      if (mentions(node.children[1], variables) || of[1] == 0) return 1;
      if (node.op == Operator::Modulo) return std::gcd(of[0], of[1]);
      return of[0] % of[1] == 0 ? of[0] / of[1] : 1;
    default: return 1;
  }
}

}  // namespace

Expr::Expr(std::int64_t constant) : Expr(Node{Operator::Constant, constant, {}, {}}) {}

Expr::Expr(Node root) : text_(written(root)), root_(std::make_shared<const Node>(std::move(root))) {}

Expr Expr::named(std::string name) { return Expr(Node{Operator::Name, 0, std::move(name), {}}); }

Result<Expr> Expr::parse(std::string_view text) {
  Result<Node> root = Parser(text).run();
  if (!root) return root.error();
  Expr expr;
  expr.text_ = std::string(text);
  expr.root_ = std::make_shared<const Node>(std::move(*root));
  return expr;
}

Result<std::int64_t> Expr::evaluate(const Scope& scope) const {
  Number value = evaluate_node(*root_, scope);
  if (value || is_constant()) return value;
  Error error = value.error();
  for (Fault& fault : error.faults) fault.message += fmt::format(" in \"{}\"", text_);
  return error;
}

std::optional<Expr::Affine> Expr::affine(const Scope& scope, const std::vector<std::string>& variables) const {
  return affine_node(*root_, scope, variables);
}

bool Expr::is_constant() const { return root_->op == Operator::Constant; }

std::vector<std::string> Expr::names() const { return collected(*root_, Operator::Name); }

std::vector<std::string> Expr::tables() const { return collected(*root_, Operator::LookUp); }

std::int64_t Expr::divisor(const Scope& scope, const std::vector<std::string>& variables) const {
  return divisor_node(*root_, scope, variables);
}

bool divides_exactly(const Expr& expr, const Scope& scope) {
  const Result<Node> root = Parser(expr.text()).run();
  return root && exact_node(*root, scope);
}

}  // namespace heddle

// A reader of one pass into a list of nodes, and an evaluator over arrays of doubles.
#include "core/kernel/formula.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "core/base/saturate.h"
#include "core/base/scanner.h"
#include "core/base/suggest.h"
#include "core/base/text_style.h"
#include "core/kernel/execute.h"
#include "core/kernel/op_shapes.h"

namespace heddle {
namespace {

constexpr std::size_t kLongest = 4096;
constexpr int kDeepest = 100;
constexpr std::int64_t kMostElements = std::int64_t{1} << 26;

using Shape = std::vector<std::int64_t>;

struct Whole {
  Shape shape;
  std::vector<double> data;
};

std::int64_t size_of(const Shape& shape) {
  std::int64_t size = 1;
  for (const std::int64_t extent : shape) size = sat_mul(size, extent);
  return size;
}

/// What does not fit, said once, wherever it is found.
struct Misfit {
  std::string why;
};

template <class... T>
void demand(bool good, fmt::format_string<T...> why, T&&... words) {
  if (!good) throw Misfit{fmt::format(why, std::forward<T>(words)...)};
}

Whole made(Shape shape) {
  const std::int64_t size = size_of(shape);
  demand(size <= kMostElements, "an array of {} in the formula has more than {} elements", shape_text(shape), kMostElements);
  return {std::move(shape), std::vector<double>(static_cast<std::size_t>(size))};
}

std::int64_t last(const Whole& a) { return a.shape.empty() ? 1 : a.shape.back(); }

// ---- element by element

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

struct Map {
  const char* name;
  double (*of)(double);
  const char* about;
};
constexpr std::array<Map, 15> kMaps{{
    {"abs", [](double x) { return std::fabs(x); }, "of every element"},
    {"exp", [](double x) { return std::exp(x); }, "of every element"},
    {"exp2", [](double x) { return std::exp2(x); }, "2 to the power of every element"},
    {"gelu", [](double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }, "x times the normal distribution up to x"},
    {"log", [](double x) { return std::log(x); }, "natural logarithm"},
    {"log2", [](double x) { return std::log2(x); }, "logarithm to base 2"},
    {"negated", [](double x) { return -x; }, "the same as a minus sign"},
    {"recip", [](double x) { return 1 / x; }, "1 / x"},
    {"relu", [](double x) { return std::max(x, 0.0); }, "max(x, 0)"},
    {"rsqrt", [](double x) { return 1 / std::sqrt(x); }, "1 / sqrt(x)"},
    {"sigmoid", sigmoid, "1 / (1 + exp(-x))"},
    {"silu", [](double x) { return x * sigmoid(x); }, "x / (1 + exp(-x))"},
    {"sqrt", [](double x) { return std::sqrt(x); }, "of every element"},
    {"square", [](double x) { return x * x; }, "of every element"},
    {"tanh", [](double x) { return std::tanh(x); }, "of every element"},
}};

struct Pair {
  const char* name;
  double (*of)(double, double);
  const char* about;
};
constexpr std::array<Pair, 6> kPairs{{
    {"+", [](double a, double b) { return a + b; }, ""},
    {"-", [](double a, double b) { return a - b; }, ""},
    {"*", [](double a, double b) { return a * b; }, ""},
    {"/", [](double a, double b) { return a / b; }, ""},
    {"max", [](double a, double b) { return std::max(a, b); }, "the larger of two"},
    {"min", [](double a, double b) { return std::min(a, b); }, "the smaller of two"},
}};

Whole map(const Whole& a, double (*of)(double)) {
  Whole r = a;
  for (double& x : r.data) x = of(x);
  return r;
}

/// Of the operand, by which its index grows with each dimension of the result; 0 where it is repeated.
Shape strides_over(const Shape& operand, const Shape& result) {
  Shape strides(result.size(), 0);
  std::int64_t stride = 1;
  for (std::size_t d = operand.size(); d-- > 0;) {
    strides[d + result.size() - operand.size()] = operand[d] == 1 ? 0 : stride;
    stride *= operand[d];
  }
  return strides;
}

Shape common(const Shape& a, const Shape& b, const char* what) {
  Shape shape(std::max(a.size(), b.size()), 1);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const auto at = [&](const Shape& s) { return d < s.size() ? s[s.size() - 1 - d] : 1; };
    const std::int64_t x = at(a), y = at(b);
    demand(x == y || x == 1 || y == 1, "{} and {} do not lie over each other in '{}'", shape_text(a), shape_text(b), what);
    shape[shape.size() - 1 - d] = std::max(x, y);
  }
  return shape;
}

Whole map(const Whole& a, const Whole& b, const Pair& pair) {
  Whole r = made(common(a.shape, b.shape, pair.name));
  const Shape sa = strides_over(a.shape, r.shape), sb = strides_over(b.shape, r.shape);
  Shape index(r.shape.size(), 0);
  std::int64_t ia = 0, ib = 0;
  for (double& x : r.data) {
    x = pair.of(a.data[static_cast<std::size_t>(ia)], b.data[static_cast<std::size_t>(ib)]);
    for (std::size_t d = index.size(); d-- > 0;) {
      ia += sa[d], ib += sb[d];
      if (++index[d] < r.shape[d]) break;
      ia -= sa[d] * r.shape[d], ib -= sb[d] * r.shape[d];
      index[d] = 0;
    }
  }
  return r;
}

// ---- along rows and over whole arrays

/// `of` gets every row and may change it.
template <class F>
Whole by_rows(Whole a, F of) {
  const auto width = static_cast<std::size_t>(last(a));
  for (std::size_t at = 0; at + width <= a.data.size() && width > 0; at += width) of(std::span(a.data).subspan(at, width), at / width);
  return a;
}

/// One number for every row; its extent stays, as 1.
template <class F>
Whole reduce(const Whole& a, F of) {
  Shape shape = a.shape;
  if (!shape.empty()) shape.back() = 1;
  Whole r = made(std::move(shape));
  by_rows(a, [&](std::span<double> row, std::size_t number) { r.data[number] = of(row); });
  return r;
}

double total(std::span<const double> row) {
  double sum = 0;
  for (const double x : row) sum += x;
  return sum;
}

void soften(std::span<double> row, std::size_t) {
  const double most = *std::max_element(row.begin(), row.end());
  for (double& x : row) x = std::exp(x - most);
  const double sum = total(row);
  for (double& x : row) x /= sum;
}

Whole transposed(const Whole& a) {
  demand(a.shape.size() >= 2, "transpose takes matrices, found {}", shape_text(a.shape));
  Shape shape = a.shape;
  std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
  Whole r = made(shape);
  const std::int64_t rows = shape[shape.size() - 2], columns = shape.back(), matrix = rows * columns;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(r.data.size()); ++i) {
    const std::int64_t inside = i % matrix;
    r.data[i] = a.data[i - inside + inside % columns * rows + inside / columns];
  }
  return r;
}

/// Every element of the first dimension so many times in a row.
Whole repeated(const Whole& a, const Whole& times) {
  demand(!a.shape.empty() && times.shape.empty() && times.data[0] >= 1 && times.data[0] == std::floor(times.data[0]) && times.data[0] < 1e9,
         "repeat takes an array and how often its first dimension's elements are repeated");
  const auto n = static_cast<std::int64_t>(times.data[0]);
  Shape shape = a.shape;
  shape[0] = sat_mul(shape[0], n);
  Whole r = made(shape);
  const std::int64_t one = static_cast<std::int64_t>(a.data.size()) / std::max<std::int64_t>(a.shape[0], 1);
  for (std::int64_t i = 0; i < shape[0]; ++i) std::copy_n(a.data.begin() + i / n * one, one, r.data.begin() + i * one);
  return r;
}

Whole causal(Whole a) {
  demand(a.shape.size() >= 2, "causal takes matrices, found {}", shape_text(a.shape));
  const std::int64_t rows = a.shape[a.shape.size() - 2], columns = a.shape.back();
  demand(columns >= rows, "causal takes at least as many columns as rows, found {}", shape_text(a.shape));
  return by_rows(std::move(a), [&](std::span<double> row, std::size_t number) {
    const std::int64_t seen = static_cast<std::int64_t>(number) % rows + columns - rows + 1;
    std::fill(row.begin() + seen, row.end(), -std::numeric_limits<double>::infinity());
  });
}

Whole product(const Whole& a, const Whole& b, const std::stop_token& stop) {
  demand(a.shape.size() >= 2 && b.shape.size() >= 2, "@ takes matrices, found {} and {}", shape_text(a.shape), shape_text(b.shape));
  const std::int64_t m = a.shape[a.shape.size() - 2], k = a.shape.back(), n = b.shape.back();
  demand(b.shape[b.shape.size() - 2] == k, "{} @ {}: {} columns meet {} rows", shape_text(a.shape), shape_text(b.shape), k,
         b.shape[b.shape.size() - 2]);
  const Shape lead_a(a.shape.begin(), a.shape.end() - 2), lead_b(b.shape.begin(), b.shape.end() - 2);
  const Shape lead = common(lead_a, lead_b, "@");
  Shape shape = lead;
  shape.insert(shape.end(), {m, n});
  const std::int64_t count = size_of(lead);
  demand(sat_mul(sat_mul(size_of(shape), k), 1) <= kMaxWork, "{} @ {} is more work than {} multiply-adds", shape_text(a.shape),
         shape_text(b.shape), kMaxWork);
  Whole r = made(std::move(shape));
  const Shape sa = strides_over(lead_a, lead), sb = strides_over(lead_b, lead);
  for (std::int64_t p = 0; p < count; ++p) {
    std::int64_t rest = p, ia = 0, ib = 0;
    for (std::size_t d = lead.size(); d-- > 0; rest /= lead[d]) ia += rest % lead[d] * sa[d], ib += rest % lead[d] * sb[d];
    const double* from_a = a.data.data() + ia * m * k;
    const double* from_b = b.data.data() + ib * k * n;
    double* to = r.data.data() + p * m * n;
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t l = 0; l < k && !stop.stop_requested(); ++l) {
        const double factor = from_a[i * k + l];
        for (std::int64_t j = 0; j < n; ++j) to[i * n + j] += factor * from_b[l * n + j];
      }
  }
  return r;
}

constexpr std::array<FormulaFunction, 10> kWholes{{
    {"causal", 1, "minus infinity where the column comes after the row; the last row sees every column"},
    {"column", 1, "a vector with one element for every row"},
    {"max", 1, "the largest of every row"},
    {"mean", 1, "of every row"},
    {"min", 1, "the smallest of every row"},
    {"repeat", 2, "repeat(x, n): every element of the first dimension n times in a row"},
    {"softmax", 1, "of every row"},
    {"sum", 1, "of every row"},
    {"transpose", 1, "rows and columns of every matrix"},
    {"@", 2, ""},
}};

Whole call(const std::string& name, std::span<const Whole* const> of, const std::stop_token& stop) {
  const Whole& a = *of[0];
  for (const Map& f : kMaps)
    if (name == f.name) return map(a, f.of);
  if (of.size() == 2)
    for (const Pair& f : kPairs)
      if (name == f.name) return map(a, *of[1], f);
  if (name == "@") return product(a, *of[1], stop);
  if (name == "repeat") return repeated(a, *of[1]);
  if (name == "transpose") return transposed(a);
  if (name == "causal") return causal(a);
  if (name == "softmax") return by_rows(a, soften);
  if (name == "sum") return reduce(a, total);
  if (name == "mean") return reduce(a, [](std::span<const double> row) { return total(row) / static_cast<double>(row.size()); });
  if (name == "max") return reduce(a, [](std::span<const double> row) { return *std::max_element(row.begin(), row.end()); });
  if (name == "min") return reduce(a, [](std::span<const double> row) { return *std::min_element(row.begin(), row.end()); });
  Whole r = a;  // column
  r.shape.push_back(1);
  return r;
}

// ---- reading

struct Unreadable {
  std::size_t at;
  std::string message, hint;
};

class Reader {
 public:
  Reader(std::string_view text, const Kernel& kernel, std::vector<Formula::Node>& nodes) : in_(text), kernel_(kernel), nodes_(nodes) {}

  /// The next statement: its name and its node; nothing at the end.
  std::optional<std::pair<std::string, std::size_t>> statement() {
    if (in_.done()) return std::nullopt;
    const std::size_t begin = in_.at();
    const std::string name(in_.name());
    if (name.empty()) fail(begin, "expected the name of a result");
    const Tensor* tensor = kernel_.find_tensor(name);
    if (tensor && !is_written(tensor->role)) fail(begin, fmt::format("'{}' is an input of the kernel; results are outputs", name));
    if (kernel_.find_param(name)) fail(begin, fmt::format("'{}' is a parameter of the kernel, and cannot be a result", name));
    if (std::find(defined_.begin(), defined_.end(), name) != defined_.end()) fail(begin, fmt::format("'{}' is defined twice", name));
    if (!in_.take('=')) fail(in_.at(), "expected =");
    const std::size_t node = sum(0);
    if (!in_.done() && !in_.take(';')) fail(in_.at(), "expected an operator, ; or the end");
    defined_.push_back(name);
    return std::pair(name, node);
  }
  const std::vector<std::string>& defined() const { return defined_; }

 private:
  [[noreturn]] void fail(std::size_t at, std::string message, std::string hint = {}) const { throw Unreadable{at, message, hint}; }

  std::size_t node(Formula::Node node) {
    nodes_.push_back(std::move(node));
    return nodes_.size() - 1;
  }
  std::size_t called(std::string what, std::vector<std::size_t> of) {
    return node({std::move(what), Formula::Node::Kind::Call, 0, std::move(of)});
  }

  std::size_t sum(int depth) {
    std::size_t left = term(depth);
    while (true) {
      if (in_.take('+'))
        left = called("+", {left, term(depth)});
      else if (in_.take('-'))
        left = called("-", {left, term(depth)});
      else
        return left;
    }
  }

  std::size_t term(int depth) {
    std::size_t left = factor(depth);
    while (true) {
      bool found = false;
      for (const char* op : {"*", "/", "@"})
        if (!found && in_.take(*op)) left = called(op, {left, factor(depth)}), found = true;
      if (!found) return left;
    }
  }

  std::size_t factor(int depth) {
    if (depth > kDeepest) fail(in_.at(), fmt::format("nested deeper than {}", kDeepest));
    if (in_.take('-')) return called("negated", {factor(depth + 1)});
    if (in_.take('(')) {
      const std::size_t inside = sum(depth + 1);
      if (!in_.take(')')) fail(in_.at(), "expected )");
      return inside;
    }
    const char first = in_.peek();
    const std::size_t begin = in_.at();
    if (is_digit(first) || first == '.') return number();
    const std::string name(in_.name());
    if (name.empty()) fail(begin, "expected a number, a name or (");
    if (!in_.take('(')) return known(name, begin);
    std::vector<std::size_t> of{sum(depth + 1)};
    while (in_.take(',')) of.push_back(sum(depth + 1));
    if (!in_.take(')')) fail(in_.at(), "expected )");
    std::vector<std::string> names;
    bool close = false;
    for (const FormulaFunction& f : formula_functions()) {
      if (name == f.name && static_cast<int>(of.size()) == f.operands) return called(name, std::move(of));
      close = close || name == f.name;
      names.emplace_back(f.name);
    }
    if (close) fail(begin, fmt::format("{} does not take {}", name, count_of(of.size(), "operand")));
    const std::string guess = did_you_mean(name, names);
    fail(begin, fmt::format("there is no function '{}'", name), guess.empty() ? "known are " + list_of(names, 40) : guess);
  }

  std::size_t number() {
    double value = 0;
    if (in_.number(value) != std::errc{} || !std::isfinite(value)) fail(in_.at(), "expected a number");
    return node({"", Formula::Node::Kind::Number, value, {}});
  }

  std::size_t known(const std::string& name, std::size_t begin) {
    const bool defined = std::find(defined_.begin(), defined_.end(), name) != defined_.end();
    const Tensor* tensor = kernel_.find_tensor(name);
    if (tensor && is_written(tensor->role) && !defined)
      fail(begin, fmt::format("'{}' is an output; a statement before this one must define it", name));
    if (!defined && !tensor && !kernel_.find_param(name) && !has_scalar(kernel_, name)) {
      std::vector<std::string> names = names_of(kernel_.tensors);
      for (const Param& p : kernel_.params) names.push_back(p.name);
      names.insert(names.end(), defined_.begin(), defined_.end());
      const std::string guess = did_you_mean(name, names);
      fail(begin, fmt::format("'{}' is neither a tensor nor a parameter nor defined before", name),
           guess.empty() ? "known are " + list_of(names) : guess);
    }
    return node({name, Formula::Node::Kind::Name, 0, {}});
  }

  Scanner in_;
  const Kernel& kernel_;
  std::vector<Formula::Node>& nodes_;
  std::vector<std::string> defined_;
};

/// Numbers of 16 bits or less that are neither loaded nor only stored.
bool computes_with_rounded(const Kernel& kernel) {
  for (const auto* list : {&kernel.prologue, &kernel.body, &kernel.epilogue})
    for (const TileOp& op : *list) {
      const TileValue* made = op.outputs.empty() ? nullptr : kernel.find_value(op.outputs[0]);
      if (!made || bits_of(made->dtype) > 16 || !op.tensor.empty() || op.kind == "smem_load" || op.kind == "smem_store") continue;
      for (const auto* readers : {&kernel.body, &kernel.epilogue})
        for (const TileOp& reader : *readers)
          for (const Operand& in : reader.inputs)
            if (in.value == made->name && reader.kind != "smem_store" && !(reader.outputs.empty() && !reader.tensor.empty())) return true;
    }
  return false;
}

/// Distance of neighbours at 1.
double unit_of(DType dtype) {
  switch (dtype) {
    case DType::Bf16: return 1.0 / 256;
    case DType::F16: return 1.0 / 2048;
    case DType::F8e4m3: return 1.0 / 16;
    case DType::F8e5m2: return 1.0 / 8;
    case DType::F32: return 1e-5;
    case DType::I32:
    case DType::I8:
    case DType::I4: return 1e-5;
  }
  return 1e-5;
}

Tolerance tolerance_of(DType dtype, const std::vector<double>& values, bool rounds_inside) {
  double squares = 0;
  for (const double x : values) squares += x * x;
  const double typical = values.empty() ? 0 : std::sqrt(squares / static_cast<double>(values.size())), unit = unit_of(dtype);
  const double own = std::max(unit, 1e-4);
  if (rounds_inside)
    return {unit, 0.05 * typical, std::max(8e-3, own),
            "the kernel computes with numbers rounded to 16 bits: about 3e-3 in the rms; 5 % of the rms in one element is beyond 15 of "
            "their standard deviations"};
  return {unit, 1e-4 * typical, own, fmt::format("sums are kept in f32, and the result is rounded once to {}", to_string(dtype))};
}

}  // namespace

bool is_formula(std::string_view reference) { return reference.find('=') != std::string_view::npos; }

std::vector<FormulaFunction> formula_functions() {
  std::vector<FormulaFunction> all;
  for (const Map& f : kMaps) all.push_back({f.name, 1, f.about});
  for (const Pair& f : kPairs)
    if (*f.about) all.push_back({f.name, 2, f.about});
  for (const FormulaFunction& f : kWholes)
    if (*f.about) all.push_back(f);
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return std::string_view(a.name) < b.name; });
  return all;
}

Result<Formula> Formula::parse(std::string_view text, const Kernel& kernel) {
  const auto fault = [&](std::string message, std::string hint = {}) {
    return Error{ErrorKind::Input, {{kernel.source, "/reference", std::move(message), std::move(hint)}}};
  };
  if (text.size() > kLongest) return fault(fmt::format("a formula of {} characters; at most {} are read", text.size(), kLongest));
  Formula formula;
  Reader reader(text, kernel, formula.nodes_);
  try {
    while (auto next = reader.statement()) formula.statements_.push_back({std::move(next->first), next->second});
  } catch (const Unreadable& no) {
    return fault(fmt::format("formula, column {}: {}", no.at + 1, no.message), no.hint);
  }
  for (const Tensor& tensor : kernel.tensors)
    if (is_written(tensor.role) && std::find(reader.defined().begin(), reader.defined().end(), tensor.name) == reader.defined().end())
      return fault(fmt::format("the formula does not say what '{}' is", tensor.name), fmt::format("add \"; {} = ...\"", tensor.name));
  formula.rounds_inside_ = computes_with_rounded(kernel);
  return formula;
}

std::string Formula::compute(const TensorMap& tensors, const FormulaNumbers& numbers, const std::stop_token& stop,
                             std::vector<ExpectedTensor>& expected) const {
  std::map<std::string, Whole, std::less<>> defined;
  std::vector<Whole> values(nodes_.size());
  try {
    std::size_t next = 0;
    for (const Statement& statement : statements_) {
      for (; next <= statement.node && !stop.stop_requested(); ++next) {
        const Node& node = nodes_[next];
        if (node.kind == Node::Kind::Number) {
          values[next] = {{}, {node.number}};
        } else if (node.kind == Node::Kind::Call) {
          std::vector<const Whole*> of;
          for (const std::size_t operand : node.of) of.push_back(&values[operand]);
          values[next] = call(node.what, of, stop);
          for (const std::size_t operand : node.of) values[operand] = {};
        } else if (const auto own = defined.find(node.what); own != defined.end()) {
          values[next] = own->second;
        } else if (const auto tensor = tensors.find(node.what); tensor != tensors.end()) {
          const Array& array = tensor->second.array;
          values[next] = {array.shape, {array.data.begin(), array.data.end()}};
        } else {
          values[next] = {{}, {numbers.of(node.what)}};
        }
      }
      if (stop.stop_requested()) return {};
      Whole value = std::move(values[statement.node]);
      if (const auto tensor = tensors.find(statement.name); tensor != tensors.end()) {
        if (value.shape.size() == tensor->second.array.shape.size() + 1 && value.shape.back() == 1) value.shape.pop_back();
        demand(value.shape == tensor->second.array.shape, "the formula makes '{}' {}, the tensor is {}", statement.name,
               shape_text(value.shape), shape_text(tensor->second.array.shape));
        const Tolerance tolerance = tolerance_of(tensor->second.dtype, value.data, rounds_inside_);
        expected.push_back({statement.name, value.data, tolerance});
      }
      defined.insert_or_assign(statement.name, std::move(value));
    }
  } catch (const Misfit& no) {
    return no.why;
  }
  return {};
}

}  // namespace heddle

#include "codegen/package/torch_operator.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "codegen/emit/size_formula.h"
#include "codegen/package/c_text.h"
#include "core/base/expr_node.h"
#include "core/layout/plan.h"

namespace heddle::codegen {
namespace {

std::optional<std::string> python_text(const Expr::Node& node, const Scope& scope, const std::vector<std::string>& variables) {
  if (!mentions(node, variables)) {
    const auto value = evaluate_node(node, scope);
    return value.ok() ? std::optional(std::to_string(*value)) : std::nullopt;
  }
  if (node.op == Operator::Name) return python_name(size_name(node.name));
  std::vector<std::string> of;
  for (const Expr::Node& child : node.children) {
    auto text = python_text(child, scope, variables);
    if (!text) return std::nullopt;
    of.push_back(*std::move(text));
  }
  if (const char* sign = sign_of(node.op)) return fmt::format("({} {} {})", of[0], sign, of[1]);
  switch (node.op) {
    case Operator::Divide: return fmt::format("({} // {})", of[0], of[1]);
    case Operator::Modulo: return fmt::format("({} % {})", of[0], of[1]);
    case Operator::Negate: return fmt::format("(-{})", of[0]);
    case Operator::CeilDiv: return fmt::format("ceil_div({}, {})", of[0], of[1]);
    case Operator::If: return fmt::format("({} if {} else {})", of[1], of[0], of[2]);
    case Operator::Min:
    case Operator::Max: return pairwise(node.op, of);
    default: return std::nullopt;
  }
}

std::string shape_words(const Tensor& tensor) {
  std::vector<std::string> extents;
  for (const Expr& extent : tensor.shape) extents.push_back(extent.text());
  return fmt::format("[{}]", fmt::join(extents, ", "));
}

std::string packed_order(const PackageSubject& subject, const PackageTensor& tensor) {
  if (!tensor.packed || !subject.problem.layouts) return "";
  const auto order = subject.problem.layouts->packed.find(subject.kernel.tensors[tensor.tensor].name);
  if (order == subject.problem.layouts->packed.end()) return "";
  return order->second == PackedOrder::Lines ? "lines" : "threads";
}

/// A kernel that reads nothing is given what it writes: the device must come from somewhere.
std::vector<TorchTensor> tensors_of(const PackageSubject& subject, const std::vector<std::string>& params) {
  std::vector<PackageTensor> all = package_tensors(subject);
  const bool reads = std::any_of(all.begin(), all.end(), [](const PackageTensor& t) { return t.role != TensorRole::Output; });
  std::vector<TorchTensor> tensors;
  std::set<std::string> names;
  for (PackageTensor& as : all) {
    const Tensor& tensor = subject.kernel.tensors[as.tensor];
    TorchTensor made;
    made.given = !reads || as.role != TensorRole::Output;
    made.written = made.given && is_written(as.role);
    made.words = shape_words(tensor);
    made.packed = packed_order(subject, as);
    made.name = python_name(as.member);
    while (!names.insert(made.name).second) made.name += "_";
    for (std::size_t d = 0; d < tensor.shape.size(); ++d)
      made.python_extents.push_back(python_formula(tensor.shape[d], subject.program.params, params).value_or(as.extents[d]));
    made.as = std::move(as);
    tensors.push_back(std::move(made));
  }
  std::stable_partition(tensors.begin(), tensors.end(), [](const TorchTensor& t) { return t.given; });
  return tensors;
}

TorchSize size_of(const PackageSubject& subject, const std::string& param, const std::vector<TorchTensor>& tensors) {
  TorchSize size;
  size.param = size_name(param);
  size.name = python_name(size.param);
  if (const auto value = subject.program.params.find(param); value != subject.program.params.end()) size.value = value->second;
  const Param* declared = subject.kernel.find_param(param);
  size.small = declared ? declared->eval_value.value_or(size.value) : size.value;
  size.shapes = false;
  for (std::size_t t = 0; t < tensors.size(); ++t)
    for (std::size_t d = 0; d < tensors[t].as.extents.size(); ++d) {
      const std::string& extent = tensors[t].as.extents[d];
      size.shapes = size.shapes || has_word(extent, size.param);
      if (!size.tensor && tensors[t].given && extent == size.param) size.tensor = t, size.dimension = d;
    }
  // A bound of lengths that index tensors hold is the caller's to know: keys beyond it would be left out without a word.
  size.optional = !size.shapes && std::ranges::none_of(subject.kernel.tensors, [](const Tensor& t) { return t.role == TensorRole::Index; });
  return size;
}

}  // namespace

TorchType torch_type(DType dtype) {
  switch (dtype) {
    case DType::F32: return {"Float", "torch.float32"};
    case DType::Bf16: return {"BFloat16", "torch.bfloat16"};
    case DType::F16: return {"Half", "torch.float16"};
    case DType::F8e4m3: return {"Float8_e4m3fn", "torch.float8_e4m3fn"};
    case DType::F8e5m2: return {"Float8_e5m2", "torch.float8_e5m2"};
    case DType::I32: return {"Int", "torch.int32"};
    case DType::I8: return {"Char", "torch.int8"};
    case DType::I4: return {"Byte", "torch.uint8", 2};
  }
  return {"Float", "torch.float32"};
}

std::size_t TorchOperator::given() const {
  return static_cast<std::size_t>(std::count_if(tensors.begin(), tensors.end(), [](const TorchTensor& t) { return t.given; }));
}

std::string TorchOperator::schema() const {
  std::vector<std::string> taken, made;
  char alias = 'a';
  for (const TorchTensor& tensor : tensors) {
    if (!tensor.given)
      made.push_back("Tensor");
    else
      taken.push_back(fmt::format("Tensor{} {}", tensor.written ? fmt::format("({}!)", alias++) : "", tensor.name));
  }
  for (const TorchSize& size : sizes)
    if (size.argument()) taken.push_back(fmt::format("int {}{}", size.name, size.optional ? fmt::format("={}", size.value) : ""));
  for (const TorchScalar& scalar : scalars) taken.push_back(fmt::format("float? {}=None", scalar.name));
  const std::string result = fmt::format("{}", fmt::join(made, ", "));
  return fmt::format("{}({}) -> {}", name, fmt::join(taken, ", "), made.size() == 1 ? result : "(" + result + ")");
}

TorchOperator torch_operator(const PackageSubject& subject) {
  const auto& run_time = subject.emission.launch.sizes;
  const std::vector<std::string> params = run_time ? run_time->params : std::vector<std::string>();
  TorchOperator made{package_name(subject), tensors_of(subject, params), {}, {}};
  for (const std::string& param : params) made.sizes.push_back(size_of(subject, param, made.tensors));
  std::stable_partition(made.sizes.begin(), made.sizes.end(), [](const TorchSize& s) { return !s.argument() || !s.optional; });
  const auto free_name = [&](std::string name) {
    const auto is = [&](const auto& other) { return other.name == name; };
    while (std::any_of(made.tensors.begin(), made.tensors.end(), is) || std::any_of(made.scalars.begin(), made.scalars.end(), is))
      name += "_";
    return name;
  };
  for (TorchSize& size : made.sizes)
    if (size.argument()) size.name = free_name(size.name);
  if (run_time)
    for (const RunTimeScalar& scalar : run_time->scalars) {
      const std::string member = scalar_name(scalar.name);
      made.scalars.push_back({member, free_name(python_name(member))});
    }
  return made;
}

std::optional<std::string> python_formula(const Expr& expr, const Scope& scope, const std::vector<std::string>& variables) {
  return python_text(expr.root(), scope, variables);
}

std::string python_name(std::string_view name) {
  static const std::set<std::string_view> taken{
      "False", "None", "True",   "and",  "as",       "assert", "async", "await",    "break",   "class",  "continue",
      "def",   "del",  "elif",   "else", "except",   "for",    "from",  "finally",  "global",  "if",     "import",
      "in",    "is",   "lambda", "list", "nonlocal", "not",    "or",    "pass",     "raise",   "return", "try",
      "while", "with", "yield",  "self", "torch",    "min",    "max",   "OPERATOR", "ceil_div"};
  const std::string safe = c_name(name);
  return taken.contains(safe) ? safe + "_" : safe;
}

}  // namespace heddle::codegen

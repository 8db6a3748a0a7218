#include "codegen/package/torch.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "codegen/package/c_text.h"
#include "codegen/package/parts.h"
#include "codegen/package/templates.h"
#include "codegen/package/torch_formula.h"
#include "codegen/package/torch_operator.h"

namespace heddle::codegen {
namespace {

/// Of one line, without quotes and backslashes: for a text in quotes of Python or TOML.
std::string quotable(std::string_view text) {
  std::string safe = c_comment(text);
  std::replace(safe.begin(), safe.end(), '"', '\'');
  return safe;
}

/// What `write` says of each, with `between` them.
template <class List>
std::string joined(const List& list, std::string_view between, const std::function<std::string(const typename List::value_type&)>& write) {
  std::vector<std::string> texts;
  for (const auto& item : list)
    if (std::string text = write(item); !text.empty()) texts.push_back(std::move(text));
  return fmt::format("{}", fmt::join(texts, between));
}

/// One operator's texts.
class TorchPackage {
 public:
  explicit TorchPackage(const PackageSubject& subject)
      : subject_(subject), op_(torch_operator(subject)), blanks_(package_parts(subject).blanks()) {
    for (auto& [name, text] : blanks_)
      if (name == "TITLE") text = quotable(text);
  }

  std::string shapes_header() const {
    const auto row = [&](const TorchTensor& t) {
      const TorchType type = torch_type(t.as.dtype);
      return fmt::format("    {{\"{}\", \"{}\", {}, {}, {}, {}}},\n", t.name, type.scalar, c_string(t.words), t.as.extents.size(),
                         type.elements, row_step(t));
    };
    const auto size = [&](const TorchSize& s) {
      return s.tensor ? fmt::format("{{\"{}\", {}, {}}}", s.name, *s.tensor, s.dimension) : fmt::format("{{\"{}\", kArgument, 0}}", s.name);
    };
    std::string locals;
    for (std::size_t k = 0; k < op_.sizes.size(); ++k)
      if (op_.sizes[k].shapes) locals += fmt::format("  const std::int64_t {} = sizes[{}];\n", op_.sizes[k].param, k);
    return text(
        "torch_shapes.h.in",
        {{"TENSORS", joined(op_.tensors, "", row)},
         {"GIVEN", std::to_string(op_.given())},
         {"SIZES", joined(op_.sizes, ", ", size)},
         {"LOCALS", locals},
         {"SHAPES", joined(op_.tensors, ", ", [](const auto& t) { return fmt::format("{{{}}}", fmt::join(t.as.extents, ", ")); })}});
  }

  std::string binding() const {
    std::string outputs, members, sizes;
    std::vector<std::string> made;
    for (std::size_t t = 0; t < op_.tensors.size(); ++t) {
      const TorchTensor& tensor = op_.tensors[t];
      const std::string local = local_name(t);
      if (!tensor.given) {
        outputs +=
            fmt::format("  const at::Tensor {0} = made(kernel::kTensors[{1}], call.shapes[{1}], tensors[0].options().dtype(at::k{2}));\n",
                        local, t, torch_type(tensor.as.dtype).scalar);
        made.push_back(local);
      }
      members += fmt::format("  addresses.{} = {}.{}();\n", tensor.as.member, local,
                             is_written(tensor.as.role) ? "mutable_data_ptr" : "const_data_ptr");
      members += fmt::format("  kernel::put_strides({}, kernel::kTensors[{}], strides.{});\n",
                             tensor.given ? fmt::format("given[{}]", t) : fmt::format("described({})", local), t, tensor.as.member);
    }
    if (!op_.sizes.empty()) sizes = fmt::format("  heddle_{}_sizes sizes = {{}};\n", op_.name);
    for (std::size_t k = 0; k < op_.sizes.size(); ++k) sizes += fmt::format("  sizes.{} = call.sizes[{}];\n", op_.sizes[k].param, k);
    for (std::size_t k = 0; k < op_.scalars.size(); ++k)
      sizes += fmt::format("  sizes.{} = given_or_own(\"{}\", scalar{});\n", op_.scalars[k].member, op_.scalars[k].name, k);
    std::vector<std::string> parameters, arguments;
    for (std::size_t t = 0; t < op_.given(); ++t) parameters.push_back("const at::Tensor& " + local_name(t));
    for (std::size_t k = 0; k < op_.sizes.size(); ++k)
      if (op_.sizes[k].argument()) {
        arguments.push_back(fmt::format("size{}", k));
        parameters.push_back("std::int64_t " + arguments.back());
      }
    for (std::size_t k = 0; k < op_.scalars.size(); ++k) parameters.push_back(fmt::format("std::optional<double> scalar{}", k));
    std::vector<std::string> results(made.size(), "at::Tensor");
    return text("torch_binding.cpp.in", {{"RESULT", made.empty()       ? "void"
                                                    : made.size() == 1 ? results[0]
                                                                       : fmt::format("std::tuple<{}>", fmt::join(results, ", "))},
                                         {"PARAMETERS", fmt::format("{}", fmt::join(parameters, ", "))},
                                         {"GIVEN", given_names([&](std::size_t t) { return local_name(t); })},
                                         {"ARGUMENTS", fmt::format("{}", fmt::join(arguments, ", "))},
                                         {"OUTPUTS", outputs},
                                         {"MEMBERS", members},
                                         {"SIZES", sizes},
                                         {"RUN_SIZES", op_.sizes.empty() ? "" : "&sizes, "},
                                         {"RETURNED", made.empty()       ? ""
                                                      : made.size() == 1 ? " " + made[0]
                                                                         : fmt::format(" {{{}}}", fmt::join(made, ", "))},
                                         {"SCHEMA", op_.schema()}});
  }

  std::string init() const {
    const auto tensor = [](const TorchTensor& t) {
      const TorchType type = torch_type(t.as.dtype);
      return fmt::format("\n        Tensor(\"{}\", {}, \"{}\", {}{}{}{}{}{}),", t.name, type.python, t.words, t.as.extents.size(),
                         t.written ? ", written=True" : "", t.given && t.as.strided ? ", strided=True" : "",
                         !t.given && t.as.strided ? fmt::format(", row_step={}", row_step(t)) : "",
                         type.elements > 1 ? fmt::format(", elements={}", type.elements) : "",
                         t.packed.empty() ? "" : fmt::format(", packed=\"{}\"", t.packed));
    };
    const auto size = [](const TorchSize& s) {
      return s.tensor ? fmt::format("Size(\"{}\", {}, {})", s.name, *s.tensor, s.dimension) : fmt::format("Size(\"{}\")", s.name);
    };
    const auto shape = [](const TorchTensor& t) { return fmt::format("\n        [{}],", fmt::join(t.python_extents, ", ")); };
    const auto described = [](const TorchTensor& t) {
      return fmt::format("    {}: {} {}{}", t.name, torch_type(t.as.dtype).python, t.words,
                         !t.given    ? ", made"
                         : t.written ? ", added to"
                                     : "");
    };
    std::string imports = "Operator, Size, Tensor";
    for (const char* function : {"ceil_div", "max", "min"})
      if (has_word(joined(op_.tensors, ",", shape), function)) imports += fmt::format(", {}", function);
    return text("torch_init.py.in",
                {{"IMPORTS", imports},
                 {"SIZE_NAMES", joined(op_.sizes, ", ", [](const TorchSize& s) { return python_name(s.param); })},
                 {"SHAPES", joined(op_.tensors, "", shape) + "\n    "},
                 {"GIVEN", joined(op_.tensors, "", [&](const auto& t) { return t.given ? tensor(t) : ""; }) + "\n    "},
                 {"MADE", joined(op_.tensors, "", [&](const auto& t) { return t.given ? "" : tensor(t); }) + "\n    "},
                 {"SIZES", joined(op_.sizes, ", ", size)},
                 {"SCALARS", joined(op_.scalars, ", ", [](const TorchScalar& s) { return fmt::format("\"{}\"", s.name); })},
                 {"PARAMETERS", parameters(true)},
                 {"PASSED", parameters(false)},
                 {"TENSOR_NAMES", given_names([&](std::size_t t) { return op_.tensors[t].name; })},
                 {"ARGUMENT_NAMES", joined(op_.sizes, ", ", [](const TorchSize& s) { return s.argument() ? s.name : ""; })},
                 {"CALL", op_.schema()},
                 {"TENSORS", joined(op_.tensors, "\n", described)}});
  }

  std::string test() const {
    const bool scaled = std::any_of(op_.scalars.begin(), op_.scalars.end(), [](const TorchScalar& s) { return s.name == "scale"; });
    const auto formula = torch_formula(subject_.kernel, scaled);
    std::string reference;
    const std::string tensors = given_names([&](std::size_t t) { return op_.tensors[t].name; });
    std::string names = tensors;
    for (const TorchScalar& scalar : op_.scalars) names += fmt::format(", {}=None", scalar.name);
    if (formula) reference = function("reference", names, formula->body, "wanted") + "\n\n";
    reference += function("prepared", names, formula ? formula->prepared : "", tensors + (op_.given() == 1 ? "," : ""));
    return text("torch_test.py.in",
                {{"TEST_SIZES", joined(op_.sizes, ", ", [&](const auto& s) { return fmt::format("\"{}\": {}", s.name, s.small); })},
                 {"TEST_ARGUMENTS", joined(op_.sizes, ", ", [&](const auto& s) { return s.argument() ? std::to_string(s.small) : ""; })},
                 {"REFERENCE", reference},
                 {"REFERENCE_NAME", formula ? "reference" : "None"},
                 {"LARGEST_ERROR", formula ? fmt::format("{}", formula->largest_error) : "None"}});
  }

  std::string readme() const {
    const auto listed = [&](const TorchTensor& t) {
      const auto& below = subject_.kernel.tensors[t.as.tensor].below;
      return fmt::format("- `{}` {} `{}`{}{}{}{}", t.name, torch_type(t.as.dtype).python, t.words,
                         !t.given    ? ", made"
                         : t.written ? ", added to: begins as zeros for the sum alone"
                                     : "",
                         t.given && t.as.strided ? "; rows may lie apart" : "",
                         t.packed.empty() ? "" : fmt::format("; its bytes are in the order of `_packing.packed(..., \"{}\")`", t.packed),
                         t.as.role == TensorRole::Index ? fmt::format("; numbers of at least -1{}, which is not checked",
                                                                      below ? " and below `" + below->text() + "`" : "")
                                                        : "");
    };
    std::string sizes = op_.sizes.empty() ? "All sizes are those for which the kernel was made.\n" : "Sizes follow from shapes: ";
    if (!op_.sizes.empty())
      sizes += joined(op_.sizes, ", ",
                      [&](const TorchSize& s) {
                        return s.tensor ? fmt::format("{} is dimension {} of `{}`", s.name, s.dimension, op_.tensors[*s.tensor].name)
                                        : fmt::format("{} is an argument{}", s.name,
                                                      s.optional ? fmt::format(", {} where it is left out", s.value) : "");
                      }) +
               ".\n";
    for (const RunTimeScalar& scalar :
         subject_.emission.launch.sizes ? subject_.emission.launch.sizes->scalars : std::vector<RunTimeScalar>())
      sizes += fmt::format("`{}` is {:.9g} where it is left out.\n", python_name(scalar_name(scalar.name)), scalar.standard);
    return text("torch_README.md.in", {{"ABOUT", c_comment(subject_.kernel.about)},
                                       {"COMMAND", subject_.command.empty() ? "" : fmt::format(" with\n`{}`", c_comment(subject_.command))},
                                       {"SCRIPT", script()},
                                       {"SCHEMA", op_.schema()},
                                       {"TENSORS", joined(op_.tensors, "\n", listed)},
                                       {"SIZES", "\n" + sizes},
                                       {"GRADIENTS", gradients()}});
  }

  std::string file(std::string_view name, Blanks more = {}) const { return text(name, std::move(more)); }
  const TorchOperator& op() const { return op_; }

 private:
  std::string text(std::string_view name, Blanks more) const {
    more.insert(more.end(), blanks_.begin(), blanks_.end());
    return filled(name, more);
  }

  /// Elements that rows of a result begin at multiples of: 16 bytes, which lets rows have any length.
  static int row_step(const TorchTensor& t) { return t.as.strided ? 128 / bits_of(t.as.dtype) : 1; }

  /// Never the name of anything else in binding.cpp.
  std::string local_name(std::size_t t) const { return fmt::format("t{}_{}", t, op_.tensors[t].as.member); }

  template <class Name>
  std::string given_names(const Name& name) const {
    std::vector<std::string> names;
    for (std::size_t t = 0; t < op_.given(); ++t) names.push_back(name(t));
    return fmt::format("{}", fmt::join(names, ", "));
  }

  /// Of the function in Python.
  std::string parameters(bool defaults, bool scalars = true) const {
    std::string list = given_names([&](std::size_t t) { return op_.tensors[t].name; });
    for (const TorchSize& size : op_.sizes)
      if (size.argument()) list += fmt::format(", {}{}", size.name, defaults && size.optional ? fmt::format("={}", size.value) : "");
    for (const TorchScalar& scalar : scalars ? op_.scalars : std::vector<TorchScalar>())
      list += fmt::format(", {}{}", scalar.name, defaults ? "=None" : "");
    return list;
  }

  static std::string function(const char* name, const std::string& parameters, const std::string& body, const std::string& result) {
    std::string text = fmt::format("def {}({}):\n", name, parameters);
    for (std::size_t at = 0; at < body.size();) {
      const std::size_t end = body.find('\n', at);
      text += (end > at ? "    " : "") + body.substr(at, end - at) + "\n";
      at = end + 1;
    }
    return text + "    return " + result + "\n";
  }

  std::string script() const {
    std::string lines = fmt::format("import torch\nimport heddle_{0} as kernel\n\n", op_.name), made;
    for (const TorchSize& size : op_.sizes)
      if (size.shapes) lines += fmt::format("{} = {}\n", python_name(size.param), size.value);
    for (const TorchTensor& tensor : op_.tensors) {
      if (!tensor.given) {
        made += (made.empty() ? "" : ", ") + tensor.name;
        continue;
      }
      const TorchType type = torch_type(tensor.as.dtype);
      std::vector<std::string> extents = tensor.python_extents;
      if (type.elements > 1 && !extents.empty()) extents.back() += fmt::format(" // {}", type.elements);
      const bool random = bits_of(tensor.as.dtype) >= 8 && tensor.as.dtype != DType::I32 && tensor.as.dtype != DType::I8 && !tensor.written;
      const std::string shape = fmt::format("{}", fmt::join(extents, ", "));
      lines += random ? fmt::format("{} = torch.randn({}, device=\"cuda\").to({})\n", tensor.name, shape, type.python)
                      : fmt::format("{} = torch.zeros({}, device=\"cuda\", dtype={})\n", tensor.name, shape, type.python);
    }
    return lines + fmt::format("{}{}kernel.{}({})\n", made, made.empty() ? "" : " = ", op_.name, parameters(false, false));
  }

  /// Where another kernel may compute them.
  std::string gradients() const {
    if (std::any_of(op_.tensors.begin(), op_.tensors.end(), [](const TorchTensor& t) { return t.written; })) return "";
    return text("torch_gradients.md.in",
                {{"TAKES", joined(op_.tensors, ", ", [](const TorchTensor& t) { return t.given ? std::string() : "d" + t.name; })}});
  }

  const PackageSubject& subject_;
  TorchOperator op_;
  Blanks blanks_;
};

}  // namespace

std::vector<PackageFile> torch_package(const PackageSubject& subject) {
  const TorchPackage package(subject);
  const std::string& name = package.op().name;
  std::string distribution = name;
  std::replace(distribution.begin(), distribution.end(), '_', '-');
  std::vector<PackageFile> files{{"pyproject.toml", package.file("torch_pyproject.toml.in", {{"DISTRIBUTION", distribution}})},
                                 {"setup.py", package.file("torch_setup.py.in")},
                                 {"README.md", package.readme()},
                                 {"csrc/shapes.h", package.shapes_header()},
                                 {"csrc/binding.cpp", package.binding()},
                                 {"src/heddle_" + name + "/__init__.py", package.init()},
                                 {"src/heddle_" + name + "/_operator.py", package.file("torch_operator.py.in")},
                                 {"src/heddle_" + name + "/_gradients.py", package.file("torch_gradients.py.in")},
                                 {"src/heddle_" + name + "/_packing.py", package.file("torch_packing.py.in")},
                                 {"tests/test_" + name + ".py", package.test()}};
  for (PackageFile& file : cuda_package(subject)) files.push_back({"csrc/" + file.path, std::move(file.text)});
  return files;
}

}  // namespace heddle::codegen

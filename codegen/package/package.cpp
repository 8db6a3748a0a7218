#include "codegen/package/package.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include <fmt/format.h>

#include "codegen/emit/size_formula.h"
#include "codegen/package/c_text.h"
#include "codegen/package/parts.h"
#include "codegen/package/torch_operator.h"
#include "codegen/run/map_arguments.h"
#include "core/layout/plan.h"

namespace heddle::codegen {
namespace {

constexpr std::size_t kLongestName = 100;

std::vector<std::string> chosen_by_caller(const PackageSubject& subject) {
  const auto& sizes = subject.emission.launch.sizes;
  return sizes ? sizes->params : std::vector<std::string>();
}

std::string in_case(std::string text, int (*change)(int)) {
  for (char& c : text) c = static_cast<char>(change(static_cast<unsigned char>(c)));
  return text;
}

/// By a keyword, a target that CMake has, or a header that K.h would hide.
bool is_taken(const std::string& name) {
  static const std::set<std::string_view> others{"all",        "assert",         "clean",   "cuda",       "depend",        "differentiate",
                                                 "edit_cache", "float",          "help",    "install",    "limits",        "math",
                                                 "package",    "package_source", "pathlib", "preinstall", "rebuild_cache", "shapes",
                                                 "stdint",     "stdio",          "stdlib",  "string",     "test",          "time"};
  return others.contains(name) || c_name(name) != name || python_name(name) != name;
}

/// One map, which has the tensor as it is: then the caller's strides can stand in it.
bool may_be_strided(const PackageSubject& subject, std::size_t tensor, bool packed) {
  const LaunchPlan& launch = subject.emission.launch;
  const Tensor& t = subject.kernel.tensors[tensor];
  if (packed || bits_of(t.dtype) < 8 || std::count(launch.pointers.begin(), launch.pointers.end(), tensor) > 0) return false;
  return std::all_of(launch.maps.begin(), launch.maps.end(), [&](const TensorMapPlan& map) {
    return map.tensor != tensor || (map.strides.empty() && map.extents.size() == t.shape.size());
  });
}

}  // namespace

Blanks PackageParts::blanks() const {
  const std::string& arch = subject.program.arch;
  return {
      {"K", name},       {"U", upper}, {"TITLE", title}, {"ARCH", arch}, {"ARCH_NUMBER", arch.starts_with("sm_") ? arch.substr(3) : arch},
      {"EXAMPLES", gpus}};
}

std::string formula_helpers(const std::vector<std::string>& formulas) {
  std::string text;
  for (const auto& [name, body] :
       {std::pair{"ceil_div", "a / b + (a % b != 0 && (a < 0) == (b < 0))"}, {"min", "a < b ? a : b"}, {"max", "a > b ? a : b"}})
    if (std::any_of(formulas.begin(), formulas.end(), [&](const std::string& f) { return has_word(f, name); }))
      text += fmt::format("inline i64 {}(i64 a, i64 b) {{ return {}; }}\n", name, body);
  return text.empty() ? text : text + "\n";
}

std::vector<std::string> condition_sentences(const PackageParts& parts) {
  std::vector<std::string> sentences;
  if (parts.launch().sizes)
    for (const SizeCondition& condition : parts.launch().sizes->conditions)
      if (std::find(sentences.begin(), sentences.end(), condition.sentence) == sentences.end()) sentences.push_back(condition.sentence);
  return sentences;
}

std::string scalar_name(const std::string& scalar) {
  const bool lower = std::any_of(scalar.begin(), scalar.end(), [](unsigned char c) { return std::islower(c); });
  return lower ? c_name(scalar) : size_name(scalar);
}

std::string package_name(const PackageSubject& subject) {
  std::string name = in_case(c_name(subject.kernel.name), std::tolower);
  const std::vector<std::string> chosen = chosen_by_caller(subject);
  for (const Param& param : subject.kernel.params) {
    const auto value = subject.program.params.find(param.name);
    if (value == subject.program.params.end() || value->second == param.value) continue;
    if (std::find(chosen.begin(), chosen.end(), param.name) != chosen.end()) continue;
    name += in_case(fmt::format("_{}{}{}", c_name(param.name), value->second < 0 ? "minus" : "", std::abs(value->second)), std::tolower);
  }
  name = name.substr(0, kLongestName);
  return is_taken(name) ? name + "_kernel" : name;
}

std::vector<PackageTensor> package_tensors(const PackageSubject& subject) {
  const LaunchPlan& launch = subject.emission.launch;
  std::map<std::string, std::string> names;  // of what a call chooses
  for (const std::string& size : chosen_by_caller(subject)) names.emplace(size, size_name(size));
  std::vector<PackageTensor> tensors;
  std::set<std::string> members;
  for (std::size_t t = 0; t < subject.kernel.tensors.size(); ++t) {
    const Tensor& tensor = subject.kernel.tensors[t];
    const bool mapped = std::any_of(launch.maps.begin(), launch.maps.end(), [&](const TensorMapPlan& map) { return map.tensor == t; });
    if (!mapped && std::find(launch.pointers.begin(), launch.pointers.end(), t) == launch.pointers.end()) continue;
    PackageTensor made{t, c_name(tensor.name), tensor.dtype, tensor.role, {}, false, false};
    while (!members.insert(made.member).second) made.member += "_";
    made.packed = subject.problem.layouts && subject.problem.layouts->packed.contains(tensor.name);
    made.strided = may_be_strided(subject, t, made.packed);
    for (const Expr& extent : tensor.shape) {
      const auto value = extent.evaluate(subject.program.params);
      made.extents.push_back(
          size_formula(extent, subject.program.params, names).value_or(std::to_string(value.ok() ? *value : std::int64_t{1})));
    }
    tensors.push_back(std::move(made));
  }
  return tensors;
}

PackageParts package_parts(const PackageSubject& subject) {
  PackageParts parts{subject, package_name(subject), {}, {}, {}, package_tensors(subject), {}, {}};
  parts.upper = in_case(parts.name, std::toupper);
  const std::string& about = subject.kernel.about;
  parts.title = c_comment(subject.kernel.name + (about.empty() ? "" : ": " + about));
  parts.gpus = fmt::format(" ({})", gpus_of(subject.program.arch));
  for (const std::string& size : chosen_by_caller(subject)) {
    const Param* param = subject.kernel.find_param(size);
    const auto value = subject.program.params.find(size);
    parts.sizes.push_back(
        {size_name(size), value == subject.program.params.end() ? 1 : value->second, param ? param->about : std::string()});
  }
  if (const auto& sizes = subject.emission.launch.sizes)
    for (const RunTimeScalar& scalar : sizes->scalars) parts.scalars.push_back({scalar_name(scalar.name), scalar.standard});
  return parts;
}

std::vector<PackageFile> cuda_package(const PackageSubject& subject) {
  const PackageParts parts = package_parts(subject);
  return {{parts.name + ".cu", host_text(parts)},
          {parts.name + ".h", interface_text(parts)},
          {"CMakeLists.txt", filled("CMakeLists.txt.in", parts.blanks())},
          {"example.cpp", example_text(parts)},
          {"README.md", readme_text(parts)}};
}

}  // namespace heddle::codegen

// example.cpp: tensors, the call, and where the kernel's formula is known a check of some of the result's elements on the CPU, at any size.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "codegen/package/c_text.h"
#include "codegen/package/parts.h"
#include "core/kernel/reference.h"

namespace heddle::codegen {
namespace {

/// A formula that texts/reference_... computes, so that the example checks by it.
struct CheckedFormula {
  std::string_view name, file, output;
  std::array<std::string_view, 4> inputs;  ///< tensors by name, as its function takes them
};
constexpr CheckedFormula kFormulas[] = {
    {"gemm", "reference_gemm.in", "C", {"A", "B"}},
    {"gemm_block_scaled", "reference_gemm_block_scaled.in", "D", {"A", "B", "SA", "SB"}},
    {"swiglu_dual_gemm", "reference_swiglu_dual_gemm.in", "Out", {"A", "G", "U"}},
    {"layernorm", "reference_layernorm.in", "Y", {"X", "Gamma", "Beta"}},
    {"attention_forward", "reference_attention_forward.in", "O", {"Q", "K", "V"}},
    {"attention_forward_causal", "reference_attention_forward.in", "O", {"Q", "K", "V"}},
};

/// Of the package's tensors.
std::optional<std::size_t> place_of(const PackageParts& parts, std::string_view name) {
  for (std::size_t t = 0; t < parts.tensors.size(); ++t)
    if (parts.subject.kernel.tensors[parts.tensors[t].tensor].name == name) return t;
  return std::nullopt;
}

/// Its formula, where all of its tensors are there as the formula has them, and nothing else is read.
const CheckedFormula* formula_of(const PackageParts& parts) {
  const auto& kernel = parts.subject.kernel;
  const auto found =
      std::find_if(std::begin(kFormulas), std::end(kFormulas), [&](const CheckedFormula& f) { return f.name == kernel.reference; });
  if (found == std::end(kFormulas) || !place_of(parts, found->output)) return nullptr;
  const bool attention = found->name.starts_with("attention");
  for (const PackageTensor& tensor : parts.tensors) {
    const std::string& name = kernel.tensors[tensor.tensor].name;
    const bool known = std::find(found->inputs.begin(), found->inputs.end(), name) != found->inputs.end();
    if (tensor.packed || (!is_written(tensor.role) && !known)) return nullptr;
    if ((known || name == found->output) && attention && tensor.extents.size() != 3) return nullptr;
  }
  for (const std::string_view input : found->inputs)
    if (!input.empty() && !place_of(parts, input)) return nullptr;
  return &*found;
}

std::string reference_part(const PackageParts& parts, const CheckedFormula& formula) {
  const Reference* known = find_reference(formula.name);
  std::string arguments, text = filled(formula.file, {{"CAUSAL", formula.name.ends_with("_causal") ? "true" : "false"}});
  for (const std::string_view input : formula.inputs)
    if (!input.empty()) arguments += fmt::format(", tensors[{}]", *place_of(parts, input));
  return text + "\n" +
         filled("check.in", {{"FORMULA", known ? c_comment(known->about) : std::string(formula.name)}, {"ARGUMENTS", arguments}});
}

const char* type_word(DType dtype) {
  switch (dtype) {
    case DType::F32: return "Type::f32";
    case DType::Bf16: return "Type::bf16";
    case DType::F16: return "Type::f16";
    case DType::F8e4m3: return "Type::e4m3";
    case DType::F8e5m2: return "Type::e5m2";
    case DType::I32: return "Type::i32";
    case DType::I8: return "Type::i8";
    case DType::I4: return "Type::i4";
  }
  return "";
}

const char* role_word(TensorRole role) {
  switch (role) {
    case TensorRole::Input: return "Role::input";
    case TensorRole::Output: return "Role::output";
    case TensorRole::InOut: return "Role::in_out";
    case TensorRole::Index: return "Role::index";
  }
  return "";
}

/// The sizes, from the command line where it gives them.
std::string size_lines(const PackageParts& parts, const std::vector<std::string>& extents) {
  if (parts.sizes.empty()) return "  if (count > 1) return std::printf(\"%s takes nothing: all sizes are fixed\\n\", words[0]), 2;\n";
  std::string values, places, text;
  for (const PackageSize& size : parts.sizes) {
    values += fmt::format("{}{}", values.empty() ? "" : ", ", size.value);
    places += fmt::format("{}&sizes.{}", places.empty() ? "" : ", ", size.name);
  }
  for (std::size_t k = 0; k < parts.scalars.size(); ++k) values += ", 0";
  text = fmt::format("  heddle_{}_sizes sizes = {{{}}};\n  int64_t* const places[] = {{{}}};\n", parts.name, values, places);
  text += fmt::format("  for (int k = 1; k < count && k <= {}; ++k) *places[k - 1] = std::atoll(words[k]);\n", parts.sizes.size());
  text += "  for (const int64_t* size : places)\n    if (*size < 1) return std::printf(\"every size is at least 1\\n\"), 2;\n";
  for (const PackageSize& size : parts.sizes)
    if (std::any_of(extents.begin(), extents.end(), [&](const std::string& e) { return has_word(e, size.name); }))
      text += fmt::format("  const i64 {0} = sizes.{0};\n", size.name);
  return text;
}

std::string usage(const PackageParts& parts) {
  std::string text;
  for (const PackageSize& size : parts.sizes) text += " [" + size.name;
  return text + std::string(parts.sizes.size(), ']');
}

}  // namespace

std::string example_text(const PackageParts& parts) {
  const CheckedFormula* formula = formula_of(parts);
  std::string tensors, given;
  std::vector<std::string> extents;
  for (std::size_t t = 0; t < parts.tensors.size(); ++t) {
    const PackageTensor& tensor = parts.tensors[t];
    extents.insert(extents.end(), tensor.extents.begin(), tensor.extents.end());
    tensors += fmt::format("      {{{}, {}, {}, {{{}}}}},\n", c_string(tensor.member), type_word(tensor.dtype), role_word(tensor.role),
                           fmt::join(tensor.extents, ", "));
    given += fmt::format("  given.{} = tensors[{}].device;\n", tensor.member, t);
  }
  Blanks blanks = parts.blanks();
  blanks.emplace_back("AGAINST", formula ? " against the formula in some places" : " for faults only: no formula of it is known here");
  blanks.emplace_back("USAGE", usage(parts));
  const std::string helpers = formula_helpers(extents);
  blanks.emplace_back("REFERENCE", helpers + (formula ? reference_part(parts, *formula) : ""));
  blanks.emplace_back("READ_SIZES", size_lines(parts, extents));
  blanks.emplace_back("TENSORS", tensors);
  blanks.emplace_back("GIVEN", given);
  blanks.emplace_back("PASS_SIZES", parts.sizes.empty() ? "" : "&sizes, ");
  blanks.emplace_back("CHECK",
                      formula ? fmt::format("  const bool correct = is_right(tensors, tensors[{}]);\n", *place_of(parts, formula->output))
                              : "  const bool correct = true;  // nothing to compare with\n");
  return filled("example.cpp.in", blanks);
}

}  // namespace heddle::codegen

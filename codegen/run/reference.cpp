#include "codegen/run/reference.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "codegen/device/device.h"
#include "core/base/saturate.h"
#include "core/kernel/evaluate.h"
#include "core/kernel/execute.h"
#include "core/kernel/reference.h"
#include "core/problem/work.h"
#include "core/simulate/tile_grid.h"

namespace heddle::codegen {
namespace {

constexpr double kBf16Unit = 1.0 / 256;                          ///< distance of neighbours at 1
constexpr double kF32Sum = 1.0 / (1 << 22);                      ///< per term of a sum of mmas in f32, generously
constexpr double kLargestNormal = 3.5;                           ///< of make_data()
constexpr std::int64_t kMostExactTerms = std::int64_t{1} << 21;  ///< mmas of numbers up to 2 whose sum f32 holds exactly
constexpr std::int64_t kMostCpuWork = 4'000'000'000;             ///< multiply-adds: seconds
constexpr std::int64_t kMostCpuElements = std::int64_t{1} << 26;
constexpr std::int64_t kMostSliceWork = 400'000'000'000;  ///< multiply-adds of one launch of the reference: a second

/// A kernel that calls one of codegen/device/reference.cuh.
std::string reference_source(const char* parameters, const std::string& function, const std::string& arguments) {
  const std::string kernel =
      fmt::format("extern \"C\" __global__ void heddle_reference({}, int slice, int plain) {{\n  {}({}, slice, plain);\n}}\n", parameters,
                  function, arguments);
  return device_text(kernel) + "\n" + kernel;
}

/// The formula's tensors by name, all bf16 but those named, and in the order in which the reference takes its inputs.
class Named {
 public:
  Named(const std::vector<TensorPlan>& tensors, std::initializer_list<const char*> bf16, std::initializer_list<const char*> f32 = {},
        std::initializer_list<const char*> e4m3 = {}, std::initializer_list<const char*> i4 = {})
      : tensors_(tensors) {
    good_ = tensors.size() == bf16.size() + f32.size() + e4m3.size() + i4.size();
    for (const auto& [names, dtype] : {std::pair{bf16, DType::Bf16}, {f32, DType::F32}, {e4m3, DType::F8e4m3}, {i4, DType::I4}})
      for (const char* name : names) {
        const auto at = index(name);
        good_ = good_ && at && tensors[*at].dtype == dtype;
      }
  }
  bool good() const { return good_; }
  std::optional<std::size_t> index(const char* name) const {
    for (std::size_t t = 0; t < tensors_.size(); ++t)
      if (tensors_[t].name == name) return t;
    return std::nullopt;
  }
  const std::vector<std::int64_t>& shape(const char* name) const { return tensors_[*index(name)].shape; }

 private:
  const std::vector<TensorPlan>& tensors_;
  bool good_ = true;
};

bool is_attention(const Kernel& kernel) {
  return kernel.reference == "attention_forward" || kernel.reference == "attention_forward_causal";
}

bool is_scaled_attention(const Kernel& kernel) {
  return kernel.reference == "attention_forward_scaled" || kernel.reference == "attention_forward_scaled_rows";
}

std::int64_t work_of(std::string_view reference, const std::vector<TensorPlan>& tensors) {
  const auto shape = [&](const char* name) {
    return Named(tensors, {}).index(name) ? Named(tensors, {}).shape(name) : std::vector<std::int64_t>(3, 0);
  };
  if (reference == "gemm") return sat_mul(sat_mul(shape("A")[0], shape("A")[1]), shape("B")[1]);
  if (reference == "gemm_block_scaled") return sat_mul(sat_mul(shape("A")[0], shape("A")[1]), shape("B")[0]);
  if (reference == "gemm_group_scaled") return sat_mul(sat_mul(shape("W")[0], shape("W")[1]), shape("X")[0]);
  if (reference == "swiglu_dual_gemm") return sat_mul(2, sat_mul(sat_mul(shape("A")[0], shape("A")[1]), shape("G")[1]));
  if (reference.starts_with("attention"))
    return sat_mul(2, sat_mul(sat_mul(shape("Q")[0], shape("Q")[1]), sat_mul(shape("K")[1], shape("Q")[2])));
  return 0;
}

/// Pieces of work split into launches that take about a second each.
void slice(ReferencePlan& plan, std::int64_t pieces, std::int64_t work) {
  plan.slices = static_cast<int>(std::clamp<std::int64_t>((work + kMostSliceWork - 1) / kMostSliceWork, 1, 4096));
  plan.threads = ((pieces + plan.slices - 1) / plan.slices + 255) / 256 * 256;
}

}  // namespace

std::optional<ReferenceText> reference_text(const Kernel& kernel, const std::vector<TensorPlan>& tensors) {
  ReferenceText text;
  ReferencePlan& plan = text.plan;
  const std::int64_t work = work_of(kernel.reference, tensors);
  if (kernel.reference == "gemm") {
    const Named t(tensors, {"A", "B", "C"});
    if (!t.good()) return std::nullopt;
    const std::int64_t m = t.shape("A")[0], k = t.shape("A")[1], n = t.shape("B")[1];
    slice(plan, m * n, work);
    plan.output = *t.index("C");
    text.source = reference_source("const u16* a, const u16* b, float* c",
                                   fmt::format("reference_gemm<{}, {}, {}, {}>", m, n, k, plan.threads), "a, b, c");
  } else if (kernel.reference == "gemm_block_scaled") {
    const Named t(tensors, {"D"}, {"SA", "SB"}, {"A", "B"});
    if (!t.good()) return std::nullopt;
    const std::int64_t m = t.shape("A")[0], k = t.shape("A")[1], n = t.shape("B")[0];
    slice(plan, m * n, work);
    plan.output = *t.index("D");
    text.source = reference_source("const unsigned char* a, const unsigned char* b, const float* sa, const float* sb, float* d",
                                   fmt::format("reference_block_scaled<{}, {}, {}, {}>", m, n, k, plan.threads), "a, b, sa, sb, d");
  } else if (kernel.reference == "gemm_group_scaled") {
    const Named t(tensors, {"S", "X", "D"}, {}, {}, {"W"});
    if (!t.good()) return std::nullopt;
    const std::int64_t rows = t.shape("W")[0], k = t.shape("W")[1], tokens = t.shape("X")[0], columns = t.shape("D")[1];
    slice(plan, rows * columns, work);
    plan.output = *t.index("D");
    text.source = reference_source("const unsigned char* w, const u16* s, const u16* x, float* d",
                                   fmt::format("reference_group_scaled<{}, {}, {}, {}, {}, {}>", rows, columns, tokens, k,
                                               tensors[*t.index("W")].packed != 0, plan.threads),
                                   "w, s, x, d");
  } else if (kernel.reference == "swiglu_dual_gemm") {
    const Named t(tensors, {"A", "G", "U", "Out"});
    if (!t.good()) return std::nullopt;
    const std::int64_t m = t.shape("A")[0], k = t.shape("A")[1], n = t.shape("G")[1];
    slice(plan, m * n, work);
    plan.output = *t.index("Out");
    text.source = reference_source("const u16* a, const u16* g, const u16* u, float* c",
                                   fmt::format("reference_swiglu<{}, {}, {}, {}>", m, n, k, plan.threads), "a, g, u, c");
  } else if (is_attention(kernel)) {
    const Named t(tensors, {"Q", "K", "V", "O"});
    if (!t.good() || t.shape("Q").size() != 3 || t.shape("Q")[2] % 32 != 0 || t.shape("Q")[2] > 256) return std::nullopt;
    const std::int64_t heads = t.shape("Q")[0], queries = t.shape("Q")[1], keys = t.shape("K")[1], d = t.shape("Q")[2], pieces = d / 32;
    slice(plan, heads * queries * pieces, sat_mul(work, 1 + pieces));
    plan.output = *t.index("O");
    const bool causal = kernel.reference == "attention_forward_causal";
    text.source = reference_source("const u16* q, const u16* k, const u16* v, float* o",
                                   fmt::format("reference_attention<{}, {}, {}, {}, {}, {}, {}, {}>", heads * queries, queries, keys, d,
                                               causal, keys - queries + 1, plan.threads, heads / t.shape("K")[0]),
                                   fmt::format("q, k, v, o, {:#.9g}f", 1.0 / std::sqrt(static_cast<double>(d))));
  } else if (is_scaled_attention(kernel)) {
    const bool transposed = kernel.reference == "attention_forward_scaled";
    const Named t(tensors, {"O"}, {"SQ", "SV"}, {"Q", "K", transposed ? "VT" : "V"});
    if (!t.good() || t.shape("Q").size() != 3 || t.shape("Q")[2] % 32 != 0 || t.shape("Q")[2] > 256) return std::nullopt;
    const std::int64_t heads = t.shape("Q")[0], queries = t.shape("Q")[1], keys = t.shape("K")[1], d = t.shape("Q")[2], pieces = d / 32;
    slice(plan, heads * queries * pieces, sat_mul(work, 1 + pieces));
    plan.output = *t.index("O");
    text.source = reference_source(
        "const unsigned char* q, const unsigned char* k, const unsigned char* v, const float* sq, const float* sv, float* o",
        fmt::format("reference_attention_scaled<{}, {}, {}, {}, {}, {}, {}>", heads * queries, queries, keys, d, transposed, plan.threads,
                    heads / t.shape("K")[0]),
        fmt::format("q, k, v, sq, sv, o, {:#.9g}f", 1.0 / std::sqrt(static_cast<double>(d))));
  } else if (kernel.reference == "layernorm") {
    const Named t(tensors, {"X", "Y"}, {"Gamma", "Beta"});
    if (!t.good()) return std::nullopt;
    const std::int64_t rows = t.shape("X")[0], columns = t.shape("X")[1];
    slice(plan, rows, rows * columns);
    plan.output = *t.index("Y");
    text.source = reference_source("const u16* x, const float* gamma, const float* beta, float* y",
                                   fmt::format("reference_layernorm<{}, {}, {}>", rows, columns, plan.threads), "x, gamma, beta, y");
  } else {
    return std::nullopt;
  }
  plan.about = fmt::format("a straightforward kernel in f32 on the same GPU: {}",
                           find_reference(kernel.reference) ? find_reference(kernel.reference)->about : kernel.reference);
  return text;
}

std::vector<CasePlan> cases_for(const Kernel& kernel, const Scope& params, const std::vector<TensorPlan>& tensors, bool on_gpu,
                                std::uint64_t seed, std::string& why_not) {
  using Data = CasePlan::Data;
  std::vector<CasePlan> cases;
  const auto add = [&](Data data, Expected expected) { cases.push_back({to_string(data), data, {}, {std::move(expected)}}); };
  const auto output = [&] {
    for (std::size_t t = 0; t < tensors.size(); ++t)
      if (is_written(tensors[t].role)) return t;
    return std::size_t{0};
  }();
  const Named t(tensors, {});
  if (on_gpu && kernel.reference == "gemm") {
    const std::int64_t k = t.shape("A")[1];
    if (k <= kMostExactTerms) add(Data::Integers, {output, Criterion::Exact, 0, 0, 0, {}});
    add(Data::Random,
        {output, Criterion::Tolerance, kBf16Unit, kF32Sum * static_cast<double>(k) * kLargestNormal * kLargestNormal, 4e-3, {}});
    return cases;
  }
  if (on_gpu && kernel.reference == "gemm_block_scaled") {
    const double k = static_cast<double>(t.shape("A")[1]);
    if (k <= kMostExactTerms / 4) add(Data::Integers, {output, Criterion::Exact, 0, 0, 0, {}});  // scales, too, are numbers up to 2
    // Hopper's tensor cores keep 14 bits of a sum of 8-bit floats (DeepSeek-V3's report): what a step of K loses depends on that step, what
    // is lost in all is as spread as the result is.
    add(Data::Random, {output, Criterion::Tolerance, kBf16Unit, 0.05 * std::sqrt(k), 4e-3, {}});
    return cases;
  }
  if (on_gpu && kernel.reference == "gemm_group_scaled") {
    const std::int64_t k = t.shape("W")[1];
    if (k <= kMostExactTerms / 2) add(Data::Integers, {output, Criterion::Exact, 0, 0, 0, {}});  // scales, too, are numbers up to 2
    add(Data::Random, {output,
                       Criterion::Tolerance,
                       kBf16Unit,
                       kF32Sum * static_cast<double>(k) * kLargestNormal * kLargestNormal * kLargestNormal,
                       4e-3,
                       {}});
    return cases;
  }
  if (on_gpu && kernel.reference == "swiglu_dual_gemm") {
    // An error of a sum is multiplied by the other factor: sums of K mmas of variance 1 stay below 8 sqrt(K).
    const double k = static_cast<double>(t.shape("A")[1]);
    add(Data::Random,
        {output, Criterion::Tolerance, kBf16Unit, 2.1 * kF32Sum * k * kLargestNormal * kLargestNormal * 8 * std::sqrt(k), 4e-3, {}});
    return cases;
  }
  if (on_gpu && (is_attention(kernel) || is_scaled_attention(kernel))) {
    add(Data::Random, {output, Criterion::Attention, 0, 0, 0, {}});
    add(Data::Outliers, {output, Criterion::Attention, 0, 0, 0, {}});
    return cases;
  }
  if (on_gpu && kernel.reference == "layernorm") {
    add(Data::Random, {output, Criterion::Tolerance, kBf16Unit, 1e-5, 4e-3, {}});
    return cases;
  }

  const auto too_much = [&] {
    return fmt::format("there is no reference kernel for '{}', and the CPU would take too long; choose smaller sizes", kernel.name);
  };
  std::int64_t elements = 0;
  for (const TensorPlan& tensor : tensors) elements = sat_add(elements, tensor.elements());
  if (work_of(kernel.reference, tensors) > kMostCpuWork || elements > kMostCpuElements) return why_not = too_much(), cases;
  auto made = make_tensors(kernel, params, seed);
  if (!made.ok()) return why_not = made.error().faults.front().message, cases;
  const Reference* formula = find_reference(kernel.reference);
  const FormulaNumbers numbers{params, scalars_of(kernel, params)};
  TensorMap run = *made;
  const auto count = plan_execution(kernel, params, run);
  if (!count.ok()) return why_not = count.error().faults.front().message, cases;
  if (count->work > kMostCpuWork) return why_not = too_much(), cases;
  if (formula && formula->prepare && check_tensors(*formula, *made).ok()) formula->prepare(*made, numbers, {});
  CasePlan what{to_string(Data::Given), Data::Given, {}, {}};
  for (const TensorPlan& tensor : tensors) {
    const GlobalTensor& global = made->at(tensor.name);
    what.given.push_back(global.role == TensorRole::Output ? std::vector<float>{} : global.array.data);
  }
  std::vector<ExpectedTensor> expected;
  if (formula && check_tensors(*formula, *made).ok()) {
    if (const std::string wrong = formula->compute(*made, numbers, {}, expected); !wrong.empty()) expected.clear();
  }
  if (expected.empty()) {
    run = *made;
    if (auto done = execute(kernel, params, run); !done.ok()) return why_not = done.error().faults.front().message, cases;
    for (const TensorPlan& tensor : tensors)
      if (is_written(tensor.role)) {
        const auto& data = run.at(tensor.name).array.data;
        double squares = 0;
        for (const float x : data) squares += static_cast<double>(x) * x;
        expected.push_back({tensor.name,
                            {data.begin(), data.end()},
                            {kBf16Unit, 0.05 * std::sqrt(squares / std::max<double>(1, static_cast<double>(data.size()))), 5e-3, ""}});
      }
  }
  for (const ExpectedTensor& e : expected)
    if (const auto index = t.index(e.tensor.c_str()))
      what.expected.push_back(
          {*index, Criterion::Tolerance, e.tolerance.relative, e.tolerance.absolute, e.tolerance.rms, {e.values.begin(), e.values.end()}});
  cases.push_back(std::move(what));
  return cases;
}

std::vector<LibraryPlan> libraries_for(const Kernel& kernel, const std::vector<TensorPlan>& tensors) {
  if (const Named t(tensors, {"A", "B", "C"}); kernel.reference == "gemm" && t.good())
    return {LibraryGemm{*t.index("A"), *t.index("B"), *t.index("C"), t.shape("A")[0], t.shape("B")[1], t.shape("A")[1], false}};
  if (const Named t(tensors, {"Q", "K", "V", "O"}); is_attention(kernel) && t.good()) {
    const auto &q = t.shape("Q"), &k = t.shape("K");
    if (q.size() != 3 || k.size() != 3 || t.shape("V") != k || t.shape("O") != q || k[0] != q[0] || k[2] != q[2]) return {};
    return {LibraryAttention{*t.index("Q"), *t.index("K"), *t.index("V"), *t.index("O"), q[0], q[1], k[1], q[2],
                             kernel.reference == "attention_forward_causal"}};
  }
  return {};
}

std::string left_out_of_time(const Kernel& kernel) {
  std::string text;
  const auto add = [&](const std::string& what) { text += (text.empty() ? "" : ", ") + what; };
  if (kernel.reference.starts_with("attention_backward")) add("computing LSE and Delta");
  for (const Tensor& tensor : kernel.tensors)
    if (tensor.role == TensorRole::InOut) add("zeroing " + tensor.name);
  return text;
}

std::int64_t flops_of(const Kernel& kernel, const std::vector<TensorPlan>& tensors) {
  std::int64_t products = work_of(kernel.reference, tensors);
  if (kernel.reference.starts_with("attention_backward")) products = products / 2 * 5;  // five mmas where the forward pass has two
  if (kernel.reference.ends_with("_causal")) products /= 2;
  return sat_mul(2, products);
}

std::int64_t listed_flops(const Kernel& kernel, const Scope& params) {
  const Work work = work_per_iteration(kernel, Machine{}, params);
  return work.kind == WorkKind::MultiplyAdds ? sat_mul(2, sat_mul(work.amount, tile_grid(kernel, params).all_trips())) : 0;
}

}  // namespace heddle::codegen

// A GEMM of 4-bit weights with 16-bit scales per group of columns: vectors of 16 bits that arithmetic takes from shared memory, panels as
// narrow as a tile's rows, weights that registers bring to products.
#include <functional>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "codegen/compile/compile.h"
#include "codegen/emit/emit.h"
#include "codegen/run/reference.h"
#include "core/kernel/evaluate.h"
#include "core/library/library.h"
#include "core/problem/resolve.h"
#include "tests/codegen/emulation.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::codegen;

namespace {

const std::string kName = "gemm_w4a16_hopper";
const Scope kSmall{{"N_OUT", 200}, {"TOKENS", 40}, {"K", 416}};  // ragged in all three

/// With other types or ops, resolved again.
test::Lowering changed(test::Lowering from, const std::function<void(Kernel&)>& change) {
  change(from.kernel);
  const auto problem = resolve(from.kernel, *load_machine(test::repository_path("assets/machines/h100.json")), from.problem.params, {},
                               from.schedule.layouts);
  INFO((problem.ok() ? "" : to_string(problem.error())));
  REQUIRE(problem.ok());
  from.problem = *problem;
  return from;
}

void make_f16(Kernel& kernel) {
  for (Tensor& tensor : kernel.tensors)
    if (tensor.dtype == DType::Bf16) tensor.dtype = DType::F16;
  for (TileValue& value : kernel.values)
    if (value.dtype == DType::Bf16) value.dtype = DType::F16;
}

/// Whole numbers from -2 to 2, and scales that are powers of two: every sum is exact.
TensorMap small_numbers(const Kernel& kernel, const Scope& params) {
  TensorMap tensors = *make_tensors(kernel, params, 7);
  int n = 0;
  for (auto& [name, tensor] : tensors)
    for (float& x : tensor.array.data) {
      n = (n * 29 + 17) % 1013;
      x = name == "S" ? std::ldexp(1.0f, n % 7 - 4) : static_cast<float>(n % 5 - 2);
    }
  return tensors;
}

}  // namespace

TEST_CASE("a GEMM with scales of groups computes its formula, and another formula with other scales", "[codegen]") {
  const auto kernel = load_kernel(test::repository_path("kernels/" + kName + ".json"));
  REQUIRE(kernel.ok());
  for (const Scope& sizes : {Scope{}, kSmall, Scope{{"TOKENS", 1}}, Scope{{"TILE_T", 16}}, Scope{{"TILE_T", 128}, {"TOKENS", 128}}}) {
    const auto report = evaluate(*kernel, sizes);
    REQUIRE(report.ok());
    CHECK(report->pass);
  }
  for (const char* expr : {"x0 + x2", "fma(x0, x1, x1)"}) {
    Kernel wrong = *kernel;
    for (TileOp& op : wrong.body)
      if (op.kind == "map") op.attrs["expr"] = std::string(expr);
    const auto report = evaluate(wrong, kSmall);
    REQUIRE(report.ok());
    CHECK_FALSE(report->pass);
  }
  // The formula written out says the same.
  Kernel written = *kernel;
  written.reference = "D = (W * transpose(repeat(S, 128))) @ transpose(X)";
  const auto report = evaluate(written, {{"TOKENS", 24}, {"K", 384}});
  REQUIRE(report.ok());
  CHECK(report->pass);
}

TEST_CASE("whole numbers times scales that are powers of two are exact", "[codegen]") {
  const auto kernel = load_kernel(test::repository_path("kernels/" + kName + ".json"));
  REQUIRE(kernel.ok());
  Kernel wide = *kernel;  // results that are not rounded
  for (Tensor& tensor : wide.tensors)
    if (tensor.name == "D") tensor.dtype = DType::F32;
  for (TileValue& value : wide.values)
    if (value.name.starts_with("out") || value.name.starts_with("d")) value.dtype = DType::F32;
  Scope params;
  for (const Param& param : wide.params) params[param.name] = param.value;
  for (const auto& [name, value] : kSmall) params[name] = value;
  TensorMap tensors = small_numbers(wide, params);
  REQUIRE(execute(wide, params, tensors).ok());
  const auto& w = tensors.at("W").array.data;
  const auto& s = tensors.at("S").array.data;
  const auto& x = tensors.at("X").array.data;
  const auto& d = tensors.at("D").array.data;
  bool equal = true;
  for (int i = 0; i < 200; ++i)
    for (int j = 0; j < 40; ++j) {
      double sum = 0;
      for (int k = 0; k < 416; ++k) sum += double{w[i * 416 + k]} * s[k / 128 * 200 + i] * x[j * 416 + k];
      equal = equal && d[i * 40 + j] == sum;
    }
  CHECK(equal);
}

TEST_CASE("the text of a GEMM with scales of groups computes what heddle eval computes", "[codegen][.slow]") {
  // Bit for bit: the emulator adds and multiplies in the order in which eval does.
  CHECK(test::run_text(kName, kSmall, 2) == 0);
  CHECK(test::run_text(kName, {{"N_OUT", 128}, {"TOKENS", 1}, {"K", 1536}}, 1) == 0);
  CHECK(test::run_text(kName, {{"N_OUT", 384}, {"TOKENS", 100}, {"K", 128}}, 2) == 0);
  CHECK(test::run_text(changed(test::lowering(kName, kSmall), make_f16), 2) == 0);
  for (const auto& wrong : {std::pair{"+ r * 8) * 2, half)", "+ r * 4) * 2, half)"},
                            {"low_bf16(half)", "high_bf16(half)"},
                            {"[4 * e + 1]", "[4 * e + 2]"},
                            {"fmaf(v1_part0[e], ", "fmaf(v1_part0[e ^ 2], "},
                            {"g_bf * 128 + 64, i - 1, smem", "g_bf * 128, i - 1, smem"}})
    CHECK(test::run_text(test::lowering(kName, kSmall), 1, wrong) > 0.1);
}

TEST_CASE("the text of a GEMM with scales of groups in pairs of blocks computes what heddle eval computes", "[codegen][.slow]") {
  CHECK(test::run_text(kName, {{"N_OUT", 384}, {"TOKENS", 64}, {"K", 416}}, 2, {}, {.cluster = 2}) == 0);
}

TEST_CASE("scales of 16 bits along columns are refused by name", "[codegen]") {
  const auto from = changed(test::lowering(kName), [](Kernel& kernel) {
    for (TileOp& op : kernel.body)
      if (op.name == "scale0") op.attrs["along"] = std::string("fcf");
  });
  const EmitResult emitted = emit_cuda(from.kernel, from.problem, from.schedule, test::program_of(from));
  REQUIRE_FALSE(emitted.refusals.empty());
  CHECK(emitted.refusals[0].sentence == "'scale0' computes with an operand that is no number in registers");
}

TEST_CASE("the reference of a GEMM with scales of groups is a kernel of its own", "[codegen]") {
  const auto kernel = load_kernel(test::repository_path("kernels/" + kName + ".json"));
  REQUIRE(kernel.ok());
  const std::vector<TensorPlan> tensors{{"W", DType::I4, {256, 512}, TensorRole::Input},
                                        {"S", DType::Bf16, {4, 256}, TensorRole::Input},
                                        {"X", DType::Bf16, {20, 512}, TensorRole::Input},
                                        {"D", DType::Bf16, {256, 24}, TensorRole::Output}};
  const auto text = reference_text(*kernel, tensors);
  REQUIRE(text);
  CHECK(text->plan.output == 3);
  CHECK(text->source.find("reference_group_scaled<256, 24, 20, 512, ") != std::string::npos);
  CHECK(flops_of(*kernel, tensors) == std::int64_t{2} * 256 * 20 * 512);
  std::string why;
  const auto cases = cases_for(*kernel, {}, tensors, true, 1, why);
  REQUIRE(cases.size() == 2);
  CHECK(cases[0].expected[0].criterion == Criterion::Exact);
  if (!find_compiler().ok()) return;
  const auto compiled = compile_cuda(text->source);
  INFO((compiled.ok() ? "" : to_string(compiled.error())));
  CHECK(compiled.ok());
}

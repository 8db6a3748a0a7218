// Inputs, criteria, and plans as bytes.
#include "codegen/run/data.h"

#include <cmath>
#include <limits>
#include <random>

#include <catch2/catch.hpp>

#include "codegen/run/reference.h"
#include "core/kernel/evaluate.h"
#include "core/library/library.h"
#include "tests/gpu/fixture.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::codegen;

namespace {

TensorPlan tensor(DType dtype, std::vector<std::int64_t> shape, TensorRole role = TensorRole::Input) {
  return {"T", dtype, std::move(shape), role};
}

OutputCheck checked(Criterion criterion, std::vector<float> computed, std::vector<float> reference, std::vector<float> plain = {},
                    double relative = 0, double absolute = 0, double rms = 0) {
  const TensorPlan t = tensor(DType::Bf16, {2, static_cast<std::int64_t>(computed.size()) / 2}, TensorRole::Output);
  return check_output(t, "random", {0, criterion, relative, absolute, rms, {}}, as_bytes(t, computed), reference, plain);
}

}  // namespace

TEST_CASE("numbers of every type come back from their bytes", "[gpu]") {
  const std::vector<float> numbers{0, 1, -2, 0.5f, 3.25f, -1024, 6.103515625e-05f};
  for (const DType dtype : {DType::F32, DType::Bf16, DType::F16}) {
    const TensorPlan t = tensor(dtype, {static_cast<std::int64_t>(numbers.size())});
    const auto bytes = as_bytes(t, numbers);
    CHECK(static_cast<std::int64_t>(bytes.size()) == t.bytes());
    for (std::size_t i = 0; i < numbers.size(); ++i) CHECK(element(t, bytes, static_cast<std::int64_t>(i)) == numbers[i]);
  }
  const TensorPlan half = tensor(DType::F16, {3});
  const auto odd = as_bytes(half, std::vector<float>{std::numeric_limits<float>::infinity(), NAN, 5.9604645e-08f});
  CHECK(std::isinf(element(half, odd, 0)));
  CHECK(std::isnan(element(half, odd, 1)));
  CHECK(element(half, odd, 2) == 5.9604645e-08f);
}

TEST_CASE("inputs are the same for the same seed, integers small, every 61st row an outlier", "[gpu]") {
  const TensorPlan t = tensor(DType::Bf16, {128, 64});
  CasePlan what;
  what.data = CasePlan::Data::Integers;
  const auto integers = make_data(t, what, 0, 7);
  CHECK(integers == make_data(t, what, 0, 7));
  CHECK(integers != make_data(t, what, 0, 8));
  std::int64_t seen[5] = {};
  for (std::int64_t i = 0; i < t.elements(); ++i) {
    const float x = element(t, integers, i);
    REQUIRE((x == std::floor(x) && std::fabs(x) <= 2));
    ++seen[static_cast<int>(x) + 2];
  }
  for (const std::int64_t count : seen) CHECK(count > t.elements() / 8);
  what.data = CasePlan::Data::Outliers;
  const auto outliers = make_data(t, what, 0, 7);
  double usual = 0, row = 0;
  for (std::int64_t i = 0; i < t.elements(); ++i) (i / 64 % 61 == 0 ? row : usual) += std::fabs(element(t, outliers, i));
  CHECK(row / (3 * 64) > 3 * usual / (125 * 64));
  CHECK(make_data(tensor(DType::F32, {4}, TensorRole::InOut), what, 0, 7) == std::vector<std::uint8_t>(16, 0));
}

TEST_CASE("bit for bit means bit for bit, and a NaN is never right", "[gpu]") {
  CHECK(checked(Criterion::Exact, {1, 2, 3, 4}, {1, 2, 3, 4}).passed);
  // 257 has no bf16: the reference is rounded to 256 as the kernel's result was.
  CHECK(checked(Criterion::Exact, {256, 2, 3, 4}, {257, 2, 3, 4}).passed);
  const OutputCheck off = checked(Criterion::Exact, {1, 2, 3.015625f, 4}, {1, 2, 3, 4});
  CHECK_FALSE(off.passed);
  CHECK(off.wrong == 1);
  CHECK(off.at == "T[1, 0]");
  CHECK(off.worst == 0.015625);
  const OutputCheck nan = checked(Criterion::Tolerance, {1, NAN, 3, 4}, {1, 2, 3, 4}, {}, 0.1, 0.1, 0.1);
  CHECK_FALSE(nan.passed);
  CHECK(std::isinf(nan.worst));
}

TEST_CASE("a tolerance has an element's bound and one of the root mean square", "[gpu]") {
  CHECK(checked(Criterion::Tolerance, {1.0625f, 2, 3, 4}, {1, 2, 3, 4}, {}, 0.05, 0.02, 0.1).passed);
  CHECK_FALSE(checked(Criterion::Tolerance, {1.125f, 2, 3, 4}, {1, 2, 3, 4}, {}, 0.05, 0.02, 0.1).passed);
  const OutputCheck shifted = checked(Criterion::Tolerance, {1.0625f, 2.0625f, 3.0625f, 4.0625f}, {1, 2, 3, 4}, {}, 0.05, 0.02, 0.001);
  CHECK(shifted.wrong == 0);
  CHECK_FALSE(shifted.passed);
}

TEST_CASE("attention may be twice as far off as a plain program, not more", "[gpu]") {
  const std::vector<float> reference{1, -1, 0.5f, 0.25f}, plain{1.0078125f, -1, 0.5f, 0.25f};
  CHECK(checked(Criterion::Attention, {1.015625f, -1, 0.5f, 0.25f}, reference, plain).passed);
  const OutputCheck off = checked(Criterion::Attention, {1.03125f, -1, 0.5f, 0.25f}, reference, plain);
  CHECK_FALSE(off.passed);
  CHECK(off.bound == Approx(2 * 0.0078125).epsilon(0.01));
}

TEST_CASE("a plan travels as bytes, and damaged bytes are refused", "[gpu]") {
  const test::FakeGpu gpu;
  const RunPlan& plan = test::small_gemm().run.plan;
  const std::string bytes = plan_bytes(plan);
  const auto again = parse_plan(bytes);
  REQUIRE(again.ok());
  CHECK(plan_bytes(*again) == bytes);
  CHECK_FALSE(parse_plan("").ok());
  CHECK_FALSE(parse_plan(bytes + "x").ok());
  constexpr std::uint64_t kSeed = 20260401;
  INFO("seed " << kSeed);
  std::mt19937_64 random(kSeed);
  for (int k = 0; k < 300; ++k) {
    std::string damaged = bytes.substr(0, k % 3 == 0 ? random() % bytes.size() : bytes.size());
    for (int flips = 0; flips < 3 && !damaged.empty(); ++flips)
      damaged[random() % std::min<std::size_t>(damaged.size(), 600)] = static_cast<char>(random());
    (void)parse_plan(damaged).ok();
  }
}

TEST_CASE("kernels without a reference kernel are compared with the formula on the CPU, where that is quick", "[gpu]") {
  const auto kernel = load_kernel(test::repository_path("kernels/attention_backward_hopper.json"));
  REQUIRE(kernel.ok());
  const auto plans = [&](const Scope& params) {
    std::vector<TensorPlan> tensors;
    for (const Tensor& t : kernel->tensors) {
      TensorPlan plan{t.name, t.dtype, {}, t.role};
      for (const Expr& e : t.shape) plan.shape.push_back(e.evaluate(params).value());
      tensors.push_back(plan);
    }
    return tensors;
  };
  const Scope small = parameter_scope(*kernel, {{"Q_LEN", 64}, {"KV_LEN", 128}, {"HEADS", 1}}, true).value(),
              large = parameter_scope(*kernel, {}, false).value();
  std::string why;
  CHECK_FALSE(reference_text(*kernel, plans(small)).has_value());
  const auto cases = cases_for(*kernel, small, plans(small), false, 1, why);
  REQUIRE(cases.size() == 1);
  CHECK(cases[0].expected.size() == 3);
  CHECK(why.empty());
  CHECK(cases_for(*kernel, large, plans(large), false, 1, why).empty());
  CHECK_FALSE(why.empty());
  CHECK(flops_of(*kernel, plans(small)) == 10ll * 64 * 128 * 128);
}

// Formulas over whole tensors that kernel files write out: what they compute, what they refuse, and that eval judges by them.
#include <catch2/catch.hpp>

#include <cmath>

#include "core/formats/kernel_json.h"
#include "core/kernel/evaluate.h"
#include "core/kernel/formula.h"
#include "core/library/library.h"
#include "tests/support/paths.h"

using namespace heddle;

namespace {

GlobalTensor tensor(std::vector<std::int64_t> shape, std::vector<float> data, TensorRole role = TensorRole::Input) {
  return {DType::F32, role, {std::move(shape), std::move(data)}};
}

/// A [2,3], B [3,2], V [3], W [2], and Y of the shape given; N = 4.
struct World {
  Kernel kernel;
  TensorMap tensors;

  explicit World(std::vector<std::int64_t> y) {
    tensors.emplace("A", tensor({2, 3}, {1, 2, 3, 4, 5, 6}));
    tensors.emplace("B", tensor({3, 2}, {1, 0, 0, 1, 1, 1}));
    tensors.emplace("V", tensor({3}, {10, 20, 30}));
    tensors.emplace("W", tensor({2}, {100, 200}));
    std::int64_t size = 1;
    for (const std::int64_t extent : y) size *= extent;
    tensors.emplace("Y", tensor(std::move(y), std::vector<float>(static_cast<std::size_t>(size)), TensorRole::Output));
    for (const auto& [name, t] : tensors) kernel.tensors.push_back({name, t.dtype, {}, t.role});
    kernel.params.push_back({"N", 4, {}, {}, ""});
  }
  /// What Y should be, or what is wrong.
  std::pair<std::vector<double>, std::string> of(const std::string& text) const {
    const auto formula = Formula::parse(text, kernel);
    if (!formula.ok()) return {{}, to_string(formula.error())};
    std::vector<ExpectedTensor> expected;
    std::string why = formula->compute(tensors, FormulaNumbers{Scope{{"N", 4}}}, {}, expected);
    if (!why.empty()) return {{}, std::move(why)};
    REQUIRE(expected.size() == 1);
    return {expected[0].values, ""};
  }
};

using Values = std::vector<double>;

}  // namespace

TEST_CASE("formulas line up shapes at the last dimension, as people write them", "[core]") {
  const World matrix({2, 3}), square({2, 2}), numbers({2, 1});
  CHECK(matrix.of("Y = A + V").first == Values{11, 22, 33, 14, 25, 36});
  CHECK(matrix.of("Y = A * column(W) - 1").first == Values{99, 199, 299, 799, 999, 1199});
  CHECK(matrix.of("Y = -A / 2 * N").first == Values{-2, -4, -6, -8, -10, -12});
  CHECK(matrix.of("Y = max(A, 3) + min(A, 2)").first == Values{4, 5, 5, 6, 7, 8});
  CHECK(square.of("Y = A @ B").first == Values{4, 5, 10, 11});
  CHECK(square.of("S = A @ B; Y = transpose(S) + S").first == Values{8, 15, 15, 22});
  CHECK(numbers.of("Y = sum(A)").first == Values{6, 15});
  CHECK(numbers.of("Y = mean(A) + max(A) * 10 + min(A) * 100").first == Values{132, 465});
  CHECK(matrix.of("Y = relu(A - 3)").first == Values{0, 0, 0, 1, 2, 3});
  const Values soft = matrix.of("Y = softmax(causal(A))").first;
  CHECK(soft[0] + soft[1] == Approx(1));
  CHECK(soft[2] == 0);
  CHECK(soft[5] / soft[4] == Approx(std::exp(1.0)));
  CHECK(World({4, 3}).of("Y = repeat(A, 2)").first == Values{1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6});
  CHECK(square.of("Y = gelu(silu(A @ B) * 0) + rsqrt(4)").first == Values{0.5, 0.5, 0.5, 0.5});
}

TEST_CASE("what is wrong with a formula is said with its place", "[core]") {
  const World w({2, 3});
  const auto fault = [&](const char* text) { return w.of(text).second; };
  CHECK(fault("Y = A + Vv") ==
        "/reference: formula, column 9: 'Vv' is neither a tensor nor a parameter nor defined before (did you mean 'V'?)");
  CHECK(fault("Y = geluu(A)") == "/reference: formula, column 5: there is no function 'geluu' (did you mean 'gelu'?)");
  CHECK(fault("Y = softmax(A, 2)") == "/reference: formula, column 5: softmax does not take 2 operands");
  CHECK(fault("Y = (A + V") == "/reference: formula, column 11: expected )");
  CHECK(fault("Y = A V") == "/reference: formula, column 7: expected an operator, ; or the end");
  CHECK(fault("A = V") == "/reference: formula, column 1: 'A' is an input of the kernel; results are outputs");
  CHECK(fault("N = V") == "/reference: formula, column 1: 'N' is a parameter of the kernel, and cannot be a result");
  CHECK(fault("Y = A; Y = A") == "/reference: formula, column 8: 'Y' is defined twice");
  CHECK(fault("Y = Y + A") == "/reference: formula, column 5: 'Y' is an output; a statement before this one must define it");
  CHECK(fault("S = A") == "/reference: the formula does not say what 'Y' is (add \"; Y = ...\")");
  CHECK(fault("Y = A @ V") == "@ takes matrices, found 2x3 and 3");
  CHECK(fault("Y = A @ A") == "2x3 @ 2x3: 3 columns meet 2 rows");
  CHECK(fault("Y = A + W") == "2x3 and 2 do not lie over each other in '+'");
  CHECK(fault("Y = V") == "the formula makes 'Y' 3, the tensor is 2x3");
  CHECK(fault(("Y = " + std::string(3000, '(') + "A").c_str()).find("nested deeper than") != std::string::npos);
}

TEST_CASE("no text makes the reader of formulas fall over", "[core]") {
  const World w({2, 3});
  const std::string good = "Y = softmax(A @ B * column(W)) + max(V, 1e-3) - repeat(A, 2)";
  for (std::size_t cut = 0; cut <= good.size(); ++cut) {
    (void)w.of(good.substr(0, cut));
    for (const char c : std::string("()@=;,.-e9\x01")) {
      std::string text = good;
      text.insert(cut, 1, c);
      (void)w.of(text);
    }
  }
}

TEST_CASE("a kernel file may write its formula out, and eval compares with that", "[core]") {
  Result<Kernel> kernel = load_kernel(test::repository_path("kernels/gemm_hopper.json"));
  REQUIRE(kernel.ok());
  kernel->reference = "C = A @ B";
  const auto good = evaluate(*kernel);
  REQUIRE(good.ok());
  CHECK(good->pass);
  CHECK(good->tensors.at(0).compared);
  kernel->reference = "C = A @ B * 1.01";
  const auto off = evaluate(*kernel);
  REQUIRE(off.ok());
  CHECK_FALSE(off->pass);
  kernel->reference = "C = A @ C";
  CHECK_FALSE(parse_kernel(kernel_text(*kernel), "k.json", nullptr).ok());
}

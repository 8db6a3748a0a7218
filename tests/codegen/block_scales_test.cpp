// A GEMM of 8-bit floats whose sums of 128 columns of K are scaled: vectors and single numbers that arithmetic takes from shared memory,
// boxes of less than 16 bytes, tiles of one panel that the blocks of a cluster bring by rows.
#include <fmt/format.h>
#include <catch2/catch.hpp>

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

const std::string kName = "gemm_fp8_hopper";
const Scope kSmall{{"M", 200}, {"N", 256}, {"K", 512}};  // ragged in M

std::string refusals_of(const test::Lowering& from, const BuildOptions& options = {}) {
  const EmitResult emitted = emit_cuda(from.kernel, from.problem, from.schedule, test::program_of(from, {}, options));
  std::string text;
  for (const Refusal& refusal : emitted.refusals) text += refusal.rule + ": " + refusal.sentence + "\n";
  return text;
}

/// With other values, resolved again.
template <class Change>
test::Lowering changed(test::Lowering from, Change change) {
  change(from.kernel);
  const auto problem = resolve(from.kernel, *load_machine(test::repository_path("assets/machines/h100.json")), from.problem.params, {},
                               from.schedule.layouts);
  INFO((problem.ok() ? "" : to_string(problem.error())));
  REQUIRE(problem.ok());
  from.problem = *problem;
  return from;
}

}  // namespace

TEST_CASE("a GEMM with scales of blocks computes its formula, and another formula with other scales", "[codegen]") {
  const auto kernel = load_kernel(test::repository_path("kernels/" + kName + ".json"));
  REQUIRE(kernel.ok());
  for (const Scope& sizes : {Scope{}, kSmall, Scope{{"M", 64}, {"N", 384}, {"K", 1024}}}) {
    const auto report = evaluate(*kernel, sizes);
    REQUIRE(report.ok());
    CHECK(report->pass);
  }
  for (const auto& [from, to] : {std::pair{"x1 * x2", "x1"}, {"x1 * x2", "x2"}}) {
    Kernel wrong = *kernel;
    for (TileOp& op : wrong.body)
      if (op.kind == "map") {
        auto& text = std::get<std::string>(op.attrs["expr"]);
        text.replace(text.find(from), std::string(from).size(), to);
      }
    const auto report = evaluate(wrong, kSmall);
    REQUIRE(report.ok());
    CHECK(!report->pass);
  }
  // The formula written out says the same.
  Kernel written = *kernel;
  written.reference = "D = (A * transpose(repeat(SA, 128))) @ transpose(B * transpose(repeat(transpose(repeat(SB, 128)), 128)))";
  const auto report = evaluate(written, kSmall);
  REQUIRE(report.ok());
  CHECK(report->pass);
}

TEST_CASE("the text of a GEMM with scales of blocks computes what heddle eval computes", "[codegen][.slow]") {
  // Bit for bit, whatever the numbers: the emulator adds and multiplies in the order in which eval does.
  CHECK(test::run_text(kName, kSmall, 2) == 0);
  CHECK(test::run_text(kName, {{"M", 128}, {"N", 128}, {"K", 1536}}, 1) == 0);
  const Scope whole{{"M", 128}, {"N", 128}, {"K", 512}};
  for (const auto& wrong : {std::pair{"+ r * 8) * 4, taken1[r]", "+ r * 4) * 4, taken1[r]"},
                            {" * taken2[0]", ""},
                            {"fmaf(v0_p0[e], ", "fmaf(v0_p0[e ^ 2], "},
                            {", 16);\n", ", 4);\n"},
                            {"g_bm * 128 + 64, i, smem", "g_bm * 128, i, smem"}})
    CHECK(test::run_text(test::lowering(kName, whole), 1, wrong) > 0.1);
}

TEST_CASE("the text of a GEMM with scales of blocks in pairs of blocks computes what heddle eval computes", "[codegen][.slow]") {
  const BuildOptions pairs{.cluster = 2};
  // B is one panel: each block brings half of its rows to both. Scales every block brings for itself.
  CHECK(test::run_text(kName, {{"M", 256}, {"N", 256}, {"K", 512}}, 2, {}, pairs) == 0);
  CHECK(test::run_text(kName, {{"M", 300}, {"N", 128}, {"K", 512}}, 2, {}, pairs) == 0);  // three rows of tiles: the last pair has one
  CHECK(test::run_text(kName, {{"M", 256}, {"N", 128}, {"K", 512}}, 2, {"rank * 8192", "rank * 4096"}, pairs) > 0.1);
  CHECK(test::run_text(kName, {{"M", 256}, {"N", 128}, {"K", 512}}, 2, {"+ rank * 64", ""}, pairs) > 0.1);
}

TEST_CASE("a number that every element takes may be an operand of any arithmetic", "[codegen][.slow]") {
  // One of 64 logarithms, along columns as they are, of an op that is no map.
  const Scope sizes{{"HEADS", 1}, {"Q_LEN", 128}, {"KV_LEN", 128}};
  const auto one = changed(test::lowering("attention_backward_hopper", sizes), [](Kernel& kernel) {
    for (TileValue& v : kernel.values)
      if (v.name == "lse") v.shape = {Expr(1)};
  });
  CHECK(test::run_text(one, 1) < 4e-3);
}

TEST_CASE("scales whose rows are no multiple of 16 bytes are refused by name", "[codegen]") {
  // Rows of SB have 12 bytes.
  CHECK(refusals_of(test::lowering(kName, {{"M", 128}, {"N", 128}, {"K", 384}})).find("tensor_map: 'load_sb' needs a tensor") !=
        std::string::npos);
}

TEST_CASE("the reference of a GEMM with scales of blocks is a kernel of its own", "[codegen]") {
  const auto kernel = load_kernel(test::repository_path("kernels/" + kName + ".json"));
  const std::vector<TensorPlan> tensors{{"A", DType::F8e4m3, {256, 512}, TensorRole::Input},
                                        {"B", DType::F8e4m3, {384, 512}, TensorRole::Input},
                                        {"SA", DType::F32, {4, 256}, TensorRole::Input},
                                        {"SB", DType::F32, {3, 4}, TensorRole::Input},
                                        {"D", DType::Bf16, {256, 384}, TensorRole::Output}};
  const auto text = reference_text(*kernel, tensors);
  REQUIRE(text);
  CHECK(text->plan.output == 4);
  CHECK(text->source.find("reference_block_scaled<256, 384, 512, ") != std::string::npos);
  CHECK(flops_of(*kernel, tensors) == std::int64_t{2} * 256 * 384 * 512);
  std::string why;
  const auto cases = cases_for(*kernel, {}, tensors, true, 1, why);
  REQUIRE(cases.size() == 2);
  CHECK(cases[0].expected.at(0).criterion == Criterion::Exact);
}

// A GEMM of 8-bit floats whose sums of 128 columns of K are scaled: vectors and single numbers that arithmetic takes from shared memory,
// boxes of less than 16 bytes, tiles of one panel that the blocks of a cluster bring by rows.
#include <algorithm>
#include <tuple>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "codegen/emit/emit.h"
#include "codegen/interpret/interpret.h"
#include "codegen/program/boxes.h"
#include "codegen/program/build.h"
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

TEST_CASE("a load that is shorter than a box brings its neighbours, from a multiple of 16 bytes", "[codegen][.slow]") {
  // Five and seven trips: SB's rows are padded to 8 numbers.
  for (const std::int64_t trips : {5, 7}) {
    const auto from = changed(test::lowering(kName, {{"M", 128}, {"N", 256}, {"K", 512}}), [&](Kernel& kernel) {
      kernel.loop.trips = Expr(trips);
      for (Tensor& tensor : kernel.tensors) {
        if (tensor.name == "A" || tensor.name == "B") tensor.shape[1] = Expr(128 * trips);
        if (tensor.name == "SA") tensor.shape[0] = Expr(trips);
        if (tensor.name == "SB") tensor.shape[1] = Expr(8);
      }
    });
    CHECK(test::run_text(from, 1) == 0);
    CHECK(test::run_text(from, 1, {" & -4), ", "), "}) > 0.1);
    CHECK(test::run_text(from, 1, {" & 3) * 4, taken", " & 0) * 4, taken"}) > 0.1);
  }
}

TEST_CASE("where boxes begin is judged over all tiles and trips", "[codegen]") {
  const auto from = test::lowering(kName, {{"M", 256}, {"N", 256}, {"K", 512}});
  /// Of load_sb, with this column, in a grid of so many tiles.
  const auto start = [&](const std::string& column, std::int64_t trips, int tiles = 2, std::int64_t numbers = 1) {
    Kernel kernel = from.kernel;
    for (GridDim& dim : kernel.grid) dim.size = Expr(tiles);
    for (TileOp& op : kernel.body)
      if (op.name == "load_sb") op.at[1] = *Expr::parse(column);
    for (TileValue& value : kernel.values)
      if (value.name == "sb") value.shape = {Expr(numbers)};
    const auto op = std::find_if(kernel.body.begin(), kernel.body.end(), [](const TileOp& o) { return o.name == "load_sb"; });
    return box_start(kernel, {from.problem.params, trips}, *op, *kernel.find_value("sb"));
  };
  CHECK(start("4 * i", 8).unit == 1);
  CHECK(start("i", 8).unit == 4);
  CHECK(start("i - 1", 8).unit == 4);
  CHECK(start("i", 1).unit == 1);  // 0 only
  CHECK(start("bn + 4 * i", 8).unit == 4);
  CHECK(start("bn + 4 * i", 8, 1).unit == 1);
  CHECK(start("4 * bn + 8", 8).unit == 1);
  CHECK(start("2 * i", 8, 2, 2).unit == 4);
  for (const auto& [column, numbers, hint] : {std::tuple("i", 2, "up to 1 such numbers"),
                                              {"2 * i", 3, "up to 2 such numbers"},
                                              {"i", 8, "multiples of 4"},
                                              {"2 * i + 1", 64, ""}}) {
    const BoxStart refused = start(column, 8, 2, numbers);
    INFO(refused.refusal);
    CHECK(refused.unit == 1);
    CHECK(refused.refusal.find(std::string("begin at column ") + column) != std::string::npos);
    CHECK(refused.refusal.find(hint) != std::string::npos);
  }
}

TEST_CASE("tiles of which no box can begin at a multiple of 16 bytes are refused by name", "[codegen]") {
  const auto refused = [](const std::string& name, std::size_t coordinate, const std::string& text, const Scope& sizes = kSmall) {
    const auto from = changed(test::lowering(kName, sizes), [&](Kernel& kernel) {
      for (auto* list : {&kernel.body, &kernel.epilogue})
        for (TileOp& op : *list)
          if (op.name == name) op.at[coordinate] = *Expr::parse(text);
    });
    const BuildResult built = build_program(from.kernel, from.problem, from.schedule);
    return built.program ? std::string() : built.refusals.front().rule + ": " + built.refusals.front().sentence;
  };
  CHECK(refused("load_sa0", 1, "bm * 127").starts_with("tma_alignment: 'load_sa0' has boxes of 'SA' begin at column bm * 127"));
  CHECK(refused("load_sa0", 1, "bm * 127", {{"M", 128}, {"N", 256}, {"K", 512}}).empty());  // where bm is 0
  CHECK(refused("load_a1", 1, "i * 128 + 8").starts_with("tma_alignment: 'load_a1' has boxes of 'A'"));
  CHECK(refused("load_a1", 1, "i * 128 + 16").empty());
  CHECK(refused("store0", 1, "bn * 128 + 4").starts_with("tma_alignment: 'store0' has boxes of 'D'"));
  CHECK(refused("store0", 1, "bn * 128 + 8").empty());
  CHECK(refused("store0", 0, "bm * 128 + 1").empty());  // rows begin where they like
}

TEST_CASE("the interpreter stops at a box that does not begin at a multiple of 16 bytes", "[codegen]") {
  const auto from = test::lowering(kName, {{"M", 64}, {"N", 128}, {"K", 512}});
  Program program = test::program_of(from);
  const auto run = [&] {
    auto tensors = make_tensors(from.kernel, from.problem.params, 3);
    REQUIRE(tensors.ok());
    const auto fault = run_with_data(from.kernel, program, *tensors, {});
    REQUIRE(fault.ok());
    return *fault;
  };
  CHECK(!run());
  for (Role& role : program.roles)
    for (codegen::Section& section : role.sections)
      for (Step& step : section.steps) step.round_to = 1;
  const auto fault = run();
  REQUIRE(fault);
  INFO(to_string(*fault));
  CHECK(fault->kind == FaultKind::Alignment);
  CHECK(fault->what.find("column 1 of 'SB', 4 bytes behind") != std::string::npos);
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

// One text for every size: run by the emulator with several sizes, interpreted, and the same byte for byte whatever they are.
#include <algorithm>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "codegen/emit/emit.h"
#include "codegen/interpret/interpret.h"
#include "codegen/program/run_time_sizes.h"
#include "core/kernel/evaluate.h"
#include "core/kernel/execute.h"
#include "core/library/library.h"
#include "tests/codegen/emulation.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::codegen;
using test::run_with_sizes;

namespace {

const BuildOptions kAnySize{.run_time_sizes = true};

Emission emission_of(const test::Lowering& from, const BuildOptions& options = kAnySize) {
  const EmitResult emitted = emit_cuda(from.kernel, from.problem, from.schedule, test::program_of(from, {}, options));
  std::string refused;
  for (const Refusal& refusal : emitted.refusals) refused += refusal.rule + ": " + refusal.sentence + "\n";
  INFO(refused);
  REQUIRE(emitted.emission.has_value());
  return *emitted.emission;
}

/// The sentence of the first condition that does not hold; empty: all do.
std::string objection(const RunTimeSizes& sizes, const Scope& params) {
  for (const SizeCondition& condition : sizes.conditions)
    if (test::size_of(condition.formula, params) == 0) return condition.sentence;
  return {};
}

}  // namespace

TEST_CASE("one text of GEMM computes what heddle eval computes at every size", "[codegen][.slow]") {
  CHECK(run_with_sizes("gemm_hopper",
                       {{{"M", 256}, {"N", 512}, {"K", 320}},
                        {{"M", 200}, {"N", 264}, {"K", 72}},    // last tiles short
                        {{"M", 128}, {"N", 256}, {"K", 64}},    // one trip where the pipeline has two
                        {{"M", 8}, {"N", 8}, {"K", 8}},         // less than a tile
                        {{"M", 2304}, {"N", 512}, {"K", 64}}},  // tiles walked in groups, the last of them narrower
                       3) == 0);
}

TEST_CASE("one text of GEMM for clusters computes what heddle eval computes at every size", "[codegen][.slow]") {
  CHECK(run_with_sizes("gemm_hopper",
                       {{{"M", 512}, {"N", 512}, {"K", 320}},
                        {{"M", 300}, {"N", 264}, {"K", 72}},  // three rows of tiles: the last pair has one
                        {{"M", 64}, {"N", 256}, {"K", 64}}},  // one
                       4, {.cluster = 2}) == 0);
}

TEST_CASE("one text of causal attention computes what heddle eval computes at every size", "[codegen][.slow]") {
  const std::vector<Scope> sizes{{{"HEADS", 3}, {"Q_LEN", 384}, {"KV_LEN", 384}},
                                 {{"HEADS", 1}, {"Q_LEN", 128}, {"KV_LEN", 128}},    // one trip
                                 {{"HEADS", 1}, {"Q_LEN", 200}, {"KV_LEN", 640}},    // the last tile short
                                 {{"HEADS", 10}, {"Q_LEN", 256}, {"KV_LEN", 256}}};  // more heads than are walked together
  CHECK(run_with_sizes("attention_forward_causal_hopper", sizes, 2) < 4e-3);
  CHECK(run_with_sizes("attention_forward_causal_hopper", sizes, 4, {.cluster = 2}) < 4e-3);
}

TEST_CASE("one text of attention backward computes what heddle eval computes at every size", "[codegen][.slow]") {
  CHECK(run_with_sizes("attention_backward_hopper",
                       {{{"HEADS", 2}, {"Q_LEN", 192}, {"KV_LEN", 256}},
                        {{"HEADS", 1}, {"Q_LEN", 64}, {"KV_LEN", 128}},  // one trip
                        {{"HEADS", 1}, {"Q_LEN", 320}, {"KV_LEN", 128}}},
                       1) < 4e-3);
}

TEST_CASE("one text of layer normalization computes what heddle eval computes at every size", "[codegen][.slow]") {
  CHECK(run_with_sizes("layernorm", {{{"ROWS", 203}, {"BLOCKS", 3}}, {{"ROWS", 8}, {"BLOCKS", 1}}, {{"ROWS", 30}, {"BLOCKS", 2}}}, 3) <
        2e-3);
}

TEST_CASE("one text of GEMM for Blackwell computes what heddle eval computes at every size", "[codegen][.slow]") {
  const Scope ragged{{"M", 300}, {"N", 264}, {"K", 72}};
  CHECK(run_with_sizes("gemm_blackwell", {{{"M", 256}, {"N", 512}, {"K", 320}}, ragged}, 2) < 1e-3);
  CHECK(run_with_sizes("gemm_blackwell", {{{"M", 512}, {"N", 512}, {"K", 320}}, ragged}, 4, {.cluster = 2}) < 1e-3);
}

TEST_CASE("one text of attention computes what heddle eval computes at every size", "[codegen][.slow]") {
  CHECK(run_with_sizes("attention_forward_hopper",
                       {{{"HEADS", 2}, {"Q_LEN", 256}, {"KV_LEN", 640}}, {{"HEADS", 1}, {"Q_LEN", 100}, {"KV_LEN", 256}}}, 2) < 4e-3);
}

TEST_CASE("one text of attention computes with the factor of its softmax that a call gives", "[codegen][.slow]") {
  const Scope sizes{{"HEADS", 1}, {"Q_LEN", 200}, {"KV_LEN", 384}};
  CHECK(run_with_sizes("attention_forward_causal_hopper", {sizes, sizes}, 2, {}, {{"scale", 0.3}}) < 4e-3);
  CHECK(run_with_sizes("attention_backward_hopper",
                       {{{"HEADS", 1}, {"Q_LEN", 64}, {"KV_LEN", 128}}, {{"HEADS", 1}, {"Q_LEN", 128}, {"KV_LEN", 128}}}, 1, {},
                       {{"scale", 0.03}}) < 4e-3);
  CHECK(run_with_sizes("attention_delta_varlen", {{{"SEQUENCES", 3}, {"HEADS", 1}, {"MAX_Q", 200}, {"TOTAL_Q", 350}}}, 2, {},
                       {{"scale", 2.0}}) < 1e-5);
}

TEST_CASE("a program computes with data what heddle eval computes with another factor of the softmax", "[codegen]") {
  test::Lowering from = test::lowering("attention_forward_causal_hopper", {{"HEADS", 1}, {"Q_LEN", 128}, {"KV_LEN", 256}});
  auto tensors = make_tensors(from.kernel, from.problem.params, 7);
  REQUIRE(tensors.ok());
  TensorMap own = *tensors, other = *tensors;
  REQUIRE(execute(from.kernel, from.problem.params, own).ok());
  from.kernel = with_scalars(from.kernel, {{"scale", 0.3}}).value();
  REQUIRE(execute(from.kernel, from.problem.params, other).ok());
  const auto fault = run_with_data(from.kernel, test::program_of(from, {}, kAnySize), *tensors, {3, 1});
  REQUIRE(fault.ok());
  CHECK(!fault->has_value());
  CHECK(tensors->at("O").array.data == other.at("O").array.data);
  CHECK(own.at("O").array.data != other.at("O").array.data);
}

TEST_CASE("numbers that a caller may choose are floats of the argument, and literals where sizes are fixed", "[codegen]") {
  test::Lowering from = test::lowering("attention_backward_hopper");
  const Emission any = emission_of(from);
  REQUIRE(any.launch.sizes->scalars.size() == 1);
  CHECK(any.launch.sizes->scalars[0].name == "scale");
  CHECK(static_cast<float>(any.launch.sizes->scalars[0].standard * 1.44269504) == 0.127517431f);
  CHECK(any.source.find("  float f_scale;  // scale * 1.44269504\n") != std::string::npos);
  CHECK(any.source.find("  float f_scale_;  // scale\n") != std::string::npos);
  CHECK(any.source.find("sizes.f_scale_, ") != std::string::npos);
  CHECK(any.source.find("0.127517") == std::string::npos);
  const Emission fixed = emission_of(from, {});
  from.kernel = with_scalars(from.kernel, {{"scale", 0.5}}).value();
  CHECK(emission_of(from).source == any.source);
  CHECK(fixed.source.find("0.127517") != std::string::npos);
  from.kernel = test::lowering("attention_backward_hopper").kernel;
  for (auto* list : {&from.kernel.prologue, &from.kernel.body, &from.kernel.epilogue})
    for (TileOp& op : *list) op.attrs.erase("argument");
  CHECK(emission_of(from, {}).source == fixed.source);
}

TEST_CASE("a text with sizes at run time is the same whatever they are now", "[codegen]") {
  struct Case {
    std::string kernel;
    Scope small, large;
  };
  const std::vector<Case> cases{
      {"gemm_hopper", {{"M", 64}, {"N", 64}, {"K", 64}}, {{"M", 8192}, {"N", 4096}, {"K", 16384}}},
      {"attention_forward_causal_hopper",
       {{"HEADS", 1}, {"Q_LEN", 128}, {"KV_LEN", 128}},
       {{"HEADS", 64}, {"Q_LEN", 4096}, {"KV_LEN", 8192}}},
      {"attention_backward_hopper", {{"HEADS", 1}, {"Q_LEN", 64}, {"KV_LEN", 128}}, {{"HEADS", 16}, {"Q_LEN", 8192}, {"KV_LEN", 4096}}},
      {"attention_backward_blackwell", {{"HEADS", 1}, {"Q_LEN", 128}, {"KV_LEN", 128}}, {{"HEADS", 16}, {"Q_LEN", 8192}, {"KV_LEN", 4096}}},
      {"gemm_blackwell", {{"M", 128}, {"N", 128}, {"K", 64}}, {{"M", 8192}, {"N", 8192}, {"K", 8192}}},
      {"layernorm", {{"ROWS", 8}, {"BLOCKS", 1}}, {{"ROWS", 65536}, {"BLOCKS", 132}}},
      {"gemm_fp8_hopper", {{"M", 128}, {"N", 512}, {"K", 512}}, {{"M", 8192}, {"N", 8192}, {"K", 8192}}}};
  for (const Case& c : cases)
    for (const int cluster : {1, 2}) {
      if (cluster > 1 && !c.kernel.starts_with("gemm")) continue;
      INFO(c.kernel << ", clusters of " << cluster);
      const BuildOptions options{.cluster = cluster, .run_time_sizes = true};
      const Emission small = emission_of(test::lowering(c.kernel, c.small), options),
                     large = emission_of(test::lowering(c.kernel, c.large), options);
      CHECK(small.source == large.source);
      CHECK(small.launch.sizes == large.launch.sizes);
    }
}

TEST_CASE("parameters that a schedule depends on stay literals, with the reason", "[codegen]") {
  const auto sizes_of = [](const std::string& name) {
    const auto kernel = load_kernel(test::repository_path("kernels/" + name + ".json"));
    REQUIRE(kernel.ok());
    return run_time_names(*kernel);
  };
  using Names = std::vector<std::string>;
  CHECK(sizes_of("gemm_hopper") == Names{"M", "N", "K"});
  CHECK(sizes_of("attention_forward_causal_hopper") == Names{"HEADS", "Q_LEN", "KV_LEN"});
  CHECK(sizes_of("gemm_w4a16_hopper") == Names{"TOKENS"});
  CHECK(sizes_of("embedding_bag_hopper") == Names{"ROWS", "EACH"});
  CHECK(sizes_of("attention_forward_varlen_hopper") == Names{"SEQUENCES", "HEADS", "MAX_Q", "MAX_KV", "TOTAL_Q", "TOTAL_KV"});
  const auto kernel = load_kernel(test::repository_path("kernels/gemm_hopper.json"));
  for (const RunTimeParam& param : run_time_params(*kernel))
    if (param.name == "TILE_N") CHECK(param.fixed_by == "the shape of tile 'b' depends on it");
}

TEST_CASE("a text with sizes at run time says what must hold of them", "[codegen]") {
  const Emission gemm = emission_of(test::lowering("gemm_hopper"));
  REQUIRE(gemm.launch.sizes.has_value());
  const RunTimeSizes& sizes = *gemm.launch.sizes;
  CHECK(sizes.params == std::vector<std::string>{"M", "N", "K"});
  const auto with = [](std::int64_t m, std::int64_t n, std::int64_t k) { return Scope{{"M", m}, {"N", n}, {"K", k}}; };
  CHECK(objection(sizes, with(1, 8, 8)) == "");
  CHECK(objection(sizes, with(1, 8, 9)) == "contiguous rows of A are multiples of 16 bytes, as TMA needs them");
  CHECK(objection(sizes, with(0, 8, 8)) == "M is at least 1");
  CHECK(objection(sizes, with(std::int64_t{1} << 31, 8, 8)) == "M is a 32-bit number");
  CHECK(objection(sizes, with((std::int64_t{1} << 31) - 1, (std::int64_t{1} << 31) - 8, 8)) == "at most 1000000000 tiles");
  CHECK(test::size_of(sizes.tiles, with(300, 600, 8)) == 3 * 3);
  // What is read beyond the keys counts in a softmax, so that there must be as many iterations as the text runs at least.
  const Emission attention = emission_of(test::lowering("attention_forward_hopper"));
  const Scope one{{"HEADS", 1}, {"Q_LEN", 128}, {"KV_LEN", 128}}, two{{"HEADS", 1}, {"Q_LEN", 128}, {"KV_LEN", 256}};
  CHECK(objection(*attention.launch.sizes, one).starts_with("the loop has 2 iterations or more"));
  CHECK(objection(*attention.launch.sizes, two) == "");
  const Scope rest{{"HEADS", 1}, {"Q_LEN", 128}, {"KV_LEN", 300}};
  CHECK(objection(*attention.launch.sizes, rest) == "the text leaves out what sizes need for which KV_LEN % KV != 0");
}

TEST_CASE("more trips than a kernel's own change nothing where zeros are added or keys are masked", "[codegen]") {
  for (const char* name : {"gemm_hopper", "gemm_fp8_hopper", "attention_forward_causal_hopper", "attention_backward_hopper", "layernorm",
                           "attention_backward_blackwell", "attention_forward_varlen_hopper", "attention_forward_causal_varlen_hopper"}) {
    const test::Lowering from = test::lowering(name);
    INFO(name);
    CHECK(harm_of_more_trips(from.kernel, from.problem.params) == "");
  }
  const test::Lowering from = test::lowering("attention_forward_hopper");
  CHECK(harm_of_more_trips(from.kernel, from.problem.params) == "'m0' would become another one, and 'max0' reads it");
  // A mask that ends a key too late hides nothing for sure.
  test::Lowering late = test::lowering("attention_forward_causal_hopper");
  for (TileOp& op : late.kernel.body)
    if (op.name == "mask0") op.at[0] = *Expr::parse("bq*128 + KV_LEN - Q_LEN + 1");
  CHECK(harm_of_more_trips(late.kernel, late.problem.params) != "");
}

TEST_CASE("programs for every size have no deadlock and no race, whatever the number of trips", "[codegen]") {
  for (const char* name : {"gemm_hopper", "attention_forward_causal_hopper", "attention_backward_hopper", "gemm_blackwell",
                           "attention_backward_blackwell", "layernorm"}) {
    const test::Lowering from = test::lowering(name);
    const Program program = test::program_of(from, {}, kAnySize);
    CHECK(program.varies);
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
      const auto fault = run_symbolic(from.kernel, program, {seed, 3});
      INFO(name << ", seed " << seed << ": " << (fault ? to_string(*fault) : ""));
      CHECK(!fault);
    }
  }
}

TEST_CASE("a program for every size computes with data what heddle eval computes, with few trips and with many", "[codegen]") {
  for (const std::int64_t k : {8, 64, 72, 320, 64 * 250}) {
    const test::Lowering from = test::lowering("gemm_hopper", {{"M", 128}, {"N", 256}, {"K", k}});
    const Program program = test::program_of(from, {}, kAnySize);
    auto tensors = make_tensors(from.kernel, from.problem.params, 7);
    REQUIRE(tensors.ok());
    TensorMap expected = *tensors;
    REQUIRE(execute(from.kernel, from.problem.params, expected).ok());
    const auto fault = run_with_data(from.kernel, program, *tensors, {3, 1});
    REQUIRE(fault.ok());
    INFO("K = " << k << ": " << (*fault ? to_string(**fault) : ""));
    CHECK(!fault->has_value());
    CHECK(tensors->at("C").array.data == expected.at("C").array.data);
  }
}

TEST_CASE("what cannot be written for every size is refused with the reason", "[codegen]") {
  test::Lowering paged = test::lowering("attention_paged_hopper");
  std::erase_if(paged.kernel.params, [](const Param& param) { return param.name != "MOST" && param.name != "PAGE"; });
  const BuildResult none = build_program(paged.kernel, paged.problem, paged.schedule, {}, kAnySize);
  REQUIRE(none.refusals.size() == 1);
  CHECK(none.refusals[0].rule == "run_time_sizes");
  CHECK(none.refusals[0].sentence.find("MOST: where numbers of 'pages' lie depends on it") != std::string::npos);
  const test::Lowering packed = test::lowering("gemm_w4a16_prepacked_hopper");
  const EmitResult emitted = emit_cuda(packed.kernel, packed.problem, packed.schedule, test::program_of(packed, {}, kAnySize));
  REQUIRE(!emitted.refusals.empty());
  CHECK(emitted.refusals[0].rule == "run_time_sizes");
  const test::Lowering gemm = test::lowering("gemm_hopper");
  const EmitResult recorded = emit_cuda(gemm.kernel, gemm.problem, gemm.schedule, test::program_of(gemm, {}, kAnySize), Recording::Loop);
  REQUIRE(recorded.refusals.size() == 1);
  CHECK(recorded.refusals[0].rule == "run_time_sizes");
}

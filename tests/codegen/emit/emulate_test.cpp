// The generated text itself, run on the CPU: compiled as C++ over tests/codegen/emulator/gpu.h and compared with heddle eval.
// What this proves about a GPU is limited to what the emulator takes from the PTX ISA; what it finds are wrong addresses,
// coordinates, swizzles, fragments, byte counts and arrival counts.
#include <algorithm>

#include <catch2/catch.hpp>

#include "core/library/library.h"
#include "core/problem/resolve.h"
#include "tests/codegen/emulation.h"
#include "tests/codegen/emulator/descriptors.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::codegen;
using test::run_text;

TEST_CASE("the text of GEMM computes what heddle eval computes", "[codegen][.slow]") {
  // Bit for bit: the emulator adds in the order in which eval does.
  CHECK(run_text("gemm_hopper", {{"M", 256}, {"N", 512}, {"K", 320}}, 3) == 0);
  CHECK(run_text("gemm_hopper", {{"M", 200}, {"N", 264}, {"K", 72}}, 1) == 0);   // ragged: TMA fills and drops
  CHECK(run_text("gemm_hopper", {{"M", 4096}, {"N", 512}, {"K", 64}}, 2) == 0);  // tiles walked in groups
}

TEST_CASE("the text of mmas with some rows of a longer tile computes what heddle eval computes", "[codegen][.slow]") {
  // Every step loads the rows of the step before as well, and does not use them.
  test::Lowering twice = test::lowering("gemm_hopper", {{"M", 256}, {"N", 512}, {"K", 320}, {"TILE_N", 128}});
  for (TileValue& value : twice.kernel.values)
    if (value.name == "b") value.shape[0] = *Expr::parse("2 * TILE_K");
  for (TileOp& op : twice.kernel.body) {
    if (op.name == "load_b") op.at[0] = *Expr::parse("i * TILE_K - TILE_K");
    if (op.kind == "mma") op.attrs["row"] = std::int64_t{64};
  }
  const auto problem = resolve(twice.kernel, *load_machine(test::repository_path("assets/machines/h100.json")), twice.problem.params);
  REQUIRE(problem.ok());
  twice.problem = *problem;
  CHECK(run_text(twice, 3) == 0);
  for (TileOp& op : twice.kernel.body)
    if (op.kind == "mma") op.attrs["row"] = std::int64_t{0};
  CHECK(run_text(twice, 3) == 0);  // eval takes the other rows too
}

TEST_CASE("the text for clusters computes what heddle eval computes", "[codegen][.slow]") {
  const BuildOptions pairs{.cluster = 2};
  CHECK(run_text("gemm_hopper", {{"M", 512}, {"N", 512}, {"K", 320}}, 4, {}, pairs) == 0);
  CHECK(run_text("gemm_hopper", {{"M", 300}, {"N", 264}, {"K", 72}}, 2, {}, pairs) == 0);  // three rows of tiles: the last pair has one
  CHECK(run_text("gemm_hopper", {{"M", 4096}, {"N", 512}, {"K", 64}}, 4, {}, pairs) == 0);
  CHECK(run_text("attention_forward_hopper", {{"HEADS", 1}, {"Q_LEN", 256}, {"KV_LEN", 384}}, 2, {}, pairs) < 4e-3);
  const Scope small{{"M", 256}, {"N", 256}, {"K", 448}};
  CHECK(run_text("gemm_hopper", small, 2, {", arrive_at_after_products(smem + 221264 + s1 * 8, rank ^ 1)", ""}, pairs) > 0.1);
  CHECK(run_text("gemm_hopper", small, 2, {"g_bn1 * 256 + rank * 128", "g_bn1 * 256"}, pairs) > 0.1);
  // An address with the block's rank makes the second block read other columns of B, as on an H100.
  CHECK(run_text("gemm_hopper", small, 2, {"= smem & 0x3ffff", "= smem"}, pairs) > 0.1);
  CHECK(run_text("gemm_hopper", small, 2, {"(in_block + ", "(smem + "}, pairs) > 0.1);
  // Without it the second block's threads would reach for what is the first one's.
  CHECK(run_text("gemm_hopper", small, 2, {"= shared_address(shared)", "= shared_address(shared) & 0x3ffff"}, pairs) > 0.1);
}

TEST_CASE("every bit of a descriptor of wgmma moves an operand or is refused", "[codegen]") {
  for (const int span : {128, 64, 32}) {
    const std::uint64_t kind = span == 128 ? 1 : span == 64 ? 2 : 3, stride = static_cast<std::uint64_t>(8 * span);
    const std::uint64_t bits = 0x2400 >> 4 | std::uint64_t{16384 >> 4} << 16 | stride >> 4 << 32 | kind << 62;
    const emulator::SpanMatrix m = emulator::span_matrix_of(bits);
    CHECK((m.fault.empty() && m.start == 0x2400 && m.leading == 16384 && m.stride == stride && m.span == span));
    for (int bit = 0; bit < 62; ++bit) {
      INFO(span << " " << bit);
      const emulator::SpanMatrix changed = emulator::span_matrix_of(bits ^ 1ull << bit);
      const bool address = bit < 14, leading = bit >= 16 && bit < 30, distance = bit >= 32 && bit < 46;
      CHECK(changed.fault.empty() == (address || leading || (distance && (16u << (bit - 32)) % stride == 0)));
      if (!changed.fault.empty()) continue;
      bool moved = false;
      for (int row = 0; row < 128; ++row)
        for (int k = 0; k < 16; ++k)
          moved = moved || emulator::place_of(m, row, k, true, 2) != emulator::place_of(changed, row, k, true, 2);
      CHECK(moved);
    }
  }
}

TEST_CASE("the text of the dual GEMM computes what heddle eval computes", "[codegen][.slow]") {
  CHECK(run_text("swiglu_dual_gemm_hopper", {{"M", 128}, {"N", 256}, {"K", 192}}, 1) < 2e-3);
}

TEST_CASE("the text of attention forward computes what heddle eval computes", "[codegen][.slow]") {
  CHECK(run_text("attention_forward_hopper", {{"HEADS", 2}, {"Q_LEN", 256}, {"KV_LEN", 640}}, 3) < 4e-3);
  CHECK(run_text("attention_forward_hopper", {{"HEADS", 1}, {"Q_LEN", 128}, {"KV_LEN", 128}}, 1) < 4e-3);
}

TEST_CASE("the text of a wide key tile, whose result lies where the query was, computes what heddle eval computes", "[codegen][.slow]") {
  const test::Lowering from = test::lowering("attention_forward_hopper", {{"KV", 176}, {"HEADS", 1}, {"Q_LEN", 256}, {"KV_LEN", 704}},
                                             "kernels/schedules/attention_forward_hopper/fa3-kv176.json");
  CHECK(run_text(from, 1) < 4e-3);  // two tiles in a row
}

TEST_CASE("the text of causal attention computes what heddle eval computes", "[codegen][.slow]") {
  const std::string name = "attention_forward_causal_hopper";
  CHECK(run_text(name, {{"HEADS", 3}, {"Q_LEN", 384}, {"KV_LEN", 384}}, 2) < 4e-3);  // tiles of 2, 2 and 3 trips, two rounds
  CHECK(run_text(name, {{"HEADS", 1}, {"Q_LEN", 256}, {"KV_LEN", 640}}, 1) < 4e-3);
  CHECK(run_text(name, {{"HEADS", 1}, {"Q_LEN", 256}, {"KV_LEN", 256}}, 1, {"(e & 1) - (e >> 1 & 1) * 8 > own", "(e & 1) > own"}) > 0.02);
}

TEST_CASE("the text of causal attention in pairs of blocks computes what heddle eval computes", "[codegen][.slow]") {
  // Pairs run as often as the longer of them: 2 and 2, 3 and 4 (the last pair has one tile in bounds), two rounds for some.
  const std::string name = "attention_forward_causal_hopper";
  const BuildOptions pairs{.cluster = 2};
  CHECK(run_text(name, {{"HEADS", 3}, {"Q_LEN", 384}, {"KV_LEN", 384}}, 4, {}, pairs) < 4e-3);
  CHECK(run_text(name, {{"HEADS", 1}, {"Q_LEN", 512}, {"KV_LEN", 640}}, 2, {}, pairs) < 4e-3);
  CHECK(run_text(name, {{"HEADS", 1}, {"Q_LEN", 512}, {"KV_LEN", 512}}, 2, {"pair * 2 + rank", "pair * 2"}, pairs) > 0.02);
}

TEST_CASE("the text of results that are stored panel by panel computes what heddle eval computes", "[codegen][.slow]") {
  const std::string schedule = "kernels/schedules/gemm_hopper/cutlass-cooperative.json";
  const test::Lowering from = test::lowering("gemm_hopper", {{"M", 256}, {"N", 512}, {"K", 320}}, schedule);
  const Program program = test::program_of(from);
  CHECK(std::count_if(program.buffers.begin(), program.buffers.end(), [](const Buffer& b) { return b.name == "out0"; }) == 2);
  CHECK(run_text(from, 1) == 0);
  CHECK(run_text(from, 1, {"tma_store(&map2, smem + 204800, ", "tma_store(&map2, smem + 196608, "}) > 0.1);
}

TEST_CASE("the text of layer normalization computes what heddle eval computes", "[codegen][.slow]") {
  CHECK(run_text("layernorm", {{"ROWS", 203}, {"BLOCKS", 3}}, 3) < 2e-3);
}

TEST_CASE("the text of attention backward computes what heddle eval computes", "[codegen][.slow]") {
  const Scope sizes{{"HEADS", 1}, {"Q_LEN", 256}, {"KV_LEN", 256}};
  CHECK(run_text("attention_backward_hopper", sizes, 1) < 4e-3);
  CHECK(test::worst_ways(test::bank_counts()) == 1);
  CHECK(run_text("attention_backward_hopper", sizes, 1, {}, {.cuts = {0, 1, 1}}) < 4e-3);
  CHECK(run_text(test::lowering("attention_backward_hopper", sizes, "kernels/schedules/attention_backward_hopper/fa3-backward.json"), 1) <
        4e-3);
}

TEST_CASE("the text of causal attention backward computes what heddle eval computes", "[codegen][.slow]") {
  const std::string name = "attention_backward_causal_hopper";
  CHECK(run_text(name, {{"HEADS", 3}, {"Q_LEN", 384}, {"KV_LEN", 384}}, 2) < 4e-3);  // tiles of 6, 4 and 3 trips, two rounds
  CHECK(test::worst_ways(test::bank_counts()) == 1);
  CHECK(run_text(name, {{"HEADS", 1}, {"Q_LEN", 312}, {"KV_LEN", 500}}, 1) < 4e-3);  // ragged
  CHECK(run_text(name, {{"HEADS", 1}, {"Q_LEN", 64}, {"KV_LEN", 64}}, 1) < 4e-3);    // one trip
  CHECK(run_text(name, {{"HEADS", 1}, {"GROUP", 2}, {"Q_LEN", 192}, {"KV_LEN", 256}}, 1) < 4e-3);
  CHECK(run_text(name, {{"HEADS", 1}, {"Q_LEN", 256}, {"KV_LEN", 256}}, 1, {"(e >> 1 & 1) * 8 < own", "(e >> 1 & 1) * 8 <= own"}) > 0.02);
}

TEST_CASE("the text of causal attention backward with heads of 64 in groups computes what heddle eval computes", "[codegen][.slow]") {
  const std::map<std::string, std::string> options{{"mask", "causal"}, {"head_size", "64"}};
  const Scope sizes{{"HEADS", 1}, {"GROUP", 2}, {"Q_LEN", 200}, {"KV_LEN", 260}};
  CHECK(run_text(test::lowered_pattern("attention_backward_64", "attention_backward", options, sizes), 1) < 4e-3);
}

TEST_CASE("the text of mmas with vectors and matrices behind them computes what heddle eval computes", "[codegen][.slow]") {
  const auto gemm = [](const Scope& sizes) {
    return test::lowered_pattern(
        "gemm_epilogue", "gemm",
        {{"bias", "yes"}, {"activation", "gelu"}, {"row_scale", "yes"}, {"column_scale", "yes"}, {"residual", "yes"}}, sizes);
  };
  const Scope small{{"M", 256}, {"N", 512}, {"K", 192}}, ragged{{"M", 200}, {"N", 328}, {"K", 136}};
  CHECK(run_text(gemm(small), 2) < 1e-3);
  CHECK(run_text(gemm(ragged), 1) < 1e-3);  // rows and columns beyond the tensors are not read
  CHECK(run_text(gemm({{"M", 300}, {"N", 512}, {"K", 72}}), 2, {}, {.cluster = 2}) < 1e-3);
  for (const auto& wrong : {std::pair{"[e / 4 * 2 + (e & 1)]", "[e / 4 * 2]"}, {"lane / 4 + j % 2 * 8", "lane / 4"}})
    CHECK(run_text(gemm(small), 1, wrong) > 0.01);

  const std::map<std::string, std::string> options{{"bias", "yes"},  {"residual", "yes"}, {"row_scale", "yes"}, {"tile_m", "64"},
                                                   {"tile_n", "64"}, {"b", "NK"},         {"output", "f32"}};
  for (const Scope& sizes : {Scope{{"BATCH", 3}, {"M", 128}, {"N", 128}, {"K", 128}}, {{"BATCH", 2}, {"M", 72}, {"N", 104}, {"K", 72}}})
    CHECK(run_text(test::lowered_pattern("batched_gemm_epilogue", "batched_gemm", options, sizes), 2) < 1e-5);
}

TEST_CASE("the text of causal attention with grouped queries computes what heddle eval computes", "[codegen][.slow]") {
  const std::map<std::string, std::string> options{{"mask", "causal"}, {"group", "2"}, {"head_size", "64"}};
  const Scope sizes{{"HEADS", 2}, {"GROUP", 3}, {"Q_LEN", 384}, {"KV_LEN", 384}};
  CHECK(run_text(test::lowered_pattern("attention_grouped_causal", "attention", options, sizes), 2) < 4e-3);
}

TEST_CASE("a wrong address, coordinate, predicate or count in the text shows", "[codegen][.slow]") {
  const Scope gemm{{"M", 256}, {"N", 256}, {"K", 128}};  // two tiles for one block
  const BuildOptions least{.deep_rings = false};         // so that addresses are where they are named
  CHECK(run_text("gemm_hopper", gemm, 1, {}, least) < 1e-3);
  for (const auto& wrong : {std::pair{"^ (lane & 7)", ""},
                            {"behind(b, k * 2048", "behind(b, k * 1024"},
                            {"g_bn1 * 256 + 64", "g_bn1 * 256 + 128"},
                            {"k | (i != 0)", "1"},
                            {"arrive_expect(smem + 196608 + s0 * 8, 32768)", "arrive_expect(smem + 196608 + s0 * 8, 32640)"},
                            {"k % 4 * 32", "k % 4 * 16"}})
    CHECK(run_text("gemm_hopper", gemm, 1, wrong, least) > 0.1);
}

// The generated text for Blackwell, run on the CPU over tests/codegen/emulator/tensor_memory.h and compared with heddle eval: three times
// each, with copies and products that finish at once, copies that are late and products that are.
#include <catch2/catch.hpp>

#include "tests/codegen/emulation.h"

using namespace heddle;
using namespace heddle::codegen;
using test::run_text;

TEST_CASE("the text of GEMM on Blackwell computes what heddle eval computes", "[codegen][.slow]") {
  // Bit for bit: the emulator adds in the order in which eval does.
  CHECK(run_text("gemm_blackwell", {{"M", 256}, {"N", 512}, {"K", 320}}, 3) == 0);
  CHECK(run_text("gemm_blackwell", {{"M", 200}, {"N", 264}, {"K", 72}}, 1) == 0);   // ragged: TMA fills and drops
  CHECK(run_text("gemm_blackwell", {{"M", 384}, {"N", 512}, {"K", 192}}, 1) == 0);  // tiles one after the other: accumulators alternate
  CHECK(run_text("gemm_blackwell", {{"M", 256}, {"N", 512}, {"K", 64}}, 1) == 0);   // one trip
  CHECK(run_text(
            test::lowering("gemm_blackwell", {{"M", 256}, {"N", 512}, {"K", 320}}, "kernels/schedules/gemm_blackwell/cutlass-sm100.json"),
            1) == 0);
}

TEST_CASE("the text of GEMM on Blackwell in pairs of blocks computes what heddle eval computes", "[codegen][.slow]") {
  const BuildOptions pairs{.cluster = 2};
  CHECK(run_text("gemm_blackwell", {{"M", 512}, {"N", 512}, {"K", 320}}, 4, {}, pairs) == 0);
  CHECK(run_text("gemm_blackwell", {{"M", 300}, {"N", 264}, {"K", 72}}, 2, {}, pairs) == 0);  // three rows of tiles: the last pair has one
  CHECK(run_text("gemm_blackwell", {{"M", 512}, {"N", 512}, {"K", 192}}, 2, {}, pairs) == 0);
}

TEST_CASE("the text of attention forward on Blackwell computes what heddle eval computes", "[codegen][.slow]") {
  CHECK(run_text("attention_forward_blackwell", {{"HEADS", 2}, {"Q_LEN", 512}, {"KV_LEN", 640}}, 3) < 4e-3);
  CHECK(run_text("attention_forward_blackwell", {{"HEADS", 1}, {"Q_LEN", 512}, {"KV_LEN", 256}}, 1) < 4e-3);  // two tiles in a row
  CHECK(run_text("attention_forward_blackwell", {{"HEADS", 1}, {"Q_LEN", 256}, {"KV_LEN", 128}}, 1) < 4e-3);  // one trip
}

TEST_CASE("the texts of FlashAttention-4's hand schedules compute what heddle eval computes", "[codegen][.slow]") {
  const Scope sizes{{"HEADS", 1}, {"Q_LEN", 512}, {"KV_LEN", 384}};
  for (const char* name : {"attention_forward_blackwell/fa4-noemu-nosplit", "attention_forward_parts_blackwell/fa4-noemu",
                           "attention_forward_tile_blackwell/fa4-1q", "attention_forward_emulated_blackwell/fa4-nosplit"}) {
    INFO(name);
    const std::string path = name, kernel = path.substr(0, path.find('/'));
    CHECK(run_text(test::lowering(kernel, sizes, "kernels/schedules/" + path + ".json"), 1) < 4e-3);
  }
}

TEST_CASE("the text of the dual GEMM on Blackwell computes what heddle eval computes", "[codegen][.slow]") {
  const std::string name = "swiglu_dual_gemm_blackwell";
  CHECK(run_text(name, {{"M", 384}, {"N", 256}, {"K", 320}}, 1) < 2e-3);
  CHECK(run_text(name, {{"M", 200}, {"N", 264}, {"K", 72}}, 1) < 2e-3);
  CHECK(run_text(name, {{"M", 512}, {"N", 256}, {"K", 192}}, 2, {}, {.cluster = 2}) < 2e-3);
}

TEST_CASE("the text of causal attention on Blackwell computes what heddle eval computes", "[codegen][.slow]") {
  const std::string name = "attention_forward_causal_blackwell";
  CHECK(run_text(name, {{"HEADS", 3}, {"Q_LEN", 768}, {"KV_LEN", 768}}, 2) < 4e-3);  // tiles of 2, 4 and 6 trips, two rounds
  CHECK(run_text(name, {{"HEADS", 1}, {"Q_LEN", 512}, {"KV_LEN", 1280}}, 1) < 4e-3);
  CHECK(run_text(name, {{"HEADS", 1}, {"Q_LEN", 512}, {"KV_LEN", 512}}, 1, {"row + tid - column", "row + tid - column + 1"}) > 0.02);
}

TEST_CASE("the text of attention that rescales when it must computes what heddle eval computes", "[codegen][.slow]") {
  CHECK(run_text("attention_forward_conditional_blackwell", {{"HEADS", 1}, {"Q_LEN", 512}, {"KV_LEN", 384}}, 1) < 4e-3);
}

TEST_CASE("the text of attention backward on Blackwell computes what heddle eval computes", "[codegen][.slow]") {
  CHECK(run_text("attention_backward_blackwell", {{"HEADS", 1}, {"Q_LEN", 256}, {"KV_LEN", 256}}, 1) < 4e-3);
  CHECK(run_text("attention_backward_blackwell", {{"HEADS", 2}, {"Q_LEN", 320}, {"KV_LEN", 128}}, 2) < 4e-3);  // ragged queries
}

TEST_CASE("the text of causal attention backward on Blackwell computes what heddle eval computes", "[codegen][.slow]") {
  const std::string name = "attention_backward_causal_blackwell";
  CHECK(run_text(name, {{"HEADS", 3}, {"Q_LEN", 384}, {"KV_LEN", 384}}, 2) < 4e-3);  // tiles of 3 and 2 trips, two rounds
  CHECK(run_text(name, {{"HEADS", 1}, {"Q_LEN", 312}, {"KV_LEN", 500}}, 1) < 4e-3);  // ragged
  CHECK(run_text(name, {{"HEADS", 1}, {"Q_LEN", 128}, {"KV_LEN", 128}}, 1) < 4e-3);  // one trip
  CHECK(run_text(name, {{"HEADS", 1}, {"GROUP", 3}, {"Q_LEN", 192}, {"KV_LEN", 256}}, 1) < 4e-3);
  CHECK(run_text(name, {{"HEADS", 1}, {"Q_LEN", 256}, {"KV_LEN", 256}}, 1, {"row + tid - column", "row + tid - column + 1"}) > 0.02);
}

TEST_CASE("a wrong lane, column, descriptor, phase or count in the text of GEMM on Blackwell shows", "[codegen][.slow]") {
  const Scope sizes{{"M", 512}, {"N", 256}, {"K", 320}};  // four tiles for one block, more trips than slots
  const BuildOptions least{.deep_rings = false};          // so that addresses are where they are named
  CHECK(run_text("gemm_blackwell", sizes, 1, {}, least) == 0);
  for (const test::Wrong& wrong : {test::Wrong{"tensor + (warp << 21)", "tensor + (warp << 20)"},  // lanes
                                   {"tensor + (warp << 21)", "tensor"},                            // one warp's lanes for all
                                   {"own + 64 + s0 * 256", "own + 128 + s0 * 256"},                // columns
                                   {"own + 64 + s0 * 256", "own + 64"},                            // the other accumulator
                                   {"0x8410490u", "0x8400490u"},                                   // B along K
                                   {"0x8410490u", "0x8412490u"},                                   // A negated
                                   {"0x8410490u", "0x8210490u"},                                   // 128 columns
                                   {"s1 * 32768, 8192)", "s1 * 32768, 16)"},                       // distance of B's panels
                                   {"k % 4 * 32", "k % 4 * 16"},                                   // step along A's rows
                                   {"k | (i != 0)", "1"},                                          // adds to what lay there
                                   {"k | (i != 0)", "k"},                                          // forgets other trips
                                   {"wait(smem + 180296", "// wait(smem + 180296"},
                                   {"p1);  // full a", "p1 ^ 1);  // full a"},  // phases
                                   {"p0);  // full c", "p0 ^ 1);  // full c"},
                                   {"tensor_await_loads();", ""},                 // registers without their loads
                                   {"store_wait_read<1>", "store_wait_read<2>"},  // results over results
                                   {"tensor_free(tensor, 512);", ""},
                                   {"arrive(smem + 180336 + s0 * 8)", "arrive(smem + 180336)"}}) {
    INFO(wrong.first << " -> " << wrong.second);
    CHECK(run_text("gemm_blackwell", sizes, 1, wrong, least) > 0.02);
  }
}

TEST_CASE("a wrong half, barrier or signal in the text for pairs of blocks on Blackwell shows", "[codegen][.slow]") {
  const Scope sizes{{"M", 256}, {"N", 256}, {"K", 448}};
  const BuildOptions pairs{.cluster = 2};
  CHECK(run_text("gemm_blackwell", sizes, 2, {}, pairs) == 0);
  for (const test::Wrong& wrong : {test::Wrong{"+ rank * 128", ""},              // both load one half of B
                                   {"pair * 2 + rank", "pair * 2"},              // and the same rows of A
                                   {"0x10410490u", "0x8410490u"},                // a product of 128 rows
                                   {"tensor_signal_pair(", "tensor_signal("},    // only here
                                   {"arrive_expect_leader(", "arrive_expect("},  // at each block's own barrier
                                   {"tma_load_pair(smem + 0", "tma_load(smem + 0"},
                                   {"p1);  // full b", "p1 ^ 1);  // full b"},
                                   {"tensor_free_pair(", "tensor_free("}}) {
    INFO(wrong.first << " -> " << wrong.second);
    CHECK(run_text("gemm_blackwell", sizes, 2, wrong, pairs) > 0.02);
  }
}

TEST_CASE("a wrong column, wait or phase in the text of attention on Blackwell shows", "[codegen][.slow]") {
  const Scope sizes{{"HEADS", 1}, {"Q_LEN", 256}, {"KV_LEN", 384}};
  for (const test::Wrong& wrong : {test::Wrong{"a + k * 8", "a + k * 4"},  // columns of P
                                   {"const u32 a = tensor;", "const u32 a = tensor + 64;"},
                                   {"tensor_await_stores();", ""},                // P without its stores
                                   {"0x8210490u", "0x8200490u"},                  // V along K
                                   {"p2);  // full R0", "p2 ^ 1);  // full R0"},  // before O is rescaled
                                   {"p3 ^ 1);  // full O0", "p3);  // full O0"},  // before P V is over
                                   {"(own, v", "(own + 1, v"},
                                   {"taken1[r]);", "taken1[r]), taken1[0] = 1.0f;"}}) {  // O is not rescaled
    INFO(wrong.first << " -> " << wrong.second);
    CHECK(run_text("attention_forward_blackwell", sizes, 1, wrong) > 0.02);
  }
}

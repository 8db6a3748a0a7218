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

TEST_CASE("the text of attention backward on Blackwell computes what heddle eval computes", "[codegen][.slow]") {
  CHECK(run_text("attention_backward_blackwell", {{"HEADS", 1}, {"Q_LEN", 256}, {"KV_LEN", 256}}, 1) < 4e-3);
  CHECK(run_text("attention_backward_blackwell", {{"HEADS", 2}, {"Q_LEN", 320}, {"KV_LEN", 128}}, 2) < 4e-3);  // ragged queries
}

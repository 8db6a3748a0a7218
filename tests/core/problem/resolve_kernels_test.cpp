// Every shipped kernel on every machine that can run it: the load of each unit per iteration, against hand arithmetic.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <map>

#include "core/library/library.h"
#include "core/problem/resolve.h"
#include "tests/support/paths.h"

using namespace heddle;

namespace {

struct Row {
  const char *kernel, *machine;
  Scope params;
  std::size_t ops;
  std::map<std::string, std::int64_t> load;  ///< unit -> cycles per iteration (sum of duration * amount / capacity)
};

// Hopper, attention forward, two groups of 64 rows: TC 4 products of 8 k-steps of N/2 = 64; MUFU 2 * 64*128/16 plus 2 *
// 16 for alpha; FMA 2 * 3 * 64 plus 2 * 4; ALU 2 * (128 + 16 + 64); SMEM 2 * (8 * 48 + 8 * 32) for operands; TMA 64 KB
// at 64 bytes per cycle. Backward: 8 products of 256 and 4 of 128; SMEM 2 * (256 + 256 + 128 + 128 + 2 * 128) for
// operands, 2 * 64 for dS, 4 * 128 for dQ written and read again. Blackwell: products of 128 x 128 x 128 take 512;
// backward reads 4 * 512 + 256, writes dS 256 and dQ 512, reads dQ 512. With a tenth of the exponentials emulated: MUFU 2 * (922 + 8), and
// 2 * 64 more on FMA, 2 * 77 more on ALU. GEMM with a short K: 8 products of 64 x 128 x 64 take 256 and read 192; SMEM also 8 * 128 for C.
// Causal: a mask is 4 cycles of ALU. Dual GEMM on Blackwell: 2 products of 128 x 128 x 64 take 256 and read 256.
const std::vector<Row> kRows{
    {"gemm_hopper", "h100", {}, 5, {{"TC", 1024}, {"SMEM", 640}, {"TMA", 768}}},
    {"gemm_hopper", "h200", {{"TILE_N", 128}}, 5, {{"TC", 512}, {"SMEM", 384}, {"TMA", 512}}},
    {"attention_forward_hopper", "h100", {}, 20, {{"TC", 2048}, {"SMEM", 1280}, {"MUFU", 1056}, {"FMA", 392}, {"ALU", 416}, {"TMA", 1024}}},
    {"attention_forward_hopper", "h200", {}, 20, {{"TC", 2048}, {"SMEM", 1280}, {"MUFU", 1056}, {"FMA", 392}, {"ALU", 416}, {"TMA", 1024}}},
    {"attention_forward_hopper",
     "h100",
     {{"KV", 176}},
     20,
     {{"TC", 2816}, {"SMEM", 1664}, {"MUFU", 1440}, {"FMA", 488}, {"ALU", 560}, {"TMA", 1408}}},
    {"attention_forward_tile_hopper",
     "h100",
     {},
     11,
     {{"TC", 2048}, {"SMEM", 1280}, {"MUFU", 1056}, {"FMA", 388}, {"ALU", 400}, {"TMA", 1024}}},
    {"attention_backward_hopper", "h100", {}, 34, {{"TC", 2560}, {"SMEM", 2688}, {"MUFU", 512}, {"FMA", 192}, {"ALU", 256}, {"TMA", 632}}},
    {"attention_backward_causal_hopper",
     "h100",
     {},
     36,
     {{"TC", 2560}, {"SMEM", 2688}, {"MUFU", 512}, {"FMA", 192}, {"ALU", 264}, {"TMA", 632}}},
    {"swiglu_dual_gemm_hopper", "h100", {}, 8, {{"TC", 1024}, {"SMEM", 768}, {"TMA", 768}}},
    {"gemm_fp8_hopper", "h100", {}, 10, {{"TC", 512}, {"SMEM", 384}, {"FMA", 128}, {"TMA", 602}}},
    {"attention_forward_fp8_hopper",
     "h100",
     {},
     22,
     {{"TC", 1024}, {"SMEM", 896}, {"MUFU", 1056}, {"FMA", 400}, {"ALU", 544}, {"TMA", 512}}},
    {"attention_forward_fp8_turned_hopper",
     "h100",
     {},
     25,
     {{"TC", 1024}, {"SMEM", 1152}, {"MUFU", 1056}, {"FMA", 400}, {"ALU", 672}, {"TMA", 512}}},
    {"gemm_w4a16_hopper", "h100", {}, 13, {{"TC", 512}, {"SMEM", 512}, {"FMA", 64}, {"ALU", 288}, {"TMA", 444}}},
    {"gemm_w4a16_prepacked_hopper", "h100", {}, 13, {{"TC", 512}, {"SMEM", 320}, {"FMA", 64}, {"ALU", 288}, {"TMA", 444}}},
    {"gemm_short_k_hopper", "h100", {}, 24, {{"TC", 2048}, {"SMEM", 2560}, {"ALU", 256}, {"TMA", 1144}}},
    {"attention_forward_emulated_blackwell",
     "b200",
     {},
     28,
     {{"TC", 2048}, {"SMEM", 1536}, {"TMEM", 1168}, {"FMA", 904}, {"ALU", 922}, {"MUFU", 1860}, {"TMA", 384}}},
    {"layernorm", "h100", {}, 13, {{"SMEM", 384}, {"FMA", 384}, {"ALU", 128}, {"MUFU", 4}, {"TMA", 286}}},
    {"layernorm", "b200", {}, 13, {{"SMEM", 384}, {"FMA", 384}, {"ALU", 128}, {"MUFU", 4}, {"TMA", 126}}},
    {"gemm_blackwell", "b200", {}, 3, {{"TC", 512}, {"SMEM", 384}, {"TMA", 288}}},
    {"attention_forward_blackwell",
     "b200",
     {},
     28,
     {{"TC", 2048}, {"SMEM", 1536}, {"TMEM", 1168}, {"MUFU", 2064}, {"FMA", 776}, {"ALU", 768}, {"TMA", 384}}},
    {"attention_forward_causal_blackwell",
     "b200",
     {},
     30,
     {{"TC", 2048}, {"SMEM", 1536}, {"TMEM", 1168}, {"MUFU", 2064}, {"FMA", 776}, {"ALU", 776}, {"TMA", 384}}},
    {"swiglu_dual_gemm_blackwell", "b200", {}, 5, {{"TC", 512}, {"SMEM", 512}, {"TMA", 288}}},
    {"attention_forward_parts_blackwell",
     "b200",
     {},
     44,
     {{"TC", 2048}, {"SMEM", 1536}, {"TMEM", 1168}, {"MUFU", 2064}, {"FMA", 776}, {"ALU", 512}, {"TMA", 384}}},
    {"attention_forward_tile_blackwell",
     "b200",
     {},
     15,
     {{"TC", 1024}, {"SMEM", 768}, {"TMEM", 584}, {"MUFU", 1032}, {"FMA", 388}, {"ALU", 384}, {"TMA", 384}}},
    {"attention_backward_blackwell",
     "b200",
     {},
     31,
     {{"TC", 2560}, {"SMEM", 3584}, {"TMEM", 792}, {"MUFU", 1024}, {"FMA", 384}, {"ALU", 256}, {"TMA", 564}}},
    {"attention_backward_causal_blackwell",
     "b200",
     {},
     32,
     {{"TC", 2560}, {"SMEM", 3584}, {"TMEM", 792}, {"MUFU", 1024}, {"FMA", 384}, {"ALU", 260}, {"TMA", 564}}},
};

}  // namespace

TEST_CASE("shipped kernels load the units as computed by hand", "[core]") {
  for (const Row& row : kRows) {
    INFO(row.kernel << " on " << row.machine);
    const auto kernel = load_kernel(test::repository_path(fmt::format("kernels/{}.json", row.kernel)));
    const auto machine = load_machine(test::repository_path(fmt::format("assets/machines/{}.json", row.machine)));
    REQUIRE(kernel);
    REQUIRE(machine);
    const Result<Problem> p = resolve(*kernel, *machine, row.params);
    INFO((p ? "" : to_string(p.error())));
    REQUIRE(p);
    CHECK(p->ops.size() == row.ops);
    std::map<std::string, std::int64_t> load;
    for (const Op& op : p->ops)
      for (const UnitUse& use : op.uses) load[p->unit(use.unit).name] += use.duration * use.amount;
    for (auto& [unit, amount] : load) amount = (amount + machine->find_unit(unit)->capacity - 1) / machine->find_unit(unit)->capacity;
    CHECK(load == row.load);
  }
}

TEST_CASE("every shipped kernel resolves on a machine of each generation it is written for, whatever it lets a tuner choose", "[core]") {
  for (const LibraryEntry& entry : list_library(Shelf::Kernels)) {
    const auto kernel = load_kernel(entry.path);
    INFO(entry.name);
    REQUIRE(kernel);
    const bool hopper = entry.name.ends_with("hopper"), blackwell = entry.name.ends_with("blackwell");
    std::vector<std::string> machines{"h100", "h200", "b200"};
    if (hopper) machines = {"h100", "h200"};
    if (blackwell) machines = {"b200"};
    if (entry.name.starts_with("toy")) machines = {"toy"};
    if (entry.name.ends_with("_dae")) machines = {"dae-tmu"};
    for (const std::string& name : machines) {
      const auto machine = load_machine(test::repository_path("assets/machines/" + name + ".json"));
      REQUIRE(machine);
      for (const Param& param : kernel->params)
        for (const std::int64_t choice : param.choices) {
          const Result<Problem> p = resolve(*kernel, *machine, {{param.name, choice}});
          INFO(name << " " << param.name << "=" << choice << " " << (p ? "" : to_string(p.error())));
          CHECK(p);
        }
      const Result<Problem> p = resolve(*kernel, *machine);
      INFO((p ? "" : to_string(p.error())));
      CHECK(p);
    }
  }
}

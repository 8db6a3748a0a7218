// Shipped kernels fit the machines that they are written for.
#include <catch2/catch.hpp>

#include <algorithm>

#include "core/library/library.h"
#include "core/problem/resolve.h"

using namespace heddle;

namespace {

struct Pair {
  const char *kernel, *machine;
  Scope params;
};

const std::vector<Pair> kPairs{{"gemm_hopper", "h100", {}},
                               {"gemm_blackwell", "b200", {}},
                               {"attention_forward_hopper", "h100", {}},
                               {"attention_forward_hopper", "h200", {{"KV", 176}}},
                               {"attention_forward_causal_hopper", "h100", {}},
                               {"attention_forward_blackwell", "b200", {}},
                               {"attention_forward_tile_hopper", "h100", {}},
                               {"attention_forward_tile_blackwell", "b200", {}},
                               {"attention_backward_hopper", "h100", {}},
                               {"attention_backward_blackwell", "b200", {}},
                               {"attention_backward_causal_hopper", "h100", {}},
                               {"attention_backward_causal_blackwell", "b200", {}},
                               {"swiglu_dual_gemm_hopper", "h200", {}},
                               {"gemm_short_k_hopper", "h100", {}},
                               {"gemm_fp8_hopper", "h100", {}},
                               {"attention_forward_fp8_hopper", "h100", {}},
                               {"attention_forward_fp8_turned_hopper", "h100", {}},
                               {"gemm_w4a16_hopper", "h100", {}},
                               {"gemm_w4a16_prepacked_hopper", "h100", {}},
                               {"attention_forward_emulated_blackwell", "b200", {}},
                               {"attention_forward_parts_blackwell", "b200", {}},
                               {"attention_forward_causal_blackwell", "b200", {}},
                               {"swiglu_dual_gemm_blackwell", "b200", {}},
                               {"attention_forward_conditional_blackwell", "b200", {}},
                               {"embedding_bag_hopper", "h100", {}},
                               {"gemm_gather_hopper", "h200", {}},
                               {"embedding_bag_element_dae", "dae-tmu", {}},
                               {"embedding_bag_vector_dae", "dae-tmu", {}},
                               {"embedding_bag_row_dae", "dae-tmu", {}},
                               {"embedding_bag_counted_dae", "dae-tmu", {{"DIM", 128}}},
                               {"attention_forward_varlen_hopper", "h100", {{"LSE", 1}}},
                               {"attention_forward_causal_varlen_hopper", "h100", {}},
                               {"attention_backward_varlen_hopper", "h100", {}},
                               {"attention_backward_causal_varlen_hopper", "h200", {}},
                               {"attention_forward_varlen_blackwell", "b200", {}},
                               {"attention_forward_causal_varlen_blackwell", "b200", {{"LSE", 1}}},
                               {"attention_backward_varlen_blackwell", "b200", {}},
                               {"attention_backward_causal_varlen_blackwell", "b200", {}},
                               {"attention_delta_varlen", "h100", {}},
                               {"attention_forward_hopper", "h100", {{"LSE", 1}}},
                               {"attention_delta", "h100", {}},
                               {"attention_delta", "b200", {}},
                               {"attention_round_dq", "h100", {{"D", 192}}},
                               {"attention_round_dq", "b200", {{"D", 64}}},
                               {"layernorm", "h100", {}},
                               {"layernorm", "b200", {}}};

Problem resolved(const Pair& pair) {
  const auto kernel = load_kernel(pair.kernel);
  const auto machine = load_machine(pair.machine);
  REQUIRE(kernel.ok());
  REQUIRE(machine.ok());
  const auto problem = resolve(*kernel, *machine, pair.params);
  INFO(pair.kernel << " on " << pair.machine << (problem.ok() ? std::string() : ": " + to_string(problem.error())));
  REQUIRE(problem.ok());
  return *problem;
}

}  // namespace

TEST_CASE("shipped kernels fit shared and tensor memory with every ring one deep, and one more slot for a load", "[core]") {
  for (const Pair& pair : kPairs) {
    const Problem p = resolved(pair);
    INFO(pair.kernel << " on " << pair.machine);
    std::int64_t bytes = p.resident_smem, columns = p.resident_columns, largest_load = 0;
    for (const Channel& channel : p.channels) {
      if (channel.only_if_crossing) continue;
      (channel.space == Space::Smem ? bytes : columns) += channel.size;
      if (p.op(channel.writer).variable_latency) largest_load = std::max(largest_load, channel.size);
    }
    CHECK(bytes + largest_load <= p.limits.smem_bytes);
    CHECK(columns <= p.limits.tmem_columns);
  }
}

TEST_CASE("shipped GEMM and attention forward have room for two stages of every load", "[core]") {
  for (const Pair& pair : kPairs) {
    if (std::string_view(pair.kernel).find("backward") != std::string_view::npos) continue;
    const Problem p = resolved(pair);
    INFO(pair.kernel << " on " << pair.machine);
    std::int64_t bytes = p.resident_smem;
    for (const Channel& channel : p.channels)
      if (!channel.only_if_crossing && channel.space == Space::Smem)
        bytes += channel.size * (p.op(channel.writer).variable_latency ? 2 : 1);
    CHECK(bytes <= p.limits.smem_bytes);
  }
}

TEST_CASE("no op of a shipped kernel needs more registers than a thread has", "[core]") {
  for (const Pair& pair : kPairs) {
    const Problem p = resolved(pair);
    for (std::size_t o = 0; o < p.ops.size(); ++o) {
      std::int64_t most = 0;
      for (const Value& value : p.values)
        if (value.producer.index() == o) most += value.registers;
      INFO(pair.kernel << " on " << pair.machine << ": " << p.ops[o].name);
      CHECK(most + p.resident_registers + p.limits.register_overhead <= p.limits.registers_per_thread);
    }
  }
}

#include "tests/codegen/ptx_kernel.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "codegen/compile/compile.h"
#include "codegen/run/ptx_launch.h"
#include "core/base/atomic_file.h"

namespace heddle::test {
namespace {

namespace fs = std::filesystem;

const Scope kGemm{{"M", 384}, {"N", 256}, {"K", 1088}}, kGemmPairs{{"M", 768}, {"N", 256}, {"K", 1088}};
const Scope kAttention{{"HEADS", 1}, {"Q_LEN", 384}, {"KV_LEN", 1152}}, kAttentionPairs{{"HEADS", 1}, {"Q_LEN", 768}, {"KV_LEN", 1152}};
const Scope kBackward{{"HEADS", 1}, {"Q_LEN", 448}, {"KV_LEN", 384}}, kBackwardPairs{{"HEADS", 1}, {"Q_LEN", 448}, {"KV_LEN", 768}};
/// Of Blackwell, whose tiles have 256 queries, and 128 in the backward pass.
const Scope kAttention2{{"HEADS", 1}, {"Q_LEN", 768}, {"KV_LEN", 1152}}, kBackward2{{"HEADS", 1}, {"Q_LEN", 896}, {"KV_LEN", 384}};
const Scope kVarlen{{"SEQUENCES", 3}, {"HEADS", 1}, {"MAX_Q", 384}, {"MAX_KV", 640}, {"TOTAL_Q", 700}, {"TOTAL_KV", 1300}};
/// 17 trips of 128 instead of 64.
const Scope kFew{{"N_OUT", 384}, {"TOKENS", 64}, {"K", 2176}}, kFewPairs{{"N_OUT", 768}, {"TOKENS", 64}, {"K", 2176}};

constexpr codegen::BuildOptions kPairs{.cluster = 2};

std::string compiled(const std::string& source, const std::string& arch) {
  const fs::path folder = fs::temp_directory_path() / fmt::format("heddle_ptx_{}", ::getpid());
  fs::create_directories(folder);
  const std::string from = (folder / "kernel.cu").string(), to = (folder / "kernel.ptx").string();
  REQUIRE(write_file(from, source).ok());
  const std::string command =
      fmt::format("PATH=\"$PATH:/usr/local/cuda/bin\" \"${{HEDDLE_NVCC:-nvcc}}\" -std=c++17 -O3 -arch={} -w -lineinfo -ptx -o '{}' '{}'",
                  arch, to, from);
  REQUIRE(std::system(command.c_str()) == 0);
  auto text = read_file(to);
  REQUIRE(text.ok());
  fs::remove_all(folder);
  return *std::move(text);
}

}  // namespace

std::string to_string(const SmallKernel& kernel) {
  std::string schedule = kernel.schedule.substr(kernel.schedule.rfind('/') + 1);
  return kernel.name + (schedule.empty() ? "" : " by " + schedule) + (kernel.options.cluster > 1 ? " in pairs" : "");
}

std::vector<SmallKernel> small_kernels() {
  const auto hand = [](const std::string& file) { return "kernels/schedules/" + file + ".json"; };
  const Scope wide{{"KV", 176}, {"HEADS", 1}, {"Q_LEN", 384}, {"KV_LEN", 1056}};
  std::vector<SmallKernel> all{
      {"gemm_hopper", kGemm},
      {"gemm_hopper", kGemmPairs, "", kPairs},
      {"gemm_hopper", kGemm, hand("gemm_hopper/cutlass-cooperative")},
      {"gemm_pointers_hopper", {{"M", 200}, {"N", 136}, {"K", 328}}},
      {"swiglu_dual_gemm_hopper", {{"M", 384}, {"N", 128}, {"K", 1088}}},
      {"swiglu_dual_gemm_hopper", {{"M", 768}, {"N", 128}, {"K", 1088}}, "", kPairs},
      {"gemm_fp8_hopper", {{"M", 384}, {"N", 128}, {"K", 3584}}},
      {"gemm_fp8_hopper", {{"M", 768}, {"N", 128}, {"K", 3584}}, "", kPairs},
      {"gemm_w4a16_hopper", kFew},
      {"gemm_w4a16_hopper", kFewPairs, "", kPairs},
      {"gemm_w4a16_prepacked_hopper", kFew},
      {"gemm_w4a16_prepacked_hopper", kFewPairs, "", kPairs},
      {"gemm_grouped_hopper", {{"EXPERTS", 3}, {"TILES", 1}, {"N", 256}, {"K", 704}}},
      {"gemm_gather_hopper", {{"BLOCKS", 3}, {"M", 500}, {"N", 256}, {"K", 704}}},
      {"gemm_gather_hopper", {{"BLOCKS", 6}, {"M", 500}, {"N", 256}, {"K", 704}}, "", kPairs},
      {"spmm_bsr_hopper", {{"ROWS", 4}, {"COLUMNS", 12}, {"BLOCKS", 4}, {"N", 264}}},
      {"embedding_bag_hopper", {{"BAGS", 20}, {"ROWS", 50}, {"EACH", 9}}},
      {"layernorm", {{"ROWS", 203}, {"BLOCKS", 3}}},
      {"attention_delta", {{"ROWS", 1100}, {"BLOCKS", 3}}},
      {"attention_delta_varlen", {{"SEQUENCES", 3}, {"HEADS", 1}, {"MAX_Q", 384}, {"TOTAL_Q", 700}}},
      {"attention_round_dq", {{"ROWS", 1100}, {"BLOCKS", 3}}},
      {"attention_forward_hopper", kAttention},
      {"attention_forward_hopper", kAttentionPairs, "", kPairs},
      {"attention_forward_hopper", wide, hand("attention_forward_hopper/fa3-kv176")},
      {"attention_forward_hopper", wide, hand("attention_forward_hopper/fa3-pingpong-kv176")},
      {"attention_forward_causal_hopper", kAttention},
      {"attention_forward_causal_hopper", kAttentionPairs, "", kPairs},
      {"attention_forward_fp8_hopper", kAttention},
      {"attention_forward_fp8_hopper", kAttentionPairs, "", kPairs},
      {"attention_forward_fp8_turned_hopper", kAttention},
      {"attention_forward_fp8_turned_hopper", kAttentionPairs, "", kPairs},
      {"attention_forward_varlen_hopper", kVarlen},
      {"attention_forward_causal_varlen_hopper", kVarlen},
      {"attention_block_sparse_hopper", {{"HEADS", 1}, {"Q_LEN", 384}, {"KV_LEN", 1152}}},
      {"attention_paged_hopper", {{"SEQS", 3}, {"HEADS", 1}, {"PAGES", 20}, {"MOST", 7}}},
      {"attention_backward_hopper", kBackward},
      {"attention_backward_hopper", kBackward, "kernels/schedules/attention_backward_hopper/fa3-backward.json"},
      {"attention_backward_hopper", kBackwardPairs, "", kPairs},
      {"attention_backward_causal_hopper", {{"HEADS", 1}, {"Q_LEN", 320}, {"KV_LEN", 384}}},
      {"attention_backward_causal_hopper", kBackwardPairs, "", kPairs},
      {"attention_backward_varlen_hopper", kVarlen},
      {"attention_backward_causal_varlen_hopper", kVarlen},
      {"gemm_blackwell", kGemm},
      {"gemm_blackwell", kGemmPairs, "", kPairs},
      {"gemm_blackwell", kGemm, hand("gemm_blackwell/cutlass-sm100")},
      {"swiglu_dual_gemm_blackwell", {{"M", 384}, {"N", 128}, {"K", 1088}}},
      {"swiglu_dual_gemm_blackwell", {{"M", 768}, {"N", 128}, {"K", 1088}}, "", kPairs},
      {"attention_forward_blackwell", kAttention2},
      {"attention_forward_blackwell", kAttention2, hand("attention_forward_blackwell/fa4-noemu-nosplit")},
      {"attention_forward_causal_blackwell", kAttention2},
      {"attention_forward_causal_blackwell", kAttention2, hand("attention_forward_causal_blackwell/fa4-noemu-nosplit")},
      {"attention_forward_conditional_blackwell", kAttention2},
      {"attention_forward_emulated_blackwell", kAttention2, hand("attention_forward_emulated_blackwell/fa4-nosplit")},
      {"attention_forward_parts_blackwell", kAttention2, hand("attention_forward_parts_blackwell/fa4-noemu")},
      {"attention_forward_tile_blackwell", kAttention, hand("attention_forward_tile_blackwell/fa4-1q")},
      {"attention_forward_varlen_blackwell", kVarlen},
      {"attention_forward_causal_varlen_blackwell", kVarlen},
      {"attention_backward_blackwell", kBackward2},
      {"attention_backward_causal_blackwell", {{"HEADS", 1}, {"Q_LEN", 320}, {"KV_LEN", 384}}},
      {"attention_backward_varlen_blackwell", kVarlen},
      {"attention_backward_causal_varlen_blackwell", kVarlen},
  };
  return all;
}

Lowering lowering_of(const SmallKernel& kernel) {
  return kernel.schedule.empty() ? lowering(kernel.name, kernel.sizes) : lowering(kernel.name, kernel.sizes, kernel.schedule);
}

std::optional<PtxKernel> ptx_kernel(const Lowering& from, const codegen::Program& program) {
  if (const auto found = codegen::find_compiler(codegen::Compiler::Nvcc); !found.ok()) {
    static const bool said = [&] {
      std::cout << "left out: " << found.error().faults.front().message << "\n";
      return true;
    }();
    static_cast<void>(said);
    return std::nullopt;
  }
  codegen::EmitResult emitted = codegen::emit_cuda(from.kernel, from.problem, from.schedule, program);
  for (const codegen::Refusal& refusal : emitted.refusals) UNSCOPED_INFO(refusal.rule << ": " << refusal.sentence);
  REQUIRE(emitted.emission.has_value());
  auto launch = codegen::ptx_launch(from.kernel, program.params, *emitted.emission, program.cluster);
  if (!launch.ok()) FAIL(to_string(launch.error()));
  std::string text = compiled(emitted.emission->source, program.arch);
  return PtxKernel{from, program, *std::move(emitted.emission), *std::move(launch), std::move(text)};
}

}  // namespace heddle::test

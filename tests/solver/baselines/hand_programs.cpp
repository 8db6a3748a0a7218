// The programs, kernel by kernel, and how one becomes a schedule.
#include "tests/solver/baselines/hand_programs.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <sstream>

#include "core/analysis/turns.h"
#include "core/library/library.h"
#include "core/problem/resolve.h"
#include "core/timing/program.h"
#include "tests/support/paths.h"

namespace heddle::test {
namespace {

const std::string kFa3 =
    "FlashAttention-3 (Dao-AILab/flash-attention, hopper/mainloop_fwd_sm90_tma_gmma_ws.hpp): one producer warp, two "
    "consumer "
    "groups of 64 rows, K and V in rings of 2 slots. ";
const std::string kFa3Simplified =
    " Simplified: no mask; starts are the earliest of this order; a score tile is one op, so the conversion of P is "
    "not split.";

std::vector<HandProgram> fa3() {
  const std::string kFile = "attention_forward_hopper";
  const std::vector<std::string> overlap{"load_k load_v@1", "QK0 PV0@1 max0 alpha0 sub0 exp0 sum0 rescale0 cvt0",
                                         "QK1 PV1@1 max1 alpha1 sub1 exp1 sum1 rescale1 cvt1"};
  const std::vector<std::string> plain{"load_k load_v", "PV0@1 QK0 max0 alpha0 sub0 exp0 sum0 rescale0 cvt0",
                                       "PV1@1 QK1 max1 alpha1 sub1 exp1 sum1 rescale1 cvt1"};
  const std::string kOverlap =
      "Overlap inside a group: QK of one iteration and PV of the one before are issued together, and the softmax runs "
      "beside PV. ";
  const std::string kNoOverlap = "No overlap inside a group: QK, softmax, PV. ";
  const std::string kPingPong = "Ping-pong: named barriers let one group issue its two mmas while the other computes its softmax.";
  const std::string kFree = "No barriers between the groups: whoever comes first has the tensor cores.";
  std::vector<HandProgram> list;
  for (const std::int64_t kv : {128, 176}) {
    const std::string suffix = kv == 128 ? "" : "-kv176";
    const Scope params{{"KV", kv}};
    const std::vector<std::pair<std::string, int>> depths{{"k", 2}, {"v", 2}};
    list.push_back({kFile,
                    "fa3" + suffix,
                    "FA3, overlap and ping-pong",
                    "h100",
                    params,
                    overlap,
                    depths,
                    {"QK0 PV0 QK1 PV1"},
                    kFa3 + kOverlap + kPingPong + kFa3Simplified,
                    {}});
    list.push_back({kFile,
                    "fa3-overlap" + suffix,
                    "FA3, overlap only",
                    "h100",
                    params,
                    overlap,
                    depths,
                    {},
                    kFa3 + kOverlap + kFree + kFa3Simplified,
                    {}});
    list.push_back({kFile,
                    "fa3-pingpong" + suffix,
                    "FA3, ping-pong only",
                    "h100",
                    params,
                    plain,
                    depths,
                    {"PV0 QK0 PV1 QK1"},
                    kFa3 + kNoOverlap + kPingPong + kFa3Simplified,
                    {}});
    list.push_back({kFile,
                    "fa3-neither" + suffix,
                    "FA3, neither overlap nor ping-pong",
                    "h100",
                    params,
                    plain,
                    depths,
                    {},
                    kFa3 + kNoOverlap + kFree + kFa3Simplified,
                    {}});
  }
  list.push_back(
      {"attention_forward_unspecialized_hopper",
       "fa3-unspecialized",
       "FA3, overlap, no producer group",
       "h100",
       {},
       {"load_k load_v@1 QK0@1 PV0@2 max0@1 alpha0@1 sub0@1 exp0@1 sum0@1 rescale0@1 cvt0@1",
        "QK1@1 PV1@2 max1@1 alpha1@1 sub1@1 exp1@1 sum1@1 rescale1@1 cvt1@1"},
       {{"k", 2}, {"v", 2}},
       {},
       "FlashAttention-3 without warp specialization, the third row of its ablation (arXiv 2407.08608, Table 2): two groups of 64 rows, "
       "K and V in rings of 2 slots; the first group issues the loads of the next iteration before it computes. Where the loads stand "
       "is not published. " +
           kOverlap + kFree + kFa3Simplified,
       {}});
  return list;
}

const std::string kFa4 =
    "FlashAttention-4 (Dao-AILab/flash-attention, flash_attn/cute/flash_fwd_sm100.py): one warp each for loads and "
    "mmas, one "
    "softmax group per query tile, one correction group for both. ";

std::vector<HandProgram> fa4() {
  const std::vector<std::pair<std::string, int>> depths{{"k", 2}, {"v", 2}};
  const std::string simplified =
      "Simplified: P is signalled once it is whole, because the graph has one op for it; O is rescaled in every "
      "iteration; K and V have rings of "
      "their own; softmax steps follow each other tile by tile instead of fragment by fragment. ";
  const auto parts = [](const std::string& t) {
    return "read_s" + t + "a read_s" + t + "b max" + t + "a max" + t + "b alpha" + t + " sub" + t + "a exp" + t + "a sum" + t + "a cvt" +
           t + "a write_p" + t + "a sub" + t + "b exp" + t + "b cvt" + t + "b write_p" + t + "b sum" + t + "b";
  };
  const std::string mma = "PV0@1 QK0 PV1@1 QK1", correction = "read_o0 rescale0 write_o0 read_o1 rescale1 write_o1";
  return {
      {"attention_forward_emulated_blackwell",
       "fa4-nosplit",
       "FA4, P in one piece",
       "b200",
       {},
       {"load_k load_v@1", mma, "read_s0 max0 alpha0 sub0 exp0 sum0 cvt0 write_p0", "read_s1 max1 alpha1 sub1 exp1 sum1 cvt1 write_p1",
        correction},
       depths,
       {},
       kFa4 + "A tenth of the exponentials avoids MUFU. " + simplified +
           "The row sum is taken before P is written; the source does it afterwards.",
       {}},
      {"attention_forward_blackwell",
       "fa4-noemu-nosplit",
       "FA4, exponentials on MUFU only, P in one piece",
       "b200",
       {},
       {"load_k load_v@1", mma, "read_s0 max0 alpha0 sub0 exp0 sum0 cvt0 write_p0", "read_s1 max1 alpha1 sub1 exp1 sum1 cvt1 write_p1",
        correction},
       depths,
       {},
       kFa4 + "All exponentials run on MUFU. " + simplified +
           "The row sum is taken before P is written; the source does it afterwards, see fa4-noemu-nosplit-late-sum.",
       {}},
      {"attention_forward_causal_blackwell",
       "fa4-noemu-nosplit",
       "FA4, causal, exponentials on MUFU only, P in one piece",
       "b200",
       {},
       {"load_k load_v@1", mma, "read_s0 mask0 max0 alpha0 sub0 exp0 sum0 cvt0 write_p0",
        "read_s1 mask1 max1 alpha1 sub1 exp1 sum1 cvt1 write_p1", correction},
       depths,
       {},
       kFa4 + "All exponentials run on MUFU. Blocks of keys are masked in the groups of softmax. " + simplified +
           "The row sum is taken before P is written; the source does it afterwards. A tile of queries takes the keys from the first "
           "block on; the source begins at the diagonal.",
       {}},
      {"attention_forward_blackwell",
       "fa4-noemu-nosplit-late-sum",
       "FA4 as above, row sum after P",
       "b200",
       {},
       {"load_k load_v@1", mma, "read_s0 max0 alpha0 sub0 exp0 cvt0 write_p0 sum0", "read_s1 max1 alpha1 sub1 exp1 cvt1 write_p1 sum1",
        correction},
       depths,
       {},
       kFa4 + "All exponentials run on MUFU. " + simplified +
           "The row sum is taken after P is written, as in the source. Breaks the register limit: whole tiles of "
           "exponentials (128 registers) and of P (64) "
           "are alive together in both softmax groups, where the source holds a fragment of P at a time.",
       {"registers"}},
      {"attention_forward_parts_blackwell",
       "fa4-noemu",
       "FA4, exponentials on MUFU only",
       "b200",
       {},
       {"load_k load_v@1", "PV0a@1 PV0b@1 QK0 PV1a@1 PV1b@1 QK1", parts("0"), parts("1"), correction},
       depths,
       {},
       kFa4 +
           "All exponentials run on MUFU; P is signalled after three quarters and at its end (split_P_arrive). Simplified: O is rescaled "
           "in every iteration; K and V have rings of their own; inside a part softmax steps follow each other tile by tile instead of "
           "fragment by fragment; the row sum of the first part is taken before P is written, because whole tiles of exponentials and of P "
           "together would need too many registers.",
       {}},
      {"attention_forward_tile_blackwell",
       "fa4-1q",
       "FA4 with one query tile",
       "b200",
       {},
       {"load_k load_v@1", "QK PV@1", "read_s max alpha sub exp sum cvt write_p", "read_o rescale write_o"},
       {{"k", 2}, {"v", 2}, {"S", 2}},
       {},
       kFa4 +
           "With one query tile (q_stage 1) tensor memory has room for two score tiles, so that the next QK runs "
           "beside the softmax. " +
           simplified,
       {}},
  };
}

std::vector<HandProgram> gemm() {
  const std::vector<std::pair<std::string, int>> two{{"b00", 2}, {"b01", 2}, {"b10", 2}, {"b11", 2}};
  const std::string loads = "load_b00 load_b01 load_b10 load_b11",
                    short_k =
                        "Simplified: the loop of gemm_short_k_hopper, which holds the epilogue; A stays in shared memory; each step "
                        "of K has a ring of its own. ";
  // The products of one tile's half, and its epilogue.
  const auto products = [](const std::string& half) { return "MMA" + half + "0 MMA" + half + "1 "; };
  const auto epilogue = [](const std::string& half) { return "narrow" + half + " stage" + half + " store" + half + " "; };
  return {
      {"gemm_hopper",
       "cutlass-cooperative",
       "CUTLASS cooperative GEMM",
       "h100",
       {},
       {"load_a0 load_b load_a1", "MMA0", "MMA1"},
       {{"a0", 4}, {"a1", 4}, {"b", 4}},
       {},
       "CUTLASS (NVIDIA/cutlass, gemm/kernel/sm90_gemm_tma_warpspecialized_cooperative.hpp): a producer warp and two "
       "consumer groups that halve a tile, as many "
       "stages as shared memory holds beside the epilogue. Simplified: the loop over k only, so the epilogue and the "
       "next tile's prefetch are not seen "
       "(gemm_short_k_hopper shows them); each half of A has a barrier of its own.",
       {}},
      {"gemm_unspecialized_hopper",
       "one-stage",
       "GEMM in one stream, loads and mmas one after the other",
       "h100",
       {},
       {"load_a load_b MMA"},
       {},
       {},
       "fast.cu, kernel 3 (pranjalssh/fast.cu): one warp group loads a tile of A and B, waits, multiplies, waits. One slot for each.",
       {}},
      {"gemm_short_k_hopper",
       "cutlass-cooperative",
       "CUTLASS cooperative GEMM, epilogue included",
       "h100",
       {},
       {loads, products("00") + epilogue("00") + products("10") + epilogue("10"),
        products("01") + epilogue("01") + products("11") + epilogue("11")},
       two,
       {"MMA000 MMA010 MMA001 MMA011 MMA100 MMA110 MMA101 MMA111"},
       "CUTLASS (NVIDIA/cutlass, gemm/kernel/sm90_gemm_tma_warpspecialized_cooperative.hpp): both consumer groups work "
       "on the same tile, half the rows each, and do its "
       "epilogue together. " +
           short_k + "The halves take the tensor cores in turn, mma by mma.",
       {}},
      {"gemm_short_k_hopper",
       "cutlass-pingpong",
       "CUTLASS ping-pong GEMM",
       "h100",
       {},
       {loads, "MMA000 MMA010 MMA001 MMA011 " + epilogue("00") + epilogue("01"),
        "MMA100 MMA110 MMA101 MMA111 " + epilogue("10") + epilogue("11")},
       two,
       {"MMA000 MMA010 MMA001 MMA011 MMA100 MMA110 MMA101 MMA111"},
       "CUTLASS (NVIDIA/cutlass, gemm/kernel/sm90_gemm_tma_warpspecialized_pingpong.hpp): each consumer group owns "
       "every second tile; ordered barriers let one run its "
       "mmas while the other does its epilogue. " +
           short_k,
       {}},
      {"gemm_blackwell",
       "cutlass-sm100",
       "CUTLASS sm100 GEMM",
       "b200",
       {},
       {"load_a load_b", "MMA"},
       {{"a", 4}, {"b", 4}},
       {},
       "CUTLASS sm100 warp-specialized GEMM (NVIDIA/cutlass): a load warp, an MMA warp, epilogue warps beside them. "
       "Simplified: the loop over k only; the ring of two "
       "accumulators lets the epilogue of one tile run beside the loop of the next, so the loop is what repeats.",
       {}},
  };
}

std::vector<HandProgram> backward() {
  const auto consumer = [](const std::string& c, const std::string& q) {
    return "S" + c + " dP" + c + " sub" + c + " exp" + c + " cvt_p" + c + " dV" + c + " sub_delta" + c + " mul" + c + " cvt_ds" + c +
           " stage_ds" + c + " dK" + c + " " + q;
  };
  return {
      {"attention_backward_hopper",
       "fa3-backward",
       "FA3-like backward",
       "h100",
       {},
       {"load_q load_lse load_do load_delta", consumer("0", "dQ0_k0 dQ0_k1 stage_dq0 add_dq0"),
        consumer("1", "dQ1_k0 dQ1_k1 stage_dq1 add_dq1")},
       {{"q", 2}, {"do", 2}, {"lse", 2}, {"delta", 2}},
       {},
       "After FlashAttention-3's backward pass (Dao-AILab/flash-attention, hopper/mainloop_bwd_sm90_tma_gmma_ws.hpp): "
       "both score mmas first, dV beside the rest of "
       "dS, then dK and dQ; two stages of Q and dO. Simplified: tiles of this kernel (128 keys, 64 queries, each group "
       "half of dQ's columns); dQ is added by "
       "the group that computed it, not by a warp of its own.",
       {}},
  };
}

std::vector<HandProgram> all() {
  std::vector<HandProgram> list;
  for (const auto& part : {fa3(), fa4(), gemm(), backward()}) list.insert(list.end(), part.begin(), part.end());
  return list;
}

std::vector<OpId> ops_of(const Problem& problem, const std::string& text) {
  std::vector<OpId> ops;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    ops.push_back(problem.find_op(word));
    INFO(word);
    REQUIRE(ops.back().valid());
  }
  return ops;
}

}  // namespace

const std::vector<HandProgram>& hand_programs() {
  static const std::vector<HandProgram> list = all();
  return list;
}

Problem problem_of(const HandProgram& hand) {
  const auto kernel = load_kernel(repository_path("kernels/" + hand.kernel + ".json"));
  const auto machine = load_machine(repository_path("assets/machines/" + hand.machine + ".json"));
  REQUIRE(kernel);
  REQUIRE(machine);
  auto problem = resolve(*kernel, *machine, hand.params);
  REQUIRE(problem);
  return *problem;
}

Schedule schedule_of(const HandProgram& hand, const Problem& problem) {
  const auto streams = timing::parse_streams(problem, hand.streams);
  INFO(hand.name << ": " << (streams ? "" : to_string(streams.error())));
  REQUIRE(streams);
  timing::LoopProgram program;
  program.streams = *streams;
  program.depths.assign(problem.channels.size(), 1);
  for (const auto& [value, depth] : hand.depths) {
    const auto channel =
        std::find_if(problem.channels.begin(), problem.channels.end(), [&, v = value](const Channel& c) { return c.name == v; });
    INFO(value);
    REQUIRE(channel != problem.channels.end());
    program.depths[static_cast<std::size_t>(channel - problem.channels.begin())] = depth;
  }
  for (const std::string& turn : hand.turns) program.turns.push_back(ops_of(problem, turn));
  const timing::LoopTiming timing = timing::earliest_schedule(problem, program);
  INFO(timing.limit);
  REQUIRE_FALSE(timing.deadlock);
  Schedule schedule = timing.schedule;
  normalize_starts(schedule);
  schedule.name = hand.title;
  schedule.provenance = {"hand", "", hand.note};
  schedule.turns = !hand.turns.empty() || contested_turns(problem, schedule).empty();
  return schedule;
}

}  // namespace heddle::test

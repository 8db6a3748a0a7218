// The programs, kernel by kernel, and how one becomes a schedule.
#include "tests/solver/hand_programs.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <sstream>

#include "core/io/library.h"
#include "core/problem/resolve.h"
#include "solver/baselines/program.h"
#include "tests/support/paths.h"

namespace heddle::test {
namespace {

const std::string kFa3 = "FlashAttention-3 (Dao-AILab/flash-attention, hopper/mainloop_fwd_sm90_tma_gmma_ws.hpp): one producer warp, two consumer "
                         "groups of 64 rows, K and V in rings of 2 slots. ";
const std::string kFa3Simplified = " Simplified: no mask; starts are the earliest of this order; a score tile is one op, so the conversion of P is not split.";

std::vector<HandProgram> fa3() {
  const std::string kFile = "attention_forward_hopper";
  const std::vector<std::string> overlap{"load_k load_v@1", "QK0 PV0@1 max0 alpha0 sub0 exp0 sum0 rescale0 cvt0",
                                         "QK1 PV1@1 max1 alpha1 sub1 exp1 sum1 rescale1 cvt1"};
  const std::vector<std::string> plain{"load_k load_v", "PV0@1 QK0 max0 alpha0 sub0 exp0 sum0 rescale0 cvt0",
                                       "PV1@1 QK1 max1 alpha1 sub1 exp1 sum1 rescale1 cvt1"};
  const std::string kOverlap = "Overlap inside a group: QK of one iteration and PV of the one before are issued together, and the softmax runs beside PV. ";
  const std::string kNoOverlap = "No overlap inside a group: QK, softmax, PV. ";
  const std::string kPingPong = "Ping-pong: named barriers let one group issue its two products while the other computes its softmax.";
  const std::string kFree = "No barriers between the groups: whoever comes first has the tensor cores.";
  std::vector<HandProgram> list;
  for (const std::int64_t kv : {128, 176}) {
    const std::string suffix = kv == 128 ? "" : "-kv176";
    const Scope params{{"KV", kv}};
    const std::vector<std::pair<std::string, int>> depths{{"k", 2}, {"v", 2}};
    list.push_back({kFile, "fa3" + suffix, "FA3, overlap and ping-pong", "h100", params, overlap, depths, {"QK0 PV0 QK1 PV1"},
                    kFa3 + kOverlap + kPingPong + kFa3Simplified, {}});
    list.push_back({kFile, "fa3-overlap" + suffix, "FA3, overlap only", "h100", params, overlap, depths, {}, kFa3 + kOverlap + kFree + kFa3Simplified, {}});
    list.push_back({kFile, "fa3-pingpong" + suffix, "FA3, ping-pong only", "h100", params, plain, depths, {"PV0 QK0 PV1 QK1"},
                    kFa3 + kNoOverlap + kPingPong + kFa3Simplified, {}});
    list.push_back({kFile, "fa3-neither" + suffix, "FA3, neither overlap nor ping-pong", "h100", params, plain, depths, {}, kFa3 + kNoOverlap + kFree + kFa3Simplified, {}});
  }
  return list;
}

std::vector<HandProgram> all() {
  std::vector<HandProgram> list;
  for (const auto& part : {fa3()}) list.insert(list.end(), part.begin(), part.end());
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
  const auto streams = solver::parse_streams(problem, hand.streams);
  INFO(hand.name << ": " << (streams ? "" : to_string(streams.error())));
  REQUIRE(streams);
  solver::Program program;
  program.streams = *streams;
  program.depths.assign(problem.channels.size(), 1);
  for (const auto& [value, depth] : hand.depths) {
    const auto channel = std::find_if(problem.channels.begin(), problem.channels.end(), [&, v = value](const Channel& c) { return c.name == v; });
    INFO(value);
    REQUIRE(channel != problem.channels.end());
    program.depths[static_cast<std::size_t>(channel - problem.channels.begin())] = depth;
  }
  for (const std::string& turn : hand.turns) program.turns.push_back(ops_of(problem, turn));
  const solver::Timing timing = solver::earliest_schedule(problem, program);
  INFO(timing.limit);
  REQUIRE_FALSE(timing.deadlock);
  Schedule schedule = timing.schedule;
  normalize_starts(schedule);
  schedule.name = hand.title;
  schedule.provenance = {"hand", "", hand.note};
  return schedule;
}

}  // namespace heddle::test

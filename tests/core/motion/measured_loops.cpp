#include "tests/core/motion/measured_loops.h"

#include <algorithm>
#include <sstream>

#include "core/instance/instance.h"
#include "core/library/library.h"
#include "tests/support/paths.h"

namespace heddle::test {

const std::vector<MeasuredLoop>& measured_loops() {
  static const std::vector<MeasuredLoop> loops{
      {"128 keys, first schedule of least II",
       "attention_forward_hopper",
       128,
       "",
       {"QK0 max0 alpha0 sub0 exp0 rescale0 cvt0 sum0 PV0", "sub1 exp1 sum1 cvt1 QK1 PV1 max1 alpha1 rescale1"},
       "PV0 QK0 QK1 PV1"},
      {"128 keys, robust",
       "attention_forward_hopper",
       128,
       "",
       {"QK0 sum0 rescale0 cvt0 PV0 max0 sub0 exp0 alpha0", "exp1 QK1 sum1 rescale1 cvt1 PV1 max1 alpha1 sub1"},
       "QK0 PV0 QK1 PV1"},
      {"128 keys, FlashAttention-3",
       "attention_forward_hopper",
       128,
       "",
       {"sum0 rescale0 cvt0 QK0 PV0 max0 alpha0 sub0 exp0", "PV1 max1 alpha1 sub1 exp1 sum1 rescale1 cvt1 QK1"},
       "QK0 PV0 QK1 PV1"},
      {"128 keys, arithmetic x 1.25",
       "attention_forward_hopper",
       128,
       "",
       {"QK0 rescale0 PV0 max0 sub0 alpha0 exp0 sum0 cvt0", "rescale1 exp1 sum1 cvt1 QK1 PV1 max1 alpha1 sub1"},
       "QK0 PV0 QK1 PV1"},
      {"128 keys, arithmetic x 1.5",
       "attention_forward_hopper",
       128,
       "",
       {"alpha0 sub0 exp0 QK0 sum0 cvt0 rescale0 PV0 max0", "PV1 max1 alpha1 sub1 exp1 rescale1 sum1 QK1 cvt1"},
       "QK0 PV0 QK1 PV1"},
      {"128 keys, arithmetic x 1.83",
       "attention_forward_hopper",
       128,
       "",
       {"QK0 alpha0 sum0 rescale0 cvt0 PV0 max0 sub0 exp0", "sum1 cvt1 rescale1 PV1 max1 sub1 exp1 QK1 alpha1"},
       "QK0 PV0 QK1 PV1"},
      {"176 keys, first schedule of least II",
       "attention_forward_hopper",
       176,
       "",
       {"sum0 cvt0 PV0 QK0 max0 alpha0 sub0 rescale0 exp0", "max1 alpha1 sub1 exp1 sum1 rescale1 cvt1 QK1 PV1"},
       "PV0 QK0 QK1 PV1"},
      {"176 keys, robust",
       "attention_forward_hopper",
       176,
       "",
       {"PV0 max0 sub0 exp0 alpha0 cvt0 sum0 QK0 rescale0", "alpha1 sum1 cvt1 QK1 rescale1 PV1 max1 sub1 exp1"},
       "QK0 PV0 QK1 PV1"},
      {"176 keys, arithmetic x 1.83",
       "attention_forward_hopper",
       176,
       "",
       {"max0 sub0 exp0 alpha0 cvt0 sum0 QK0 rescale0 PV0", "alpha1 cvt1 sum1 QK1 rescale1 PV1 max1 sub1 exp1"},
       "QK0 PV0 QK1 PV1"},
      {"176 keys, arithmetic x 1.5",
       "attention_forward_hopper",
       176,
       "",
       {"sub0 exp0 rescale0 cvt0 sum0 QK0 PV0 max0 alpha0", "QK1 PV1 max1 sub1 exp1 alpha1 sum1 rescale1 cvt1"},
       "QK0 PV0 QK1 PV1"},
      {"176 keys, arithmetic x 1.25",
       "attention_forward_hopper",
       176,
       "",
       {"alpha0 sum0 cvt0 QK0 max0 sub0 rescale0 PV0 exp0", "sub1 PV1 exp1 alpha1 cvt1 sum1 QK1 rescale1 max1"},
       "PV1 QK0 QK1 PV0"},
      {"causal",
       "attention_forward_causal_hopper",
       128,
       "",
       {"QK0 mask0 max0 alpha0 sub0 exp0 cvt0 rescale0 PV0 sum0", "exp1 sum1 cvt1 QK1 rescale1 PV1 mask1 max1 sub1 alpha1"},
       "PV0 QK0 QK1 PV1"},
      {"8 bits, keys relabelled",
       "attention_forward_fp8_hopper",
       128,
       "relabelled",
       {"exp0 alpha0 cvt0 sum0 QK0 rescale0 PV0 max0 shift0 sub0", "sum1 QK1 rescale1 PV1 max1 shift1 sub1 exp1 alpha1 cvt1"},
       "QK0 PV0 QK1 PV1"},
      {"8 bits, with shuffles",
       "attention_forward_fp8_hopper",
       128,
       "natural",
       {"QK0 rescale0 PV0 max0 shift0 sub0 exp0 alpha0 cvt0 sum0", "alpha1 cvt1 sum1 QK1 rescale1 PV1 max1 shift1 sub1 exp1"},
       "QK0 PV0 QK1 PV1"},
  };
  return loops;
}

Machine machine_of(const std::string& name) { return *load_machine(repository_path("assets/machines/" + name + ".json")); }

Problem problem_of(const MeasuredLoop& loop, const Machine& machine) {
  InstanceSpec spec = spec_of(*load_kernel(repository_path("kernels/" + loop.kernel + ".json")), machine);
  spec.params["KV"] = loop.keys;
  if (!loop.order_of_keys.empty()) spec.choices.layouts["keys"] = loop.order_of_keys;
  return *make_problem(spec);
}

timing::LoopProgram attention_program(const Problem& problem, const std::vector<std::string>& consumers, const std::string& turns) {
  std::vector<std::string> streams{""};
  for (const Op& op : problem.ops)
    if (op.variable_latency) streams[0] += (streams[0].empty() ? "" : " ") + op.name;
  streams.insert(streams.end(), consumers.begin(), consumers.end());
  timing::LoopProgram program;
  program.streams = *timing::parse_streams(problem, streams);
  program.depths.assign(problem.channels.size(), 3);
  std::vector<OpId>& order = program.turns.emplace_back();
  std::istringstream words(turns);
  for (std::string word; words >> word;) order.push_back(problem.find_op(word));
  set_least_stages(problem, program);
  return program;
}

timing::LoopProgram flash_attention(const Problem& problem) {
  return attention_program(
      problem, {"QK0 PV0 max0 alpha0 sub0 exp0 sum0 rescale0 cvt0", "QK1 PV1 max1 alpha1 sub1 exp1 sum1 rescale1 cvt1"}, "QK0 PV0 QK1 PV1");
}

void set_least_stages(const Problem& problem, timing::LoopProgram& program) {
  struct Where {
    std::size_t group = 0, position = 0;
    int stage = 0;
  };
  std::vector<Where> at(problem.ops.size());
  for (std::size_t g = 0; g < program.streams.size(); ++g)
    for (std::size_t i = 0; i < program.streams[g].size(); ++i) at[program.streams[g][i].op.index()] = {g, i, 0};
  for (bool moved = true; moved;) {
    moved = false;
    for (const Edge& e : problem.edges) {
      const Where& from = at[e.from.index()];
      Where& to = at[e.to.index()];
      const bool wraps = from.group == to.group && to.position <= from.position;
      const int least = from.stage - e.distance + (wraps ? 1 : 0);
      if (e.from == e.to || to.stage >= least) continue;
      to.stage = least;
      moved = true;
    }
  }
  for (auto& stream : program.streams)
    for (timing::StreamStep& step : stream) step.stage = at[step.op.index()].stage;
}

}  // namespace heddle::test

#include "core/triton/kernel/own_schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "core/timing/program.h"
#include "core/timing/program_order.h"

namespace heddle::triton {
namespace {

/// What a program of Triton's sustains: its starts, or nothing where its groups wait for each other.
/// `waits`: loads that are waited for where they are issued.
std::optional<Schedule> timed_schedule(const std::vector<bool>& waits, Problem problem, timing::LoopProgram program,
                                       const std::string& note) {
  for (std::size_t i = 0; i < problem.ops.size(); ++i)
    if (Op& op = problem.ops[i]; waits[i]) op.window = std::max(op.window, op.latency);
  while (program.streams.size() > 1 && program.streams.back().empty()) program.streams.pop_back();
  // A ring of the model may stand for two of Triton's (a value that is read now and an iteration later).
  std::vector<std::string> log;
  timing::LoopTiming run = timing::running_schedule(problem, program, log);
  if (run.deadlock) return std::nullopt;
  Schedule schedule = std::move(run.schedule);
  schedule.name = "triton's own";
  schedule.kernel = problem.kernel;
  schedule.machine = problem.machine;
  schedule.params = problem.params;
  schedule.layouts = choices_of(problem);
  schedule.turns = false;
  schedule.provenance = {"imported", "Triton", note};
  return schedule;
}

std::vector<bool> waits_of(const Native& native) {
  std::vector<bool> waits;
  for (const Origin& origin : native.origins) waits.push_back(origin.waits);
  return waits;
}

bool is_load_op(const Op& op) { return op.kind == "tma_load" || op.kind == "load"; }

timing::LoopProgram own_program(const Native& native, const Problem& problem) {
  const OwnOrder own = own_order(native, problem);
  timing::LoopProgram program;
  for (const auto& stream : own.streams) {
    std::vector<timing::StreamStep>& steps = program.streams.emplace_back();
    for (const auto& [op, lag] : stream) steps.push_back({op, lag});
  }
  program.depths = own.depths;
  return program;
}

/// Stage and cluster of every op.
struct Stages {
  std::vector<int> stage;
  std::vector<std::int64_t> cluster;
};

/// As Triton's scheduler has it for so many stages: loads that can run ahead share them by their levels, and everything else stands in the
/// stage in which it is needed first; later stages come first in the loop. Also tells which loads are waited for where they are issued.
Stages stages_by_latencies(const Native& native, const Problem& problem, int num_stages, std::vector<bool>& waits) {
  std::int64_t deepest = 0;
  for (const Origin& origin : native.origins)
    if (origin.level.value_or(num_stages) < num_stages - 1) deepest = std::max(deepest, *origin.level);
  std::vector<int> latency(problem.ops.size(), 0), ahead;
  for (std::size_t i = 0; i < latency.size(); ++i)
    if (const auto& level = native.origins[i].level) {
      latency[i] = *level < num_stages - 1 ? static_cast<int>((num_stages - 1) / (deepest + 1)) : 0;
      waits[i] = latency[i] == 0;
    }
  ahead = latency;  // stages from here to the end of the iteration
  for (bool more = true; more;) {
    more = false;
    for (const Edge& edge : problem.edges) {
      const std::size_t from = edge.from.index(), to = edge.to.index();
      if (edge.distance == 0 && ahead[from] < latency[from] + ahead[to]) ahead[from] = latency[from] + ahead[to], more = true;
    }
  }
  const int last = ahead.empty() ? 0 : *std::max_element(ahead.begin(), ahead.end());
  Stages stages;
  for (const int each : ahead) {
    stages.stage.push_back(last - each);
    stages.cluster.push_back(each);
  }
  return stages;
}

/// The text's own, with all but the loads that run ahead moved by so many stages.
Stages stages_moved(const Native& native, const Problem& problem, int by) {
  Stages stages;
  for (const Origin& origin : native.origins) {
    stages.stage.push_back(static_cast<int>(std::clamp<std::int64_t>(origin.stage.value_or(0), 0, 1000)));
    stages.cluster.push_back(origin.cluster.value_or(0));
  }
  std::vector<bool> ahead(problem.ops.size(), true);  ///< loads that are issued in an earlier stage than their use
  for (const Edge& edge : problem.edges)
    if (edge.distance == 0 && stages.stage[edge.from.index()] >= stages.stage[edge.to.index()]) ahead[edge.from.index()] = false;
  // Offsets and bounds of a load go where it goes.
  for (const Edge& edge : problem.edges)
    if (problem.op(edge.from).kind == "opaque") ahead[edge.from.index()] = ahead[edge.to.index()];
  for (std::size_t i = 0; i < stages.stage.size(); ++i)
    if (!((is_load_op(problem.ops[i]) || problem.ops[i].kind == "opaque") && ahead[i])) stages.stage[i] = std::max(0, stages.stage[i] + by);
  // What reads a load that has no iterations left to run ahead comes after it.
  for (bool more = true; more;) {
    more = false;
    for (const Edge& edge : problem.edges) {
      const std::size_t from = edge.from.index(), to = edge.to.index();
      if (edge.distance == 0 && stages.stage[to] < stages.stage[from]) {
        stages.stage[to] = stages.stage[from];
        more = true;
      } else if (edge.distance == 0 && stages.stage[to] == stages.stage[from] && stages.cluster[to] < stages.cluster[from]) {
        stages.cluster[to] = stages.cluster[from];
        more = true;
      }
    }
  }
  return stages;
}

}  // namespace

std::optional<Schedule> own_schedule(const Native& native, const Problem& problem) {
  if (!native.has_own || native.origins.size() != problem.ops.size()) return std::nullopt;
  return timed_schedule(waits_of(native), problem, own_program(native, problem),
                        native.left_alone
                            ? "the order of the text, in one stage: Triton schedules nothing in this loop; cycles by the model"
                            : "the order that the text has: stages and clusters; cycles by the model");
}

std::optional<Schedule> pipelined_schedule(const Native& native, const Problem& problem, int num_stages, int known) {
  const std::string note = fmt::format("predicted by the rules of Triton's pipeliner, num_stages {}", num_stages);
  const bool own = native.has_own && !native.left_alone && known > 0;
  std::vector<bool> waits = waits_of(native);
  if (own && std::any_of(native.origins.begin(), native.origins.end(), [](const Origin& o) { return o.partition.has_value(); })) {
    // Partitions keep their orders; rings of loads are as deep as num_stages says.
    timing::LoopProgram program = own_program(native, problem);
    for (std::size_t c = 0; c < problem.channels.size(); ++c)
      if (const Channel& channel = problem.channels[c]; is_load_op(problem.op(channel.writer)) && channel.space == Space::Smem)
        program.depths[c] = std::clamp(num_stages, 1, std::max(1, channel.max_depth));
    return timed_schedule(waits, problem, std::move(program), note);
  }
  const Stages stages = own ? stages_moved(native, problem, num_stages - known) : stages_by_latencies(native, problem, num_stages, waits);
  std::vector<OpId> order = timing::program_order(problem);
  std::stable_sort(order.begin(), order.end(), [&](OpId a, OpId b) { return stages.cluster[a.index()] < stages.cluster[b.index()]; });
  timing::LoopProgram program;
  std::vector<timing::StreamStep>& stream = program.streams.emplace_back();
  for (const OpId op : order) stream.push_back({op, stages.stage[op.index()]});
  for (const Channel& channel : problem.channels) program.depths.push_back(ring_slots(problem, channel, stages.stage));
  return timed_schedule(waits, problem, std::move(program), note);
}

}  // namespace heddle::triton

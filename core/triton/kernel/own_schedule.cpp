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
std::optional<Schedule> timed_schedule(const Native& native, Problem problem, timing::LoopProgram program, const std::string& note) {
  // A load that was not pipelined is waited for where it is issued.
  for (std::size_t i = 0; i < problem.ops.size(); ++i)
    if (Op& op = problem.ops[i]; native.origins[i].waits) op.window = std::max(op.window, op.latency);
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

}  // namespace

std::optional<Schedule> own_schedule(const Native& native, const Problem& problem) {
  if (!native.has_own || native.origins.size() != problem.ops.size()) return std::nullopt;
  return timed_schedule(native, problem, own_program(native, problem),
                        "the order that the text has: stages and clusters; cycles by the model");
}

std::optional<Schedule> pipelined_schedule(const Native& native, const Problem& problem, int num_stages, int known) {
  const std::string note = fmt::format("predicted by the rules of Triton's pipeliner, num_stages {}", num_stages);
  std::vector<int> stage(problem.ops.size(), 0);
  std::vector<std::int64_t> cluster(problem.ops.size(), 0);
  const bool own = native.has_own && known > 0;
  const auto stage_of = [&](OpId op) {
    return static_cast<int>(std::clamp<std::int64_t>(native.origins[op.index()].stage.value_or(0), 0, 1000));
  };
  std::vector<bool> ahead(problem.ops.size(), true);  ///< loads that are issued in an earlier stage than their use
  for (const Edge& edge : problem.edges)
    if (edge.distance == 0 && own && stage_of(edge.from) >= stage_of(edge.to)) ahead[edge.from.index()] = false;
  // Offsets and bounds of a load go where it goes.
  for (const Edge& edge : problem.edges)
    if (problem.op(edge.from).kind == "opaque") ahead[edge.from.index()] = ahead[edge.to.index()];
  if (own && std::any_of(native.origins.begin(), native.origins.end(), [](const Origin& o) { return o.partition.has_value(); })) {
    // Partitions keep their orders; rings of loads are as deep as num_stages says.
    timing::LoopProgram program = own_program(native, problem);
    for (std::size_t c = 0; c < problem.channels.size(); ++c)
      if (const Channel& channel = problem.channels[c]; is_load_op(problem.op(channel.writer)) && channel.space == Space::Smem)
        program.depths[c] = std::clamp(num_stages, 1, std::max(1, channel.max_depth));
    return timed_schedule(native, problem, std::move(program), note);
  }
  for (std::size_t i = 0; i < stage.size(); ++i) {
    const bool load = (is_load_op(problem.ops[i]) || problem.ops[i].kind == "opaque") && ahead[i];
    if (own) {
      stage[i] = stage_of(OpId(i));
      cluster[i] = native.origins[i].cluster.value_or(0);
      if (!load) stage[i] = std::max(0, stage[i] + num_stages - known);
    } else {
      stage[i] = load ? 0 : num_stages - 1;
      cluster[i] = load;
    }
  }
  // What reads a load that has no iterations left to run ahead comes after it.
  for (bool more = true; more;) {
    more = false;
    for (const Edge& edge : problem.edges) {
      const std::size_t from = edge.from.index(), to = edge.to.index();
      if (edge.distance == 0 && stage[to] < stage[from]) {
        stage[to] = stage[from];
        more = true;
      } else if (edge.distance == 0 && stage[to] == stage[from] && cluster[to] < cluster[from]) {
        cluster[to] = cluster[from];
        more = true;
      }
    }
  }
  std::vector<OpId> order = timing::program_order(problem);
  std::stable_sort(order.begin(), order.end(), [&](OpId a, OpId b) { return cluster[a.index()] < cluster[b.index()]; });
  timing::LoopProgram program;
  std::vector<timing::StreamStep>& stream = program.streams.emplace_back();
  for (const OpId op : order) stream.push_back({op, stage[op.index()]});
  for (const Channel& channel : problem.channels) program.depths.push_back(ring_slots(problem, channel, stage));
  return timed_schedule(native, problem, std::move(program), note);
}

}  // namespace heddle::triton

#include "solver/baselines/iteration_stages.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/analysis/channels.h"
#include "solver/baselines/agents.h"

namespace heddle::solver {
namespace {

/// How many loads lie on the longest chain that ends in a load, less one.
int indirection_of(const Problem& problem, const std::vector<OpId>& order) {
  std::vector<int> level(problem.ops.size(), 0);
  int most = 0;
  for (const OpId op : order) {
    int& mine = level[op.index()];
    for (const Edge& e : problem.edges)
      if (e.to == op && e.distance == 0) mine = std::max(mine, level[e.from.index()]);
    if (problem.op(op).variable_latency) most = std::max(most, mine++);
  }
  return most;
}

/// Columns in use when every ring in tensor memory has one slot.
std::int64_t columns_at_least(const Problem& problem) {
  std::int64_t columns = problem.resident_columns;
  for (const Channel& channel : problem.channels)
    if (channel.space == Space::Tmem) columns += channel.size;
  return columns;
}

}  // namespace

IterationStages iteration_stages(const Problem& problem, int num_stages, int mma_latency, std::vector<std::string>& log) {
  const std::vector<OpId> order = program_order(problem);
  const int indirection = indirection_of(problem, order);
  const int load_latency = (num_stages - 1) / (indirection + 1);
  if (indirection > 0)
    log.push_back(fmt::format("loads depend on loads, {} deep: {} iterations of latency each", indirection, load_latency));
  IterationStages result{std::vector<int>(problem.ops.size(), 0), std::vector<bool>(problem.channels.size(), false), 1};
  std::vector<int> latency(problem.ops.size(), 0);
  std::int64_t columns = columns_at_least(problem);
  for (const OpId op : order) {
    if (problem.op(op).variable_latency) latency[op.index()] = load_latency;
    if (mma_latency == 0 || !is_mma(problem, op)) continue;
    for (std::size_t c = 0; c < problem.channels.size(); ++c) {
      const Channel& channel = problem.channels[c];
      if (channel.space != Space::Tmem || channel.writer != op) continue;
      if (channel.max_depth < 2 || rounded_columns(columns + channel.size) > problem.limits.tmem_columns) {
        log.push_back(
            fmt::format("accumulator {} has no room for a second slot: {} gets no latency of its own", channel.name, problem.op(op).name));
        continue;
      }
      columns += channel.size;
      result.buffered[c] = true;
      latency[op.index()] = mma_latency;
      log.push_back(
          fmt::format("accumulator {} gets two slots: readers of {} go {} stage later", channel.name, problem.op(op).name, mma_latency));
    }
  }
  std::vector<int> distance(problem.ops.size(), 0);
  for (auto op = order.rbegin(); op != order.rend(); ++op) {
    int& mine = distance[op->index()];
    for (const Edge& e : problem.edges)
      if (e.from == *op && e.distance == 0) mine = std::max(mine, distance[e.to.index()]);
    mine += latency[op->index()];
  }
  const int most = distance.empty() ? 0 : *std::max_element(distance.begin(), distance.end());
  for (std::size_t v = 0; v < distance.size(); ++v) result.stage[v] = most - distance[v];
  // A reader of an earlier iteration's result may not run so far ahead that this result does not exist yet.
  for (std::size_t round = 0; round < problem.ops.size(); ++round) {
    bool changed = false;
    for (const Edge& e : problem.edges) {
      int& reader = result.stage[e.to.index()];
      const int due = result.stage[e.from.index()] - e.distance;
      if (reader >= due) continue;
      reader = due;
      changed = true;
    }
    if (!changed) break;
  }
  for (const int stage : result.stage) result.stages = std::max(result.stages, stage + 1);
  return result;
}

std::vector<StreamStep> later_stages_first(const std::vector<OpId>& order, const IterationStages& stages) {
  std::vector<StreamStep> steps;
  for (const OpId op : order) steps.push_back({op, stages.stage[op.index()]});
  std::stable_sort(steps.begin(), steps.end(), [](const StreamStep& a, const StreamStep& b) { return a.stage > b.stage; });
  return steps;
}

}  // namespace heddle::solver

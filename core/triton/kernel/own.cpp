// Triton's own decisions about a loop, and the rules that bind whoever hands it others.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/triton/kernel/native.h"
#include "core/triton/kernel/partition_constraints.h"

namespace heddle::triton {
namespace {

constexpr std::int64_t kBarrierBytes = 8;

/// A load in the stage of its use is not pipelined.
void keep_loads_ahead(const Problem& problem, Constraints& rules) {
  for (const Channel& channel : problem.channels) {
    if (!filled_by_load(problem, channel)) continue;
    for (const Reader& reader : channel.readers) {
      if (reader.distance != 0) continue;
      UserConstraint ahead;
      ahead.ops = {problem.op(channel.writer).name, problem.op(reader.op).name};
      ahead.name =
          fmt::format("{} stands in an earlier stage than {}: else Triton waits for it where it is issued", ahead.ops[0], ahead.ops[1]);
      ahead.kind = ConstraintKind::EarlierStage;
      ahead.low = 1;
      rules.push_back(std::move(ahead));
    }
  }
}

}  // namespace

bool filled_by_load(const Problem& problem, const Channel& channel) {
  const std::string& kind = problem.op(channel.writer).kind;
  return channel.space == Space::Smem && !channel.only_if_crossing && (kind == "tma_load" || kind == "load");
}

int ring_slots(const Problem& problem, const Channel& channel, const std::vector<int>& stage) {
  int slots = 1;
  for (const Reader& reader : channel.readers) {
    const int still_read = problem.op(reader.op).kind == "mma" ? 1 : 0;
    slots = std::max(slots, stage[reader.op.index()] + reader.distance - stage[channel.writer.index()] + still_read);
  }
  return std::clamp(slots, 1, std::max(1, channel.max_depth));
}

OwnOrder own_order(const Native& native, const Problem& problem) {
  OwnOrder own;
  const bool partitioned =
      std::any_of(native.origins.begin(), native.origins.end(), [](const Origin& o) { return o.partition.has_value(); });
  std::map<std::int64_t, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < native.origins.size(); ++i) groups[partitioned ? native.origins[i].partition.value_or(0) : 0].push_back(i);
  std::vector<int> lag(native.origins.size(), 0);
  for (auto& [partition, ops] : groups) {
    // A partition's loop begins with its own first stage.
    std::int64_t first = native.origins[ops.front()].stage.value_or(0);
    for (const std::size_t i : ops) first = std::min(first, native.origins[i].stage.value_or(0));
    std::stable_sort(ops.begin(), ops.end(), [&](std::size_t a, std::size_t b) {
      return native.origins[a].cluster.value_or(0) < native.origins[b].cluster.value_or(0);
    });
    std::vector<std::pair<OpId, int>> stream;
    for (const std::size_t i : ops) {
      lag[i] = static_cast<int>(std::clamp<std::int64_t>(native.origins[i].stage.value_or(0) - (partitioned ? first : 0), 0, 1000));
      stream.emplace_back(OpId(i), lag[i]);
    }
    own.streams.push_back(std::move(stream));
  }
  for (const Channel& channel : problem.channels) {
    const auto ring = std::find_if(native.rings.begin(), native.rings.end(), [&](const OwnRing& r) {
      return std::any_of(channel.values.begin(), channel.values.end(), [&](ValueId v) { return problem.value(v).name == r.value; });
    });
    if (ring != native.rings.end())
      own.depths.push_back(std::clamp(ring->depth, 1, std::max(1, channel.max_depth)));
    else
      own.depths.push_back(partitioned ? 1 : ring_slots(problem, channel, lag));
  }
  return own;
}

Constraints triton_rules(const TritonProgram& program, const Native& native, const Problem& problem) {
  Constraints rules;
  if (native.kernel.producer) return rules;
  // On Blackwell nothing predicates an mma, and where warps are specialized, rings are as deep as num_stages says, whatever the stages.
  if (program.target >= 100) {
    rules = partition_constraints(program, native, problem);
    const auto one_stream = [](const UserConstraint& rule) { return rule.kind == ConstraintKind::MaxGroups && rule.high == 1; };
    if (std::any_of(rules.begin(), rules.end(), one_stream)) keep_loads_ahead(problem, rules);
    return rules;
  }
  keep_loads_ahead(problem, rules);
  UserConstraint memory;
  memory.name = "rings as Triton builds them: a slot for every stage from load to use, and one more";
  memory.kind = ConstraintKind::MaxStageSmem;
  memory.high = problem.limits.smem_bytes - problem.resident_smem;
  for (const Channel& channel : problem.channels) {
    if (!filled_by_load(problem, channel) || channel.readers.empty()) continue;
    StageRing ring;
    ring.writer = problem.op(channel.writer).name;
    for (const Reader& reader : channel.readers) ring.readers.push_back(problem.op(reader.op).name);
    ring.bytes = channel.size + (problem.op(channel.writer).kind == "tma_load" ? kBarrierBytes : 0);
    memory.rings.push_back(std::move(ring));
  }
  // An mma that stands before the last stage is predicated, and with that no longer asynchronous (measured on 3.9.0; earlier
  // versions refuse it). So all mmas are in one stage, and so is all that rests on them in the same iteration.
  std::vector<bool> late(problem.ops.size());
  for (std::size_t i = 0; i < problem.ops.size(); ++i) late[i] = problem.ops[i].kind == "mma";
  for (bool more = true; more;) {
    more = false;
    for (const Edge& edge : problem.edges)
      if (edge.distance == 0 && late[edge.from.index()] && !late[edge.to.index()]) more = late[edge.to.index()] = true;
  }
  UserConstraint last;
  last.name = "mmas stand in the last stage: Triton predicates earlier ones, which are then waited for";
  last.kind = ConstraintKind::SameStage;
  for (std::size_t i = 0; i < problem.ops.size(); ++i)
    if (late[i]) last.ops.push_back(problem.ops[i].name);
  if (last.ops.size() > 1) rules.push_back(std::move(last));
  if (!memory.rings.empty()) rules.push_back(std::move(memory));
  return rules;
}

}  // namespace heddle::triton

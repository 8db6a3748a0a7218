// One problem narrowed down for both: what the caps leave to rings, groups and registers. To find a schedule, stages outside and groups
// inside: what has few stages is worth most, and few groups leave the fewest choices.
#include "solver/search/seek.h"

#include <algorithm>

#include "solver/encoding/closure.h"
#include "solver/relaxation/relaxation.h"
#include "solver/search/from_relaxation.h"
#include "solver/search/objectives.h"

namespace heddle::solver {
namespace {

constexpr std::uint64_t kSeekEffort = kRelaxationEffortPerSecond / 2;  // attention backward on H100 takes 122,000 of these 150,000

struct Narrowed {
  Problem problem;
  GroupRegisters registers;
  bool empty = false;  ///< nothing keeps the caps
};

int producers(const Problem& problem) { return problem.has_producer_group() ? 1 : 0; }

std::int64_t widest(const Problem& problem, bool variable) {
  int warps = 0;
  for (const Op& op : problem.ops)
    if (op.variable_latency == variable) warps = std::max(warps, op.warps);
  return warps;
}

/// Every schedule of the problem that keeps the caps is one of what is left.
Narrowed narrow(const Problem& problem, const Constraints& constraints, Cycle ii, const ObjectiveCaps& caps, const QueryLimits& limits) {
  Narrowed result{problem, {}, false};
  const Closure closure(problem, ii, caps.stages, limits);
  result.empty = closure.contradiction();
  std::int64_t spare = std::min(caps.smem, problem.limits.smem_bytes) - problem.resident_smem;
  for (const Channel& c : problem.channels)
    if (c.space == Space::Smem) spare -= c.size * least_depth(problem, closure, ii, c);
  result.empty |= spare < 0;
  for (Channel& c : result.problem.channels)
    if (c.space == Space::Smem && c.size > 0 && !result.empty) {
      const std::int64_t deepest = least_depth(problem, closure, ii, c) + spare / c.size;
      c.max_depth = static_cast<int>(std::clamp<std::int64_t>(deepest, 1, std::max(1, c.max_depth)));
    }
  result.registers.crossing = spare;

  int narrowest = std::numeric_limits<int>::max();
  for (const Op& op : problem.ops)
    if (!op.variable_latency) narrowest = std::min(narrowest, std::max(1, op.warps));
  result.registers.warps = caps.warps - producers(problem);
  const std::int64_t groups = std::min<std::int64_t>(caps.groups, result.registers.warps / narrowest);
  result.problem.max_groups = static_cast<int>(std::min<std::int64_t>(problem.max_groups, producers(problem) + groups));

  std::int64_t most = std::min<std::int64_t>(problem.limits.registers_per_thread, caps.registers);
  for (const UserConstraint& c : constraints)
    if (c.enabled && c.kind == ConstraintKind::MaxRegisters) most = std::min(most, c.high);
  const std::int64_t granule = std::max<std::int64_t>(1, problem.limits.register_granule);
  result.registers.available = most / granule * granule - problem.limits.register_overhead - problem.resident_registers;
  return result;
}

std::optional<Schedule> find(const Problem& problem, const Constraints& constraints, Cycle ii, const ObjectiveCaps& caps, Effort& effort) {
  const Narrowed narrowed = narrow(problem, constraints, ii, caps, effort.limits);
  if (narrowed.empty) return {};
  const RelaxationAnswer found = decide_whole(narrowed.problem, constraints, ii, {caps.stages, narrowed.registers}, effort);
  effort.left = found.effort_left;
  return schedule_from(problem, constraints, ii, found);
}

/// Shared memory of the shortest rings.
std::int64_t least_smem(const Problem& problem, Cycle ii, int stages, const QueryLimits& limits) {
  const Closure closure(problem, ii, stages, limits);
  std::int64_t bytes = problem.resident_smem;
  for (const Channel& c : problem.channels)
    if (c.space == Space::Smem) bytes += c.size * least_depth(problem, closure, ii, c);
  return bytes;
}

}  // namespace

std::optional<Schedule> seek(const Problem& problem, const Constraints& constraints, Cycle ii, int stages, const QueryLimits& limits) {
  const std::int64_t threads = std::max<std::int64_t>(1, problem.limits.threads_per_warp), consumer = widest(problem, false);
  const std::int64_t file = problem.limits.registers_per_sm / threads - widest(problem, true) * problem.limits.producer_registers;
  Effort effort{kSeekEffort, limits};
  ObjectiveCaps caps;
  for (caps.stages = 1; caps.stages <= stages; ++caps.stages)
    for (caps.groups = 1; caps.groups + producers(problem) <= problem.max_groups && effort.left > 0; ++caps.groups) {
      caps.registers = file / std::max<std::int64_t>(1, caps.groups * consumer);  // the same for every group
      for (const std::int64_t smem : {least_smem(problem, ii, caps.stages, limits), problem.limits.smem_bytes}) {
        caps.smem = smem;
        if (std::optional<Schedule> found = find(problem, constraints, ii, caps, effort)) return found;
      }
    }
  return {};
}

std::optional<Schedule> seek_fewer_registers(const Problem& problem, const Constraints& constraints, const Schedule& schedule,
                                             const std::vector<Objective>& objectives, const QueryLimits& limits) {
  const auto values = [&](const Schedule& of) {
    std::vector<std::int64_t> all;
    for (const Objective o : objectives) all.push_back(objective_value(problem, of, o));
    return all;
  };
  Constraints fewer = constraints;
  fewer.emplace_back();
  fewer.back().kind = ConstraintKind::MaxRegisters;
  fewer.back().high = objective_value(problem, schedule, Objective::Registers) - 1;
  std::optional<Schedule> found = seek(problem, fewer, schedule.ii, stage_count(schedule), limits);
  if (found && values(*found) >= values(schedule)) found.reset();
  return found;
}

bool refuted_within(const Problem& problem, const Constraints& constraints, Cycle ii, const ObjectiveCaps& caps,
                    const QueryLimits& limits) {
  const Narrowed narrowed = narrow(problem, constraints, ii, caps, limits);
  if (narrowed.empty || narrowed.problem.max_groups < producers(problem)) return true;
  if (narrowed.problem.max_groups == producers(problem)) return widest(problem, false) > 0;
  return decide_whole(narrowed.problem, constraints, ii, {caps.stages, narrowed.registers}, {kSeekEffort, limits}).answer == Answer::No;
}

ObjectiveCaps caps_of(const std::vector<Objective>& objectives, const std::vector<std::int64_t>& values, int stages) {
  ObjectiveCaps caps;
  caps.stages = stages;
  for (std::size_t i = 0; i < values.size(); ++i) switch (objectives[i]) {
      case Objective::Stages: caps.stages = static_cast<int>(values[i]); break;
      case Objective::Warps: caps.warps = values[i]; break;
      case Objective::Smem: caps.smem = values[i]; break;
      case Objective::Tmem: break;
      case Objective::Registers: caps.registers = values[i]; break;
    }
  return caps;
}

}  // namespace heddle::solver

#include "core/schedule/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace heddle {

const char* to_string(Status status) {
  switch (status) {
    case Status::Optimal: return "optimal";
    case Status::Feasible: return "feasible";
    case Status::Infeasible: return "infeasible";
    case Status::Unknown: return "unknown";
    case Status::Invalid: return "invalid";
  }
  return "unknown";
}

const char* to_string(BoundReason reason) {
  switch (reason) {
    case BoundReason::None: return "none";
    case BoundReason::Resource: return "resource";
    case BoundReason::Recurrence: return "recurrence";
    case BoundReason::Refutation: return "refutation";
    case BoundReason::Requested: return "requested";
  }
  return "none";
}

bool same_program(const Schedule& a, const Schedule& b) {
  return a.ii == b.ii && a.ops == b.ops && a.groups == b.groups && a.depths == b.depths && a.turns == b.turns && a.layouts == b.layouts;
}

int stage_count(const Schedule& schedule) {
  int stages = 0;
  for (const Placement& p : schedule.ops) stages = std::max(stages, static_cast<int>(p.start / schedule.ii) + 1);
  return stages;
}

std::string role_name(const Schedule& schedule, std::size_t group) {
  const std::string& role = schedule.groups[group].role;
  return role.empty() ? "group " + std::to_string(group) : role;
}

Cycle schedule_length(const Problem& problem, const Schedule& schedule) {
  Cycle first = std::numeric_limits<Cycle>::max(), last = 0;
  for (std::size_t v = 0; v < problem.ops.size(); ++v) {
    const Op& op = problem.ops[v];
    Cycle end = std::max(op.latency, op.window);
    for (const UnitUse& use : op.uses) end = std::max(end, use.offset + use.duration);
    first = std::min(first, schedule.ops[v].start);
    last = std::max(last, schedule.ops[v].start + end);
  }
  return problem.ops.empty() ? 0 : last - first;
}

void normalize_starts(Schedule& schedule) {
  if (schedule.ops.empty()) return;
  const auto earliest = std::min_element(schedule.ops.begin(), schedule.ops.end(), [](const Placement& a, const Placement& b) {
                          return a.start < b.start;
                        })->start;
  for (Placement& p : schedule.ops) p.start -= earliest;
}

void derive_groups(const Problem& problem, Schedule& schedule, UnusedGroups unused) {
  struct Facts {
    int warps = 0;
    bool aligned = false, used = false, tensor = false;
  };
  std::size_t count = schedule.groups.size();
  for (const Placement& p : schedule.ops) count = std::max(count, p.group.index() + 1);
  std::vector<Facts> facts(count);
  for (std::size_t v = 0; v < problem.ops.size(); ++v) {
    const Op& op = problem.ops[v];
    Facts& f = facts[schedule.ops[v].group.index()];
    f.used = true;
    f.warps = std::max(f.warps, op.warps);
    f.aligned |= op.aligned;
    for (const UnitUse& use : op.uses) {
      f.tensor |= problem.unit(use.unit).role == UnitRole::Tensor;
    }
  }
  const bool producer = problem.has_producer_group();
  std::vector<std::size_t> renumbered(count);
  std::vector<ScheduleGroup> groups;
  std::size_t consumers = 0;
  for (std::size_t g = 0; g < count; ++g) {
    if (!facts[g].used && unused == UnusedGroups::Drop) continue;
    renumbered[g] = groups.size();
    ScheduleGroup group;
    if (g < schedule.groups.size()) group.registers = schedule.groups[g].registers;
    group.warps = facts[g].aligned ? (facts[g].warps + 3) / 4 * 4 : facts[g].warps;
    if (!facts[g].used)
      group.role = "unused";
    else if (producer && g == 0)
      group.role = "producer";
    else if (facts[g].tensor && group.warps < 4)
      group.role = "mma";
    else if (const std::size_t number = consumers++; number < 26)
      group.role = std::string("consumer ") + static_cast<char>('A' + number);
    else
      group.role = fmt::format("consumer {}", number + 1);
    groups.push_back(group);
  }
  for (Placement& p : schedule.ops) p.group = GroupId(renumbered[p.group.index()]);
  schedule.groups = std::move(groups);
}

}  // namespace heddle

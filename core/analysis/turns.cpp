#include "core/analysis/turns.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "core/base/integer_division.h"

namespace heddle {

std::vector<Turns> turns_of(const Problem& problem, const Schedule& schedule) {
  std::vector<Turns> all;
  for (std::size_t u = 0; u < problem.units.size(); ++u) {
    const Unit& unit = problem.units[u];
    if (unit.role != UnitRole::Tensor) continue;
    std::vector<std::tuple<Cycle, OpId>> uses;
    std::set<GroupId> groups;
    for (std::size_t v = 0; v < problem.ops.size(); ++v)
      for (const UnitUse& use : problem.ops[v].uses) {
        if (use.unit != UnitId(u) || use.duration <= 0 || use.amount <= unit.capacity - use.amount) continue;
        uses.emplace_back(modulo(schedule.ops[v].start + use.offset, schedule.ii), OpId(v));
        groups.insert(schedule.ops[v].group);
      }
    if (groups.size() < 2) continue;
    std::sort(uses.begin(), uses.end());
    Turns turns{UnitId(u), {}};
    for (const auto& [slot, op] : uses) turns.ops.push_back(op);
    std::rotate(turns.ops.begin(), std::min_element(turns.ops.begin(), turns.ops.end()), turns.ops.end());
    all.push_back(std::move(turns));
  }
  return all;
}

std::vector<Turns> contested_turns(const Problem& problem, const Schedule& schedule) {
  std::set<GroupId> works;
  for (std::size_t v = 0; v < problem.ops.size(); ++v)
    if (!problem.ops[v].asynchronous && problem.ops[v].window > 0) works.insert(schedule.ops[v].group);
  std::vector<Turns> contested = turns_of(problem, schedule);
  std::erase_if(contested, [&](const Turns& turns) {
    return std::any_of(turns.ops.begin(), turns.ops.end(), [&](OpId op) {
      const GroupId group = schedule.group(op);
      return !works.contains(group) || schedule.groups[group.index()].warps != 4;
    });
  });
  return contested;
}

std::vector<Turns> kept_turns(const Problem& problem, const Schedule& schedule) {
  std::vector<Turns> kept = contested_turns(problem, schedule);
  std::erase_if(kept, [&](const Turns& turns) {
    std::size_t changes = 0;
    for (std::size_t k = 0; k < turns.ops.size(); ++k)
      changes += schedule.group(turns.ops[k]) != schedule.group(turns.ops[(k + 1) % turns.ops.size()]);
    return changes > kMostTurns;
  });
  return kept;
}

}  // namespace heddle

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

}  // namespace heddle

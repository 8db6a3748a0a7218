// Usage of units, memories and registers over one II window.
#include "core/analysis/usage.h"

#include <algorithm>
#include <limits>
#include <map>

#include "core/analysis/channels.h"
#include "core/analysis/registers.h"

namespace heddle {
namespace {

int as_int(std::int64_t x) { return static_cast<int>(std::min<std::int64_t>(x, std::numeric_limits<int>::max())); }

void add_units(const Problem& problem, const Schedule& schedule, Usage& usage) {
  std::vector<ModuloProfile> units(problem.units.size(), ModuloProfile(schedule.ii));
  for (std::size_t v = 0; v < problem.ops.size(); ++v)
    for (const UnitUse& use : problem.ops[v].uses)
      units[use.unit.index()].add(schedule.ops[v].start + use.offset, use.duration, use.amount);
  for (const ModuloProfile& unit : units) {
    const Profile profile = unit.steps();
    Cycle busy = 0;
    for (std::size_t i = 0; i < profile.size(); ++i)
      if (profile[i].value > 0) busy += (i + 1 < profile.size() ? profile[i + 1].at : schedule.ii) - profile[i].at;
    usage.units.push_back(profile);
    usage.busy.push_back(busy);
  }
}

void add_memory(const Problem& problem, const Schedule& schedule, Usage& usage) {
  ModuloProfile smem(schedule.ii), tmem(schedule.ii);
  smem.add(0, schedule.ii, problem.resident_smem);
  tmem.add(0, schedule.ii, problem.resident_columns);
  for (const Channel& channel : problem.channels)
    (channel.space == Space::Tmem ? tmem : smem)
        .add(schedule.start(channel.writer), slot_life(channel, schedule), channel.size);
  usage.smem_live = smem.steps();
  usage.tmem_live = tmem.steps();
  usage.smem_bytes = allocated(problem, schedule, Space::Smem);
  usage.tmem_columns = allocated(problem, schedule, Space::Tmem);
}

void add_registers(const Problem& problem, const Schedule& schedule, Usage& usage) {
  std::vector<ModuloProfile> groups(schedule.groups.size(), ModuloProfile(schedule.ii));
  const auto uses = register_use(problem, schedule);
  const auto deaths = register_deaths(problem, schedule);
  const auto foreign = foreign_registers(problem, schedule);
  for (std::size_t x = 0; x < problem.values.size(); ++x) {
    const Value& value = problem.values[x];
    if (value.space != Space::Register || !value.producer.valid()) continue;
    const Cycle start = schedule.start(value.producer);
    groups[schedule.group(value.producer).index()].add(start, deaths[x] - start, value.registers);
  }
  // Inputs from other groups count at the start of each op that reads them, never those of two ops together.
  std::map<std::pair<GroupId, Cycle>, std::int64_t> inputs;
  for (std::size_t y = 0; y < problem.ops.size(); ++y) {
    std::int64_t& most = inputs[{schedule.ops[y].group, schedule.slot(OpId(y))}];
    most = std::max(most, foreign[y]);
  }
  for (const auto& [where, registers] : inputs) groups[where.first.index()].add(where.second, 1, registers);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const Limits& limits = problem.limits;
    groups[g].add(0, schedule.ii,
                  uses[g].touched ? problem.resident_registers + limits.register_overhead : limits.producer_registers);
    usage.registers.push_back(groups[g].steps());
    usage.register_peak.push_back(as_int(uses[g].peak));
    usage.register_budget.push_back(as_int(register_budget(limits, uses[g].peak)));
  }
}

}  // namespace

Usage compute_usage(const Problem& problem, const Schedule& schedule) {
  Usage usage;
  add_units(problem, schedule, usage);
  add_memory(problem, schedule, usage);
  add_registers(problem, schedule, usage);
  for (const ScheduleGroup& group : schedule.groups) usage.warps += group.warps;
  return usage;
}

}  // namespace heddle

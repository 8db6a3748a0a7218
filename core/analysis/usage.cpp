#include "core/analysis/usage.h"

#include <algorithm>
#include <limits>
#include <map>

#include "core/analysis/channels.h"
#include "core/analysis/registers.h"
#include "core/base/saturate.h"

namespace heddle {
namespace {

int as_int(std::int64_t x) { return static_cast<int>(std::min<std::int64_t>(x, std::numeric_limits<int>::max())); }

/// What profiles cover: one window that repeats for ever, or a run with a beginning and an end.
struct Span {
  Cycle ii = 1, length = 1;
  int iterations = 0;  ///< 0: the window

  ModuloUsage profile() const { return ModuloUsage(length); }
  void always(ModuloUsage& profile, std::int64_t amount) const { profile.add(0, length, amount); }
  /// An interval of iteration 0, once per iteration; `carried` iterations before the first one left a copy behind.
  void add(ModuloUsage& profile, Cycle begin, Cycle duration, std::int64_t amount, int carried = 0) const {
    if (iterations == 0) return profile.add(begin, duration, amount);
    for (int i = -carried; i < iterations; ++i) {
      const Cycle from = std::clamp<Cycle>(sat_add(begin, i * ii), 0, length);
      const Cycle to = std::clamp<Cycle>(sat_add(sat_add(begin, i * ii), duration), 0, length);
      profile.add(from, to - from, amount);
    }
  }
};

void add_units(const Problem& problem, const Schedule& schedule, const Span& span, Usage& usage) {
  std::vector<ModuloUsage> units(problem.units.size(), span.profile());
  for (std::size_t v = 0; v < problem.ops.size(); ++v)
    for (const UnitUse& use : problem.ops[v].uses)
      span.add(units[use.unit.index()], schedule.ops[v].start + use.offset, use.duration, use.amount);
  for (const ModuloUsage& unit : units) {
    const UsageCurve profile = unit.steps();
    Cycle busy = 0;
    for (std::size_t i = 0; i < profile.size(); ++i)
      if (profile[i].value > 0) busy += (i + 1 < profile.size() ? profile[i + 1].at : span.length) - profile[i].at;
    usage.units.push_back(profile);
    usage.busy.push_back(busy);
  }
}

void add_memory(const Problem& problem, const Schedule& schedule, const Span& span, Usage& usage) {
  ModuloUsage smem = span.profile(), tmem = span.profile();
  span.always(smem, problem.resident_smem);
  span.always(tmem, problem.resident_columns);
  for (const Channel& channel : problem.channels) {
    int carried = 0;
    for (const Reader& reader : channel.readers)
      if (reader_counts(channel, reader, schedule)) carried = std::max(carried, reader.distance);
    span.add(channel.space == Space::Tmem ? tmem : smem, schedule.start(channel.writer), slot_life(channel, schedule), channel.size,
             carried);
  }
  usage.smem_live = smem.steps();
  usage.tmem_live = tmem.steps();
  usage.smem_bytes = allocated(problem, schedule, Space::Smem);
  usage.tmem_columns = allocated(problem, schedule, Space::Tmem);
}

void add_registers(const Problem& problem, const Schedule& schedule, const Span& span, Usage& usage) {
  std::vector<ModuloUsage> groups(schedule.groups.size(), span.profile());
  const auto uses = register_use(problem, schedule);
  const auto deaths = register_deaths(problem, schedule);
  const auto foreign = foreign_registers(problem, schedule);
  std::vector<int> carried(problem.values.size());
  for (const Edge& e : problem.edges)
    if (e.value.valid() && schedule.group(e.from) == schedule.group(e.to))
      carried[e.value.index()] = std::max(carried[e.value.index()], e.distance);
  for (std::size_t x = 0; x < problem.values.size(); ++x) {
    const Value& value = problem.values[x];
    if (value.space != Space::Register || !value.producer.valid()) continue;
    const Cycle start = schedule.start(value.producer);
    span.add(groups[schedule.group(value.producer).index()], start, deaths[x] - start, value.registers, carried[x]);
  }
  // Inputs from other groups count at the start of each op that reads them, never those of two ops together.
  std::map<std::pair<GroupId, Cycle>, std::int64_t> inputs;
  for (int i = 0; i < std::max(1, span.iterations); ++i)
    for (std::size_t y = 0; y < problem.ops.size(); ++y) {
      const Cycle at = span.iterations == 0 ? schedule.slot(OpId(y)) : schedule.start(OpId(y)) + i * span.ii;
      std::int64_t& most = inputs[{schedule.ops[y].group, at}];
      most = std::max(most, foreign[y]);
    }
  for (const auto& [where, registers] : inputs)
    if (where.second >= 0 && where.second < span.length) groups[where.first.index()].add(where.second, 1, registers);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const Limits& limits = problem.limits;
    span.always(groups[g], uses[g].touched ? problem.resident_registers + limits.register_overhead : limits.producer_registers);
    usage.registers.push_back(groups[g].steps());
    usage.register_peak.push_back(as_int(uses[g].peak));
    usage.register_budget.push_back(as_int(register_budget(limits, uses[g].peak)));
  }
}

Usage usage_of(const Problem& problem, const Schedule& schedule, const Span& span) {
  Usage usage;
  add_units(problem, schedule, span, usage);
  add_memory(problem, schedule, span, usage);
  add_registers(problem, schedule, span, usage);
  for (const ScheduleGroup& group : schedule.groups) usage.warps += group.warps;
  return usage;
}

}  // namespace

Usage compute_usage(const Problem& problem, const Schedule& schedule) { return usage_of(problem, schedule, {schedule.ii, schedule.ii, 0}); }

std::optional<std::int64_t> objective_value(const Problem& problem, const Schedule& schedule, std::string_view objective) {
  if (objective == "ii") return schedule.ii;
  if (objective == "stages") return stage_count(schedule);
  if (objective == "smem") return allocated(problem, schedule, Space::Smem);
  if (objective == "tmem") return allocated(problem, schedule, Space::Tmem);
  std::int64_t warps = 0, registers = 0;
  for (const ScheduleGroup& group : schedule.groups) {
    warps += group.warps;
    if (group.warps > 0) registers = std::max<std::int64_t>(registers, group.registers);
  }
  if (objective == "warps") return warps;
  return objective == "registers" ? std::optional(registers) : std::nullopt;
}

Usage compute_run_usage(const Problem& problem, const Schedule& schedule, int iterations, Cycle length) {
  return usage_of(problem, schedule, {schedule.ii, length, iterations});
}

}  // namespace heddle

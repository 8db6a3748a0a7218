// Flags and resource lanes of the timeline. A window's lanes are those of core/analysis/usage.h; a run of several iterations
// shows its units as they really fill and drain, and memories and registers as they are in the steady state.
#include "core/report/gantt_facts.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/analysis/bounds.h"
#include "core/analysis/period.h"

namespace heddle {
namespace {

/// The periodic profile over [begin, end).
Profile repeated(const Profile& window, Cycle ii, Cycle begin, Cycle end) {
  Profile result;
  for (Cycle base = floor_div(begin, ii) * ii; base < end; base += ii) {
    for (const Step& step : window) {
      const Cycle at = base + step.at;
      if (at >= end) break;
      if (at <= begin) {
        result.assign(1, {begin, step.value});
      } else if (result.empty() || result.back().value != step.value) {
        result.push_back({at, step.value});
      }
    }
  }
  return result;
}

/// One unit over a run that starts empty.
Profile run_profile(const Problem& problem, const Schedule& schedule, std::size_t unit, int iterations, const GanttModel& model) {
  ModuloProfile profile(model.end - model.begin);
  for (std::size_t v = 0; v < problem.ops.size(); ++v)
    for (const UnitUse& use : problem.ops[v].uses) {
      if (use.unit.index() != unit) continue;
      for (int i = 0; i < iterations; ++i) {
        const Cycle begin = schedule.ops[v].start + use.offset + i * schedule.ii;
        profile.add(begin - model.begin, std::min(use.duration, model.end - begin), use.amount);
      }
    }
  Profile steps = profile.steps();
  for (Step& step : steps) step.at += model.begin;
  return steps;
}

/// Never 100 % unless it is.
std::string percent(std::int64_t part, std::int64_t whole) {
  const double share = 100.0 * static_cast<double>(part) / static_cast<double>(std::max<std::int64_t>(1, whole));
  return share > 99 && share < 100 ? fmt::format("{:.1f} %", std::min(share, 99.9)) : fmt::format("{:.0f} %", share);
}

/// What fits in II windows of this unit, in percent of what it offers.
std::string unit_detail(const Profile& window, const Unit& unit, Cycle ii) {
  double used = 0;
  for (std::size_t i = 0; i < window.size(); ++i)
    used += static_cast<double>(window[i].value) * static_cast<double>((i + 1 < window.size() ? window[i + 1].at : ii) - window[i].at);
  return percent(static_cast<std::int64_t>(used), static_cast<std::int64_t>(static_cast<double>(unit.capacity) * static_cast<double>(ii)));
}

std::string unit_label(const Unit& unit) {
  return unit.role == UnitRole::Smem || unit.role == UnitRole::Tmem ? unit.name + " port" : unit.name;
}

std::string kilobytes(std::int64_t bytes) {
  return bytes < 10240 ? fmt::format("{} B", bytes) : fmt::format("{} KB", (bytes + 1023) / 1024);
}

void add_lanes(const Problem& problem, const Schedule& schedule, int iterations, GanttModel& model) {
  const Usage usage = compute_usage(problem, schedule);
  const bool run = model.mode != GanttMode::Steady;
  const auto add = [&](std::string label, std::string detail, UnitRole role, Profile profile, std::int64_t capacity) {
    GanttLane lane{std::move(label), std::move(detail), role, std::move(profile), capacity, 0};
    lane.peak = peak(lane.profile);
    model.lanes.push_back(std::move(lane));
  };
  const auto steady = [&](const Profile& window) { return repeated(window, schedule.ii, model.begin, model.end); };
  for (std::size_t u = 0; u < problem.units.size(); ++u) {
    const Unit& unit = problem.units[u];
    if (usage.busy[u] == 0) continue;
    add(unit_label(unit), unit_detail(usage.units[u], unit, schedule.ii), unit.role,
        run ? run_profile(problem, schedule, u, iterations, model) : steady(usage.units[u]), unit.capacity);
  }
  const std::string when = run ? " (steady)" : "";
  if (peak(usage.smem_live) > 0)
    add("SMEM live" + when, kilobytes(peak(usage.smem_live)), UnitRole::Smem, steady(usage.smem_live), problem.limits.smem_bytes);
  if (peak(usage.tmem_live) > 0)
    add("TMEM live" + when, fmt::format("{} columns", peak(usage.tmem_live)), UnitRole::Tmem, steady(usage.tmem_live), problem.limits.tmem_columns);
  for (std::size_t g = 0; g < schedule.groups.size(); ++g) {
    // Nothing to show where no op touches registers: only the fixed budget would be there.
    if (usage.registers[g].size() < 2 && usage.register_peak[g] <= problem.limits.producer_registers) continue;
    const std::int64_t budget = schedule.groups[g].registers > 0 ? schedule.groups[g].registers : usage.register_budget[g];
    add(fmt::format("regs {}{}", schedule.groups[g].role, when), fmt::format("{} of {}", usage.register_peak[g], budget),
        UnitRole::Other, steady(usage.registers[g]), budget);
  }
}

}  // namespace

std::vector<bool> critical_ops(const Problem& problem, const Schedule& schedule) {
  std::vector<bool> critical(problem.ops.size());
  const Bounds bounds = compute_bounds(problem);
  if (bounds.res_mii == schedule.ii && bounds.binding_unit.valid()) {
    for (std::size_t v = 0; v < problem.ops.size(); ++v)
      for (const UnitUse& use : problem.ops[v].uses)
        if (use.unit == bounds.binding_unit && use.duration > 0 && use.amount > 0) critical[v] = true;
  }
  if (bounds.rec_mii == schedule.ii)
    for (const EdgeId edge : bounds.critical.edges) critical[problem.edge(edge).from.index()] = true;
  for (const EventEdge& edge : sustainable_period(problem, schedule).cycle) {
    critical[edge.from.index()] = true;
    critical[edge.to.index()] = true;
  }
  return critical;
}

void add_facts(const Problem& problem, const Schedule& schedule, const GanttOptions& options, GanttModel& model) {
  std::vector<bool> violating(problem.ops.size());
  if (options.verdict)
    for (const Violation& violation : options.verdict->violations)
      for (const OpId op : violation.ops) violating[op.index()] = true;
  const std::vector<bool> critical = critical_ops(problem, schedule);
  for (GanttBar& bar : model.bars) {
    bar.critical = critical[bar.op.index()];
    bar.violating = violating[bar.op.index()];
  }
  add_lanes(problem, schedule, std::max(1, options.iterations), model);
}

}  // namespace heddle

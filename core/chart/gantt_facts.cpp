#include "core/chart/gantt_facts.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/analysis/bounds.h"
#include "core/analysis/period.h"
#include "core/chart/chart_layout.h"
#include "core/chart/tensor_map.h"

namespace heddle {
namespace {

/// Never 100 % unless it is.
std::string percent(std::int64_t part, std::int64_t whole) {
  const double share = 100.0 * static_cast<double>(part) / static_cast<double>(std::max<std::int64_t>(1, whole));
  return share > 99 && share < 100 ? fmt::format("{:.1f} %", std::min(share, 99.9)) : fmt::format("{:.0f} %", share);
}

/// How much of what this unit offers is used over what is drawn, in percent.
std::string unit_detail(const UsageCurve& curve, const Unit& unit, Cycle begin, Cycle end) {
  double used = 0;
  for (std::size_t i = 0; i < curve.size(); ++i)
    used += static_cast<double>(curve[i].value) * static_cast<double>((i + 1 < curve.size() ? curve[i + 1].at : end) - curve[i].at);
  return percent(static_cast<std::int64_t>(used),
                 static_cast<std::int64_t>(static_cast<double>(unit.capacity) * static_cast<double>(end - begin)));
}

/// `amount` more during [begin, end), which may lie before the curve's first step.
void add_span(UsageCurve& curve, Cycle begin, Cycle end, std::int64_t amount) {
  std::vector<Cycle> times{begin, end};
  for (const UsageStep& step : curve) times.push_back(step.at);
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  UsageCurve sum;
  for (const Cycle at : times) {
    const std::int64_t value = value_at(curve, at) + (begin <= at && at < end ? amount : 0);
    if (sum.empty() || sum.back().value != value) sum.push_back({at, value});
  }
  curve = std::move(sum);
}

/// Prologue and epilogue use units too.
void add_end_uses(const EndOps& ends, const std::vector<GanttEndBar>& bars, Cycle last_iteration, Usage& shown) {
  for (const GanttEndBar& bar : bars) {
    const EndOp& end = ends.ops[bar.end];
    const Cycle start = end.start + (bar.prologue ? 0 : last_iteration);
    for (const UnitUse& use : ends.problem.op(end.op).uses)
      if (use.duration > 0 && use.amount > 0)
        add_span(shown.units[use.unit.index()], start + use.offset, start + use.offset + use.duration, use.amount);
  }
}

/// Compute first, memories last, as rows are read: what should be full is on top.
int lane_rank(UnitRole role) {
  switch (role) {
    case UnitRole::Tensor: return 0;
    case UnitRole::Special: return 1;
    case UnitRole::Float: return 2;
    case UnitRole::Alu: return 3;
    case UnitRole::Copy: return 4;
    case UnitRole::Smem: return 5;
    case UnitRole::Tmem: return 6;
    case UnitRole::Sync:
    case UnitRole::Other: return 7;
  }
  return 7;
}

/// Profiles, percentages and peaks are those of what the model shows: the steady state, or a whole run.
void add_lanes(const Problem& problem, const Schedule& schedule, const GanttOptions& options, GanttModel& model) {
  const int iterations = std::max(1, options.iterations);
  const Usage window = compute_usage(problem, schedule);
  Usage shown = model.mode == GanttMode::Steady ? window : compute_run_usage(problem, schedule, iterations, model.end);
  if (!model.ends.empty()) add_end_uses(*options.ends, model.ends, (iterations - 1) * schedule.ii, shown);
  const auto add = [&](std::string label, std::string detail, UnitRole role, UsageCurve& profile, std::int64_t capacity,
                       LaneMeasure measure = LaneMeasure::Unit) -> GanttLane& {
    GanttLane lane{std::move(label), std::move(detail), role, std::move(profile), capacity, 0, 0, measure};
    lane.peak = peak(lane.profile);
    return model.lanes.emplace_back(std::move(lane));
  };
  const auto add_memory = [&](std::string label, UnitRole role, const UsageCurve& steady, UsageCurve& profile, std::int64_t capacity,
                              std::int64_t allocated, LaneMeasure measure) {
    if (peak(steady) <= 0) return;  // `steady` and `profile` may be one
    GanttLane& lane = add(std::move(label), {}, role, profile, capacity, measure);
    lane.allocated = allocated;
    lane.detail = "peak " + lane_value(lane, lane.peak);
  };
  std::vector<std::size_t> units;
  for (std::size_t u = 0; u < problem.units.size(); ++u)
    if (window.busy[u] > 0 || peak(shown.units[u]) > 0) units.push_back(u);
  std::stable_sort(units.begin(), units.end(),
                   [&](std::size_t a, std::size_t b) { return lane_rank(problem.units[a].role) < lane_rank(problem.units[b].role); });
  for (const std::size_t u : units) {
    const Unit& unit = problem.units[u];
    add(unit_label(unit), unit_detail(shown.units[u], unit, model.begin, model.end), unit.role, shown.units[u], unit.capacity);
  }
  add_memory("SMEM live", UnitRole::Smem, window.smem_live, shown.smem_live, problem.limits.smem_bytes, window.smem_bytes,
             LaneMeasure::Bytes);
  add_memory("TMEM live", UnitRole::Tmem, window.tmem_live, shown.tmem_live, problem.limits.tmem_columns, window.tmem_columns,
             LaneMeasure::Columns);
  for (std::size_t g = 0; g < schedule.groups.size(); ++g) {
    // Nothing to show where no op touches registers: only the fixed budget would be there.
    if (window.registers[g].size() < 2 && window.register_peak[g] <= problem.limits.producer_registers) continue;
    const std::int64_t budget = schedule.groups[g].registers > 0 ? schedule.groups[g].registers : window.register_budget[g];
    GanttLane& lane =
        add(fmt::format("regs {}", schedule.groups[g].role), {}, UnitRole::Other, shown.registers[g], budget, LaneMeasure::Registers);
    lane.detail = lane_value(lane, window.register_peak[g]);
  }
}

}  // namespace

const OpPlan* shared_memory_plan(const Problem& problem, OpId op) {
  if (!problem.layouts || op.index() >= problem.ops.size()) return nullptr;
  const OpPlan* plan = problem.layouts->find(problem.op(op).name);
  return plan && !plan->accesses.empty() ? plan : nullptr;
}

int conflict_ways(const Problem& problem, OpId op) {
  int ways = 1;
  if (const OpPlan* plan = shared_memory_plan(problem, op))
    for (const OpAccess& access : plan->accesses)
      if (access.cost.known) ways = std::max(ways, access.cost.ways);
  return ways;
}

std::string conflict_mark(int ways) { return ways > 1 ? fmt::format("x{}", ways) : std::string(); }

std::string access_words(const std::string& instruction, const AccessCost& cost) {
  const std::string by = instruction.empty() ? std::string() : instruction + ": ";
  if (!cost.known) return by + "conflicts are not known";
  const std::string port = fmt::format("{}{} cycle{} of the port", by, grouped(cost.port), cost.port == 1 ? "" : "s");
  if (cost.ways <= 1) return port + ", no conflict";
  return fmt::format("{}, {} without conflicts, {}-way", port, grouped(cost.least), cost.ways);
}

std::string access_words(const Problem& problem, OpId op) {
  const OpPlan* plan = shared_memory_plan(problem, op);
  if (!plan) return {};
  AccessCost sum;
  sum.known = true;
  sum.ways = conflict_ways(problem, op);
  for (const OpAccess& access : plan->accesses) {
    sum.known &= access.cost.known;
    sum.port += access.cost.port;
    sum.least += access.cost.least;
  }
  return access_words(plan->instruction.name, sum);
}

std::string unit_label(const Unit& unit) {
  return unit.role == UnitRole::Smem || unit.role == UnitRole::Tmem ? unit.name + " port" : unit.name;
}

std::int64_t GanttLane::full() const { return std::max<std::int64_t>({1, capacity, peak, allocated}); }

std::string lane_value(const GanttLane& lane, std::int64_t value) {
  switch (lane.measure) {
    case LaneMeasure::Unit: return percent(value, lane.capacity);
    case LaneMeasure::Bytes: return bytes_of(value, lane.allocated);
    case LaneMeasure::Columns: return fmt::format("{} of {} columns", value, lane.allocated);
    case LaneMeasure::Registers: break;
  }
  return fmt::format("{} of {}", value, lane.capacity);
}

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
  add_lanes(problem, schedule, options, model);
  BarrierRange range{model.begin, model.end, std::nullopt};
  if (model.mode != GanttMode::Steady) range.iterations = std::max(1, options.iterations);
  if (options.barriers) model.barriers = barrier_lanes(problem, schedule, range);
  if (options.queues)
    model.queues = queue_lanes(problem, schedule, ring_fill(problem, schedule, FillRange{range.begin, range.end, range.iterations}));
  if (!options.tensor) return;
  const std::vector<BarrierLane> map = tensor_map(*options.tensor, problem, schedule, range);
  model.barriers.insert(model.barriers.end(), map.begin(), map.end());
}

}  // namespace heddle

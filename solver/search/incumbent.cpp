// Far above the bound first, then bisection; every schedule found is tightened before the next target is chosen.
#include "solver/search/incumbent.h"

#include <algorithm>

#include "core/analysis/period.h"
#include "core/check/checker.h"
#include "solver/encoding/finish_schedule.h"

namespace heddle::solver {

std::optional<Schedule> tightened(const Problem& problem, const Constraints& constraints, const Schedule& schedule) {
  const std::vector<EventEdge> events = event_graph(problem, schedule);
  const Period period = sustainable_period(problem, schedule);
  if (period.deadlock || period.cycles() < 1 || period.cycles() >= schedule.ii) return {};
  Schedule result = schedule;
  result.ii = period.cycles();
  for (Placement& p : result.ops) p.start = 0;
  for (std::size_t round = 0; round <= problem.ops.size(); ++round) {
    bool changed = false;
    for (const EventEdge& e : events) {
      const Cycle due = result.start(e.from) + e.weight - e.tokens * result.ii;
      Cycle& start = result.ops[e.to.index()].start;
      if (due <= start) continue;
      start = due;
      changed = true;
    }
    if (!changed) break;
  }
  normalize_starts(result);
  finish_schedule(problem, constraints, result);
  if (!check(problem, result, constraints).valid()) return {};
  return result;
}

void place_better(const Problem& problem, const Constraints& constraints, PlacementGoal goal, PlacementOptions options,
                  const std::function<void(const Schedule&)>& found) {
  const Cycle low = goal.low;
  const int effort = goal.effort;
  std::optional<Schedule>& incumbent = goal.incumbent;
  constexpr Cycle kNoII = Cycle{1} << 62;
  const auto best = [&] { return incumbent ? incumbent->ii : kNoII; };
  options.budget = static_cast<std::int64_t>(problem.ops.size()) * (effort == 0 ? 8 : std::int64_t{2} << std::min(effort, 20));
  const auto try_at = [&](Cycle ii) {
    options.ii = ii;
    for (const bool in_order : {false, true}) {
      options.in_order = in_order;
      options.start = nullptr;
      std::optional<Schedule> placed = place_ops(problem, constraints, options);
      if (!placed && incumbent) {
        options.start = &*incumbent;
        placed = place_ops(problem, constraints, options);
      }
      if (!placed) continue;
      while (placed) {
        incumbent = std::move(placed);
        placed = incumbent->ii > low ? tightened(problem, constraints, *incumbent) : std::nullopt;
      }
      return found(*incumbent);
    }
  };
  if (best() <= low) return;
  if (effort == 0) return try_at(low);
  for (Cycle ii = 2 * low; !incumbent && ii < 64 * low; ii *= 2) try_at(ii);
  if (!incumbent) return;
  const Cycle grain = std::max<Cycle>(1, low >> std::min(8 + effort, 60));
  for (Cycle below = low - 1; best() - below > grain;) {
    const Cycle middle = below + (best() - below) / 2;
    try_at(middle);
    if (best() > middle) below = middle;
  }
}

}  // namespace heddle::solver

// From the cheapest way to the dearest; each has a small fixed budget, so that the answer is repeatable unless time runs out.
#include "solver/search/refute.h"

#include <algorithm>

#include "core/analysis/bounds.h"
#include "core/check/checker.h"
#include "solver/encoding/user.h"
#include "solver/relaxation/relaxation.h"
#include "solver/search/from_relaxation.h"
#include "solver/search/incumbent.h"
#include "solver/search/placement.h"
#include "solver/search/serial.h"

namespace heddle::solver {
namespace {

constexpr std::int64_t kPlacementsPerOp = 8;
constexpr std::uint64_t kEffort = kRelaxationEffortPerSecond / 5;

std::optional<Schedule> serial_below(const Problem& problem, const Constraints& constraints, Cycle bound) {
  Schedule serial = serial_schedule(problem, constraints, serial_ii(problem));
  if (!check(problem, serial, constraints).valid()) return std::nullopt;
  if (auto better = tightened(problem, constraints, serial)) serial = *std::move(better);
  return serial.ii < bound ? std::optional(std::move(serial)) : std::nullopt;
}

std::optional<Schedule> placed_below(const Problem& problem, const Constraints& constraints, const Schedule& like, Cycle bound,
                                     const QueryLimits& limits) {
  PlacementOptions options;
  options.ii = bound - 1;
  options.budget = kPlacementsPerOp * static_cast<std::int64_t>(problem.ops.size());
  options.limits = limits;
  for (const Schedule* start : {static_cast<const Schedule*>(nullptr), &like}) {
    options.start = start;
    for (const bool in_order : {false, true}) {
      options.in_order = in_order;
      if (auto placed = place_ops(problem, constraints, options)) return placed;
    }
  }
  return std::nullopt;
}

std::optional<Schedule> relaxed_below(const Problem& problem, const Constraints& constraints, Cycle bound, const QueryLimits& limits) {
  const RelaxationAnswer relaxed = decide_relaxation(problem, constraints, bound - 1, Relaxation::Groups, {kEffort, limits});
  return schedule_from(problem, constraints, bound - 1, relaxed);
}

}  // namespace

std::optional<Schedule> schedule_below(const Problem& problem, const Constraints& constraints, const Schedule& like, Cycle bound,
                                       const QueryLimits& limits) {
  if (problem.ops.empty() || !constraint_faults(problem, constraints).empty()) return std::nullopt;
  if (bound <= std::max<Cycle>(1, compute_bounds(problem).min_ii())) return std::nullopt;  // arithmetic proves the claim
  try {
    if (auto found = serial_below(problem, constraints, bound)) return found;
    if (auto found = placed_below(problem, constraints, like, bound, limits)) return found;
    return relaxed_below(problem, constraints, bound, limits);
  } catch (const Stopped&) {
    return std::nullopt;
  }
}

}  // namespace heddle::solver

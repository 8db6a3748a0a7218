// Candidates are tried in the order of their II, and the checker decides.
#include "core/check/reuse.h"

#include "core/analysis/retime.h"
#include "core/check/checker.h"

namespace heddle {

std::optional<Schedule> still_valid(const Problem& problem, const Schedule& schedule, const Constraints& constraints) {
  Schedule fitted = refitted(problem, schedule);
  if (!check(problem, fitted, constraints).valid()) return std::nullopt;
  return fitted;
}

std::optional<Schedule> best_in_order(const Problem& problem, const Schedule& schedule, const Constraints& constraints) {
  std::optional<Schedule> as_it_is = still_valid(problem, schedule, constraints);
  for (Schedule& candidate : retimings(problem, schedule)) {
    if (as_it_is && as_it_is->ii <= candidate.ii) break;
    if (check(problem, candidate, constraints).valid()) return std::move(candidate);
  }
  return as_it_is;
}

}  // namespace heddle

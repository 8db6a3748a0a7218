// First what costs no search (core/check/claim.h); then, where there is a solver, half a second of looking for a schedule below the claimed
// bound.
#include "app/jobs/judge_claim.h"

#include <fmt/format.h>

#include "core/check/claim.h"
#ifdef HEDDLE_HAS_SOLVER
#include "core/base/clock.h"
#include "solver/search/refute.h"
#endif

namespace heddle::app {
namespace {

std::optional<std::string> refuted(const Problem& problem, const Constraints& constraints, const Schedule& schedule) {
  if (auto why = why_claim_is_void(problem, constraints, schedule)) return why;
#ifdef HEDDLE_HAS_SOLVER
  constexpr double kSeconds = 0.5;
  const Cycle bound = schedule.claim->lower_bound;
  const auto found =
      solver::schedule_below(problem, constraints, schedule, bound, {heddle::deadline_after(heddle::Clock::now(), kSeconds), {}});
  if (found) return fmt::format("says that no II is below {}, but there is a legal schedule with II {}", bound, found->ii);
#endif
  return std::nullopt;
}

}  // namespace

void judge_claim(const Problem& problem, const Constraints& constraints, Schedule& schedule, const std::string& file,
                 std::vector<Fault>* warnings) {
  if (!schedule.claim) return;
  const auto why = refuted(problem, constraints, schedule);
  if (!why) return;
  schedule.claim.reset();
  if (warnings)
    warnings->push_back({file, "/certificate", "the certificate " + *why + "; it is thrown away", "solve again to certify this schedule"});
}

}  // namespace heddle::app

// In the order in which a reader wants to hear of it: digest, the claim against itself, checker, other starts for the same order, period.
#include "core/check/claim.h"

#include <fmt/format.h>

#include "core/analysis/retime.h"
#include "core/analysis/usage.h"
#include "core/check/checker.h"
#include "core/check/period_claim.h"
#include "core/schedule/question.h"

namespace heddle {
namespace {

/// The least II at which the schedule's own order is legal with other starts; nothing when that is not below `below`.
std::optional<Cycle> same_order_below(const Problem& problem, const Constraints& constraints, const Schedule& schedule, Cycle below) {
  for (Schedule& other : retimings(problem, schedule)) {
    if (other.ii >= below) break;
    const Usage usage = compute_usage(problem, other);
    for (std::size_t g = 0; g < other.groups.size(); ++g) other.groups[g].registers = usage.register_budget[g];
    if (check(problem, other, constraints).valid()) return other.ii;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> why_claim_is_void(const Problem& problem, const Constraints& constraints, const Schedule& schedule) {
  if (!schedule.claim) return std::nullopt;
  const Certificate& claim = *schedule.claim;
  if (claim.problem_hash.empty()) return "does not say which problem it is about (it has no \"problem_hash\")";
  // A bound of the problem without demands holds with them, too.
  if (claim.problem_hash != problem_hash(problem) && claim.problem_hash != question_hash(problem, constraints))
    return "is about another problem, or about other demands";
  if (claim.ii != schedule.ii) return fmt::format("is about II {}, and its schedule has II {}", claim.ii, schedule.ii);
  if (claim.status != Status::Optimal && claim.status != Status::Feasible)
    return fmt::format("says \"{}\" beside a schedule", to_string(claim.status));
  if (claim.lower_bound > schedule.ii)
    return fmt::format("says that no II is below {}, and its own schedule has II {}", claim.lower_bound, schedule.ii);
  if (claim.status == Status::Optimal && claim.lower_bound != schedule.ii)
    return fmt::format("says that II {} is the least, and that the bound is {}", schedule.ii, claim.lower_bound);
  const Constraints none;
  const Constraints& demands = claim.problem_hash == problem_hash(problem) ? none : constraints;  // those that it was made under
  if (const Verdict verdict = check(problem, schedule, demands); !verdict.valid())
    return fmt::format("is beside a schedule that the checker rejects: {}", verdict.violations.front().message);
  if (const auto ii = same_order_below(problem, demands, schedule, claim.lower_bound))
    return fmt::format("says that no II is below {}, but the same order of ops is legal at II {}", claim.lower_bound, *ii);
  for (const ObjectiveValue& objective : claim.objectives)
    if (const auto value = objective_value(problem, schedule, objective.name); value && *value != objective.value)
      return fmt::format("says {} {}, and its schedule has {}", objective.name, objective.value, *value);
  return claim.period ? why_period_is_void(problem, schedule, *claim.period) : std::nullopt;
}

}  // namespace heddle

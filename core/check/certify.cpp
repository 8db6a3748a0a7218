#include "core/check/certify.h"

#include "core/analysis/usage.h"
#include "core/base/assert.h"
#include "core/check/period_claim.h"
#include "core/schedule/question.h"

namespace heddle {
namespace {

Certificate certificate_of(const Problem& problem, const Constraints& constraints, const SolveOutcome& outcome) {
  Certificate certificate;
  certificate.status = outcome.status;
  certificate.lower_bound = outcome.lower_bound;
  certificate.bound_stages = outcome.bound_stages;
  certificate.reason = outcome.reason;
  certificate.explanation = outcome.explanation;
  certificate.solver = outcome.solver;
  certificate.seed = outcome.seed;
  certificate.seconds = outcome.seconds.total;
  certificate.problem_hash = question_hash(problem, constraints);
  certificate.checked = true;
  return certificate;
}

}  // namespace

void certify(const Problem& problem, const Constraints& constraints, SolveOutcome& outcome) {
  Certificate certificate = certificate_of(problem, constraints, outcome);
  certificate.ii = outcome.schedule->ii;
  certificate.objectives = outcome.objectives;
  outcome.schedule->certificate = std::move(certificate);
}

std::optional<std::string> certify_period(const Problem& problem, PeriodProof proof, Schedule& schedule) {
  HEDDLE_ASSERT(schedule.certificate.has_value(), "a period is certified beside an II");
  proof.numbers = motion_hash(problem);
  auto why = why_period_is_void(problem, schedule, proof);
  if (!why) schedule.certificate->period = std::move(proof);
  return why;
}

void take_proof(const Problem& problem, const Constraints& constraints, const SolveOutcome& outcome, Schedule& schedule) {
  Certificate certificate = certificate_of(problem, constraints, outcome);
  certificate.ii = schedule.ii;
  certificate.status = schedule.ii == outcome.lower_bound ? Status::Optimal : Status::Feasible;
  for (const ObjectiveValue& found : outcome.objectives) {
    const auto value = objective_value(problem, schedule, found.name);
    if (!value) continue;
    // Later objectives were made least for the earlier values.
    const bool same = found.value == *value && (certificate.objectives.empty() || certificate.objectives.back().proved);
    certificate.objectives.push_back({found.name, *value, same && found.proved});
  }
  schedule.certificate = std::move(certificate);
  schedule.claim.reset();
}

}  // namespace heddle

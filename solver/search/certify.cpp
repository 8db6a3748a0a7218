// Field by field.
#include "solver/search/certify.h"

namespace heddle::solver {

void certify(const Problem& problem, SolveOutcome& outcome) {
  Schedule& schedule = *outcome.schedule;
  Certificate certificate;
  certificate.status = outcome.status;
  certificate.ii = schedule.ii;
  certificate.lower_bound = outcome.lower_bound;
  certificate.reason = outcome.reason;
  certificate.explanation = outcome.explanation;
  certificate.objectives = outcome.objectives;
  certificate.solver = outcome.solver;
  certificate.seed = outcome.seed;
  certificate.seconds = outcome.seconds.total;
  certificate.problem_hash = problem_hash(problem);
  certificate.checked = true;
  schedule.certificate = std::move(certificate);
}

}  // namespace heddle::solver

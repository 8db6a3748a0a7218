// The request is solved without the cap but cut off above it, and its outcome is then read with the cap.
#include "solver/search/ii_cap.h"

#include <fmt/format.h>

#include "core/check/certify.h"

namespace heddle::solver {

const UserConstraint* cap_on_ii(const Constraints& constraints) {
  const UserConstraint* least = nullptr;
  for (const UserConstraint& c : constraints)
    if (c.enabled && c.kind == ConstraintKind::IIRange && c.high > 0 && (!least || c.high < least->high)) least = &c;
  return least;
}

SolveOutcome solve_under_cap(const UserConstraint& cap, SolveRequest request, const SolveListener& listener, const OpenSearch& search) {
  const Cycle most = cap.high;
  const std::string name = cap.name;
  const Constraints demanded = request.constraints;
  for (UserConstraint& c : request.constraints)
    if (c.kind == ConstraintKind::IIRange) c.high = 0;
  if (request.ii && *request.ii > most) {
    SolveOutcome outcome;
    outcome.solver = solver_version();
    outcome.seed = request.seed;
    outcome.status = Status::Infeasible;
    outcome.reason = BoundReason::Requested;
    outcome.explanation = fmt::format("II {} was requested, but '{}' demands at most {}", *request.ii, name, most);
    return outcome;
  }
  const bool asked = request.cutoff && *request.cutoff <= most;
  if (!request.ii && !asked) request.cutoff = most + 1;
  const SolveListener within = [&](const SolveEvent& event) {
    const Incumbent* found = std::get_if<Incumbent>(&event);
    if (listener && (!found || found->schedule.ii <= most)) listener(event);
  };
  SolveOutcome outcome = search(request, within);
  if (!asked) outcome.cut_off = false;
  const bool refuted = !request.ii && outcome.lower_bound > most;
  if (!refuted && (!outcome.schedule || outcome.schedule->ii <= most)) {
    if (outcome.schedule) certify(request.problem, demanded, outcome);  // of the question that was asked, the cap included
    return outcome;
  }
  outcome.schedule.reset();
  outcome.objectives.clear();
  outcome.status = refuted ? Status::Infeasible : Status::Unknown;
  outcome.explanation = refuted
                            ? fmt::format("'{}' demands an II of at most {}, and no schedule has one: {}", name, most, outcome.explanation)
                            : fmt::format("no schedule with an II of at most {} was found, as '{}' demands", most, name);
  return outcome;
}

}  // namespace heddle::solver

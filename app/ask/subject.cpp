#include "app/ask/subject.h"

namespace heddle::app {
namespace {

Result<Problem> problem_of(const Subject& subject, const InstanceSpec& spec) {
  Result<Problem> problem = make_problem(spec);
  return problem || !subject.source ? problem : subject.source->in_own_words(problem.error(), *spec.kernel);
}

}  // namespace

solver::SolveRequest solve_request(const Subject& subject) {
  solver::SolveRequest request;
  request.problem = subject.problem();
  request.constraints = subject.constraints;
  request.incumbent = subject.incumbent;
  request.timeout_seconds = subject.limits.timeout_seconds;
  request.seed = subject.limits.seed;
  request.max_stages = subject.limits.max_stages;
  return request;
}

Result<Problem> problem_with(const Subject& subject, const Changes& more) {
  return problem_of(subject, with(subject.instance.spec(), more));
}

Result<Problem> problem_with(const Subject& subject, const LayoutChoices& choices, const Changes& more) {
  return problem_of(subject, with(subject.instance.spec(), choices, more));
}

Result<OpenLayouts> what_is_open(const Subject& subject) {
  if (subject.open) return *subject.open;
  return open_again(subject, subject.instance.choices());
}

Result<OpenLayouts> open_again(const Subject& subject, const LayoutChoices& said, const Changes& more) {
  return open_layouts(with(subject.instance.spec(), said, more), subject.left_open);
}

}  // namespace heddle::app

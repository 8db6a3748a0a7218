// The real solver and the real answers with as much time as they want: what they find and prove must not depend on how fast the machine is.
#pragma once

#include <utility>

#include "app/jobs/question.h"
#include "app/jobs/solve_job.h"
#include "app/session/settings.h"
#include "tests/support/wait.h"

namespace heddle::test {

/// Instead of the usual limit of a session; one that a test has chosen stays.
inline double patient(double seconds) {
  return seconds == static_cast<double>(app::Settings{}.search_seconds) ? std::chrono::duration<double>(kPatience).count() : seconds;
}

inline app::SolveFunction patient(app::SolveFunction solve) {
  if (!solve) return solve;
  return [solve = std::move(solve)](const solver::SolveRequest& request, std::stop_token stop, const solver::SolveListener& listener) {
    solver::SolveRequest longer = request;
    longer.timeout_seconds = patient(request.timeout_seconds);
    return solve(longer, std::move(stop), listener);
  };
}

inline app::AskFunction patient(app::AskFunction ask) {
  if (!ask) return ask;
  return [ask = std::move(ask)](const app::Question& question, std::stop_token stop, const app::AskListener& tell) {
    app::Question longer = question;
    if (longer.options.timeout_seconds) longer.options.timeout_seconds = patient(*longer.options.timeout_seconds);
    return ask(longer, std::move(stop), tell);
  };
}

}  // namespace heddle::test

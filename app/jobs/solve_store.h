// solver::solve() with a memory on disk: a question that was settled once is not searched again.
//
// Only settled answers are kept: proved optimal with every objective proved, proved infeasible, or all that was asked about one fixed II;
// no answer that a time limit or a stop had a part in. What is found is read against the problem, and the checker judges its schedule
// again; anything that does not fit is a miss.
#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include "app/jobs/content_store.h"
#include "core/schedule/outcome.h"
#include "solver/search/solve.h"

namespace heddle::app {

/// What names the answer: the problem's text, demands, II, seed, stages, objectives, the solver's name and version, Heddle's, and
/// the digest of the sources that decide answers (answer_digest.h).
/// Empty for questions that depend on what their caller knows (a bound, a schedule to start from, a cutoff): they are not kept.
std::string solve_key(const solver::SolveRequest& request, const std::string& solver_name);

/// The settled answer as it was given, times included; nothing when it is not known.
std::optional<SolveOutcome> find_answer(const ContentStore& store, const solver::SolveRequest& request, const std::string& solver_name);
/// Keeps the outcome if it is settled. True when it was kept.
bool keep_answer(const ContentStore& store, const solver::SolveRequest& request, const SolveOutcome& outcome);

#ifdef HEDDLE_HAS_SOLVER
/// solver::solve_for_time(), unless the store knows. The listener hears of a known answer as of one found: bound, schedule, objectives.
/// What is proved and what is chosen by prediction are kept as two answers. `known`: set to whether the store knew what is proved.
SolveOutcome solve_or_recall(const ContentStore& store, const solver::SolveRequest& request, std::stop_token stop = {},
                             const solver::SolveListener& listener = {}, bool* known = nullptr);
/// solver::choose_by_time(), unless the store knows. Pre: request.by_time, and `outcome` answers the request without it.
void choose_or_recall(const ContentStore& store, const solver::SolveRequest& request, SolveOutcome& outcome,
                      const std::stop_token& stop = {}, const solver::SolveListener& listener = {});
#endif

}  // namespace heddle::app

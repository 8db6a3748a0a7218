// solver::solve() with a memory on disk: a question that was settled once is not searched again, and a search that was not finished goes
// on from where it ended.
//
// A settled answer is proved optimal with every objective proved, proved infeasible, or all that was asked about one fixed II; no time
// limit and no stop had a part in it, and it is given again word for word. Of any other search schedule and bound are kept, and the next
// one begins with them. What is found is read against the problem, and the checker judges its schedule again; anything that does not fit is
// a miss.
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

/// How far an earlier search for the least II came: its bound and, unless it found none, its schedule. Whatever that search began with.
std::optional<SolveOutcome> find_so_far(const ContentStore& store, const solver::SolveRequest& request, const std::string& solver_name);
/// Keeps how far this one has come, if it is further than what is kept and took so long that beginning anew would hurt, or began with what
/// its caller knew. True when it was kept.
bool keep_so_far(const ContentStore& store, const solver::SolveRequest& request, const SolveOutcome& outcome);
/// "goes on from an earlier search: II 4380, no II below 4352"
std::string so_far_text(const SolveOutcome& so_far);
/// What the store holds of this question, settled or not, and of the same asked without reasons.
std::optional<SolveOutcome> find_proof(const ContentStore& store, solver::SolveRequest request, const std::string& solver_name);

#ifdef HEDDLE_HAS_SOLVER
/// What the store had to say.
struct Recalled {
  bool whole = false;    ///< the answer is that of an earlier search
  std::string sentence;  ///< "known from an earlier search of 3.2 s", "goes on from ..."; empty: nothing
};
/// solver::solve_for_time(), unless the store knows. The listener hears of a known answer as of one found: bound, schedule, objectives.
/// What is proved and what is chosen by prediction are kept as two answers; `recalled` speaks of what is proved.
SolveOutcome solve_or_recall(const ContentStore& store, const solver::SolveRequest& request, std::stop_token stop = {},
                             const solver::SolveListener& listener = {}, Recalled* recalled = nullptr);
/// solver::choose_by_time(), unless the store knows. Pre: request.by_time, and `outcome` answers the request without it.
void choose_or_recall(const ContentStore& store, const solver::SolveRequest& request, SolveOutcome& outcome,
                      const std::stop_token& stop = {}, const solver::SolveListener& listener = {});
#endif

}  // namespace heddle::app

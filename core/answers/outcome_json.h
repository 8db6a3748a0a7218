// Answers as JSON for other programs: what `heddle solve`, `check` and `analyze` print with --json. Written only.
#pragma once

#include <string>

#include "core/analysis/bounds.h"
#include "core/base/json.h"
#include "core/check/checker.h"
#include "core/problem/problem.h"
#include "core/schedule/constraints.h"
#include "core/schedule/outcome.h"

namespace heddle {

/// Everything about one solve. Judges the schedule afresh (`checker`, with the constraints) and adds its sustainable
/// period. Without a schedule ii, length, stages and period are null and the lists are empty.
Json outcome_json(const Problem& problem, const SolveOutcome& outcome, const Constraints& constraints = {});
std::string outcome_text(const Problem& problem, const SolveOutcome& outcome, const Constraints& constraints = {});

/// {"valid", "violations": [{family, message, ops, slot, amount, limit}]}
Json verdict_json(const Problem& problem, const Verdict& verdict);
/// The verdict on a schedule with what it is about: II, stages, sustainable period. Pre: one placement per op, one
/// depth per channel, groups that exist (every schedule that was read from a file).
std::string verdict_text(const Problem& problem, const Schedule& schedule, const Verdict& verdict);

/// What is known about the least II beside a schedule: {"by": "heddle" (proved by this process) or "file" (what its file says), "status",
/// "lower_bound"}; null where nothing is said.
Json standing_json(const Schedule& schedule);

/// Lower bounds: load of every unit, the critical recurrence, the issue streams, and what binds.
std::string bounds_text(const Problem& problem, const Bounds& bounds);

// Parts that other answers share.
/// kernel, machine, params, changes in force, problem_hash.
void set_problem(Json& root, const Problem& problem);
/// A wall time to the microsecond, which makes it readable.
Json seconds_json(double seconds);
/// null where no II is finite.
Json finite_ii_json(Cycle ii);
/// [{file, pointer, message, hint}]
Json faults_json(const std::vector<Fault>& faults);

}  // namespace heddle

// What is said of a schedule, of a search for one, of bounds and of a verdict: as text (the headline with its status, then groups,
// channels, memory and objectives as tables) and as JSON.
#pragma once

#include <string>
#include <string_view>

#include "core/analysis/bounds.h"
#include "core/base/json.h"
#include "core/base/text_style.h"
#include "core/chart/gantt_model.h"
#include "core/check/checker.h"
#include "core/problem/problem.h"
#include "core/schedule/constraints.h"
#include "core/schedule/outcome.h"

namespace heddle {

/// "period 2405 · least of all 75 082 programs · 8114 us · 682 TFLOP/s · II 2048, proved" where something is known of its period, else
/// "II 2048 · bound 2048 · proved"; without a schedule what is known instead.
std::string headline(const SolveOutcome& outcome, const TextStyle& style);

/// The same for a schedule by itself. What a file claims is said to be the file's word.
std::string headline(const Schedule& schedule, const TextStyle& style);
/// " for at most 6 stages" behind what was proved of so many only, see Certificate::bound_stages; else empty.
std::string stages_text(std::optional<int> stages);
/// "the file says proved" or "the file says bound 960, not proved"; `without` where no file says anything.
std::string claim_text(const Schedule& schedule, const char* without = "");
/// "12 ms", "1.50 s": of a search.
std::string wall_time(double seconds);
/// "12-40": the first and the last of values in order.
std::string ends_text(const std::vector<std::int64_t>& values);
/// "8 114 us": of a whole kernel.
std::string microseconds_text(double microseconds);
/// Over a picture of it: its name, where it has one, and the headline, without colours.
std::string picture_title(const Schedule& schedule);

/// A status of a file as people say it: "proved" for "optimal", "not proved" for "feasible", "no schedule" for "infeasible"; others as they
/// are.
std::string_view status_word(std::string_view status);

/// "attention_forward_hopper on h100 (D=128, KV=128), changed: exp0.latency=600"
std::string problem_title(const Problem& problem);

/// Groups, channels and memory of a schedule that has the problem's shape.
std::string schedule_tables(const Problem& problem, const Schedule& schedule, const TextStyle& style);

/// Everything a person wants to know about a solve, headline first.
/// "as hardware runs it, with numbers that are off (predicted): 2130 cycles an iteration in the mean, ...".
std::string robust_text(const RobustChoice& choice);
/// "predicted 8 114 us, 682 TFLOP/s: the order of tawa, the first of 21 compared (the solver's own: 8 741 us)".
std::string fastest_text(const FastestChoice& choice);

std::string outcome_summary(const Problem& problem, const SolveOutcome& outcome, const TextStyle& style);

/// Load per unit, the critical recurrence, issue load, and the sentence that names what binds.
std::string bounds_summary(const Problem& problem, const Bounds& bounds, const TextStyle& style);

/// One line per violation; "valid" when there is none.
std::string verdict_summary(const Verdict& verdict);

// Answers as JSON for other programs: what `heddle solve`, `check` and `analyze` print with --json. Written only.

/// Everything about one solve. Judges the schedule afresh (`checker`, with the constraints) and adds its sustainable
/// period. Without a schedule ii, length, stages and period are null and the lists are empty.
Json outcome_json(const Problem& problem, const SolveOutcome& outcome, const Constraints& constraints = {});
std::string outcome_text(const Problem& problem, const SolveOutcome& outcome, const Constraints& constraints = {});
/// Of what `heddle solve` prints, and of the same as a part of another answer.
Json outcome_schema();
Json outcome_schema(Json& definitions);

/// The verdict on a schedule with what it is about: II, stages, sustainable period. Pre: one placement per op, one
/// depth per channel, groups that exist (every schedule that was read from a file).
std::string verdict_text(const Problem& problem, const Schedule& schedule, const Verdict& verdict);
Json verdict_schema();

/// Lower bounds: load of every unit, the critical recurrence, the issue streams, and what binds.
std::string bounds_text(const Problem& problem, const Bounds& bounds);
Json bounds_schema();

// Parts that other answers share.
/// A wall time to the microsecond, which makes it readable.
Json seconds_json(double seconds);
/// null where no II is finite.
Json finite_ii_json(Cycle ii);
/// [{file, pointer, message, hint}]
Json faults_json(const std::vector<Fault>& faults);

// A schedule on a page of text: what it is, its timeline, its ops.

/// Title with II and status, timeline, op table. The model must be of this problem and schedule.
std::string timeline_page(const Problem& problem, const Schedule& schedule, const GanttModel& model, const TextStyle& style);

}  // namespace heddle

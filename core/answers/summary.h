// The answer in words: the headline with its status, then groups, channels, memory and objectives as tables.
#pragma once

#include <string>

#include "core/analysis/bounds.h"
#include "core/base/text_style.h"
#include "core/check/checker.h"
#include "core/problem/problem.h"
#include "core/schedule/outcome.h"

namespace heddle {

/// "II 2048 · bound 2048 · proved"; without a schedule what is known instead.
std::string headline(const SolveOutcome& outcome, const TextStyle& style);

/// The same for a schedule by itself. What a file claims is said to be the file's word.
std::string headline(const Schedule& schedule, const TextStyle& style);
/// "the file says proved" or "the file says bound 960, not proved"; `without` where no file says anything.
std::string claim_text(const Schedule& schedule, const char* without = "");
/// Over a picture of it: its name, where it has one, and the headline, without colours.
std::string picture_title(const Schedule& schedule);

/// "attention_forward_hopper on h100 (D=128, KV=128), changed: exp0.latency=600"
std::string problem_title(const Problem& problem);

/// Groups, channels and memory of a schedule that has the problem's shape.
std::string schedule_tables(const Problem& problem, const Schedule& schedule, const TextStyle& style);

/// Everything a person wants to know about a solve, headline first.
std::string outcome_summary(const Problem& problem, const SolveOutcome& outcome, const TextStyle& style);

/// Load per unit, the critical recurrence, issue load, and the sentence that names what binds.
std::string bounds_summary(const Problem& problem, const Bounds& bounds, const TextStyle& style);

/// One line per violation; "valid" when there is none.
std::string verdict_summary(const Verdict& verdict);

}  // namespace heddle

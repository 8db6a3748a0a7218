// Running the solver for a command: request from options, progress on a terminal, Ctrl-C.
#pragma once

#include <functional>
#include <memory>

#include "app/ask/ending.h"
#include "app/cli/inputs.h"
#include "app/command/arguments.h"
#include "app/command/terminal.h"
#include "core/base/result.h"
#include "core/schedule/outcome.h"
#ifdef HEDDLE_HAS_SOLVER
#include "app/ask/subject.h"
#include "app/command/progress_line.h"
#include "solver/questions/fastest.h"
#include "solver/search/solve.h"
#endif

namespace heddle::app {

#ifdef HEDDLE_HAS_SOLVER
/// --timeout, --seed and --max-stages.
SearchLimits limits_of(const Arguments& arguments);
/// What a question is about, with these limits.
Subject subject_of(const CommandInputs& inputs, const Arguments& arguments);
/// What --ii, --timeout, --seed, --max-stages ask for: a question about II.
solver::SolveRequest solve_request(const CommandInputs& inputs, const Arguments& arguments);
/// What the default answer is chosen with; null where another one is asked for (--least-ii, --ii, --robust, --within), and for loops of
/// Triton texts.
std::shared_ptr<const solver::TimeChoice> time_choice_of(const CommandInputs& inputs, const Arguments& arguments);

/// Shows a solve on a progress line. Pre: `line` outlives it.
solver::SolveListener listener_for(ProgressLine& line);
#endif

/// --within means ring depths for latencies that are not always the same (solver/questions/within.h), and not robust orders.
bool wants_depths_within(const CommandInputs& inputs, const Arguments& arguments);

/// The default answer, which is the fastest by prediction, or only what is known about II.
enum class Wanted { Fastest, Proof };

/// What is open about layouts is chosen, too: see CommandInputs::open; so are latencies to schedule for: see CommandInputs::within. An
/// environment error in a build without solver. An interrupted solve answers with the best so far and `cancelled`.
Result<SolveOutcome> solve_inputs(CommandInputs& inputs, const Arguments& arguments, const Terminal& terminal,
                                  Wanted wanted = Wanted::Fastest);

/// load_inputs(), and with --prove the question of SCHEDULE solved again: the terminal hears what came of it, it becomes the schedule's
/// certificate, and the outcome stays in `proof`. An environment error in a build without solver.
Result<CommandInputs> proved_inputs(const Arguments& arguments, const Terminal& terminal);

/// The schedule of the command line, or the solver's when it names none. When there is none, the exit code is in `code`
/// and the reason has been printed, with --json as the object of `heddle solve`.
/// `without` gets the outcome of a search that found none.
std::optional<Schedule> schedule_to_show(CommandInputs& inputs, const Arguments& arguments, const Terminal& terminal, int& code,
                                         const std::function<void(const SolveOutcome&)>& without = {});

}  // namespace heddle::app

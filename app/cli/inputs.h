// From the words of a command line to a problem: shipped names or paths, parameters, constraints, schedules.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/command/arguments.h"
#include "app/command/terminal.h"
#include "core/answers/chosen_layouts.h"
#include "core/answers/within.h"
#include "core/library/inputs.h"
#include "core/schedule/outcome.h"

namespace heddle::app {

struct CommandInputs : heddle::Inputs {
  std::optional<SolveOutcome> proof;  ///< what --prove found out about the question
  /// What --choose leaves to the solver. Solving answers it: then the instance is the one that was chosen, and `chosen` says how.
  std::optional<OpenLayouts> open;
  std::vector<std::string> left_open;  ///< the names of --choose
  std::optional<ChosenLayouts> chosen;
  /// Of --within where latencies are not always the same: what was found for each of them. The instance is then that of the best.
  std::optional<WithinAnswer> within;
  /// Of commands that write a kernel: whether this one can be. The default answer is then the fastest of which it can.
  std::function<bool(const Problem&, const Schedule&)> can_be_written{};
  /// Of the same, where a kernel is there already and a better one is looked for: what a search may take, in seconds.
  std::optional<double> most_seconds{};
};

/// Reads what the command line has of KERNEL, MACHINE, --param, --subtile, --constraints, --demand, --set, --layout, --instruction,
/// --choose, --groups, --max-stages and SCHEDULE. Warnings go to the terminal. A schedule's claim is judged; nothing is solved.
Result<CommandInputs> load_inputs(const Arguments& arguments, const Terminal& terminal);

/// Asks --choose again. `said` replaces the layouts that the inputs say; `more` is added to their changes.
Result<OpenLayouts> open_again(const CommandInputs& inputs, const LayoutChoices& said, const Changes& more = {});

/// All of --param, whose form the parser has checked.
Result<Scope> parse_params(const Arguments& arguments);

/// The kernel with every --subtile applied, in the order given; `params` in place of its defaults.
Result<Kernel> apply_subtiles(Kernel kernel, const Arguments& arguments, const Scope& params);

/// Every warning as a line.
void print_warnings(const Terminal& terminal, const std::vector<Fault>& warnings);

}  // namespace heddle::app

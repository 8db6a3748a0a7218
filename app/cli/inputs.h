// From the words of a command line to a problem: shipped names or paths, parameters, constraints, schedules.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/cli/arguments.h"
#include "app/cli/terminal.h"
#include "core/kernel/kernel.h"
#include "core/machine/machine.h"
#include "core/problem/changes.h"
#include "core/problem/problem.h"
#include "core/schedule/constraints.h"
#include "core/schedule/outcome.h"
#include "core/schedule/schedule.h"

namespace heddle::app {

struct Inputs {
  Kernel kernel;     ///< as read, sub-tiled where asked, for questions that resolve it again with other numbers
  Machine machine;
  Scope params;      ///< what the user set; defaults not included
  Changes changes;   ///< of numbers; whoever resolves again passes them on
  int least_groups = 0;  ///< of the problem's max_groups, from --groups
  Problem problem;
  Constraints constraints;
  std::optional<Schedule> schedule;
  std::optional<SolveOutcome> proof;  ///< what --prove found out about the question
};

/// Reads what the command line has of KERNEL, MACHINE, --param, --subtile, --constraints, --demand, --set, --groups, --max-stages and
/// SCHEDULE. Parameters are those of the schedule's file unless --param says otherwise. Faults of several files come together;
/// warnings go to the terminal. A schedule's claim is judged, and with --prove proved again.
Result<Inputs> load_inputs(const Arguments& arguments, const Terminal& terminal);

/// The problem of the same command line with these changes on top of its own.
Result<Problem> resolve_again(const Inputs& inputs, const Changes& more);

/// All of --param, whose form the parser has checked.
Result<Scope> parse_params(const Arguments& arguments);

/// The kernel with every --subtile applied, in the order given; `params` as for resolve().
Result<Kernel> apply_subtiles(Kernel kernel, const Arguments& arguments, const Scope& params);

/// Every warning as a line.
void print_warnings(const Terminal& terminal, const std::vector<Fault>& warnings);

}  // namespace heddle::app

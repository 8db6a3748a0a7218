// The inside of the child process in which a kernel runs. What it finds out it writes line by line to a pipe, so that the parent
// knows how far it came when it is killed or dies:
//
//   N text           what it is doing: a sign of life
//   M measurement    everything found out so far (heddle.measurement/1 on one line)
//   R which hex      records of a recording build, "loop" or "ops"; or what the micro-kernel of that number wrote
//   E                the end
#pragma once

#include <functional>
#include <string>

#include "codegen/run/plan.h"

namespace heddle::codegen {

/// Runs the plan on the GPU of this process; `write` gets each line. Failures are lines too.
void execute_plan(const RunPlan& plan, const std::function<void(const std::string&)>& write);

/// The hidden command: the plan from standard input, lines to `descriptor`. Answers the exit code.
int run_child(int descriptor);
inline constexpr const char* kChildCommand = "--run-plan";
inline constexpr int kChildDescriptor = 3;

}  // namespace heddle::codegen

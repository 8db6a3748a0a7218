// The three schedules of a Triton text, worked out for a command: time, seed, progress and Ctrl-C as the command line says.
#pragma once

#include <stop_token>

#include "app/command/arguments.h"
#include "app/command/terminal.h"
#include "core/base/result.h"
#include "core/machine/machine.h"
#include "core/triton/audit/comparison.h"
#include "core/triton/kernel/lowered.h"

namespace heddle::app {

/// A loop of a Triton text, on a machine.
struct TritonLoop {
  const triton::LoweredLoop& loop;
  const Machine& machine;
};

/// `seconds` for all three together. What the text does not say and was assumed is printed as notes. An environment error in a build
/// without solver.
Result<triton::Comparison> solve_three(const TritonLoop& asked, const Arguments& arguments, const Terminal& terminal, double seconds,
                                       std::stop_token stop);

}  // namespace heddle::app

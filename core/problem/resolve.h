// Kernel + machine + parameters -> Problem.
#pragma once

#include "core/base/result.h"
#include "core/graph/kernel.h"
#include "core/machine/machine.h"
#include "core/problem/problem.h"

namespace heddle {

/// Evaluates every size and cost, derives edges from operands, and channels from the spaces of values.
/// `overrides` replaces parameter defaults. Reports all faults at once: unknown parameters, missing rules, negative or
/// absurd costs (above 2^31 cycles), cycles of total distance 0, values that cannot fit, ops wider than the CTA.
Result<Problem> resolve(const Kernel& kernel, const Machine& machine, const Scope& overrides = {});

}  // namespace heddle

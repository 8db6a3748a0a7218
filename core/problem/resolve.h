// Kernel + machine + parameters -> Problem.
#pragma once

#include "core/base/result.h"
#include "core/kernel/kernel.h"
#include "core/layout/choices.h"
#include "core/machine/machine.h"
#include "core/problem/changes.h"
#include "core/problem/problem.h"

namespace heddle {

/// Evaluates every size and cost, derives edges from operands, and channels from the spaces of values.
/// `overrides` replaces parameter defaults; `changes` change costs, capacities and limits before anything is derived from
/// them; `choices` say how values lie and in which instructions they move, which costs follow from. Reports all faults at once: unknown
/// parameters, missing rules, negative or absurd costs (above 2^31 cycles), changes of what does not exist, cycles of total distance 0,
/// values that cannot fit, ops wider than the CTA.
Result<Problem> resolve(const Kernel& kernel, const Machine& machine, const Scope& overrides = {}, const Changes& changes = {},
                        const LayoutChoices& choices = {});

}  // namespace heddle

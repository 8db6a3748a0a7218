// Which groupings Triton's lowering to warp groups accepts (Blackwell), as constraints on a schedule of the triton reading, so that what is
// found can be given back. What a text says is judged apart from this, by core/triton/back/rules.h.
#pragma once

#include "core/problem/problem.h"
#include "core/schedule/constraints.h"
#include "core/triton/kernel/native.h"
#include "core/triton/read/program.h"

namespace heddle::triton {

/// - A loop without a load by descriptor, or with a number of warps that is no multiple of 4, is not specialized: one group.
/// - Beside mmas, one group alone uses an accumulator, and it has no mmas.
/// - Work in registers that hangs together stays together: what stands between two ops of one group is computed there in any case.
Constraints partition_constraints(const TritonProgram& program, const Native& native, const Problem& problem);

}  // namespace heddle::triton

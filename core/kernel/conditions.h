// The sizes that a kernel computes with: the conditions that its file states on its parameters, and that no "/" in its grid, its trips and
// the extents of its tiles and tensors leaves a remainder, for what it leaves would be dropped without a word.
#pragma once

#include "core/base/expr.h"
#include "core/base/result.h"
#include "core/kernel/kernel.h"

namespace heddle {

/// The scope with the contents of the kernel's index tensors (core/kernel/index_data.h), and without switches that are off
/// (core/kernel/switches.h): a kernel without what they turn on is the same. Faults, besides those of index tensors: each
/// condition that does not hold, with the values and the nearest ones with which it would; where all hold, each division that leaves a
/// remainder. Pre: `scope` holds every parameter.
Result<Scope> checked_scope(const Kernel& kernel, Scope scope);

}  // namespace heddle

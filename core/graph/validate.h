// Does a kernel hang together? Names, references, arity, ranks, order of definition and cycles: everything that can be
// said without a machine; and shapes, at the parameters' defaults and at their evaluation sizes. Sizes at other values and costs are
// judged by core/problem/resolve.h, shapes by core/eval.
#pragma once

#include <vector>

#include "core/base/result.h"
#include "core/graph/kernel.h"

namespace heddle {

/// All faults, with the JSON Pointers that the kernel's file has ("/body/3/in/0"); empty when there are none.
/// A kernel whose body has an op of kind "opaque" is a graph of plain numbers: its values need no definition before the
/// first iteration.
std::vector<Fault> validate(const Kernel& kernel);

}  // namespace heddle

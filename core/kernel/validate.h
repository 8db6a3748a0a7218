// Does a kernel hang together? Names, references, arity, ranks, order of definition and cycles: everything that can be
// said without a machine and without parameter values. Sizes and costs are judged by core/problem/resolve.h.
#pragma once

#include <vector>

#include "core/base/result.h"
#include "core/kernel/kernel.h"

namespace heddle {

/// All faults, with the JSON Pointers that the kernel's file has ("/body/3/in/0"); empty when there are none.
/// A kernel whose body has an op of kind "opaque" is a graph of plain numbers: its values need no definition before the
/// first iteration.
std::vector<Fault> validate(const Kernel& kernel);

/// Shapes that no op of their kind takes (core/kernel/op_shapes.h), at the parameters' defaults and, where all is well there, at the
/// evaluation sizes. Values without dimensions or with a size that is none are not judged.
std::vector<Fault> validate_shapes(const Kernel& kernel);

}  // namespace heddle

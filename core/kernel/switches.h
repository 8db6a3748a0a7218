// Ops and tensors that a kernel has for some parameters only: "if": "KV_LEN % KV != 0". Whoever gives a kernel its parameters settles it
// first, and all that comes after knows nothing of this.
//
// An op that is off is not there. If it has one input, of its result's shape, type and space, whoever reads the result reads the input
// instead; of other ops the results are gone too, and only ops under the same condition may read them. An axis is free
// (core/kernel/free_axes.h) where nothing that is there depends on its order.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/kernel/kernel.h"

namespace heddle {

/// As its file says it, with all that parameters turn on.
const Kernel& as_in_file(const Kernel& kernel);

/// What the kernel is with its defaults but for `params`, whatever it was settled for before; the same one where that changes nothing.
/// Names that are no parameters are passed over. Faults: conditions that cannot be evaluated.
Result<Kernel> settled(const Kernel& kernel, const Scope& params);
Result<std::shared_ptr<const Kernel>> settled(const std::shared_ptr<const Kernel>& kernel, const Scope& params);
/// Nothing where that is the same one, which is not copied then.
Result<std::optional<Kernel>> settled_otherwise(const Kernel& kernel, const Scope& params);

/// A parameter that may be 0, and is by default, for conditions name it, and nothing else does; all others are at least 1.
bool is_switch(const Kernel& kernel, const Param& param);

/// With the switches that are off, which a checked scope (conditions.h) does not name.
Scope with_switches(const Kernel& kernel, Scope params);

/// With all off that may be: what is not so there is so for no parameters.
Kernel barest(const Kernel& kernel);

/// With the conditions that made it what it is among those of its sizes: whoever changes it can no longer settle it again.
Kernel held(Kernel kernel);

/// Faults about a settled kernel, with the places of its file.
std::vector<Fault> in_file(std::vector<Fault> faults, const Kernel& kernel);

/// What reads something that is not always there.
std::vector<Fault> validate_switches(const Kernel& kernel);

}  // namespace heddle

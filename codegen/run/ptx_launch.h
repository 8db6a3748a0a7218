// The launch of an emitted kernel as a file of `heddle check` has it (ptx/launch): what run/gpu.cpp says to a driver, with memory made up.
#pragma once

#include "codegen/emit/emit.h"
#include "core/base/result.h"
#include "ptx/launch/launch.h"

namespace heddle::codegen {

/// As `heddle run` would start it on a GPU of so many SMs, at the sizes `params` (of the program). Index tensors have their numbers, which
/// decide control flow; all other memory is unknown. Faults: a tensor without extents, sizes that the text's formulas refuse.
Result<ptx::Launch> ptx_launch(const Kernel& kernel, const Scope& params, const Emission& emission, std::int64_t sms);

}  // namespace heddle::codegen

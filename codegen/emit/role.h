// A role's branch of the kernel: its threads, variables and cursors, the loop over tiles, and its sections, step by step.
#pragma once

#include "codegen/emit/context.h"

namespace heddle::codegen {

void write_role(EmitContext& emit, std::size_t index);

}  // namespace heddle::codegen

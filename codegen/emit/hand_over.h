// Registers from role to role, through shared memory, thread by thread.
#pragma once

#include "codegen/emit/context.h"

namespace heddle::codegen {

void write_hand_over(EmitContext& emit, const Step& step);
/// Into the array that input_array() names (operands.h).
void take_hand_over(EmitContext& emit, const Step& step, std::size_t input);

}  // namespace heddle::codegen

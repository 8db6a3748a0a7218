// What threads read from global memory themselves, each the elements that it holds: vectors and tiles that an epilogue adds or
// multiplies by.
#pragma once

#include "codegen/emit/context.h"

namespace heddle::codegen {

void write_global_load(EmitContext& emit, const Step& step, const TileOp& op);

}  // namespace heddle::codegen

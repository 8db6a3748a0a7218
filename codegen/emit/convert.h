// Registers of one type into registers of another, group by group: as many elements as the narrower type has in a register.
#pragma once

#include "codegen/emit/context.h"

namespace heddle::codegen {

void write_convert(EmitContext& emit, const Step& step, const TileOp& op);

}  // namespace heddle::codegen

// What the tensor memory accelerator moves: boxes of tiles and of gathered rows, and the maps by which the host describes their tensors.
#pragma once

#include "codegen/emit/context.h"

namespace heddle::codegen {

void write_load(EmitContext& emit, const Step& step);
void write_store(EmitContext& emit, const Step& step);

}  // namespace heddle::codegen

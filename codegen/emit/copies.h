// A tile's way into shared memory without TMA: every thread of the role copies a part of it (cp.async).
#pragma once

#include "codegen/emit/context.h"

namespace heddle::codegen {

/// Issue of a load that is made of copies: 16, 8 or 4 bytes at a time, zeros beyond the tensor's end; then each thread's arrival.
void write_copies(EmitContext& emit, const Step& step);

}  // namespace heddle::codegen

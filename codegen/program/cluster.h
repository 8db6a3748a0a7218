// Pairs of blocks: on Hopper they load for each other, on Blackwell one mma is for both.
#pragma once

#include "codegen/program/draft.h"

namespace heddle::codegen {

/// Along which grid dimension, and which buffers they fill for each other; nothing where no clusters are asked for.
void share_loads(ProgramDraft& draft);

/// The problem of each block of a pair, which keeps half of every mma's second operand.
Problem of_pair(const Kernel& kernel, const Problem& problem);

}  // namespace heddle::codegen

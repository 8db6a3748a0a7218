// What is worked out of a function's instructions once they are read: blocks, where lanes meet again, which registers are more than data.
#pragma once

#include "ptx/text/module.h"

namespace heddle::ptx {

/// Fills `leaders` and each instruction's `meet`. Post-dominators by Lengauer and Tarjan, "A fast algorithm for finding dominators in a
/// flowgraph", 1979, on the graph turned round. A loop without a way out is taken to have one behind its last block.
void find_meets(PtxFunction& function);

/// Fills `needed`: what branches, addresses, barriers, counts, descriptors and stored integers hang on, through arithmetic. Not what matrix
/// instructions multiply, not what is stored of floats or made of floats, and a guard of arithmetic only with what it writes.
void find_needed(PtxFunction& function);

}  // namespace heddle::ptx

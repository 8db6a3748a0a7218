// The loops of compiled code: natural loops of its control flow (Aho, Lam, Sethi, Ullman, "Compilers", 9.6).
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "codegen/machine_code/instructions.h"

namespace heddle::codegen {

/// What one pass executes, in the order of the addresses. Left out is what only waits: the spinning on a barrier that the compiler
/// puts behind the code, and the jumps back from it.
struct MachineLoop {
  std::vector<std::size_t> instructions;
  std::vector<std::size_t> flow;      ///< the same as they are executed: what a branch skips may lie behind the loop
  std::vector<std::size_t> left_out;  ///< of what waits
};

/// Loops of one head are one loop; those that only wait are none.
std::vector<MachineLoop> find_loops(const std::vector<MachineInstruction>& code);

/// What one pass executes in which no barrier is asked twice, in order. `skipped(first, last)`: a conditional branch over these
/// instructions, `last` excluded, is taken; other branches forward are not, nor are those back from inner loops.
std::vector<std::size_t> one_pass(const std::vector<MachineInstruction>& code, const MachineLoop& loop,
                                  const std::function<bool(std::size_t, std::size_t)>& skipped);

}  // namespace heddle::codegen

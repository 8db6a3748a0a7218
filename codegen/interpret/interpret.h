// Executes a program on the CPU the way a block does: roles advance in any order, what TMA, wgmma and tcgen05 were asked to do
// happens at any later moment, barriers have phases and parities. What goes wrong under some interleaving on the GPU goes
// wrong under some interleaving here, and is named: who, at which step, of which iteration.
//
// What is watched (PTX ISA: mbarrier, wgmma, cp.async.bulk, setmaxnreg):
//   deadlock           no role can go on and nothing is in flight
//   use before ready   a step finds another value, another iteration or another tile where it reads, or the right one without
//                      the role having waited for it itself
//   overwrite          a slot is filled while something still reads it, or by a role that has not itself waited for it to be
//                      free, or is freed by a role whose own wgmmas still read it; a register is read or written while a wgmma in
//                      flight may use it (PTX ISA: reading an operand before the wait is undefined too)
//   fence              TMA or wgmma reads what threads wrote without a fence, or threads overwrite what a store has read
//                      without having been told
//   parity aliasing    a wait passes, but on another phase than the one it is about
//   turns              a role is given its turn on the tensor core twice, or a turn is left over: the named barrier would count
//                      arrivals of different rounds together
//   alignment          a box of TMA begins in global memory at no multiple of 16 bytes (with data only)
//   registers          a role's live values exceed its budget, or the budgets exceed what the block was launched with
//
// And of tensor memory (PTX ISA, tcgen05 family):
//   use before ready   an mma's result is touched before its signal has been awaited, registers before their load has
//   overwrite          columns are written while an mma in flight reads or fills them, or before loads from them are awaited
//   fence              an mma or another role touches what threads have stored or loaded, without what has to stand in between: the
//                      wait for loads or stores, the fence before the signal, the fence behind the wait, the meeting of the role's warps
//   lanes              a role that loads or stores is not four warps that begin a warpgroup
//   aliasing           tiles share columns, or lie beyond those that were allocated
//   never freed        nobody gives the columns back
//
// One agent stands for all warps of a role; barriers count arrivals of warps.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>

#include "codegen/program/program.h"
#include "core/base/result.h"
#include "core/kernel/array.h"

namespace heddle::codegen {

enum class FaultKind { Deadlock, NotReady, Overwrite, Fence, Parity, Turns, Registers, Lanes, Aliasing, NotFreed, Alignment, Semantics };
const char* to_string(FaultKind kind);

struct ProgramFault {
  FaultKind kind = FaultKind::Deadlock;
  std::string role;
  std::string step;  ///< as step_text() has it
  std::int64_t tile = 0, iteration = 0;
  std::string what;
  std::optional<OpRef> op;  ///< whose step it is; absent where it is no op's
};
/// One sentence, printable.
std::string to_string(const ProgramFault& fault);

struct Interleaving {
  std::uint64_t seed = 1;  ///< also picks the manner: uniform, late, eager, one role far ahead ...
  std::int64_t tiles = 1;  ///< that the block, or each block of the cluster, works through
  std::stop_token stop{};  ///< asked to stop, a run ends where it is, without a fault
};

/// Names instead of data: every slot and register knows which value of which iteration of which tile it holds.
std::optional<ProgramFault> run_symbolic(const Kernel& kernel, const Program& program, const Interleaving& how);

/// With real data: every block of the grid, `how.tiles` tiles of it per block (the last block may have fewer). Writes the
/// kernel's outputs into `tensors`. Input errors are those of heddle eval. Asked to stop, it does so within one tile instruction, and
/// what it has written means nothing.
Result<std::optional<ProgramFault>> run_with_data(const Kernel& kernel, const Program& program, TensorMap& tensors, const Interleaving& how,
                                                  const std::stop_token& stop = {});

}  // namespace heddle::codegen

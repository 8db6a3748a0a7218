// How long the steady loops of a compiled kernel take together: one quarter of an SM, cycle by cycle, with one warp of every warp group.
//
// A quarter issues one instruction a cycle and has a part of the tensor core of its own. A warp stalls as its control codes say (control.h)
// and waits for its scoreboards; arithmetic waits for its pipe. Wgmmas of all warps share one queue, as in the rule of motion
// (core/motion/motion.h): so many are in flight, an mma is accepted whole before the next one's first wgmma is, first come, and the tensor
// core takes them in that order. Beside a running mma arithmetic is late, because registers are read for both, and the mma is late for
// the same reason. What all this costs are the machine's numbers of contention (core/machine/contention.h). Of these `special_interval`,
// `first_loads`, `reordered` and `hidden` are not needed: machine code has its own stalls and order.
//
// Left out: loads (what a barrier in shared memory guards is always there), conflicts in shared memory, global memory, the producer's warp,
// power and clock. What lives on these comes out too fast: attention backward by a fifth and more.
//
// Pipes: CUDA C++ Programming Guide, "Arithmetic Instructions", compute capability 9.0. Beside the loops that were measured on an H100:
// docs/figures.md.
#pragma once

#include <optional>
#include <vector>

#include "codegen/machine_code/instructions.h"
#include "core/base/id.h"
#include "core/machine/contention.h"

namespace heddle::codegen {

/// What an instruction does to the quarter. Plain ones only take its issue slot, a multiplication as much as a branch.
enum class QuarterUnit { Plain, Alu, Special, Shuffle, Shared, Product, ProductFence, ProductWait, TakeTurn, PassTurn, BarrierWait };

struct QuarterStep {
  QuarterUnit unit = QuarterUnit::Plain;
  int stall = 1;
  int write_barrier = -1, read_barrier = -1;  ///< scoreboards; -1: none
  unsigned wait = 0;                          ///< mask of scoreboards
  int amount = 0;  ///< Product: cycles on the tensor core; ProductWait: groups that may be in flight; Shared: cycles of the port
  int reads = 0;   ///< register reads that meet an mma's
  bool registers = false, closes_group = false;  ///< Product
};

/// One pass of a warp's loop, again and again.
struct QuarterWarp {
  std::vector<QuarterStep> steps;
  int unknown = 0;  ///< instructions of kinds that are not known, taken for Alu
};

/// The steps of `pass`, indices into `code` in the order of execution. `threads`: of the warp group; a named barrier of more is a turn.
QuarterWarp quarter_warp(const std::vector<MachineInstruction>& code, const std::vector<std::size_t>& pass, int threads);

/// Of one warp, cycles of a pass: means over the late passes, rounded.
struct QuarterTimes {
  Cycle pass = 0;
  Cycle in_turn = 0;          ///< between taking a turn and passing it
  std::vector<Cycle> waited;  ///< by step: from when it could have been issued after the one before it until it was
  bool operator==(const QuarterTimes&) const = default;
};

/// By warp, each in its loop for ever. Turns go round through the warps that take some; whoever has it first, the beginning that turns out
/// slower counts (they differ by 3 % at most in what was compiled). Nothing where a warp waits for ever, or never gets to issue. The same
/// question always has the same answer: integers only.
std::optional<std::vector<QuarterTimes>> run_quarter(const std::vector<QuarterWarp>& warps, const Contention& numbers);

}  // namespace heddle::codegen

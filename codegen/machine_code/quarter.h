// How long the steady loops of a compiled kernel take together: one quarter of an SM, cycle by cycle, with one warp of every warp group.
//
// A quarter issues one instruction a cycle and has a part of the tensor core of its own. A warp stalls as its control codes say (control.h)
// and waits for its scoreboards; arithmetic waits for its pipe. The tensor core takes wgmmas of the warps in turn; a warp is held at its
// next wgmma while as many as fit are accepted and not begun, so that issuing an mma takes nearly as long as the mma. Beside a
// running mma arithmetic is late, because registers are read for both, and the mma is late for the same reason.
//
// Left out: loads (what a barrier in shared memory guards is always there), conflicts in shared memory, global memory, the producer's warp,
// power and clock. What lives on these comes out too fast: attention backward and GEMM with 4-bit weights by 9 to 20 %.
//
// Pipes: CUDA C++ Programming Guide, "Arithmetic Instructions", compute capability 9.0. The numbers are fitted (below) to loops of
// attention and 8-bit GEMM measured on an H100: mean error 3 %, worst 8 %. Of 20 pairs of attention orders whose measured times differ
// by 1.5 % or more all came out in the right order with the texts that were measured, 19 with today's.
#pragma once

#include <optional>
#include <vector>

#include "codegen/machine_code/instructions.h"
#include "core/base/id.h"

namespace heddle::codegen {

/// By where A of an mma lies.
struct PerOperand {
  double shared = 0, registers = 0;
};

/// What contention costs, in cycles. Those with fractions were fitted together to 14 loops of attention and of 8-bit GEMM, measured on an
/// H100 on 25 and 26 November 2026, for a scheduler that stays with a warp as long as it can; ranges in brackets are over fits without one
/// family of kernels each. Latencies and times become whole cycles upwards.
struct QuarterNumbers {
  int queued_shared = 3, queued_registers = 1;  ///< wgmmas of a warp accepted and not begun [1 to 3, 1]
  PerOperand late_per_read{0.802, 0.66};        ///< of the warp, for each register read beside such an mma [0.7 to 1.1, 0.6 to 0.7]
  double late_per_special = 1.5;                ///< of the warp, for a MUFU beside an mma [1.3 to 1.7]
  PerOperand product_per_read{0.0994, 0.4626};  ///< of the tensor core, for each register read beside it [0.07 to 0.43, 0.34 to 0.46]
  double product_done = 57.5;                   ///< from an mma's last cycle until its group goes on [42 to 75]
  double turn = 51.01;                          ///< from passing a turn until the other group goes on [24 to 64]
  double special_latency = 19.28;               ///< of MUFU [17 to 25]
  // Not fitted.
  double shuffle_latency = 26, barrier_latency = 24, shared_latency = 30;
};

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
/// question always has the same answer: integers only, once the numbers are read.
std::optional<std::vector<QuarterTimes>> run_quarter(const std::vector<QuarterWarp>& warps, const QuarterNumbers& numbers = {});

}  // namespace heddle::codegen

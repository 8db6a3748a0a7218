// The rule of motion: how long an iteration of a program takes on one quarter of an SM, where warp groups take time from each other.
//
// A group does one step of its circle after the other, from the first, and what would have begun before its first turn has ended:
//   - Issue: the first instruction is put `fence` after the step begins, register_fence later where it reads registers, each next one
//     issue_step after the one before, and none while `in_flight` of all groups are accepted and have not ended; the step ends issue_step
//     after the last one, and no sooner than `held` after its begin. The tensor core takes the instructions of the step that began first.
//   - Await: lasts `ready`, and until `extra` after the end of what it waits for. An mma ends product_done after its last cycle on the
//   tensor
//     core; where that is not known, so much later as its latency is beyond the cycles of the tensor core.
//   - Copy: holds its group for `held`; each unit takes it up behind what it had before, and it ends `latency` after the begin, and as much
//     later as the slowest of its units came late. Loads in the first kFirstTurns turns of their group take first_loads percent of their
//     latency: which of several ways a program falls into shall not depend on a start that no GPU gives it.
//   - Pass: the other group can take its turn after `turn`.
//   - Arithmetic: with time T = alone + busy * (late_per_read * reads + late_per_special * specials), busy being 1 while the tensor core
//     works, it does 1 / T of itself in a tick. Where the special functions of all groups (8 cycles each) or their instructions (one cycle
//     each) would take more than a cycle in a cycle, all arithmetic is slowed alike, so that they take one.
//   - The tensor core loses product_per_read of a cycle for each register read of all groups in it, and works at least at a twentieth.
// Numbers of the tensor core's state are those of the mma at work: its first operand in shared memory or in registers. All numbers are
// those of the problem's machine (core/machine/contention.h). A machine without them has no contention: mmas hold their groups for their
// windows, and nothing is late.
//
// In whole numbers, always rounded so that things take longer: time is in 1/256 cycle; T is rounded up; what is done of arithmetic in a
// tick is in 2^-40 of it, rounded down; reads, special functions and instructions in a tick are in 1/65536 of one a cycle, rounded up, the
// speed of the tensor core in 1/65536, rounded down. Time goes on from one moment at which something ends to the next, at least one tick.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/motion/circle.h"

namespace heddle::motion {

/// A warp's special function keeps those of one quarter of an SM busy so long (published: 16 results per cycle and SM).
inline constexpr std::int64_t kCyclesOfSpecial = 8;
/// As many slots as rings usually have: in so many turns a group's loads are the first of a loop.
inline constexpr std::int64_t kFirstTurns = 3;

/// Between two equal states at the first step of the first group that has mmas.
struct MotionPeriod {
  Ticks ticks = 0;
  std::int64_t iterations = 0;  ///< 0: it cannot run
  bool exact = false;           ///< it repeats itself; else the mean of a long run
  double cycles() const { return iterations > 0 ? static_cast<double>(ticks) / kCycle / static_cast<double>(iterations) : 0; }
};
/// Whether a is shorter than b; a program that cannot run is longer than all.
bool shorter(const MotionPeriod& a, const MotionPeriod& b);

/// What a group, or the tensor core for one (`tensor`), does from `begin` to `end`.
struct MotionSpan {
  std::size_t group = 0;
  std::size_t step = 0;  ///< of the group's circle
  bool tensor = false;
  std::int64_t turn = 0;  ///< j
  Ticks begin = 0, end = 0;
  std::string why;  ///< of a wait: what came last, "QK0 runs until then", "turn of group 2", "ring K has no free slot"; else empty
};

struct Motion {
  MotionPeriod period;
  bool stuck = false;
  std::string fault;              ///< why it cannot run: who waits for whom
  std::vector<MotionSpan> spans;  ///< of one period, by begin, from 0; some end in the next one; only if asked for
};

struct MotionOptions {
  bool spans = false;
  /// So many circles of each group are run at most before the program counts as one that never repeats itself; its period is then the mean
  /// of the second half, and `Period::iterations` says over how many.
  std::int64_t most_turns = 400;
  std::stop_token stop{};
};

/// The groups begin one after the other in the order of `turns`.
Motion run_motion(const Problem& problem, const GroupCircles& circles, const MotionOptions& options = {});

/// circles_of(), as_compiled(), run_motion().
Motion motion_of(const Problem& problem, const timing::LoopProgram& program, const MotionOptions& options = {});
Motion motion_of(const Problem& problem, const Schedule& schedule, const MotionOptions& options = {});

}  // namespace heddle::motion

// The rule of motion: how long an iteration of a program takes on one quarter of an SM, where warp groups take time from each other.
//
// Deterministic, in integers. The tensor core takes the next mma instruction of the groups in turn. Issue puts one instruction every
// issue_step while fewer than `queued` wait, the first not before the fence. Passing a turn takes `turn`. A wait for an mma ends
// product_done after its last cycle. Arithmetic runs at 1 / (alone + busy * (late_per_read * reads + late_per_special * specials)), busy
// being 1 while the tensor core works; where the groups' special functions (8 cycles each) or instructions would take more than all of a
// cycle, all are slowed alike. The tensor core runs at 1 - product_per_read * (reads per cycle of all groups), at least a twentieth.
// Copies queue on their units. All numbers are those of the problem's machine (core/machine/contention.h); a machine without them has no
// contention: mmas hold nobody, nothing is late.
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

/// Between two equal states at the first step of the first group that has mmas.
struct Period {
  Ticks ticks = 0;
  std::int64_t iterations = 0;  ///< 0: it cannot run
  bool exact = false;           ///< it repeats itself; else the mean of a long run
  double cycles() const { return iterations > 0 ? static_cast<double>(ticks) / kCycle / static_cast<double>(iterations) : 0; }
};
/// Whether a is shorter than b; a program that cannot run is longer than all.
bool shorter(const Period& a, const Period& b);

/// What a group, or the tensor core for one (`tensor`), does from `begin` to `end`.
struct Span {
  std::size_t group = 0;
  std::size_t step = 0;  ///< of the group's circle
  bool tensor = false;
  std::int64_t turn = 0;  ///< j
  Ticks begin = 0, end = 0;
  std::string why;  ///< of a wait: what came last, "QK0 runs until then", "turn of group 2", "ring K has no free slot"; else empty
};

struct Motion {
  Period period;
  bool stuck = false;
  std::string fault;        ///< why it cannot run: who waits for whom
  std::vector<Span> spans;  ///< of one period, from its beginning at 0, by begin; only if asked for
};

struct MotionOptions {
  bool spans = false;
  /// So many circles of each group are run at most before the program counts as one that never repeats itself; its period is then the mean
  /// of the second half, and `Period::iterations` says over how many.
  std::int64_t most_turns = 400;
  std::stop_token stop{};
};

/// The groups begin one after the other in the order of `turns`; then once more with each other turn first. The worst period counts.
Motion run_motion(const Problem& problem, const Circles& circles, const MotionOptions& options = {});

/// circles_of(), as_compiled(), run_motion().
Motion motion_of(const Problem& problem, const timing::Program& program, const MotionOptions& options = {});
Motion motion_of(const Problem& problem, const Schedule& schedule, const MotionOptions& options = {});

}  // namespace heddle::motion

// How full rings are over time, and who stands and waits for them. A ring is a queue: its writer (the access side, where that is the
// producer) puts entries in, its readers (the execute side) take them out.
//
// A slot is *taken* from the issue of its writer until its last reader has released it: it is being filled, or filled. It is *filled* for
// the part of that time in which what was written is usable. Between two barriers that keep the order there are never more slots taken
// than the ring has.
//
// A ring *starves* while an op that reads it could go but for the entry: its warp group has come to it, its units are free, and the entry
// is not there yet (latency and hand-off included). It is *full* while its writer could go but for the slot: its group has come to it, its
// units are free, and what lies in the slot is there and not released. A slot whose entry is still on its way is latency, and no full ring;
// a reader that waits while its unit works on what it issued before does not starve. Units that several ops can use at once count as free.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/analysis/usage_curve.h"
#include "core/problem/problem.h"
#include "core/schedule/schedule.h"
#include "core/simulate/simulate.h"

namespace heddle {

/// An op of a ring that stands and waits for it: [begin, end).
struct RingWait {
  Cycle begin = 0, end = 0;
  OpId at;
  std::int64_t iteration = 0;
};

struct RingFill {
  ChannelId channel;
  Cycle begin = 0, end = 0;              ///< what is looked at
  UsageCurve taken, filled;              ///< slots; the first step is at `begin`
  std::vector<RingWait> starving, full;  ///< by begin; of several readers they may overlap
};

/// [begin, end) of iterations 0 .. iterations - 1; without them of a loop that runs for ever.
struct FillRange {
  Cycle begin = 0, end = 1;
  std::optional<int> iterations;
};

/// At the times of the schedule itself, as bars of a chart have them. Rings in the order of the problem's channels; those that the schedule
/// does not have are left out. Pre: the schedule's sizes fit the problem, II >= 1; any timing is fine.
std::vector<RingFill> ring_fill(const Problem& problem, const Schedule& schedule, const FillRange& range);

/// At the times of a simulated run. An entry whose readers are not in the timeline stays until its slot is filled again. Pre: the
/// timeline's first ops are those of a loop, the problem and schedule what the run was made with (KernelRun::program).
std::vector<RingFill> ring_fill(const Problem& problem, const Schedule& schedule, const std::vector<SimulatedOp>& timeline, Cycle begin,
                                Cycle end);

/// Of the time from `begin` to `end` the part in which at least one of them waits, in [0, 1].
double share_of_time(const std::vector<RingWait>& waits, Cycle begin, Cycle end);
/// The mean over [begin, end) of a curve that goes on as far.
double mean_value(const UsageCurve& curve, Cycle begin, Cycle end);

}  // namespace heddle

// A schedule's loop, run: in-order streams per warp group, units, rings with credits, hand-offs, latencies that may vary from
// iteration to iteration, from the first op of the first iteration to the end of the last.
//
// With Arbitration::Scheduled an op starts as soon as every edge of the event graph (core/analysis/period.h) allows: the order
// on streams and units is the schedule's, timing is free. With constant latencies the run becomes periodic, and its period is
// sustainable_period() exactly. With Arbitration::FirstCome units serve whoever asks first, as hardware does where no barrier
// says otherwise: an asynchronous op whose unit is busy is queued there while its stream goes on, any other op waits for it.
// Ties go to the group with the smaller number; no op overtakes another on a unit. With Arbitration::Interleaved tensor cores and
// arithmetic units serve groups that ask at the same time side by side, a few instructions of each in turn; only the order that barriers
// keep is kept (core/analysis/turns.h). With Arbitration::Contended warp groups take time from each other as one quarter of an SM has them
// do (core/motion/motion.h): only the steady state is run.
#pragma once

#include <array>
#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "core/problem/problem.h"
#include "core/schedule/schedule.h"
#include "core/simulate/jitter.h"

namespace heddle {

enum class Arbitration { Scheduled, FirstCome, Interleaved, Contended };
const char* to_string(Arbitration arbitration);  ///< "scheduled", "first-come", "interleaved", "contended"

/// Why a stream stands still at an op. What came last counts: with its arrival the op starts.
enum class StallReason {
  Data,    ///< a value of another op, hand-off included
  Order,   ///< an order without a value: a barrier
  Unit,    ///< the unit is busy, or another op's turn comes first
  Credit,  ///< the slot to be filled has not been released
};
inline constexpr std::size_t kStallReasons = 4;
const char* to_string(StallReason reason);  ///< "data", "order", "unit", "credit"
using Stalls = std::array<Cycle, kStallReasons>;

inline constexpr const char* kStopped = "the simulation was stopped before its end";

struct SimulateOptions {
  std::int64_t trips = 1024;  ///< iterations of the loop; at least 1
  Arbitration arbitration = Arbitration::Scheduled;
  bool turns = true;    ///< Interleaved: groups take turns on the tensor cores where a program would have them do so
  Cycle turn_cost = 0;  ///< cycles that passing a turn takes
  Cycle apart = 0;      ///< Interleaved: each group with products comes so many cycles later to its first one than the group before it
  LatencyJitter jitter{};
  int timeline = 0;  ///< iterations, from the first, whose ops are put into the timeline
  /// Ops that are simulated one by one. With scheduled units whole periods are skipped; any other run goes on at the rate of its
  /// period, and says so.
  std::int64_t most_ops = 50'000'000;
  std::stop_token stop{};  ///< asked to stop, a run gives up with the fault kStopped
};

/// Cycles per iteration as measured, a ratio.
struct MeasuredPeriod {
  std::int64_t weight = 0, tokens = 1;
  bool exact = false;     ///< the run repeated itself, `tokens` iterations at a time; else the mean of its last half
  std::int64_t from = 0;  ///< the iteration from which it repeats itself, or from which the mean was taken
  double cycles() const { return static_cast<double>(weight) / static_cast<double>(tokens); }
};

/// What a warp group's time went to; the sum is Simulation::cycles.
struct GroupTime {
  Cycle busy = 0;  ///< inside issue windows
  Stalls stalls{};
  Cycle idle = 0;  ///< after its last op
};

struct OpTime {
  Stalls stalls{};   ///< of its group's, those at this op
  Cycle held = 0;    ///< it had all it waits for, but its stream was busy before it
  Cycle queued = 0;  ///< issued, but its unit was busy; first come only
};

/// One line of "who waits for whom".
struct Wait {
  OpId at, behind;  ///< `at` waits for `behind`
  StallReason reason = StallReason::Data;
  std::string what;  ///< the value, unit or ring: "S0", "TC", "ring K (depth 2)"
  Cycle cycles = 0;
};

struct SimulatedOp {
  OpId op;
  std::int64_t iteration = 0;
  GroupId group;
  Cycle issue = 0;  ///< when its stream let it go; before `start` only where it was queued
  Cycle start = 0;
  Cycle end = 0;  ///< its result is usable
};

struct Simulation {
  bool deadlock = false;
  OpId stuck;              ///< of a deadlock: an op that never starts
  std::string fault;       ///< why there are no cycles: who waits for whom in a deadlock, or too many stages to hold
  std::int64_t trips = 0;  ///< fewer than asked for only where the cycles would not fit 62 bits
  Cycle cycles = 0;        ///< from 0 to the end of the last op
  MeasuredPeriod period;
  /// Orders on a unit that are left out because an op would have to wait for what issues after it (uses that begin late and
  /// overtake others). Where there are any the period may be below the sustainable one.
  std::int64_t unordered = 0;
  std::int64_t simulated_ops = 0;  ///< one by one; the rest are repetitions
  bool extrapolated = false;       ///< too long: cycles and times from the rate of what was simulated
  std::vector<GroupTime> groups;
  std::vector<OpTime> ops;
  std::vector<Wait> waits;            ///< most cycles first
  std::vector<SimulatedOp> timeline;  ///< by start
};

/// Pre: the schedule's sizes fit the problem, its groups exist, II >= 1. Any timing and any depths are fine. The same input gives
/// the same result.
Simulation simulate(const Problem& problem, const Schedule& schedule, const SimulateOptions& options = {});

}  // namespace heddle

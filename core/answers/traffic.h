// The answer of `heddle traffic`: rings as queues between warp groups. What passes through them, how full they are, who waits for them,
// whether the access side or the execute side is busier, and what limits the kernel.
//
// The access side are the ops of variable latency, which are the producer group's; where there are none, the ops on copy units. All others
// are the execute side. Everything that comes from a simulated run (core/simulate/kernel_run.h) is a prediction.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/analysis/tokens.h"
#include "core/answers/validation.h"
#include "core/base/json.h"
#include "core/base/text_style.h"
#include "core/kernel/kernel.h"
#include "core/machine/machine.h"
#include "core/problem/changes.h"
#include "core/problem/problem.h"
#include "core/schedule/schedule.h"
#include "core/simulate/kernel_run.h"
#include "core/simulate/ring_fill.h"
#include "core/simulate/time_parts.h"

namespace heddle {

/// Iterations of the first tile whose ops are looked at.
inline constexpr int kTrafficIterations = 256;

struct RingTraffic {
  RingTokens tokens;
  RingFill fill;                  ///< from the first op of a tile on, cold start included
  bool access = false;            ///< the access side fills it
  double taken = 0, filled = 0;   ///< slots in the mean, over Traffic's window
  double starving = 0, full = 0;  ///< parts of the window, in [0, 1]
};

/// How busy the two sides are: of each the busiest of its units, over the time that the whole kernel has on all SMs, and of its warp
/// groups' instruction streams, over the time of a CTA. L2 and DRAM count as units of the access side. In [0, 1]; an access side without
/// ops has only those two.
struct BalancePoint {
  std::string name;
  double access = 0, execute = 0;
  std::string access_by, execute_by;  ///< "TMA", "L2", "consumer A stream"
  double microseconds = 0;
  bool fits = true;   ///< its rings fit the memory of a CTA
  std::string fault;  ///< why there are no numbers
};

/// Little's law: bytes that have to be on their way so that a latency does not cost throughput. Per SM.
struct LatencyFloor {
  OpId op;                               ///< the load of greatest latency
  Cycle latency = 0;                     ///< its, as simulated
  std::int64_t bytes_per_iteration = 0;  ///< into rings of the access side, of one CTA
  double best_period = 0;                ///< cycles between two iterations on one SM where the kernel is as fast as can be
  std::int64_t needed = 0;               ///< bytes_per_iteration * latency / best_period
  std::int64_t held = 0;                 ///< by the slots of these rings, of all CTAs on the SM
  double in_flight = 0;                  ///< of that, slots being filled, in the mean of the run
  std::int64_t dram = 0;                 ///< what keeps DRAM busy: its rate * latency / SMs; 0: rate unknown
};

enum class TrafficLimit { Dram, L2, Access, Execute, Issue, Rings, Order, Ends };
const char* to_string(TrafficLimit limit);  ///< "DRAM", "L2", "access", "execute", "issue", "rings", "order", "ends"

struct TrafficVerdict {
  TrafficLimit limit = TrafficLimit::Order;
  std::string what;                 ///< the unit, rings or mechanism that it is
  double best_us = 0;               ///< no schedule is faster at this run's clock: DRAM's rate, kernel_bound(), and the launch
  std::string best_why;             ///< "DRAM: every byte once", "TC: 2048 iterations ..."
  double allowed_us = 0;            ///< what this schedule allows
  std::optional<double> deeper_us;  ///< the same order with rings that never are full
  double ii_us = 0;                 ///< II by itself: as many IIs as iterations follow each other in one place
  std::string sentence;
};

struct Traffic {
  std::string name;   ///< of the schedule
  std::string fault;  ///< why there is nothing but `tokens`
  Tokens tokens;
  std::vector<RingTraffic> rings;
  /// Means and parts are over [from, to): where all groups are past the first quarter of what is looked at and none has come to its end;
  /// of short loops all of it.
  Cycle from = 0, to = 0, end = 0;  ///< `end` of what is looked at
  std::int64_t iterations = 0;      ///< looked at
  bool steady = false;
  int ctas = 1;
  Cycle ii = 0;
  double period = 0;                  ///< simulated cycles an iteration of the loop
  std::optional<LatencyFloor> floor;  ///< nothing without an access side
  TrafficVerdict verdict;
  std::vector<BalancePoint> balance;  ///< this schedule, then the same with rings of the access side less and more deep
  Trust trust;
};

/// `run` is run_kernel() of the rest, with a timeline of kTrafficIterations, and `parts` time_parts() of it; runs the kernel some more
/// times.
Traffic traffic_of(const Instance& instance, const Schedule& schedule, const KernelRunOptions& options, const KernelRun& run,
                   const std::vector<TimePart>& parts);

/// Pre: the run has no fault.
BalancePoint balance_of(std::string name, const Problem& problem, const Schedule& schedule, const KernelRun& run);

/// Tables, a line of time for every ring, the verdict. The first is told in full; with several the balance has a row for each.
std::string traffic_summary(const Problem& problem, const Schedule& schedule, const KernelRun& run, const std::vector<Traffic>& all,
                            const TextStyle& style);
/// A row per ring of each schedule (RFC 4180).
std::string traffic_csv(const Problem& problem, const std::vector<Traffic>& all);

/// heddle.traffic/1. Written only.
Json traffic_schema();
Json traffic_json(const Problem& problem, const std::vector<Traffic>& all);

}  // namespace heddle

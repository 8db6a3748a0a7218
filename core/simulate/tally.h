// Where the time of warp groups goes while a schedule runs: issue windows, and what their streams stand still for.
#pragma once

#include <vector>

#include "core/analysis/period.h"
#include "core/simulate/simulate.h"

namespace heddle {

/// From an op's start to the end of its latency, window or last unit use, whichever is last.
Cycle end_of(const Op& op);

class Tally {
 public:
  Tally() = default;
  Tally(const Problem& problem, const Schedule& schedule, const std::vector<EventEdge>& events)
      : problem_(&problem),
        events_(&events),
        clock_(schedule.groups.size(), 0),
        busy_(schedule.groups.size(), 0),
        idle_(schedule.groups.size(), 0),
        waited_(events.size(), 0),
        held_(problem.ops.size(), 0),
        queued_(problem.ops.size(), 0) {
    for (const Placement& p : schedule.ops) group_of_.push_back(p.group.index());
  }

  /// The group's stream lets nothing go before `time`. True when it had nothing to do until then: blame() says for what.
  bool arrive(std::size_t group, Cycle time) {
    gap_ = time - clock_[group];
    if (gap_ > 0) clock_[group] = time;
    return gap_ > 0;
  }
  /// An issue window.
  void work(std::size_t group, Cycle time, Cycle window) {
    const Cycle more = time + window - clock_[group];
    if (more > 0) busy_[group] += more, clock_[group] += more;
  }
  /// Until `time` there is nothing that the group could do.
  void rest(std::size_t group, Cycle time) {
    const Cycle more = time - clock_[group];
    if (more > 0) idle_[group] += more, clock_[group] = time;
  }
  void blame(std::size_t event) { waited_[event] += gap_; }
  void hold(std::size_t op, Cycle cycles) {
    if (cycles > 0) held_[op] += cycles;
  }
  void queue(std::size_t op, Cycle cycles) { queued_[op] += cycles; }
  Cycle clock(std::size_t group) const { return clock_[group]; }

  /// What was added since `before` is added as many times again.
  void repeat(const Tally& before, std::int64_t times);
  /// Sums per group and op, and the list of waits. Pre: the result's cycles are known.
  void report(Simulation& result) const;

 private:
  const Problem* problem_ = nullptr;
  const std::vector<EventEdge>* events_ = nullptr;
  std::vector<std::size_t> group_of_;
  std::vector<Cycle> clock_, busy_, idle_;  ///< per group: until when it is accounted for
  std::vector<Cycle> waited_;               ///< per event: standing still for it
  std::vector<Cycle> held_, queued_;        ///< per op
  Cycle gap_ = 0;
};

}  // namespace heddle

// A solve as the window shows it while it runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/id.h"
#include "core/schedule/outcome.h"

namespace heddle::app {

/// A solve as far as it has come; stays after the end, until the next one or another problem.
struct LiveSolve {
  enum class Phase { None, Running, Stopping, Done };
  Phase phase = Phase::None;
  Cycle res_mii = 0, rec_mii = 0, issue_mii = 0;
  Cycle lower_bound = 0;
  std::optional<Cycle> best;
  Status status = Status::Unknown;  ///< of the outcome, once Done
  std::string doing;                ///< "refuting II 2047"
  std::string explanation;
  std::int64_t queries = 0, conflicts = 0;
  double seconds = 0;
  bool cancelled = false, timed_out = false;
  bool least_ii = false;  ///< it is about a proposal: time does not decide between orders
  std::string proving;    ///< the row whose II it is to prove; other solves make a row of their own
  /// Bound against best over time.
  struct Point {
    double seconds = 0;
    Cycle bound = 0;
    std::optional<Cycle> best;
  };
  std::vector<Point> history;

  bool active() const { return phase == Phase::Running || phase == Phase::Stopping; }
  /// It was proved that there is no schedule.
  bool refuted() const { return phase == Phase::Done && status == Status::Infeasible && !cancelled; }
};

}  // namespace heddle::app

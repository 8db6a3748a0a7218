// The answer to "what is the best schedule?", as plain data: what the command line prints, the window shows, the files keep.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/schedule/certificate.h"
#include "core/schedule/schedule.h"

namespace heddle {

struct SolveSeconds {
  double encode = 0;  ///< building formulas
  double first = 0;   ///< until the first legal schedule
  double proof = 0;   ///< until II was proved (or the time limit)
  double total = 0;   ///< until the last objective was settled
};

/// Cycles per iteration over samples of uncertain numbers.
struct PeriodSpread {
  double mean = 0, high = 0;  ///< high: the 95th percentile
};

/// What was asked of a robust schedule (core/simulate/uncertain.h).
struct RobustChoice {
  int orders = 0;  ///< different ones that were compared, the shortest schedule's among them
  PeriodSpread chosen, shortest;
  Cycle least_ii = 0;  ///< the schedule's own is at most so much plus what was allowed
};

/// How the schedule was chosen among orders by its predicted time (core/simulate/forecast.h).
struct FastestChoice {
  int orders = 0;                 ///< different ones that were compared
  bool complete = false;          ///< no order was left out for want of time
  std::string from;               ///< whose order it is: "solver" (the schedule that was found for II), "fa3", "tawa" ...
  double microseconds = 0;        ///< predicted
  double first_microseconds = 0;  ///< of the first schedule of least II; 0: it cannot be predicted
  Cycle cycles = 0;               ///< of the whole kernel
  double period = 0;              ///< cycles per iteration
  double tflops = 0;              ///< 0 where the loop has no multiply-adds
  Cycle least_ii = 0;             ///< the schedule's own may be larger
  bool least_proved = false;
};

struct SolveOutcome {
  Status status = Status::Unknown;
  std::optional<Schedule> schedule;  ///< best found; passed the checker
  Cycle lower_bound = 0;
  std::optional<int> bound_stages;  ///< lower_bound speaks of schedules of at most so many stages; none: of all
  Cycle res_mii = 0, rec_mii = 0, issue_mii = 0;
  BoundReason reason = BoundReason::None;
  std::string explanation;  ///< why II is what it is, or why there is no schedule
  std::vector<ObjectiveValue> objectives;
  SolveSeconds seconds;
  std::string solver;
  std::uint64_t seed = 0;  ///< of the request
  bool cancelled = false, timed_out = false;
  bool serial = false;   ///< nothing was found in time: the schedule is one op after the other, which needs no search
  bool cut_off = false;  ///< ended because the bound reached the request's cutoff
  std::int64_t queries = 0, conflicts = 0;
  std::optional<RobustChoice> robust;
  std::optional<FastestChoice> fastest;
};

}  // namespace heddle

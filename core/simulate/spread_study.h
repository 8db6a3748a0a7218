// Period against shared memory where latencies are not always the same: how deep the rings of loads have to be, with the bracket of the
// expected period (core/analysis/bracket.h) and the simulated value between its ends. The program stays as it is: order and groups.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/analysis/bracket.h"
#include "core/problem/problem.h"
#include "core/schedule/schedule.h"
#include "core/simulate/robustness_study.h"

namespace heddle {

struct SpreadRow {
  std::vector<int> depths;  ///< of the study's rings
  std::int64_t bytes = 0;   ///< shared memory of the CTA
  bool fits = true;
  bool now = false;  ///< the schedule's own depths
  PeriodBracket bracket;
  double mean = 0, error = 0;  ///< simulated cycles per iteration, and the standard error of that mean over the runs
  std::string fault;           ///< why nothing was simulated
};

struct SpreadStudy {
  std::vector<ChannelId> rings;  ///< filled by ops whose latency is not always the same
  /// The least shared memory for each upper end, from one slot each to where more of it lowers the upper end no further; and the
  /// schedule's own depths. By bytes.
  std::vector<SpreadRow> rows;
  bool cut = false;            ///< there are more rows than kMostSpreadRows, or finding them took too long
  std::int64_t trips = 0;      ///< of each of StudyOptions::runs
  std::int64_t unordered = 0;  ///< Simulation::unordered
};

inline constexpr std::size_t kMostSpreadRows = 64;

/// Pre: latencies_vary(problem). Jitter is left aside; of `options` come seed, runs, arbitration and stop.
SpreadStudy spread_study(const Problem& problem, const Schedule& schedule, const StudyOptions& options = {});

}  // namespace heddle

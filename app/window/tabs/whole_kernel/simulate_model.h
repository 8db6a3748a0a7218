// Where the time of a whole kernel goes, as rows: what `heddle simulate` prints, for the tab.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "app/window/kit/column.h"
#include "app/window/parts/time_bar_model.h"
#include "core/answers/simulation.h"
#include "core/base/id.h"

namespace heddle::app {

/// What a warp group's time goes to, each in percent of the SM's.
struct GroupShare {
  std::string name;
  double issuing = 0, idle = 0;
  std::array<double, kStallReasons> stalls{};
};

struct WaitRow {
  OpId op;  ///< of the loop; invalid: outside it
  std::string name, behind, through, reason;
  Cycle cycles = 0;
  double percent = 0;  ///< of the SM's time
};

/// Period against shared memory where latencies are not always the same: a row of `heddle simulate --study depth`.
struct DepthPoint {
  double kib = 0, low = 0, simulated = 0, high = 0;  ///< cycles per iteration
  bool simulates = true, now = false, fits = true;
  std::string about;
};

struct SimulateModel {
  TimeBar bar;
  std::vector<DepthPoint> depths;  ///< by memory; empty: all latencies are constant
  std::string latencies;           ///< which vary, and how
  std::vector<GroupShare> groups;
  std::vector<WaitRow> waits;      ///< longest first, as many as are worth a row
  std::string busy;                ///< "TC 91 %, L2 60 %"
  std::vector<std::string> notes;  ///< sentences on what was assumed
};

/// Pre: the run has no fault, and is of the problem.
SimulateModel build_simulate(const SimulationAnswer& answer, const Problem& problem);

std::vector<Column<GroupShare>> group_share_columns();
std::vector<Column<WaitRow>> wait_columns();

}  // namespace heddle::app

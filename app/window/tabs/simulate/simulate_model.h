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

struct SimulateModel {
  TimeBar bar;
  std::vector<GroupShare> groups;
  std::vector<WaitRow> waits;      ///< longest first, as many as are worth a row
  std::string busy;                ///< "TC 91 %, L2 60 %"
  std::vector<std::string> notes;  ///< sentences on what was assumed
};

/// Pre: the run has no fault. `loop_ops`: so many ops are those of the loop.
SimulateModel build_simulate(const SimulationAnswer& answer, std::size_t loop_ops);

std::vector<Column<GroupShare>> group_share_columns();
std::vector<Column<WaitRow>> wait_columns();

}  // namespace heddle::app

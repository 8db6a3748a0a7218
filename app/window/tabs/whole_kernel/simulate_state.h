// What the whole-kernel tab remembers between frames.
#pragma once

#include <memory>
#include <vector>

#include "app/window/kit/plot.h"
#include "app/window/tabs/whole_kernel/simulate_model.h"
#include "app/window/tabs/whole_kernel/traffic_model.h"

namespace heddle::app {

struct SimulateTabState {
  std::shared_ptr<const SimulationAnswer> of;  ///< what `model` was made from
  SimulateModel model;
  TrafficModel traffic;
  std::vector<BalanceMark> balance;                             ///< of this schedule and its variants, then of the others in the list
  std::vector<std::shared_ptr<const SimulationAnswer>> others;  ///< what these were made from
  PlotState plot;
  PlotState depths{};
};

}  // namespace heddle::app

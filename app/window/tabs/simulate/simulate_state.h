// What the whole-kernel tab remembers between frames.
#pragma once

#include <memory>

#include "app/window/kit/plot.h"
#include "app/window/tabs/simulate/simulate_model.h"

namespace heddle::app {

struct SimulateTabState {
  std::shared_ptr<const SimulationAnswer> of;  ///< what `model` was made from
  SimulateModel model;
  PlotState depths{};
};

}  // namespace heddle::app

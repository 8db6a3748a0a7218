// What the Pareto tab keeps between frames.
#pragma once

#include <cstddef>
#include <vector>

#include "app/window/kit/column.h"
#include "app/window/kit/plot.h"
#include "core/answers/pareto.h"

namespace heddle::app {

struct ParetoState {
  std::vector<Resource> against{Resource::Smem};  ///< in the order of the enumeration
  std::size_t axis = 0;                           ///< which of them the plot shows, where there are several
  TableOrder order;                               ///< of the table; none: as swept
  bool layouts_open = false;
  PlotState plot;
};

}  // namespace heddle::app

// What the sweep tab keeps between frames.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/session/commands.h"
#include "app/window/kit/plot.h"
#include "app/window/tabs/tune/sweep_view.h"

namespace heddle::app {

enum class SweepPicture { Table, Parallel, Scatter, Convergence };

struct SweepTabState {
  SweepPicture picture = SweepPicture::Parallel;  ///< beside the table; alone where there is no room for both
  char filter[128] = "";
  SweepChoice choice;
  std::optional<std::uint32_t> chosen, hovered;  ///< points
  std::optional<std::uint32_t> go_to;            ///< a row that the next frame brings into view
  std::size_t across = 0;                        ///< axis of the scatter plot
  TuneOptions tune;
  char budget[16] = "50";
  PlotState scatter, convergence;
  /// A brush that is being drawn or moved: its axis, where the mouse went down, and the brush as it was then.
  struct Drag {
    std::size_t axis = 0;
    double from = 0;
    std::optional<SweepBrush> moved;
  };
  std::optional<Drag> drag;

  // Worked out once per change of the table or of what is chosen.
  std::uint64_t seen = 0;
  std::string seen_file;
  SweepChoice seen_choice;
  std::vector<std::uint32_t> order, drawn;  ///< rows of the table; those of them that plots draw
  std::vector<SweepColumnRef> columns;
  SweepValueScale scale;
  Convergence convergence_curve;
  std::string headline;
};

}  // namespace heddle::app

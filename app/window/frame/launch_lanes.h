// Lanes of a PTX run over time, and shared memory as rows below them.
#pragma once

#include <optional>
#include <vector>

#include "ptx/report/timeline.h"

namespace heddle::app {

struct LanesState {
  double begin = 0, end = 0;                                  ///< visible, in thousandths of a cycle; end 0: all
  float scroll = 0;                                           ///< pixels
  std::optional<std::pair<std::size_t, std::size_t>> chosen;  ///< lane, bar
  std::optional<std::pair<std::size_t, std::size_t>> ender;   ///< of the chosen wait: what ended it

  /// That time comes into view.
  void reveal(ptx::Time time);
};

/// Fills the window it is called in. Lines of the text that a bar that was pressed belongs to: its own, and that of what ended its wait.
std::optional<std::vector<int>> draw_lanes(const ptx::RunTimeline& timeline, LanesState& state);

}  // namespace heddle::app

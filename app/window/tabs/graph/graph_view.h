// The picture of the dataflow graph with its gestures: wheel zooms at the cursor, right drag or Space + drag pans, double
// click fits, click selects (Ctrl adds), hovering lights dependences, F centres, [ and ] follow dependences.
#pragma once

#include <string_view>
#include <vector>

#include "app/session/commands.h"
#include "app/session/selection.h"
#include "app/window/tabs/graph/graph_state.h"
#include "core/schedule/schedule.h"

namespace heddle::app {

struct GraphScene {
  const Problem& problem;
  const Problem& tile;       ///< with prologue and epilogue, where the kernel has any
  const Schedule* schedule;  ///< null without one
  const GraphModel& model;
  const Selection& selection;
  const Highlight& highlight;
};

/// Draws into what is left of the window; appends what the person wants to `commands`. `requested` holds the chart's actions
/// that were chosen in a menu, for when there is no chart to fulfil them.
void draw_graph(const GraphScene& scene, GraphState& state, std::vector<std::string_view>& requested, CommandQueue& commands);

}  // namespace heddle::app

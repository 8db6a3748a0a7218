// The timeline: minimap, ruler, rows of bars, resource lanes, with every gesture and key of a time-based view.
//
// Keys that it handles itself while no text field has the focus and no popup is open: W S A D, arrows, F, Home, 0,
// Backspace, . , [ ] C U and Escape (drag, range, selection, in this order).
#pragma once

#include "app/session/commands.h"
#include "app/session/selection.h"
#include "app/viewmodel/chart_overlay.h"
#include "app/viewmodel/chart_view.h"
#include "core/problem/problem.h"
#include "core/schedule/schedule.h"

namespace heddle::app {

/// Draws into what is left of the current ImGui window and appends what the user wants to `commands`. The model must have
/// been built from this problem and schedule.
void draw_gantt(const GanttModel& model, const Problem& problem, const Schedule& schedule, const Selection& selection,
                const ChartOverlay& overlay, GanttViewState& view, CommandQueue& commands);

}  // namespace heddle::app

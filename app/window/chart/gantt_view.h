// The timeline: minimap, ruler, rows of bars, resource lanes, with every gesture and key of a time-based view.
//
// Keys that it handles itself while no text field has the focus and no popup is open: W S A D, arrows, F, Home, 0,
// Backspace, . , [ ] C U and Escape (drag, range, selection, in this order).
#pragma once

#include <functional>
#include <vector>

#include "app/session/commands.h"
#include "app/session/selection.h"
#include "app/window/chart/chart_overlay.h"
#include "app/window/chart/chart_view.h"
#include "core/problem/problem.h"
#include "core/schedule/schedule.h"

namespace heddle::app {

struct CompareModel;
struct OtherBar;

/// Draws into what is left of the current ImGui window and appends what the user wants to `commands`. The model must have
/// been built from this problem and schedule.
void draw_gantt(const GanttModel& model, const Problem& problem, const Schedule& schedule, const Selection& selection,
                const ChartOverlay& overlay, GanttViewState& view, CommandQueue& commands, const std::vector<OtherBar>* others = nullptr);

/// A over B on one axis: one minimap and ruler, zoom, range and hair-line in common; rows scroll each for themselves. `drop`
/// is called when each chart is the last item, with true for B. Without room for two it draws A with B's bars as outlines.
void draw_gantt_pair(const GanttModel& chart_a, const CompareModel& compare, const Problem& problem, const Selection& selection,
                     GanttViewState& view, GanttViewState& view_b, CommandQueue& commands, const std::function<void(bool)>& drop = {});

}  // namespace heddle::app

// The timeline: minimap, ruler, rows of bars, resource lanes, with every gesture and key of a time-based view.
//
// Keys that it handles itself while no text field has the focus and no popup is open: W S A D, arrows, F, Home, 0,
// Backspace, . , [ ] C U and Escape (drag, range, selection, in this order).
#pragma once

#include <functional>
#include <span>
#include <string>
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
struct ThreeModel;

/// A chart, alone or one of several on one time axis.
struct ChartPanel {
  const GanttModel* chart = nullptr;  ///< built from this problem and schedule
  const Problem* problem = nullptr;
  const Schedule* schedule = nullptr;
  const Selection* selection = nullptr;
  const ChartOverlay* overlay = nullptr;
  GanttViewState* view = nullptr;
  CommandQueue* commands = nullptr;      ///< what the user wants is appended
  std::string badge{}, title{}, note{};  ///< of the strip over its rows; the note stands at its right end
  enum class Mark { A, B, Other } mark = Mark::Other;
  Cycle shift = 0;               ///< of all starts against the schedule's own numbers
  bool menu = true;              ///< the right mouse button opens one
  std::function<void()> drop{};  ///< called when the chart is the last item
  bool title_pressed = false;    ///< set by drawing
};
/// Draws it into what is left of the current ImGui window.
void draw_gantt(const ChartPanel& panel, const std::vector<OtherBar>* others = nullptr);

/// A over B on one axis: one minimap and ruler, zoom, range and hair-line in common; rows scroll each for themselves. `drop`
/// is called when each chart is the last item, with true for B. Without room for two it draws A with B's bars as outlines.
void draw_gantt_pair(ChartPanel a, const CompareModel& compare, GanttViewState& view_b, const std::function<void(bool)>& drop = {});

/// The three schedules of a Triton kernel, one below the other on one axis. The live one is the session's A and is drawn with all that
/// belongs to it; a click into another one makes that A. `views`: one for each chart of the model, the live one's keeps the time. Without
/// room for all of them it draws the live one.
void draw_gantt_three(const ThreeModel& three, const ChartPanel& live, std::span<GanttViewState* const> views);

/// One below the other; each gets a fair part of the height. The live one has the keys, and its view keeps the time of all.
void draw_gantt_panels(std::span<ChartPanel> panels, std::size_t live);
/// There are so many pixels, at scale 1, of height for each.
bool panels_have_room(const GanttModel& chart, std::size_t count, float least);

}  // namespace heddle::app

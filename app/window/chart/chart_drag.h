// Dragging a bar, without its drawing: where its edges snap, which start is meant, what its ghost looks like.
#pragma once

#include <string>
#include <vector>

#include "app/window/chart/bar_move.h"
#include "app/window/chart/chart_view.h"

namespace heddle::app {

/// A piece of a bar that is not there yet.
struct GhostBar {
  std::size_t row = 0;
  int lane = 0;
  Cycle begin = 0, end = 0;
  bool wraps_left = false, wraps_right = false;
};

/// All bars of one instance of the op, `delta` later, in rows of another group where one is given; in the steady view
/// wrapped at its edges.
std::vector<GhostBar> ghost_bars(const GanttModel& model, OpId op, int iteration, Cycle delta, std::optional<GroupId> group = {});

/// Picks the bar up at a cycle of the chart.
BarMove pick_up(const GanttModel& model, const Schedule& schedule, std::size_t bar, double cycle, LegalBand band);

/// Where the mouse holds it.
struct DragPoint {
  const TimeAxis& axis;
  float x;
  std::optional<std::size_t> row;
  bool magnetic;  ///< edges snap
};

/// Moves it to where the mouse is. Either edge of the grabbed op snaps within 6 pixels: to where it was, to edges in the
/// row under the mouse and the ends of the legal band, then to edges of other rows, then to II boundaries.
void move_to(BarMove& move, const GanttModel& model, const Schedule& schedule, const DragPoint& mouse);

/// In the steady view a slot does not say which stage is meant: of the starts that look the same the one as drawn if it
/// is legal, else the nearest legal one, else the one as drawn.
Cycle meant_start(Cycle start, Cycle delta, Cycle ii, const LegalBand& band);

/// "QK1 → 640 (legal 512 .. 700)"
std::string describe_move(const BarMove& move, const Problem& problem, const Schedule& schedule);
/// What letting go would do, or why it would do nothing; one sentence.
std::string move_outlook(const BarMove& move);

}  // namespace heddle::app

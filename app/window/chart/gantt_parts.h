// Inside of the timeline: what the parts of one frame share, and the parts. Only gantt_*.cpp, lanes_view.cpp and
// minimap.cpp include this.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/window/chart/compare_model.h"
#include "app/window/chart/gantt_view.h"
#include "app/window/kit/chart_paint.h"

namespace heddle::app {

inline constexpr float kLeastLaneOfThree = 14;  ///< pixels, at scale 1, of a lane where three charts share the height of one

struct ChartFrame {
  const GanttModel& model;
  const Problem& problem;
  const Schedule& schedule;
  const Selection& selection;
  const ChartOverlay& overlay;
  GanttViewState& view;
  CommandQueue& commands;
  ImDrawList& draw;

  ChartLayout layout;
  TimeAxis axis;
  paint::Box labels;                                        ///< the column left of the time axis, over the whole height
  paint::Box minimap, ruler, marks, rows, splitter, lanes;  ///< right of it, from top to bottom
  float lane_height = 30;                                   ///< of one resource lane

  // One of several charts on one axis (gantt_pair.cpp).
  enum class Place { Alone, Upper, Lower } place = Place::Alone;
  float label_width = 0;                          ///< at least this much for the column of labels
  std::size_t number = 0;                         ///< from the top
  bool keys = true;                               ///< those of charts are for this one
  bool overview = true;                           ///< with a minimap, where it is the upper one
  std::vector<const GanttModel*> below = {};      ///< the lower charts, which the minimap shows too
  float all_top = 0, all_bottom = 0;              ///< of all charts together
  const std::vector<OtherBar>* others = nullptr;  ///< bars of another schedule under those of this one
  Cycle shift = 0;                                ///< of all starts against the schedule's own numbers
  paint::Box title = {};                          ///< a strip over the rows that says whose they are

  float row_y(float in_layout) const { return rows.y0 + in_layout - view.scroll; }
  paint::Box bar_box(const GanttBar& bar) const;  ///< unclipped
  /// "gantt/rows", or "gantt_b/rows" in the second chart, "gantt_c/rows" in the third.
  std::string probe_name(std::string_view what) const {
    return (number == 0 ? "gantt/" : std::string("gantt_") + static_cast<char>('a' + number) + "/") + std::string(what);
  }
};

/// Where everything goes between these corners; needs the model and the view's visible range.
void place_chart(ChartFrame& frame, ImVec2 low, ImVec2 high);
/// What the column of labels takes at least.
float chart_label_width(const GanttModel& model, float available);
/// Everything but input, tooltip and popups.
void paint_chart(ChartFrame& frame);

/// Mouse and keyboard; changes the view and appends commands. Call after the layout is known and before drawing.
void handle_input(ChartFrame& frame);
void select_bar(ChartFrame& frame, std::size_t bar, bool extend);
/// The popup of the right mouse button.
void draw_context_menu(ChartFrame& frame);

// gantt_drag.cpp: a bar that is dragged.
/// Call while the drag is BarPress or Move: picks the bar up after a few pixels and takes it to the mouse.
void drag_bar(ChartFrame& frame, float x, float y);
/// Ends it; `take` asks for what the ghost shows, if that is anything.
void drop_bar(ChartFrame& frame, bool take);
void draw_move_band(ChartFrame& frame);   ///< under the bars
void draw_move_ghost(ChartFrame& frame);  ///< over them, with old place and label
void dashed_box(ImDrawList& draw, const paint::Box& box, Color color, float thickness);

void draw_marks(ChartFrame& frame);  ///< pins, places asked for, differences

void draw_ruler(ChartFrame& frame);  ///< ticks, marks, phases, flags' heads, range label
void draw_group_backgrounds(ChartFrame& frame);
void draw_group_labels(ChartFrame& frame);
void draw_bars(ChartFrame& frame);
/// Dependences of the hovered bar lie above the bars, all others below, where they leave labels alone.
enum class ArrowLayer { Below, Above };
void draw_arrows(ChartFrame& frame, ArrowLayer layer);
struct ArrowStyle {
  Color color = 0;
  float thickness = 1;
  bool dashed = false;
};
/// From one bar to another of so many iterations later; in the steady window it may leave on the right and come back.
void draw_arrow_between(ChartFrame& frame, std::size_t from_bar, std::size_t to_bar, std::int64_t iterations, const ArrowStyle& style);
/// What the overlay points at besides bars and dependences: the cycle that limits II, and lanes.
void draw_limiting_cycle(ChartFrame& frame);
void draw_lane_mark(ChartFrame& frame, const GanttLane& lane, const paint::Box& box);
/// Name and number at the left of a lane. Where the column is too narrow for both they stand below each other, or the number gives way.
void draw_lane_label(ChartFrame& frame, const paint::Box& box, std::string_view name, std::string_view number, Color ink);
/// How far every op can move: thin by longest paths, thick exactly.
void draw_whiskers(ChartFrame& frame);
void draw_time_lines(ChartFrame& frame);  ///< II boundaries, range, flags, hair-line over rows and lanes
void draw_tooltip(ChartFrame& frame);
void draw_notes_on_chart(ChartFrame& frame);
/// The note whose sheet lies there.
std::optional<std::size_t> note_at(const ChartFrame& frame, float x, float y);

/// "x2" on bars whose lanes meet in banks of shared memory.
void draw_conflict_marks(ChartFrame& frame);
/// What the plate takes of its bar. Pre: the bar has a mark.
float conflict_plate_width(const GanttBar& bar);
/// The bar whose plate lies there.
std::optional<std::size_t> conflict_at(const ChartFrame& frame, float x, float y);

/// Bars of another schedule, as outlines under those of this one.
void draw_others(ChartFrame& frame);

/// What prologue and epilogue take of a lane, with their names, in pixels from left to right.
struct LaneSpan {
  float x0, x1;
};
std::vector<LaneSpan> end_spans(const ChartFrame& frame, std::size_t row, int lane);
/// The kernel's prologue and epilogue: pale, once per tile.
void draw_end_bars(ChartFrame& frame);
/// Of the one under the mouse, where no bar of the schedule is.
void draw_end_tooltip(ChartFrame& frame);

// gantt_pauses.cpp: what holds the warps of each group, where the chart shows contention.
void draw_pauses(ChartFrame& frame);
/// Of the one under the mouse.
void draw_pause_tooltip(ChartFrame& frame);

/// lanes_view.cpp: resource lanes under the rows: units, shared and tensor memory, registers, as filled steps against a dashed capacity.
void draw_lanes(ChartFrame& frame);
/// minimap.cpp: the whole timeline in a strip, with a box around what is seen.
void draw_minimap(ChartFrame& frame);

// barriers_view.cpp: lanes of barriers and phases, over those of resources, nearer to the bars.
void draw_barriers(ChartFrame& frame);
/// The stretch at this pixel, and of which lane; null where there is none.
const BarrierSpan* barrier_under(const ChartFrame& frame, float x, float y, std::size_t* lane = nullptr);
void draw_barrier_tooltip(ChartFrame& frame);

// queues_view.cpp: lanes of rings as queues, below those of barriers.
void draw_queues(ChartFrame& frame);
/// True where the mouse is on one of them.
bool draw_queue_tooltip(ChartFrame& frame);

/// The name tests know a bar by.
std::string bar_probe(const GanttBar& bar);

}  // namespace heddle::app

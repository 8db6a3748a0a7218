// The chart without its drawing: which cycles and rows are seen, what lies under a pixel, where an edge snaps, which bar
// comes next. Distances in y and sizes are pixels as they are on screen; times are cycles, with fractions only while a view
// moves. Everything here is a plain function of its arguments.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/window/chart/bar_move.h"
#include "core/chart/chart_layout.h"
#include "core/chart/gantt_model.h"

namespace heddle::app {

struct TimeRange {
  double begin = 0, end = 1;
  double length() const { return end - begin; }
  bool operator==(const TimeRange&) const = default;
};

/// A measured stretch; begin <= end.
struct CycleRange {
  Cycle begin = 0, end = 0;
  bool operator==(const CycleRange&) const = default;
};

/// The linear map between cycles and pixels.
struct TimeAxis {
  float x0 = 0, x1 = 1;
  TimeRange range;
  float to_x(double cycle) const;  ///< clamped far outside the axis, so that it is always a sane float
  double to_cycle(float x) const;
  double cycles_per_pixel() const { return range.length() / static_cast<double>(x1 - x0); }
};

/// A cycle that an edge was pulled to, and by what.
struct Snap {
  Cycle at = 0;
  enum class To { Cycle, Boundary, OtherRow, Row } to = To::Cycle;
  std::optional<std::size_t> bar;  ///< whose edge it is
};

enum class ChartDrag { None, Press, Pan, Range, RangeBegin, RangeEnd, ZoomRange, Minimap, Splitter, BarPress, Move };

constexpr float kUsualRowHeight = 26;

/// Everything about the view that outlives a frame. Not part of a document: no undo besides the zoom stack.
struct GanttViewState {
  TimeRange visible, target, origin;   ///< on screen; where it is heading; where it came from
  double moved = 1;                    ///< progress of the animation, 1: arrived
  std::vector<TimeRange> zoom_stack;   ///< views to go back to, oldest first
  float row_height = kUsualRowHeight;  ///< at scale 1; the usual one grows with a tall window
  float row_shown = kUsualRowHeight;   ///< at scale 1, as it was last drawn
  float scroll = 0;                    ///< pixels of rows above the view
  float lanes_share = 0;               ///< of the height, chosen with the splitter; 0: as tall as the lanes want
  float lanes_scroll = 0;
  bool cut = false;                         ///< as it was last drawn, rows or lanes lay outside
  bool closest = false;                     ///< rows get as low as they must to be all there: of a picture, which nobody can scroll
  std::optional<CycleRange> range;          ///< the measured stretch
  std::optional<std::size_t> note_pressed;  ///< a note that was clicked, for whoever opens the editor
  bool all_arrows = false;
  bool keys_elsewhere = false;  ///< something that is dragged outside the chart has the keys
  bool wheel_scrolls = false;   ///< a setting: plain wheel scrolls rows, Ctrl + wheel zooms

  std::optional<std::size_t> hovered;  ///< bar under the mouse
  double hovered_for = 0;              ///< seconds
  std::optional<Cycle> hovered_cycle;  ///< under the mouse
  std::optional<Snap> snapped;         ///< while a range is dragged
  std::optional<std::size_t> pressed;  ///< bar under the last press of the right or middle button
  std::optional<std::size_t> current;  ///< bar that the keyboard moves from
  bool centred = false;                ///< the last F centred the selection: the next one fits
  std::vector<OpId> centred_on;        ///< what it centred
  std::vector<OpId> reveal;            ///< the next frame brings their bars into view, the first one in any case

  bool deaf = false;                        ///< keys are for another picture; Escape is heard all the same
  std::optional<CycleRange> extent;         ///< what there is to see, where that is more than the model: two charts on one axis
  bool rows_keys = true;                    ///< the keys for the next and previous row are the chart's
  std::vector<std::string_view> requested;  ///< ids of actions that were chosen in a menu or the palette

  ChartDrag drag = ChartDrag::None;
  Cycle drag_cycle = 0;  ///< where it began, or the edge that stays
  float drag_x = 0, drag_y = 0;
  TimeRange drag_view;
  float drag_scroll = 0;
  std::optional<std::size_t> drag_bar;  ///< while a bar is pressed
  std::optional<BarMove> move;          ///< while it is dragged
  LegalBand menu_band;                  ///< of the bar whose menu is open
  int menu_latency = 0;                 ///< typed into it

  /// The extent that was last shown; a change of mode or size fits the new one.
  GanttMode seen_mode = GanttMode::Steady;
  Cycle seen_begin = 0, seen_end = 0;
};

// ---- view ------------------------------------------------------------------------------------------------------------

/// The whole model with a small margin on both sides.
TimeRange whole(const GanttModel& model);
/// The same of the view's extent, where it has one.
TimeRange whole(const GanttViewState& view, const GanttModel& model);
/// Call once per frame before anything else: fits a model whose mode or extent is new, forgets bars that are gone, and moves
/// the animation on by `seconds`.
void update_view(GanttViewState& view, const GanttModel& model, double seconds);
/// factor > 1 zooms in; the cycle stays under its pixel. Limited to [8 cycles, 4 x the model].
void zoom_at(GanttViewState& view, const GanttModel& model, double cycle, double factor, bool animate = true);
/// Moves by a number of cycles, never so far that the model leaves the view altogether.
void pan_by(GanttViewState& view, const GanttModel& model, double cycles, bool animate = false);
/// Goes there with an animation and remembers the old view.
void go_to(GanttViewState& view, const GanttModel& model, TimeRange range);
void fit_all(GanttViewState& view, const GanttModel& model);
void zoom_to_bar(GanttViewState& view, const GanttModel& model, std::size_t bar);
/// Centres the selected ops; a second call in a row fits everything.
void centre_or_fit(GanttViewState& view, const GanttModel& model, const std::vector<OpId>& ops);
/// Makes the measured stretch from the beginning of the first to the end of the last of these ops; without ops it goes.
void measure_ops(GanttViewState& view, const GanttModel& model, const std::vector<OpId>& ops);
/// False when there is nothing to go back to.
bool undo_zoom(GanttViewState& view, const GanttModel& model);

// ---- hitting and snapping ----------------------------------------------------------------------------------------------

/// The bar at a pixel (y relative to the layout). Narrow bars may be missed by up to 3 pixels.
std::optional<std::size_t> bar_at(const GanttModel& model, const ChartLayout& layout, const TimeAxis& axis, float x, float y);

/// Bar edges within 6 pixels in `row` first, then of other rows, then II boundaries, then the nearest whole cycle.
/// `magnetic` off: the nearest whole cycle only.
Snap snap(const GanttModel& model, const TimeAxis& axis, float x, std::optional<std::size_t> row, bool magnetic = true);

CycleRange range_between(Cycle a, Cycle b);
/// "648 → 1 160 = 512 cycles"
std::string describe(const CycleRange& range);

// ---- moving through bars -----------------------------------------------------------------------------------------------

/// A bar of that op: `near` itself if it is one, else the one closest to the middle of what is seen.
std::optional<std::size_t> bar_of_op(const GanttModel& model, OpId op, const TimeRange& seen, std::optional<std::size_t> near = {});
/// The bar after (+1) or before (-1) this one in its row, another op or another iteration.
std::optional<std::size_t> step_in_row(const GanttModel& model, std::size_t bar, int direction);
/// The bar of the row above (-1) or below (+1) that is closest in time.
std::optional<std::size_t> step_to_row(const GanttModel& model, std::size_t bar, int direction);
/// Along a dependence, to the consumer that starts first (+1) or the producer that ends last (-1). Reflexive edges do not count.
std::optional<std::size_t> follow(const GanttModel& model, std::size_t bar, int direction);

// ---- lanes, minimap, numbers ----------------------------------------------------------------------------------------

/// A stretch of a profile as it is drawn.
struct ProfilePiece {
  float x0 = 0, x1 = 0;
  std::int64_t value = 0;
};
/// What of a profile is seen between two cycles, left to right without gaps: one piece per step, but one piece of a pixel
/// for all the steps that share one, with their largest value. No peak is lost, and none grows by more than a pixel.
std::vector<ProfilePiece> profile_pieces(const UsageCurve& profile, const TimeAxis& axis, double begin, double end);

/// The minimap shows the whole model; the box on it is the visible range.
TimeAxis minimap_axis(const GanttViewState& view, const GanttModel& model, float x0, float x1);

}  // namespace heddle::app

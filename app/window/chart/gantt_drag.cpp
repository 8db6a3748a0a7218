// A bar being dragged: picking up, moving, letting go, and what is drawn meanwhile: the band it may stand in, the place it
// came from, its ghost, the edge it snapped to, and a label that says what letting go asks for.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/platform/fonts.h"
#include "app/session/proposal_commands.h"
#include "app/window/chart/chart_drag.h"
#include "app/window/chart/gantt_parts.h"
#include "app/window/chart/legal_band.h"
#include "app/window/kit/probe.h"
#include "core/base/integer_division.h"
#include "core/chart/gantt_model.h"

namespace heddle::app {
namespace {

constexpr float kPickUpPixels = 6, kPanEdge = 18;
constexpr int kMostWindows = 4;  // that a band reaches into

/// Calls draw(x0, x1) for every stretch of [begin, end] that is on the chart; in the steady view windows lie over each other.
template <class Draw>
void on_chart(const ChartFrame& f, Cycle begin, Cycle end, Draw draw) {
  if (f.model.mode != GanttMode::Steady) return draw(f.axis.to_x(static_cast<double>(begin)), f.axis.to_x(static_cast<double>(end)));
  const Cycle ii = f.model.ii;
  if (end - begin >= ii) return draw(f.axis.to_x(0), f.axis.to_x(static_cast<double>(ii)));
  for (int window = -kMostWindows; window <= kMostWindows; ++window) {
    const Cycle low = std::max<Cycle>(0, begin + window * ii), high = std::min(ii, end + window * ii);
    if (low < high) draw(f.axis.to_x(static_cast<double>(low)), f.axis.to_x(static_cast<double>(high)));
  }
}

paint::Box lane_box(const ChartFrame& f, std::size_t row, int lane) {
  const float top = f.row_y(f.layout.rows[row].top + static_cast<float>(lane) * f.layout.lane);
  return {f.rows.x0, top, f.rows.x1, top + f.layout.lane};
}

paint::Box ghost_box(const ChartFrame& f, const GhostBar& ghost) {
  const paint::Box lane = lane_box(f, ghost.row, ghost.lane);
  const float gap = std::min(px(3), f.layout.lane * 0.12f);
  const float x0 = f.axis.to_x(static_cast<double>(ghost.begin));
  return {x0, lane.y0 + gap, std::max(f.axis.to_x(static_cast<double>(ghost.end)), x0 + 3), lane.y1 - gap};
}

/// Where the op's bar begins and ends, unwrapped, and in which lane it is.
struct DragExtent {
  Cycle begin = 0, end = 0;
  std::size_t row = 0;
  int lane = 0;
};
std::optional<DragExtent> extent_of(const ChartFrame& f, const BarMove& move) {
  std::optional<DragExtent> extent;
  Cycle length = 0;
  for (const GanttBar& bar : f.model.bars) {
    const bool same = bar.op == move.op && (f.model.mode == GanttMode::Steady || bar.iteration == move.iteration);
    if (!same) continue;
    length += bar.end - bar.begin;
    if (!extent || !bar.wraps_left) extent = DragExtent{bar.begin, 0, bar.row, bar.lane};
  }
  if (extent) extent->end = extent->begin + length;
  return extent;
}

void bracket(ChartFrame& f, const paint::Box& lane, float x, bool opens) {
  const float thick = px(2), arm = opens ? px(6) : -px(6);
  const Color color = theme().accent;
  f.draw.AddRectFilled({x - thick / 2, lane.y0}, {x + thick / 2, lane.y1}, color);
  for (const float y : {lane.y0, lane.y1 - thick})
    f.draw.AddRectFilled({std::min(x, x + arm), y}, {std::max(x, x + arm), y + thick}, color);
}

void draw_pill_label(ChartFrame& f, const paint::Box& near, const std::string& first, const std::string& second, Color edge) {
  ImFont *bold = fonts().small_bold, *small = fonts().small;
  const float pad = px(8), gap = px(2);
  const float width = std::max(paint::text_width(bold, first), paint::text_width(small, second)) + 2 * pad;
  const float height = paint::text_height(bold) + paint::text_height(small) + gap + px(10);
  float y = near.y0 - height - px(8);
  if (y < f.rows.y0) y = near.y1 + px(8);
  y = std::min(y, f.rows.y1 - height);
  const float x = std::clamp(near.x0, f.rows.x0 + px(2), std::max(f.rows.x0 + px(2), f.rows.x1 - width - px(2)));
  f.draw.AddRectFilled({x, y}, {x + width, y + height}, theme().tooltip, px(4));
  f.draw.AddRect({x, y}, {x + width, y + height}, edge, px(4), 0, px(1.5f));
  paint::text({f.draw, bold, theme().text}, {x + pad, y + px(5)}, first);
  paint::text({f.draw, small, edge}, {x + pad, y + px(5) + paint::text_height(bold) + gap}, second);
  if (probe::on()) probe::item("gantt/move/label", x, y, x + width, y + height);
}

}  // namespace

void dashed_box(ImDrawList& draw, const paint::Box& box, Color color, float thickness) {
  const float dash = px(4);
  paint::dashed_horizontal(draw, box.x0, box.x1, box.y0, {color, dash, thickness});
  paint::dashed_horizontal(draw, box.x0, box.x1, box.y1 - thickness, {color, dash, thickness});
  paint::dashed_vertical(draw, box.x0, box.y0, box.y1, {color, dash, thickness});
  paint::dashed_vertical(draw, box.x1 - thickness, box.y0, box.y1, {color, dash, thickness});
}

void drag_bar(ChartFrame& f, float x, float y) {
  GanttViewState& view = f.view;
  if (view.drag == ChartDrag::BarPress) {
    if (std::hypot(x - view.drag_x, y - view.drag_y) < px(kPickUpPixels)) return;
    if (f.model.mode == GanttMode::Contended) return;  // nothing stands at its start there
    if (!f.overlay.editable || !view.drag_bar || *view.drag_bar >= f.model.bars.size()) return;
    const OpId op = f.model.bars[*view.drag_bar].op;
    const SlackRanges* slack = f.overlay.slack ? &*f.overlay.slack : nullptr;
    view.move = pick_up(f.model, f.schedule, *view.drag_bar, f.axis.to_cycle(view.drag_x),
                        legal_band(f.problem, f.overlay.constraints, f.schedule, op, slack));
    view.drag = ChartDrag::Move;
    // The exact band comes while the bar is on its way; until then longest paths do.
    view.move->asked = !view.move->band.exact && f.overlay.can_ask_slack && !f.overlay.slack;
    if (view.move->asked) f.commands.push(Ask{Topic::Slack, {}});
  }
  BarMove& move = *view.move;
  // A solve that ended meanwhile has put another schedule here: what was picked up is gone.
  const bool same = move.op.index() < f.problem.ops.size() && f.schedule.start(move.op) == move.start && f.schedule.ii == move.ii;
  if (!same) return drop_bar(f, false);
  if (!move.band.exact && f.overlay.slack)
    if (const LegalBand band = legal_band(f.problem, f.overlay.constraints, f.schedule, move.op, &*f.overlay.slack); band.exact)
      move.band = band;
  std::optional<std::size_t> row;
  if (f.rows.contains(x, y)) row = f.layout.row_at(f.model, y - f.rows.y0 + view.scroll);
  move_to(move, f.model, f.schedule, {f.axis, x, row, !ImGui::GetIO().KeyAlt});
  move.lost = x < f.labels.x0 || x >= f.rows.x1 + px(8) || y < f.minimap.y0 || y >= std::max(f.rows.y1, f.lanes.y1);
  if (f.model.mode != GanttMode::Steady && !move.lost) {
    // At the edge of what is seen the view goes along.
    const double step = view.visible.length() * 0.8 * static_cast<double>(ImGui::GetIO().DeltaTime);
    if (x < f.rows.x0 + px(kPanEdge)) pan_by(view, f.model, -step);
    if (x > f.rows.x1 - px(kPanEdge)) pan_by(view, f.model, step);
  }
  ImGui::SetMouseCursor(move.lost ? ImGuiMouseCursor_NotAllowed : ImGuiMouseCursor_Hand);
}

void drop_bar(ChartFrame& f, bool take) {
  GanttViewState& view = f.view;
  if (take && view.drag == ChartDrag::Move && view.move && view.move->changes()) {
    const BarMove& move = *view.move;
    if (move.asked && !move.band.exact) f.commands.push(CancelAsk{Topic::Slack});  // about to be another question
    f.commands.push(MoveOp{move.op, move.target, move.group, move.target != move.start || !move.group});
  }
  view.move.reset();
  view.drag_bar.reset();
  view.drag = ChartDrag::None;
}

void draw_move_band(ChartFrame& f) {
  if (f.view.drag != ChartDrag::Move || !f.view.move) return;
  const BarMove& move = *f.view.move;
  const std::optional<DragExtent> extent = extent_of(f, move);
  if (!extent) return;
  std::size_t row = extent->row;
  int lane = extent->lane;
  if (move.group)
    if (const auto ghosts = ghost_bars(f.model, move.op, move.iteration, 0, move.group); !ghosts.empty()) {
      row = ghosts.front().row;
      lane = ghosts.front().lane;
    }
  const paint::Box box = lane_box(f, row, lane);
  const Color color = theme().accent;
  const auto strip = [&](Cycle earliest, Cycle latest, float strength) {
    on_chart(f, extent->begin + earliest - move.start, extent->end + latest - move.start, [&](float x0, float x1) {
      f.draw.AddRectFilled({x0, box.y0}, {x1, box.y1}, with_alpha(color, strength));
      if (probe::on()) probe::item(strength < 0.2f ? "gantt/move/legal" : "gantt/move/alone", x0, box.y0, x1, box.y1);
    });
  };
  if (move.band.earliest && move.band.latest) strip(*move.band.earliest, *move.band.latest, 0.16f);
  strip(move.band.alone_earliest, move.band.alone_latest, 0.24f);
}

void draw_move_ghost(ChartFrame& f) {
  if (f.view.drag != ChartDrag::Move || !f.view.move) return;
  const BarMove& move = *f.view.move;
  const std::optional<DragExtent> extent = extent_of(f, move);
  if (!extent) return;
  // The old place: darkened and outlined with dashes.
  for (const GhostBar& old : ghost_bars(f.model, move.op, move.iteration, 0)) {
    const paint::Box box = ghost_box(f, old);
    f.draw.AddRectFilled(box.low(), box.high(), with_alpha(theme().chart, 0.62f));
    dashed_box(f.draw, box, theme().text, 1);
  }
  const auto ghosts = ghost_bars(f.model, move.op, move.iteration, move.delta, move.group);
  if (ghosts.empty()) return;
  const paint::Box lane = lane_box(f, ghosts.front().row, ghosts.front().lane);
  if (move.band.earliest && move.band.latest)
    on_chart(f, extent->begin + *move.band.earliest - move.start, extent->end + *move.band.latest - move.start, [&](float x0, float x1) {
      bracket(f, lane, x0, true);
      bracket(f, lane, x1, false);
    });
  const bool legal = move.band.contains(move.target);
  const Color edge = move.lost ? theme().faint : legal ? theme().accent : theme().warning;
  const GanttBar* bar = nullptr;
  for (const GanttBar& b : f.model.bars)
    if (b.op == move.op) bar = &b;
  paint::Box first = ghost_box(f, ghosts.front());
  if (!move.lost && bar) {
    const RoleColor color = role_color(bar->role);
    for (const GhostBar& ghost : ghosts) {
      const paint::Box box = ghost_box(f, ghost);
      f.draw.AddRectFilled(box.low(), box.high(), with_alpha(color.fill, 0.85f), px(2));
      dashed_box(f.draw, box, edge, px(2));
      if (!legal) paint::hatch(f.draw, box, {1, box.x0, px(7), theme().hatch, px(1.5f)});
      const float room = std::min(box.x1, f.rows.x1) - std::max(box.x0, f.rows.x0) - px(8);
      if (room > px(14))
        paint::text_cut({f.draw, fonts().small_bold, color.text},
                        {std::max(box.x0, f.rows.x0) + px(5), (box.y0 + box.y1 - paint::text_height(fonts().small_bold)) / 2}, room,
                        bar->label);
      if (probe::on()) probe::item("gantt/move/ghost", box.x0, box.y0, box.x1, box.y1);
    }
    if (move.tick && move.tick->to != MoveTick::To::Itself) {
      const float x = f.axis.to_x(static_cast<double>(move.tick->at)), half = px(4);
      paint::dashed_vertical(f.draw, x, f.rows.y0, f.rows.y1, {with_alpha(theme().accent, 0.8f), px(3)});
      f.draw.AddTriangleFilled({x - half, lane.y0 - half}, {x + half, lane.y0 - half}, {x, lane.y0 + half}, theme().accent);
      f.draw.AddTriangleFilled({x - half, lane.y1 + half}, {x + half, lane.y1 + half}, {x, lane.y1 - half}, theme().accent);
      if (probe::on()) probe::item("gantt/move/tick", x - half, lane.y0, x + half, lane.y1);
    }
  }
  std::string what = describe_move(move, f.problem, f.schedule);
  if (f.model.mode == GanttMode::Steady && move.target != move.start) what += fmt::format(" · stage {}", floor_div(move.target, move.ii));
  draw_pill_label(f, first, what, move_outlook(move), edge);
}

}  // namespace heddle::app

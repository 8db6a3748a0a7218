// Two charts on one time axis. Each is a frame of its own with its own rows, scrolling, hovered bar and drag; what belongs to
// time is one and the same, kept in A's view and lent to B's while B is drawn.
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "app/platform/fonts.h"
#include "app/window/chart/gantt_parts.h"
#include "app/window/kit/actions.h"
#include "app/window/kit/probe.h"
#include "core/chart/gantt_model.h"

namespace heddle::app {
namespace {

void lend_time(const GanttViewState& from, GanttViewState& to) {
  to.visible = from.visible;
  to.target = from.target;
  to.origin = from.origin;
  to.moved = from.moved;
  to.zoom_stack = from.zoom_stack;
  to.row_height = from.row_height;
  to.range = from.range;
  to.all_arrows = from.all_arrows;
  to.wheel_scrolls = from.wheel_scrolls;
  to.centred = from.centred;
  to.centred_on = from.centred_on;
  to.extent = from.extent;
}

/// Letter, name and standing of one chart; a note about the axis at the right end.
void draw_title(const ChartFrame& f, bool b, const std::string& text, const std::string& note) {
  const float height = f.title.height(), badge = height - px(4);
  const Color fill = b ? theme().second : theme().accent, ink = b ? theme().second_text : theme().accent_text;
  const float left = f.labels.x0 + px(10), right = f.title.x1;
  f.draw.AddRectFilled({f.labels.x0, f.title.y0}, {right + px(8), f.title.y1}, theme().panel);
  f.draw.AddRectFilled({f.labels.x0, f.title.y0}, {f.labels.x0 + px(3), f.rows.y1}, fill);
  const float top = f.title.y0 + px(2);
  f.draw.AddRectFilled({left, top}, {left + badge, top + badge}, fill, px(3));
  const char* letter = b ? "B" : "A";
  paint::text(f.draw, fonts().small_bold, left + (badge - paint::text_width(fonts().small_bold, letter)) / 2,
              top + (badge - paint::text_height(fonts().small_bold)) / 2, ink, letter);
  const float y = f.title.y0 + (height - paint::text_height(fonts().small)) / 2, x = left + badge + px(8);
  const float own = paint::text_width(fonts().small, text), about = paint::text_width(fonts().small, note);
  // The note gives way to the title, and both to the width there is.
  const float for_note = std::min(about, std::max(0.0f, right - x - own - px(24)));
  paint::text_cut(f.draw, fonts().small, x, y, right - x - for_note - (for_note > 0 ? px(16) : 0), theme().text, text);
  if (for_note > px(60)) paint::text_cut(f.draw, fonts().small, right - for_note, y, for_note + 1, theme().warning, note);
  if (probe::on()) probe::item(f.probe_name("title"), f.labels.x0, f.title.y0, right, f.title.y1);
}

float wanted_height(const GanttModel& model, float row_height) {
  RowMetrics metrics;
  metrics.lane = std::floor(px(row_height));
  metrics.group_padding = px(7);
  metrics.group_gap = px(1);
  metrics.group_minimum = px(44);
  return layout_rows(model, metrics).height + px(20);
}

/// A dashed line between what B does at another time and A, drawn for the bars in question only.
void connect(ChartFrame& f, const paint::Box& a, const paint::Box& b) {
  const float y = (a.y0 + a.y1) / 2, x0 = (a.x0 + a.x1) / 2, x1 = (b.x0 + b.x1) / 2;
  if (std::abs(x1 - x0) < px(6) && std::abs(y - (b.y0 + b.y1) / 2) < px(6)) return;
  paint::dashed_bezier(f.draw, {x0, y}, {x0, y}, {x1, (b.y0 + b.y1) / 2}, {x1, (b.y0 + b.y1) / 2}, theme().second, px(1.5f));
}

/// A line over the chart, where there is any room for it.
void say_no_room(ImVec2 size) {
  if (size.y < px(150)) return;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float height = px(22);
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw.AddRectFilled(at, {at.x + size.x, at.y + height}, theme().panel);
  draw.AddRectFilled(at, {at.x + px(3), at.y + height}, theme().warning);
  const std::string& key = keys_of("fold_bottom");
  const std::string text =
      "Too low for two charts: B is drawn as outlines under A" + (key.empty() ? std::string() : "; " + key + " folds the pane of tabs");
  paint::text_cut(draw, fonts().small, at.x + px(10), at.y + (height - paint::text_height(fonts().small)) / 2, size.x - px(20),
                  theme().text, text);
  if (probe::on()) probe::item("gantt/no_room", at.x, at.y, at.x + size.x, at.y + height);
  ImGui::SetCursorScreenPos({at.x, at.y + height});
}

}  // namespace

void draw_others(ChartFrame& f) {
  const Color edge = theme().second;
  for (const OtherBar& other : *f.others) {
    const float x0 = f.axis.to_x(static_cast<double>(other.begin)), x1 = std::max(f.axis.to_x(static_cast<double>(other.end)), x0 + 3);
    if (x1 < f.rows.x0 || x0 > f.rows.x1) continue;
    const int lane = std::min(other.lane, f.model.rows[other.row].lanes - 1);
    const float top = f.row_y(f.layout.rows[other.row].top + static_cast<float>(lane) * f.layout.lane);
    if (top + f.layout.lane < f.rows.y0 || top > f.rows.y1) continue;
    // A little higher than A's bars, so that it looks out above and below where the two coincide.
    const paint::Box box{x0, top + px(1), x1, top + f.layout.lane - px(1)};
    if (other.differs) f.draw.AddRectFilled(box.low(), box.high(), with_alpha(edge, 0.16f), px(3));
    f.draw.AddRect(box.low(), box.high(), with_alpha(edge, other.differs ? 1.0f : 0.45f), px(3), 0, px(other.differs ? 1.6f : 1));
    if (other.elsewhere) paint::hatch(f.draw, box, 1, x0, px(7), with_alpha(edge, 0.8f), px(1));
    const std::string_view label = paint::beginning_that_fits(fonts().small, other.label, box.width() - px(8));
    if (other.differs && label.size() == other.label.size())
      paint::text(f.draw, fonts().small, x0 + px(4), top + (f.layout.lane - paint::text_height(fonts().small)) / 2, edge, label);
    if (probe::on() && x1 > f.rows.x0 && x0 < f.rows.x1)
      probe::item("gantt/ghost/" + other.label + "@" + std::to_string(other.iteration), std::max(x0, f.rows.x0), box.y0,
                  std::min(x1, f.rows.x1), box.y1);
  }
  for (const OtherBar& other : *f.others) {
    const bool asked = f.selection.contains(other.op) || (f.view.hovered && f.model.bars[*f.view.hovered].op == other.op);
    if (!other.differs || !asked) continue;
    const float x0 = f.axis.to_x(static_cast<double>(other.begin)), x1 = f.axis.to_x(static_cast<double>(other.end));
    const float top =
        f.row_y(f.layout.rows[other.row].top + static_cast<float>(std::min(other.lane, f.model.rows[other.row].lanes - 1)) * f.layout.lane);
    for (const GanttBar& bar : f.model.bars)
      if (bar.op == other.op && bar.iteration == other.iteration) connect(f, f.bar_box(bar), {x0, top, x1, top + f.layout.lane});
  }
}

void draw_gantt_pair(const GanttModel& chart_a, const CompareModel& compare, const Problem& problem, const Selection& selection,
                     GanttViewState& view, GanttViewState& view_b, CommandQueue& commands, const std::function<void(bool)>& drop) {
  const GanttModel& chart_b = compare.chart_b;
  const ImVec2 size = ImGui::GetContentRegionAvail();
  const float top = px(30 + 2 + 24 + (chart_a.mode == GanttMode::Pipeline ? 36 : 18));
  if (size.y < top + px(2 * 90)) {
    say_no_room(size);
    return draw_gantt(chart_a, problem, *compare.a.schedule, selection, compare.overlay_a, view, commands, &compare.others);
  }
  update_view(view, chart_a, ImGui::GetIO().DeltaTime);
  for (auto* bar : {&view_b.hovered, &view_b.pressed, &view_b.current})
    if (*bar && **bar >= chart_b.bars.size()) bar->reset();

  // Each gets half of the rows' height, and what the other one does not need.
  const float room = size.y - top, want_a = wanted_height(chart_a, view.row_height), want_b = wanted_height(chart_b, view.row_height);
  const float half = room / 2;
  const float rows_a = want_a + want_b <= room ? want_a + (room - want_a - want_b) / 2
                       : want_a < half         ? want_a
                       : want_b < half         ? room - want_b
                                               : half;
  const float height_a = std::floor(top + rows_a);

  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
  const auto child = [](const char* name, ImVec2 at) {
    ImGui::BeginChild(name, at, false, ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse | ImGuiWindowFlags_NoNav);
  };
  const ImVec2 begin = ImGui::GetCursorScreenPos();
  lend_time(view, view_b);
  std::optional<Cycle> cursor;

  // Input of both before anything is painted: a drag in B moves A in the same frame.
  ImDrawList* lists[2];
  child("##gantt_a", {size.x, height_a});
  lists[0] = ImGui::GetWindowDrawList();
  ChartFrame a{
      chart_a, problem, *compare.a.schedule, selection, compare.overlay_a, view, commands, *lists[0], {}, {}, {}, {}, {}, {}, {}, {},
      {},      30};
  a.place = ChartFrame::Place::Upper;
  a.below = &chart_b;
  a.below_bottom = begin.y + size.y;
  a.label_width = std::max(chart_label_width(chart_a, size.x), chart_label_width(chart_b, size.x));
  place_chart(a, begin, {begin.x + size.x, begin.y + height_a});
  handle_input(a);
  if (drop) drop(false);
  cursor = view.hovered_cycle;
  ImGui::EndChild();

  lend_time(view, view_b);
  ImGui::SetCursorScreenPos({begin.x, begin.y + height_a});
  child("##gantt_b", {size.x, size.y - height_a});
  lists[1] = ImGui::GetWindowDrawList();
  ChartFrame b{
      chart_b, problem, compare.aligned_b, selection, compare.overlay_b, view_b, commands, *lists[1], {}, {}, {}, {}, {}, {}, {}, {},
      {},      30};
  b.place = ChartFrame::Place::Lower;
  b.label_width = a.label_width;
  b.shift = compare.difference.shift;
  place_chart(b, {begin.x, begin.y + height_a}, {begin.x + size.x, begin.y + size.y});
  handle_input(b);
  if (drop) drop(true);
  lend_time(view_b, view);
  if (view_b.hovered_cycle) cursor = view_b.hovered_cycle;
  view.hovered_cycle = view_b.hovered_cycle = cursor;
  b.axis.range = view.visible;
  paint_chart(b);
  draw_title(b, true, compare.title_b, compare.axis);
  draw_tooltip(b);
  draw_context_menu(b);
  ImGui::EndChild();

  ImGui::SetCursorScreenPos(begin);
  child("##gantt_a", {size.x, height_a});  // goes on where it was
  a.axis.range = view.visible;
  paint_chart(a);
  draw_title(a, false, compare.title_a, {});
  draw_tooltip(a);
  draw_context_menu(a);
  ImGui::EndChild();
  ImGui::PopStyleVar();
  if (probe::on()) probe::item("gantt/pair", begin.x, begin.y, begin.x + size.x, begin.y + size.y);
}

}  // namespace heddle::app

// Every frame first finds where everything goes, then takes input, then draws from the back to the front.
#include "app/window/chart/gantt_view.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "app/platform/fonts.h"
#include "app/platform/imgui_compat.h"
#include "app/session/commands.h"
#include "app/window/chart/gantt_parts.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/widgets.h"
#include "core/chart/gantt_facts.h"
#include "core/chart/gantt_model.h"
#include "core/chart/op_facts.h"

namespace heddle::app {
namespace {

constexpr double kTooltipDelay = 0.15;  // seconds

void draw_scroll_hint(ChartFrame& f) {
  const float hidden = f.layout.height - f.rows.height();
  if (hidden <= 0) return;
  // A scroll bar in the strip at the right, with arrowheads where rows are hidden.
  const float strip = f.rows.x1 + px(4), head = px(8), track = f.rows.height() - 2 * head;
  const float length = std::clamp(track * f.rows.height() / f.layout.height, std::min(px(12), track), track);
  const float y = f.rows.y0 + head + (track - length) * f.view.scroll / hidden;
  f.draw.AddRectFilled({strip - px(2), y}, {strip + px(2), y + length}, theme().edge, px(2));
  const float half = px(3.5f);
  if (f.view.scroll < hidden - 1)
    f.draw.AddTriangleFilled({strip - half, f.rows.y1 - px(6)}, {strip + half, f.rows.y1 - px(6)}, {strip, f.rows.y1 - px(1)},
                             theme().warning);
  if (f.view.scroll > 1)
    f.draw.AddTriangleFilled({strip - half, f.rows.y0 + px(6)}, {strip + half, f.rows.y0 + px(6)}, {strip, f.rows.y0 + px(1)},
                             theme().warning);
}

void colored(Color color, const std::string& text) {
  ImGui::PushStyleColor(ImGuiCol_Text, color);
  ImGui::TextUnformatted(text.c_str());
  ImGui::PopStyleColor();
}

void draw_facts(const std::vector<FactLine>& lines) {
  for (const FactLine& line : lines)
    colored(line.tone == FactLine::Tone::Bad     ? theme().bad
            : line.tone == FactLine::Tone::Tight ? theme().warning
            : line.tone == FactLine::Tone::Plain ? theme().text
                                                 : theme().dim,
            line.text);
}

}  // namespace

void draw_tooltip(ChartFrame& f) {
  if (!f.view.hovered) {
    draw_end_tooltip(f);
    draw_pause_tooltip(f);
    if (!draw_queue_tooltip(f)) draw_barrier_tooltip(f);
    return;
  }
  if (!f.view.hovered || f.view.hovered_for < kTooltipDelay || f.view.drag != ChartDrag::None || tooltips_rest()) return;
  const GanttBar& bar = f.model.bars[*f.view.hovered];
  const Op& op = f.problem.op(bar.op);
  // Below the rows of its group, so that neither the bar nor its neighbours are covered; above them where there is no room.
  std::size_t group = 0;
  while (group + 1 < f.model.groups.size() && f.model.groups[group + 1].first_row <= bar.row) ++group;
  const float top = f.row_y(f.layout.groups[group].top), bottom = top + f.layout.groups[group].height;
  const ImVec2 display = ImGui::GetIO().DisplaySize, mouse = ImGui::GetIO().MousePos;
  static ImVec2 last_size;  // of the tooltip, one frame old
  const bool below = bottom + px(6) + last_size.y <= display.y;
  const float x = std::clamp(mouse.x + px(10), 0.0f, std::max(0.0f, display.x - last_size.x - px(4)));
  const float y = below ? std::max(bottom + px(6), f.bar_box(bar).y1 + px(6)) : std::max(0.0f, top - px(6) - last_size.y);
  ImGui::SetNextWindowPos({x, y});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {px(12), px(9)});
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {px(6), px(3)});
  ImGui::PushStyleColor(ImGuiCol_PopupBg, theme().tooltip);
  ImGui::BeginTooltip();
  push_font(fonts().bold);
  ImGui::TextUnformatted(op.name.c_str());
  pop_font();
  ImGui::SameLine();
  colored(role_ink(bar.role), f.model.rows[bar.row].label);
  ImGui::SameLine();
  colored(theme().dim, iteration_text(f.model.mode, bar.iteration));
  push_font(fonts().small);
  colored(theme().text, bar_text(f.model, bar));
  draw_facts(start_facts(f.problem, f.schedule, bar.op, f.shift));
  if (bar.op.index() < f.overlay.sources.size() && !f.overlay.sources[bar.op.index()].empty()) {
    ImGui::PushTextWrapPos(px(420));
    colored(theme().faint, drawable(f.overlay.sources[bar.op.index()]));
    ImGui::PopTextWrapPos();
  }
  if (const std::string access = access_words(f.problem, bar.op); !access.empty())
    colored(bar.mark.empty() ? theme().dim : theme().bad, "shared memory: " + access);
  if (bar.violating) colored(theme().bad, "breaks a rule: see the checker's list");
  if (bar.critical) colored(theme().text, "critical: takes part in what limits II");
  const auto listed = [&](const std::vector<OpId>& ops) { return std::find(ops.begin(), ops.end(), bar.op) != ops.end(); };
  if (listed(f.overlay.framed))
    colored(theme().text, "held here, so that other pins mean what was seen");
  else if (listed(f.overlay.pinned))
    colored(theme().text, "pinned");
  if (listed(f.overlay.differing)) colored(theme().text, "differs from B");
  draw_facts(dependence_facts(f.problem, f.schedule, bar.op));
  pop_font();
  last_size = ImGui::GetWindowSize();
  if (probe::on()) probe::item(f.probe_name("tooltip"), x, y, x + last_size.x, y + last_size.y);
  ImGui::EndTooltip();
  ImGui::PopStyleColor();
  ImGui::PopStyleVar(2);
}

float chart_label_width(const GanttModel& model, float available) {
  float width = px(120);
  for (const GanttGroup& group : model.groups) {
    float units = 0;
    for (std::size_t r = group.first_row; r < group.first_row + std::min<std::size_t>(2, group.rows); ++r)
      units = std::max(units, paint::text_width(fonts().small_bold, model.rows[r].label));
    const float name = std::max(paint::text_width(fonts().bold, group.label), paint::text_width(fonts().small, group.detail));
    width = std::max(width, name + units + px(32));
  }
  for (const GanttLane& lane : model.lanes)
    width = std::max(width, paint::text_width(fonts().small, lane.label) + paint::text_width(fonts().mono_small, lane.detail) + px(36));
  for (const BarrierLane& lane : model.barriers)
    width = std::max(width, paint::text_width(fonts().small, lane.label) + paint::text_width(fonts().mono_small, lane.detail) + px(36));
  for (const QueueLane& lane : model.queues)
    width = std::max(width, paint::text_width(fonts().small, lane.label) + paint::text_width(fonts().mono_small, "now 0 of 0") + px(36));
  return std::floor(std::min(width, available * 0.35f));
}

namespace {

/// What of the height ends with a whole row; all of it where every row fits, or not even one.
float whole_chart_rows(const ChartLayout& layout, float height) {
  if (layout.height <= height) return height;
  float whole = 0;
  for (const RowBox& row : layout.rows)
    if (row.top + row.height <= height) whole = std::max(whole, row.top + row.height);
  return whole > 0 ? whole : height;
}

}  // namespace

void place_chart(ChartFrame& f, ImVec2 low, ImVec2 high) {
  const float column = std::max(f.label_width, chart_label_width(f.model, high.x - low.x));
  const float x0 = low.x + column, x1 = high.x - px(8);
  const float band = px(f.model.mode == GanttMode::Pipeline ? 36 : 18);
  const bool pair = f.place != ChartFrame::Place::Alone, lower = f.place == ChartFrame::Place::Lower;
  const float lane = px(30), grip = f.model.lanes.empty() || pair ? 0 : px(6);
  float y = low.y;
  const auto take = [&](float height) {
    const paint::Box box{x0, y, x1, y + height};
    y += height;
    return box;
  };
  f.labels = {low.x, low.y, x0, high.y};
  f.minimap = take(lower || !f.overview ? 0 : px(30));
  if (!lower && f.overview) y += px(2);
  f.ruler = take(lower ? 0 : px(24));
  f.marks = take(lower ? 0 : band);
  f.title = take(pair ? px(20) : 0);
  RowMetrics metrics;
  metrics.lane = std::floor(px(f.view.row_height));
  metrics.group_padding = px(7);
  metrics.group_gap = px(1);
  metrics.group_minimum = px(44);
  f.layout = layout_rows(f.model, metrics);
  const float rest = std::max(0.0f, high.y - y - grip), count = static_cast<float>(f.model.all_lanes());
  if (!pair && f.view.row_height == kUsualRowHeight) {
    // Rows whose height was not chosen take a part of the height that a tall window has left over.
    const float grow = (rest - px(44) * count) / std::max(1.0f, f.layout.height);
    if (grow > 1) {
      metrics.lane = std::floor(metrics.lane * std::min(grow, 1.6f));
      f.layout = layout_rows(f.model, metrics);
    }
  }
  // Where the height is short groups close up and rows get lower before they have to be scrolled; two charts share the height of one.
  const bool chosen = !f.view.closest && (f.view.row_height != kUsualRowHeight || f.view.lanes_share > 0);
  const float lowest_lane = px(16), for_rows = pair ? rest : rest - lowest_lane * count;
  if ((pair || !chosen) && f.layout.height > for_rows) {
    metrics.group_padding = px(3);
    metrics.group_minimum = px(pair ? 20 : 36);
    f.layout = layout_rows(f.model, metrics);
    if (f.layout.height > for_rows) {
      const float least = !f.overview || f.view.closest ? px(kLeastLaneOfThree) : pair ? px(15) : px(20);
      metrics.lane = std::clamp(std::floor(metrics.lane * for_rows / f.layout.height), std::min(least, metrics.lane), metrics.lane);
      f.layout = layout_rows(f.model, metrics);
    }
  }

  f.view.row_shown = metrics.lane / px(1);

  // Lanes get what the rows leave over, up to a comfortable height; where there is too little for both, 38 %. In a pair
  // there are lanes only where at least two of them fit beside all rows.
  const float left_over = rest - f.layout.height - (chosen || pair ? px(8) : 0);
  const float spare = std::min(px(44) * count, left_over);
  // As many whole lanes as fit.
  const float whole_lanes = std::max(1.0f, std::floor(rest * 0.38f / px(19))) * px(19);
  const float lanes = f.model.lanes.empty()     ? 0
                      : f.view.closest && !pair ? std::max(spare, lowest_lane * count)
                      : pair                    ? (left_over >= px(2 * 19) ? std::min(px(24) * count, left_over) : 0)
                      : f.view.lanes_share > 0  ? std::min(rest, (rest + grip) * f.view.lanes_share)
                                                : std::max(std::min(lane * count, whole_lanes), spare);
  f.rows = take(whole_chart_rows(f.layout, std::floor(rest - lanes)));
  f.splitter = take(grip);
  f.lanes = {x0, y, x1, pair && lanes <= 0 ? y : std::max(y, high.y)};
  // Lanes grow into the room they are given, so that the splitter does something visible, and shrink a little before
  // they have to be scrolled.
  const float all_fit = f.lanes.height() >= lowest_lane * count ? lowest_lane : px(19);
  f.lane_height = f.model.lanes.empty() ? lane : std::max(all_fit, std::floor(f.lanes.height() / count));
  if (f.lanes.height() < f.lane_height * count) f.lanes.y1 = f.lanes.y0 + whole_rows(f.lanes.height(), f.lane_height);
  f.axis = {x0, x1, f.view.visible};

  const float hidden = f.layout.height - f.rows.height();
  f.view.cut = hidden > 1 || f.lanes.height() + 1 < f.lane_height * count;
  f.view.scroll = std::clamp(f.view.scroll, 0.0f, std::max(0.0f, hidden));
}

void paint_chart(ChartFrame& f) {
  ImDrawList& draw = f.draw;
  const bool lower = f.place == ChartFrame::Place::Lower;
  draw.AddRectFilled({f.labels.x0, f.labels.y0}, {f.rows.x1 + px(8), f.labels.y1}, theme().chart);
  draw.PushClipRect({f.labels.x0, f.rows.y0}, {f.rows.x1 + px(8), f.rows.y1}, true);
  draw_group_backgrounds(f);
  draw.PopClipRect();
  draw_lanes(f);
  if (!lower) draw_ruler(f);
  draw_time_lines(f);
  draw.PushClipRect(f.rows.low(), f.rows.high(), true);
  draw_move_band(f);
  draw_arrows(f, ArrowLayer::Below);
  if (f.others) draw_others(f);
  draw_end_bars(f);
  draw_pauses(f);
  draw_bars(f);
  draw_whiskers(f);
  draw_limiting_cycle(f);
  draw_arrows(f, ArrowLayer::Above);
  draw_marks(f);
  draw_conflict_marks(f);
  draw_move_ghost(f);
  draw.PopClipRect();
  draw_group_labels(f);
  draw.AddRectFilled({f.rows.x0 - 1, f.ruler.y0}, {f.rows.x0, f.labels.y1}, theme().separator);
  if (f.splitter.height() > 0)
    draw.AddRectFilled({f.labels.x0, f.splitter.y0 + px(2)}, {f.rows.x1 + px(8), f.splitter.y1 - px(2)}, theme().border);
  if (!lower && f.overview) draw_minimap(f);
  draw_scroll_hint(f);
  if (!lower) draw_notes_on_chart(f);
  if (probe::on()) {
    probe::item(f.probe_name("rows"), f.rows.x0, f.rows.y0, f.rows.x1, f.rows.y1);
    probe::item(f.probe_name("lanes"), f.lanes.x0, f.lanes.y0, f.lanes.x1, f.lanes.y1);
    probe::item(f.probe_name("splitter"), f.splitter.x0, f.splitter.y0, f.splitter.x1, f.splitter.y1);
  }
}

void draw_gantt(const ChartPanel& panel, const std::vector<OtherBar>* others) {
  GanttViewState& view = *panel.view;
  update_view(view, *panel.chart, ImGui::GetIO().DeltaTime);
  const ImVec2 size = ImGui::GetContentRegionAvail();
  if (size.x < px(160) || size.y < px(120)) return;  // no room for a chart
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
  ImGui::BeginChild("##gantt", size, false, ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse | ImGuiWindowFlags_NoNav);
  ImGui::PopStyleVar();
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const ImVec2 low = ImGui::GetWindowPos(), high(low.x + size.x, low.y + size.y);
  ChartFrame f{*panel.chart,
               *panel.problem,
               *panel.schedule,
               *panel.selection,
               *panel.overlay,
               view,
               *panel.commands,
               draw,
               {},
               {},
               {},
               {},
               {},
               {},
               {},
               {},
               {},
               30};
  f.others = others;
  place_chart(f, low, high);
  handle_input(f);
  f.axis.range = view.visible;  // a drag moves the picture in the same frame

  paint_chart(f);
  draw_tooltip(f);
  draw_context_menu(f);
  ImGui::EndChild();
}

}  // namespace heddle::app

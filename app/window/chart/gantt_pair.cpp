// Several charts on one time axis. Each is a frame of its own with its own rows, scrolling, hovered bar and drag; what belongs to
// time is one and the same, kept in the view of the live one and lent to the others while they are drawn.
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/platform/fonts.h"
#include "app/window/chart/gantt_parts.h"
#include "app/window/chart/three_model.h"
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
void draw_title(const ChartFrame& f, const ChartPanel& panel) {
  const bool named = panel.mark != ChartPanel::Mark::Other;
  const float height = f.title.height(), badge = panel.badge.empty() ? 0 : height - px(4);
  const Color fill = panel.mark == ChartPanel::Mark::B ? theme().second : named ? theme().accent : theme().edge;
  // Edges are as light as text where contrast is high.
  const Color on_edge = contrast(theme().text, theme().edge) < contrast(theme().panel, theme().edge) ? theme().panel : theme().text;
  const Color ink = panel.mark == ChartPanel::Mark::B ? theme().second_text : named ? theme().accent_text : on_edge;
  const float left = f.labels.x0 + px(10), right = f.title.x1;
  f.draw.AddRectFilled({f.labels.x0, f.title.y0}, {right + px(8), f.title.y1}, theme().panel);
  f.draw.AddRectFilled({f.labels.x0, f.title.y0}, {f.labels.x0 + px(3), f.rows.y1}, fill);
  const float top = f.title.y0 + px(2);
  if (badge > 0) {
    f.draw.AddRectFilled({left, top}, {left + badge, top + badge}, fill, px(3));
    paint::text({f.draw, fonts().small_bold, ink},
                {left + (badge - paint::text_width(fonts().small_bold, panel.badge)) / 2,
                 top + (badge - paint::text_height(fonts().small_bold)) / 2},
                panel.badge);
  }
  const float y = f.title.y0 + (height - paint::text_height(fonts().small)) / 2, x = left + (badge > 0 ? badge + px(8) : 0);
  const float own = paint::text_width(fonts().small, panel.title), about = paint::text_width(fonts().small, panel.note);
  // The note gives way to the title, and both to the width there is.
  const float for_note = std::min(about, std::max(0.0f, right - x - own - px(24)));
  paint::text_cut({f.draw, fonts().small, theme().text}, {x, y}, right - x - for_note - (for_note > 0 ? px(16) : 0), panel.title);
  if (for_note > px(60)) paint::text_cut({f.draw, fonts().small, theme().warning}, {right - for_note, y}, for_note + 1, panel.note);
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
  paint::dashed_bezier(f.draw, {{x0, y}, {x0, y}, {x1, (b.y0 + b.y1) / 2}, {x1, (b.y0 + b.y1) / 2}}, theme().second, px(1.5f));
}

/// A line over the chart, where there is any room for it.
void say_no_room(ImVec2 size, const char* sentence) {
  if (size.y < px(150)) return;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float height = px(22);
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw.AddRectFilled(at, {at.x + size.x, at.y + height}, theme().panel);
  draw.AddRectFilled(at, {at.x + px(3), at.y + height}, theme().warning);
  const std::string& key = keys_of("fold_bottom");
  const std::string text = sentence + (key.empty() ? std::string() : "; " + key + " folds the pane of tabs");
  paint::text_cut({draw, fonts().small, theme().text}, {at.x + px(10), at.y + (height - paint::text_height(fonts().small)) / 2},
                  size.x - px(20), text);
  if (probe::on()) probe::item("gantt/no_room", at.x, at.y, at.x + size.x, at.y + height);
  ImGui::SetCursorScreenPos({at.x, at.y + height});
}

/// Minimap, ruler and marks, which the charts have in common. Three of them have no room for a minimap.
float height_in_common(const GanttModel& chart, std::size_t count) {
  return px((count < 3 ? 30 + 2 : 0) + 24 + (chart.mode == GanttMode::Pipeline ? 36 : 18));
}

/// As low as its rows can be without being scrolled.
float least_height(const GanttModel& model) {
  RowMetrics metrics;
  metrics.lane = std::floor(px(kLeastLaneOfThree));
  metrics.group_padding = px(3);
  metrics.group_gap = px(1);
  metrics.group_minimum = px(20);
  return layout_rows(model, metrics).height + px(20);
}

/// Three charts are of very different heights: each gets what it needs at least, and the rest by what it wants more.
std::vector<float> share_by_need(const std::vector<float>& least, const std::vector<float>& wanted, float room) {
  float needed = 0, more = 0;
  for (std::size_t i = 0; i < least.size(); ++i) needed += least[i], more += std::max(0.0f, wanted[i] - least[i]);
  std::vector<float> got;
  for (std::size_t i = 0; i < least.size(); ++i)
    got.push_back(needed >= room ? room * least[i] / needed
                  : more > 0     ? least[i] + (room - needed) * std::max(0.0f, wanted[i] - least[i]) / more
                                 : room / static_cast<float>(least.size()));
  return got;
}

/// The height of the rows of each: what they want, where that is less than their share; the others share what is left.
std::vector<float> share_height(const std::vector<float>& wanted, float room) {
  std::vector<float> got(wanted.size(), -1);
  float left = room;
  std::size_t open = wanted.size();
  for (bool again = true; again && open > 0;) {
    again = false;
    const float share = left / static_cast<float>(open);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (got[i] >= 0 || wanted[i] > share) continue;
      got[i] = wanted[i];
      left -= wanted[i];
      --open;
      again = true;
    }
  }
  const float more = left / static_cast<float>(open > 0 ? open : wanted.size());
  for (float& height : got) {
    if (height < 0)
      height = more;
    else if (open == 0)
      height += more;
  }
  return got;
}

/// A bar of A's lies over this part of B's.
bool covered(const ChartFrame& f, const OtherBar& other, int lane, float x0, float x1) {
  return std::any_of(f.model.bars.begin(), f.model.bars.end(), [&](const GanttBar& bar) {
    return bar.row == other.row && bar.lane == lane && f.axis.to_x(static_cast<double>(bar.begin)) < x1 &&
           f.axis.to_x(static_cast<double>(bar.end)) > x0;
  });
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
    if (other.elsewhere) paint::hatch(f.draw, box, {1, x0, px(7), with_alpha(edge, 0.8f), px(1)});
    const std::string_view label = paint::beginning_that_fits(fonts().small, other.label, box.width() - px(8));
    const bool whole = other.differs && !label.empty() && label.size() == other.label.size();
    if (whole && !covered(f, other, lane, x0, x0 + px(4) + paint::text_width(fonts().small, label)))
      paint::text({f.draw, fonts().small, edge}, {x0 + px(4), top + (f.layout.lane - paint::text_height(fonts().small)) / 2}, label);
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

bool panels_have_room(const GanttModel& chart, std::size_t count, float least) {
  return ImGui::GetContentRegionAvail().y >= height_in_common(chart, count) + px(static_cast<float>(count) * least);
}

void draw_gantt_panels(std::span<ChartPanel> panels, std::size_t live) {
  const ImVec2 size = ImGui::GetContentRegionAvail(), begin = ImGui::GetCursorScreenPos();
  GanttViewState& time = *panels[live].view;
  update_view(time, *panels[live].chart, ImGui::GetIO().DeltaTime);
  const float top = height_in_common(*panels.front().chart, panels.size());
  std::vector<float> wanted, least;
  float labels = 0;
  for (ChartPanel& panel : panels) {
    for (auto* bar : {&panel.view->hovered, &panel.view->pressed, &panel.view->current})
      if (*bar && **bar >= panel.chart->bars.size()) bar->reset();
    wanted.push_back(wanted_height(*panel.chart, time.row_height));
    least.push_back(least_height(*panel.chart));
    labels = std::max(labels, chart_label_width(*panel.chart, size.x));
  }
  const std::vector<float> rows = panels.size() < 3 ? share_height(wanted, size.y - top) : share_by_need(least, wanted, size.y - top);

  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
  std::vector<ChartFrame> frames;
  std::vector<ImVec2> low, high;
  frames.reserve(panels.size());
  const auto child = [&](std::size_t i) {
    ImGui::SetCursorScreenPos(low[i]);
    ImGui::BeginChild(("##gantt_" + std::to_string(i)).c_str(), {high[i].x - low[i].x, high[i].y - low[i].y}, false,
                      ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse | ImGuiWindowFlags_NoNav);
  };
  // Input of all before anything is painted: a drag in one moves the others in the same frame.
  std::optional<Cycle> cursor;
  float y = begin.y;
  for (std::size_t i = 0; i < panels.size(); ++i) {
    ChartPanel& panel = panels[i];
    const bool last = i + 1 == panels.size();
    low.push_back({begin.x, y});
    y = last ? begin.y + size.y : y + std::floor((i == 0 ? top : 0) + rows[i]);
    high.push_back({begin.x + size.x, y});
    if (i != live) lend_time(time, *panel.view);
    panel.view->closest = time.closest;
    child(i);
    ChartFrame& f = frames.emplace_back(ChartFrame{*panel.chart,
                                                   *panel.problem,
                                                   *panel.schedule,
                                                   *panel.selection,
                                                   *panel.overlay,
                                                   *panel.view,
                                                   *panel.commands,
                                                   *ImGui::GetWindowDrawList(),
                                                   {},
                                                   {},
                                                   {},
                                                   {},
                                                   {},
                                                   {},
                                                   {},
                                                   {},
                                                   {},
                                                   30});
    f.place = i == 0 ? ChartFrame::Place::Upper : ChartFrame::Place::Lower;
    f.number = i;
    f.keys = i == live;
    f.overview = panels.size() < 3;
    f.all_top = begin.y + top;
    f.all_bottom = begin.y + size.y;
    for (std::size_t other = 1; i == 0 && other < panels.size(); ++other) f.below.push_back(panels[other].chart);
    f.label_width = labels;
    f.shift = panel.shift;
    place_chart(f, low[i], high[i]);
    handle_input(f);
    if (panel.drop) panel.drop();
    if (panel.view->hovered_cycle) cursor = panel.view->hovered_cycle;
    if (i != live) lend_time(*panel.view, time);
    panel.title_pressed = ImGui::IsMouseClicked(ImGuiMouseButton_Left) &&
                          ImGui::IsWindowHovered(ImGuiHoveredFlags_AllowWhenBlockedByActiveItem) &&
                          ImGui::IsMouseHoveringRect({f.labels.x0, f.title.y0}, {f.title.x1, f.title.y1});
    ImGui::EndChild();
  }
  time.cut = std::any_of(panels.begin(), panels.end(), [](const ChartPanel& panel) { return panel.view->cut; });
  for (std::size_t i = panels.size(); i-- > 0;) {
    ChartFrame& f = frames[i];
    f.view.hovered_cycle = cursor;
    f.axis.range = time.visible;
    child(i);  // goes on where it was
    paint_chart(f);
    draw_title(f, panels[i]);
    draw_tooltip(f);
    if (panels[i].menu) draw_context_menu(f);
    ImGui::EndChild();
  }
  ImGui::PopStyleVar();
  if (probe::on()) probe::item("gantt/pair", begin.x, begin.y, begin.x + size.x, begin.y + size.y);
}

void draw_gantt_pair(ChartPanel a, const CompareModel& compare, GanttViewState& view_b, const std::function<void(bool)>& drop) {
  if (!panels_have_room(*a.chart, 2, 90)) {
    say_no_room(ImGui::GetContentRegionAvail(), "Too low for two charts: B is drawn as outlines under A");
    return draw_gantt(a, &compare.others);
  }
  a.badge = "A";
  a.title = compare.title_a;
  ChartPanel b{&compare.chart_b, a.problem, &compare.aligned_b, a.selection, &compare.overlay_b, &view_b,
               a.commands,       "B",       compare.title_b,    compare.axis};
  a.mark = ChartPanel::Mark::A;
  b.mark = ChartPanel::Mark::B;
  b.shift = compare.difference.shift;
  if (drop) {
    a.drop = [&] { drop(false); };
    b.drop = [&] { drop(true); };
  }
  ChartPanel panels[] = {std::move(a), std::move(b)};
  draw_gantt_panels(panels, 0);
}

void draw_gantt_three(const ThreeModel& three, const ChartPanel& live, std::span<GanttViewState* const> views) {
  if (!panels_have_room(*live.chart, three.charts.size(), kLeastOfThree)) {
    say_no_room(ImGui::GetContentRegionAvail(), "Too low for three charts: only the chosen one is drawn");
    return draw_gantt(live);
  }
  static const Selection kNoSelection;
  static const ChartOverlay kNoOverlay;
  std::vector<CommandQueue> asked(three.charts.size());
  std::vector<ChartPanel> panels;
  for (std::size_t i = 0; i < three.charts.size(); ++i) {
    const ThreeChart& chart = three.charts[i];
    const bool chosen = i == three.live;
    ChartPanel& panel = panels.emplace_back(
        chosen ? live
               : ChartPanel{&chart.gantt, chart.problem.get(), chart.schedule.get(), &kNoSelection, &kNoOverlay, views[i], &asked[i]});
    panel.badge = std::to_string(i + 1);
    panel.title = chart.title;
    panel.mark = chosen ? ChartPanel::Mark::A : ChartPanel::Mark::Other;
    panel.menu = chosen;
  }
  draw_gantt_panels(panels, three.live);
  // A bar, or the title, of another one: that one becomes the chosen one, and the bar's op is selected in it.
  for (std::size_t i = 0; i < panels.size(); ++i) {
    if (i == three.live) continue;
    std::vector<Command> wanted = asked[i].take();
    std::erase_if(wanted, [](const Command& command) { return !command.is<SelectOp>(); });
    if (wanted.empty() && !panels[i].title_pressed) continue;
    live.commands->push(ShowSide{three.charts[i].whose});
    for (Command& command : wanted) live.commands->push(std::move(command));
  }
}

}  // namespace heddle::app

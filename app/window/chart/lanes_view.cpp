// Resource lanes under the rows. Each profile is reduced to at most one piece per pixel, then drawn as one filled rectangle per piece and a
// line along the top.
#include <algorithm>

#include "app/platform/fonts.h"
#include "app/window/chart/gantt_parts.h"
#include "app/window/kit/probe.h"

namespace heddle::app {
namespace {

void draw_profile(ChartFrame& f, const GanttLane& lane, const paint::Box& box) {
  const std::int64_t full = lane.full();
  const auto height_of = [&](std::int64_t value) {
    const float usable = box.height() - px(5);
    return box.y1 - usable * static_cast<float>(static_cast<double>(value) / static_cast<double>(full));
  };
  const Color fill = role_color(lane.role).fill;
  const Color body = with_alpha(fill, 0.42f), edge = fill, over = with_alpha(theme().bad, 0.75f);
  const double begin = std::max(f.axis.range.begin, static_cast<double>(f.model.begin));
  const double end = std::min(f.axis.range.end, static_cast<double>(f.model.end));
  if (begin >= end || lane.profile.empty()) return;

  float previous_y = -1;
  for (const auto& [x, next_x, value] : profile_pieces(lane.profile, f.axis, begin, end)) {
    const float y = height_of(value);
    if (value > 0) f.draw.AddRectFilled({x, y}, {next_x, box.y1}, body);
    if (lane.capacity > 0 && value > lane.capacity) f.draw.AddRectFilled({x, y}, {next_x, height_of(lane.capacity)}, over);
    const float thick = px(1.5f);
    f.draw.AddRectFilled({x, y - thick / 2}, {next_x, y + thick / 2}, edge);
    if (previous_y >= 0 && previous_y != y)
      f.draw.AddRectFilled({x - thick / 2, std::min(y, previous_y) - thick / 2}, {x + thick / 2, std::max(y, previous_y) + thick / 2},
                           edge);
    previous_y = y;
  }
  // Solid: what is set aside for good. Dashed: what there is.
  if (lane.allocated > 0) {
    const float y = height_of(lane.allocated);
    f.draw.AddRectFilled({std::max(box.x0, f.axis.to_x(begin)), y - px(0.5f)}, {f.axis.to_x(end), y + px(0.5f)},
                         lane.allocated > lane.capacity ? theme().bad : with_alpha(theme().text, 0.55f));
  }
  if (lane.capacity > 0) {
    const Color limit = lane.peak > lane.capacity ? theme().bad : with_alpha(theme().warning, 0.8f);
    paint::dashed_horizontal(f.draw, std::max(box.x0, f.axis.to_x(begin)), f.axis.to_x(end), height_of(lane.capacity) - 1, {limit, px(4)});
  }
}

}  // namespace

void draw_lane_label(ChartFrame& f, const paint::Box& box, std::string_view name, std::string_view number, Color ink) {
  ImFont *font = fonts().small, *mono = fonts().mono_small;
  const float left = f.labels.x0 + px(10), right = f.lanes.x0 - px(8), gap = px(6), middle = (box.y0 + box.y1) / 2;
  const float name_high = paint::text_height(font), number_high = paint::text_height(mono);
  const auto fits = [&] { return paint::text_width(font, name) + gap + paint::text_width(mono, number) <= right - left; };
  if (!fits() && name_high + number_high <= box.height() + px(4)) {
    const float top = middle - (name_high + number_high) / 2;
    paint::name_cut({f.draw, font, theme().text}, {left, top}, right - left, name);
    if (paint::text_width(mono, number) <= right - left) paint::text_right({f.draw, mono, ink}, {right, top + name_high}, number);
    return;
  }
  if (constexpr std::string_view kPeak = "peak "; !fits() && number.starts_with(kPeak)) number.remove_prefix(kPeak.size());
  if (fits())
    paint::text_right({f.draw, mono, ink}, {right, middle - number_high / 2}, number);
  else
    number = {};
  paint::name_cut({f.draw, font, theme().text}, {left, middle - name_high / 2}, right - left, name);
}

void draw_lanes(ChartFrame& f) {
  if (f.lanes.height() <= 0) return;
  const float step = f.lane_height;
  const float wanted = step * static_cast<float>(f.model.all_lanes());
  f.view.lanes_scroll = std::clamp(f.view.lanes_scroll, 0.0f, std::max(0.0f, wanted - f.lanes.height()));
  f.draw.PushClipRect({f.labels.x0, f.lanes.y0}, {f.lanes.x1 + px(8), f.lanes.y1}, true);
  f.draw.AddRectFilled({f.labels.x0, f.lanes.y0}, f.lanes.high(), theme().chart);
  const double cursor = f.view.hovered_cycle ? static_cast<double>(*f.view.hovered_cycle) : -1;
  for (std::size_t i = 0; i < f.model.lanes.size(); ++i) {
    const GanttLane& lane = f.model.lanes[i];
    const float y = f.lanes.y0 + static_cast<float>(f.model.barriers.size() + f.model.queues.size() + i) * step - f.view.lanes_scroll;
    if (y + step < f.lanes.y0 || y > f.lanes.y1) continue;
    const paint::Box box{f.lanes.x0, y + px(2), f.lanes.x1, y + step - px(3)};
    f.draw.AddRectFilled(box.low(), box.high(), theme().row);
    f.draw.PushClipRect(box.low(), box.high(), true);
    draw_profile(f, lane, box);
    f.draw.PopClipRect();
    f.draw.AddRectFilled({box.x0, box.y1}, {box.x1, box.y1 + 1}, theme().grid);
    draw_lane_mark(f, lane, box);

    // Under the cursor the lane says what it holds there; elsewhere its peak.
    std::string detail = lane.detail;
    const UsageStep* under = nullptr;
    for (const UsageStep& s : lane.profile) {
      if (static_cast<double>(s.at) > cursor) break;
      under = &s;
    }
    if (f.view.hovered_cycle && under && *f.view.hovered_cycle >= f.model.begin && *f.view.hovered_cycle < f.model.end)
      detail = "now " + lane_value(lane, under->value);
    draw_lane_label(f, box, lane.label, detail, lane.capacity > 0 && lane.peak > lane.capacity ? theme().bad : theme().dim);
    if (probe::on()) probe::item(f.probe_name("lane/") + lane.label, box.x0, box.y0, box.x1, box.y1);
  }
  draw_barriers(f);
  draw_queues(f);
  // What does not fit leaves a mark.
  if (f.view.lanes_scroll + f.lanes.height() < wanted - 1)
    f.draw.AddTriangleFilled({f.lanes.x1 + px(0.5f), f.lanes.y1 - px(6)}, {f.lanes.x1 + px(7.5f), f.lanes.y1 - px(6)},
                             {f.lanes.x1 + px(4), f.lanes.y1 - px(1)}, theme().warning);
  if (f.view.lanes_scroll > 1)
    f.draw.AddTriangleFilled({f.lanes.x1 + px(0.5f), f.lanes.y0 + px(6)}, {f.lanes.x1 + px(7.5f), f.lanes.y0 + px(6)},
                             {f.lanes.x1 + px(4), f.lanes.y0 + px(1)}, theme().warning);
  f.draw.PopClipRect();
}

}  // namespace heddle::app

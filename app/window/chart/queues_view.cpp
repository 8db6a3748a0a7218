// Lanes of rings as queues, between those of barriers and those of resources: slots taken pale, filled solid, as steps from the bottom; a
// band at the bottom where readers starve, at the top where the queue is full.
#include <algorithm>

#include "app/platform/fonts.h"
#include "app/platform/imgui_compat.h"
#include "app/window/chart/gantt_parts.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/widgets.h"

namespace heddle::app {
namespace {

constexpr float kSmallestMark = 2;  // pixels
constexpr int kMostLines = 8;       // between slots

paint::Box queue_box(const ChartFrame& f, std::size_t index) {
  const float y = f.lanes.y0 + static_cast<float>(f.model.barriers.size() + index) * f.lane_height - f.view.lanes_scroll;
  return {f.lanes.x0, y + px(2), f.lanes.x1, y + f.lane_height - px(3)};
}

float height_of(const QueueLane& lane, const paint::Box& box, std::int64_t value) {
  const auto full = static_cast<double>(std::max({std::int64_t{1}, std::int64_t{lane.depth}, peak(lane.taken)}));
  return box.y1 - (box.height() - px(4)) * static_cast<float>(static_cast<double>(value) / full);
}

paint::Box mark_box(const ChartFrame& f, const QueueMark& mark, const paint::Box& box) {
  const float x0 = f.axis.to_x(static_cast<double>(mark.begin)), high = std::max(px(3), box.height() * 0.26f);
  const float x1 = std::max(f.axis.to_x(static_cast<double>(mark.end)), x0 + kSmallestMark);
  return mark.state == QueueMark::State::Full ? paint::Box{x0, box.y0, x1, box.y0 + high} : paint::Box{x0, box.y1 - high, x1, box.y1};
}

void draw_steps(ChartFrame& f, const QueueLane& lane, const paint::Box& box, double begin, double end) {
  const Color fill = role_color(lane.role).fill;
  for (const auto& [x, next_x, value] : profile_pieces(lane.taken, f.axis, begin, end))
    if (value > 0) f.draw.AddRectFilled({x, height_of(lane, box, value)}, {next_x, box.y1}, with_alpha(fill, 0.22f));
  for (const auto& [x, next_x, value] : profile_pieces(lane.filled, f.axis, begin, end))
    if (value > 0) f.draw.AddRectFilled({x, height_of(lane, box, value)}, {next_x, box.y1}, with_alpha(fill, 0.5f));
  for (int slot = 1; slot < std::min(lane.depth, kMostLines); ++slot) {
    const float y = height_of(lane, box, slot);
    f.draw.AddRectFilled({box.x0, y - px(0.5f)}, {box.x1, y + px(0.5f)}, with_alpha(theme().grid, 0.7f));
  }
  float previous = -1;
  const float thick = px(1.5f);
  for (const auto& [x, next_x, value] : profile_pieces(lane.taken, f.axis, begin, end)) {
    const float y = height_of(lane, box, value);
    f.draw.AddRectFilled({x, y - thick / 2}, {next_x, y + thick / 2}, fill);
    if (previous >= 0 && previous != y)
      f.draw.AddRectFilled({x - thick / 2, std::min(y, previous) - thick / 2}, {x + thick / 2, std::max(y, previous) + thick / 2}, fill);
    previous = y;
  }
}

/// Colour, place and strokes say the same: below and rising, starving; above and falling, full.
void draw_mark(ChartFrame& f, const QueueMark& mark, const paint::Box& box) {
  const bool full = mark.state == QueueMark::State::Full;
  const Color color = full ? theme().warning : theme().bad;
  f.draw.AddRectFilled(box.low(), box.high(), with_alpha(color, 0.35f));
  paint::hatch(f.draw, box, {full ? 2 : 1, f.axis.to_x(0), px(5), color, px(1)});
  const float edge = full ? box.y1 : box.y0;
  f.draw.AddRectFilled({box.x0, edge - px(0.75f)}, {box.x1, edge + px(0.75f)}, color);
}

const QueueMark* mark_at(const ChartFrame& f, const QueueLane& lane, const paint::Box& box, float x, float y) {
  const QueueMark* best = nullptr;
  const float slack = box.height() * 0.24f;  // half of the lane belongs to each band
  for (const QueueMark& mark : lane.marks) {
    const paint::Box b = mark_box(f, mark, box);
    if (x < b.x0 || x > b.x1 || y < b.y0 - slack || y > b.y1 + slack) continue;
    if (!best || mark.end - mark.begin < best->end - best->begin) best = &mark;
  }
  return best;
}

}  // namespace

void draw_queues(ChartFrame& f) {
  const double begin = std::max(f.axis.range.begin, static_cast<double>(f.model.begin));
  const double end = std::min(f.axis.range.end, static_cast<double>(f.model.end));
  for (std::size_t i = 0; i < f.model.queues.size(); ++i) {
    const QueueLane& lane = f.model.queues[i];
    const paint::Box box = queue_box(f, i);
    if (box.y1 < f.lanes.y0 || box.y0 > f.lanes.y1) continue;
    f.draw.AddRectFilled(box.low(), box.high(), theme().row);
    f.draw.PushClipRect({box.x0, std::max(box.y0, f.lanes.y0)}, {box.x1, std::min(box.y1, f.lanes.y1)}, true);
    if (begin < end) draw_steps(f, lane, box, begin, end);
    for (const QueueMark& mark : lane.marks) {
      const paint::Box at = mark_box(f, mark, box);
      if (at.x1 >= f.lanes.x0 && at.x0 <= f.lanes.x1) draw_mark(f, mark, at);
    }
    f.draw.PopClipRect();
    f.draw.AddRectFilled({box.x0, box.y1}, {box.x1, box.y1 + 1}, theme().grid);
    std::string detail = lane.detail;
    if (f.view.hovered_cycle && *f.view.hovered_cycle >= f.model.begin && *f.view.hovered_cycle < f.model.end)
      detail = "now " + std::to_string(value_at(lane.taken, *f.view.hovered_cycle)) + " of " + std::to_string(lane.depth);
    draw_lane_label(f, box, lane.label, detail, theme().dim);
    if (probe::on()) probe::item(f.probe_name("queue/") + f.problem.channel(lane.channel).name, box.x0, box.y0, box.x1, box.y1);
  }
}

bool draw_queue_tooltip(ChartFrame& f) {
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  if (f.view.drag != ChartDrag::None || tooltips_rest() || !ImGui::IsWindowHovered() || !f.lanes.contains(mouse.x, mouse.y)) return false;
  for (std::size_t i = 0; i < f.model.queues.size(); ++i) {
    const QueueLane& lane = f.model.queues[i];
    const paint::Box box = queue_box(f, i);
    if (mouse.y < box.y0 || mouse.y > box.y1) continue;
    const auto cycle = static_cast<Cycle>(f.axis.to_cycle(mouse.x));
    if (cycle < f.model.begin || cycle >= f.model.end) return false;
    std::string text = lane.label + "  " + queue_value(lane, cycle);
    if (const QueueMark* mark = mark_at(f, lane, box, mouse.x, mouse.y))
      text += "\n" + mark_text(f.problem, f.schedule, *mark, f.model.mode == GanttMode::Steady);
    tooltip(text);
    return true;
  }
  return false;
}

}  // namespace heddle::app

// Lanes of barriers, over those of resources: a strip per slot of a ring, filled, full and read; of turns, who has them.
#include <algorithm>

#include "app/platform/fonts.h"
#include "app/platform/imgui_compat.h"
#include "app/window/chart/gantt_parts.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/widgets.h"

namespace heddle::app {
namespace {

using State = BarrierSpan::State;

constexpr float kSmallestSpan = 2;  // pixels

paint::Box box_of(const ChartFrame& f, const BarrierLane& lane, const BarrierSpan& span, const paint::Box& box) {
  const BarrierStrip place = strip_of(lane, span);
  const float strip = box.height() * static_cast<float>(place.high), y = box.y0 + box.height() * static_cast<float>(place.top);
  const float x0 = f.axis.to_x(static_cast<double>(span.begin)), gap = strip >= px(6) ? px(0.5f) : 0;
  return {x0, y + gap, std::max(f.axis.to_x(static_cast<double>(span.end)), x0 + kSmallestSpan), y + strip - gap};
}

/// What is written on a stretch where there is room: whose it is, and the phase.
std::string label_of(const ChartFrame& f, const BarrierLane& lane, const BarrierSpan& span) {
  if (lane.kind == BarrierLane::Kind::Turn && span.state == State::Passed) return {};
  if (lane.kind == BarrierLane::Kind::Tensor) return span.name;
  const std::string& role = f.schedule.groups[span.group.index()].role;
  const std::string group = role.empty() ? "group " + std::to_string(span.group.index()) : role;
  switch (span.state) {
    case State::Filling: return f.problem.op(span.op).name;
    case State::Full: return "full, phase " + std::to_string(span.phase);
    case State::Read:
    case State::Held:
    case State::Passed: return group;
  }
  return {};
}

void draw_span(ChartFrame& f, const BarrierLane& lane, const BarrierSpan& span, const paint::Box& box) {
  const Color fill = role_color(strip_of(lane, span).role).fill;
  const bool turn = lane.kind == BarrierLane::Kind::Turn, strong = span.state == State::Read || span.state == State::Held;
  const float alpha = span.state == State::Filling ? 0.18f : span.state == State::Full ? 0.34f : strong ? 0.62f : 0.12f;
  f.draw.AddRectFilled(box.low(), box.high(), with_alpha(fill, alpha));
  // Shape says what colour says: rising strokes fill, a frame is full, a line on top is phase 1; turns of every other group are hatched.
  if (span.state == State::Filling) paint::hatch(f.draw, box, {1, f.axis.to_x(0), px(6), with_alpha(fill, 0.55f), px(1)});
  if (turn && span.state == State::Held && span.group.index() % 2 == 1)
    paint::hatch(f.draw, box, {2, f.axis.to_x(0), px(8), with_alpha(theme().chart, 0.55f), px(1.5f)});
  if (span.state != State::Passed) f.draw.AddRectFilled(box.low(), {box.x0 + px(1.5f), box.y1}, fill);
  if (!turn && span.phase == 1 && span.state != State::Filling)
    f.draw.AddRectFilled(box.low(), {box.x1, box.y0 + std::max(1.0f, px(1.5f))}, theme().text);
  ImFont* font = fonts().small;
  const float high = paint::text_height(font);
  if (box.height() < high * 0.82f) return;
  const std::string label = label_of(f, lane, span);
  const float x0 = std::max(box.x0, f.lanes.x0), x1 = std::min(box.x1, f.lanes.x1);
  if (const float width = paint::text_width(font, label); !label.empty() && width + px(8) <= x1 - x0) {
    const float x = (x0 + x1 - width) / 2, y = (box.y0 + box.y1 - high) / 2;
    if (span.state == State::Filling || turn)  // strokes would run through the letters
      f.draw.AddRectFilled({x - px(3), y + px(1)}, {x + width + px(3), y + high - px(1)}, with_alpha(theme().chart, 0.8f), px(2));
    paint::text({f.draw, font, theme().text}, {x, y}, label);
  }
}

paint::Box lane_box(const ChartFrame& f, std::size_t index) {
  const float y = f.lanes.y0 + static_cast<float>(index) * f.lane_height - f.view.lanes_scroll;
  return {f.lanes.x0, y + px(2), f.lanes.x1, y + f.lane_height - px(3)};
}

/// What is under the mouse: the shortest stretch, where several are.
const BarrierSpan* span_at(const ChartFrame& f, const BarrierLane& lane, const paint::Box& box, float x, float y) {
  const BarrierSpan* best = nullptr;
  for (const BarrierSpan& span : lane.spans) {
    const paint::Box b = box_of(f, lane, span, box);
    if (x < b.x0 || x > b.x1 || y < b.y0 || y > b.y1) continue;
    if (!best || span.end - span.begin < best->end - best->begin) best = &span;
  }
  return best;
}

}  // namespace

void draw_barriers(ChartFrame& f) {
  for (std::size_t i = 0; i < f.model.barriers.size(); ++i) {
    const BarrierLane& lane = f.model.barriers[i];
    const paint::Box box = lane_box(f, i);
    if (box.y1 < f.lanes.y0 || box.y0 > f.lanes.y1) continue;
    f.draw.AddRectFilled(box.low(), box.high(), theme().row);
    f.draw.PushClipRect({box.x0, std::max(box.y0, f.lanes.y0)}, {box.x1, std::min(box.y1, f.lanes.y1)}, true);
    for (const BarrierSpan& span : lane.spans) {
      const paint::Box at = box_of(f, lane, span, box);
      if (at.x1 >= f.lanes.x0 && at.x0 <= f.lanes.x1) draw_span(f, lane, span, at);
    }
    f.draw.PopClipRect();
    f.draw.AddRectFilled({box.x0, box.y1}, {box.x1, box.y1 + 1}, theme().grid);
    draw_lane_label(f, box, lane.label, lane.detail, theme().dim);
    if (probe::on())
      probe::item(f.probe_name(lane.kind == BarrierLane::Kind::Tensor ? "tensor/" : "barrier/") + lane.label, box.x0, box.y0, box.x1,
                  box.y1);
  }
}

const BarrierSpan* barrier_under(const ChartFrame& f, float x, float y, std::size_t* of) {
  if (!f.lanes.contains(x, y)) return nullptr;
  for (std::size_t i = 0; i < f.model.barriers.size(); ++i) {
    const paint::Box box = lane_box(f, i);
    if (y < box.y0 || y > box.y1) continue;
    if (of) *of = i;
    return span_at(f, f.model.barriers[i], box, x, y);
  }
  return nullptr;
}

void draw_barrier_tooltip(ChartFrame& f) {
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  if (f.view.drag != ChartDrag::None || tooltips_rest() || !ImGui::IsWindowHovered()) return;
  std::size_t lane = 0;
  const BarrierSpan* span = barrier_under(f, mouse.x, mouse.y, &lane);
  if (!span) return;
  tooltip((span->name.empty() ? f.model.barriers[lane].label : span->name) + "  " + to_string(span->state) + "\n" +
          span_text(f.problem, f.schedule, f.model.barriers[lane], *span, f.model.mode == GanttMode::Steady));
}

}  // namespace heddle::app

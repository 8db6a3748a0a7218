// Ruler, the band of iteration marks and pipeline phases under it, and the vertical lines that belong to them.
#include <algorithm>
#include <cmath>
#include <utility>

#include "app/platform/fonts.h"
#include "app/window/chart/gantt_parts.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/widgets.h"
#include "core/chart/gantt_model.h"

namespace heddle::app {
namespace {

/// Where the number of the cycle under the mouse stands; no number of a tick goes there.
std::pair<float, float> chip_of(const ChartFrame& f) {
  if (!f.view.hovered_cycle) return {0, 0};
  const float width = paint::text_width(fonts().mono_small, grouped(*f.view.hovered_cycle)) + px(12);
  const float x = std::floor(f.axis.to_x(static_cast<double>(*f.view.hovered_cycle))) + px(5);
  const float left = std::clamp(x, f.rows.x0, std::max(f.rows.x0, f.rows.x1 - width));
  return {left - px(3), left + width + px(3)};
}

void draw_ticks(ChartFrame& f) {
  const paint::Box& box = f.ruler;
  ImFont* font = fonts().mono_small;
  const std::pair<float, float> chip = chip_of(f);
  const float spacing = std::max(px(84), paint::text_width(font, grouped(f.model.end)) + px(24));
  const Cycle step = tick_step(spacing * f.axis.cycles_per_pixel(), f.model.ii);
  // Between two numbers: halves for powers of two, else fifths or halves.
  const Cycle parts = step % 4 == 0 && (step & (step - 1)) == 0 ? 4 : step % 5 == 0 ? 5 : step % 2 == 0 ? 2 : 1;
  const Cycle minor = step / parts;
  const Cycle first = static_cast<Cycle>(std::floor(f.axis.range.begin / static_cast<double>(minor))) * minor;
  for (Cycle at = first; static_cast<double>(at) <= f.axis.range.end; at += minor) {
    const float x = std::floor(f.axis.to_x(static_cast<double>(at)));
    const bool major = at % step == 0;
    const float height = major ? px(12) : px(5);
    f.draw.AddRectFilled({x, box.y1 - height}, {x + 1, box.y1}, major ? theme().dim : theme().grid);
    if (!major) continue;
    const std::string number = grouped(at);
    const float width = paint::text_width(font, number);
    if (x + px(4) < chip.second && x + px(4) + width > chip.first) continue;
    // At the right edge the number goes to the left of its tick rather than being cut.
    paint::text({f.draw, font, theme().dim}, {x + px(4) + width < box.x1 ? x + px(4) : x - px(4) - width, box.y0 + px(3)}, number);
  }
  f.draw.AddRectFilled({box.x0, box.y1 - 1}, {box.x1, box.y1}, theme().separator);
}

/// Marks that are not boundaries cut the run into phases, each up to the next.
void draw_phases(ChartFrame& f, float y0, float y1, bool in_rows) {
  const auto& marks = f.model.marks;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    if (marks[i].strong) continue;
    Cycle end = f.model.end;
    for (const GanttMark& other : marks)
      if (!other.strong && other.at > marks[i].at) end = std::min(end, other.at);
    const float x0 = std::max(f.axis.to_x(static_cast<double>(marks[i].at)), f.rows.x0);
    const float x1 = std::min(f.axis.to_x(static_cast<double>(end)), f.rows.x1);
    if (x1 <= x0) continue;
    const bool steady = marks[i].label == "steady state";
    const Color tint = steady ? theme().good : theme().warning;
    if (in_rows) {
      if (!steady) f.draw.AddRectFilled({x0, y0}, {x1, y1}, with_alpha(tint, 0.035f));
      continue;
    }
    f.draw.AddRectFilled({x0 + 1, y0 + px(1)}, {x1 - 1, y1 - px(1)}, with_alpha(tint, 0.16f), px(2));
    const float width = paint::text_width(fonts().small, marks[i].label);
    if (width + px(8) < x1 - x0)
      paint::text({f.draw, fonts().small, tint}, {(x0 + x1 - width) / 2, (y0 + y1 - paint::text_height(fonts().small)) / 2},
                  marks[i].label);
  }
}

/// "iteration k+3" where there is room for all of them, else "k+3", else every n-th of those: one style at a time.
void draw_boundary_labels(ChartFrame& f, float y) {
  ImFont* font = fonts().small;
  std::vector<const GanttMark*> marks;
  for (const GanttMark& mark : f.model.marks)
    if (mark.strong && !mark.label.empty()) marks.push_back(&mark);
  const auto shortened = [](std::string_view label) { return label.substr(label.rfind(' ') + 1); };
  float widest = 0, widest_short = 0;
  for (const GanttMark* mark : marks) {
    widest = std::max(widest, paint::text_width(font, mark->label));
    widest_short = std::max(widest_short, paint::text_width(font, shortened(mark->label)));
  }
  const float apart = std::max(1.0f, f.axis.to_x(static_cast<double>(f.model.ii)) - f.axis.to_x(0)), gap = px(9);
  const bool full = widest + gap <= apart;
  const std::size_t every = full ? 1 : static_cast<std::size_t>(std::max(1.0f, std::ceil((widest_short + gap) / apart)));
  for (std::size_t i = 0; i < marks.size(); i += every) {
    const std::string_view label = full ? std::string_view(marks[i]->label) : shortened(marks[i]->label);
    const float next_x = i + every < marks.size() ? f.axis.to_x(static_cast<double>(marks[i + every]->at)) : f.marks.x1;
    // The label of the window that is on screen stays on screen.
    const float x = std::max(f.axis.to_x(static_cast<double>(marks[i]->at)), f.marks.x0) + px(5);
    const float width = paint::text_width(font, label);
    if (x + width >= next_x - px(3)) continue;
    paint::text({f.draw, font, theme().ii_line}, {x, y + px(1)}, label);
    if (probe::on()) probe::item("gantt/mark/" + std::string(label), x, y, x + width, y + px(17));
  }
}

}  // namespace

void draw_ruler(ChartFrame& f) {
  f.draw.AddRectFilled({f.labels.x0, f.ruler.y0}, {f.ruler.x1 + px(8), f.marks.y1}, theme().panel);
  paint::text({f.draw, fonts().small, theme().faint}, {f.labels.x0 + px(10), f.ruler.y0 + px(4)}, "cycles");
  f.draw.PushClipRect(f.ruler.low(), f.marks.high(), true);
  draw_ticks(f);
  float y = f.marks.y0;
  const float line = px(17);
  if (f.model.mode == GanttMode::Pipeline) {
    draw_phases(f, y, y + line, false);
    y += line;
  }
  draw_boundary_labels(f, y);
  f.draw.PopClipRect();
  if (probe::on()) {
    probe::item("gantt/ruler", f.ruler.x0, f.ruler.y0, f.ruler.x1, f.ruler.y1);
  }
}

void draw_time_lines(ChartFrame& f) {
  const float top = f.ruler.y1, bottom = f.lanes.height() > 0 ? f.lanes.y1 : f.rows.y1;
  f.draw.PushClipRect({f.rows.x0, f.ruler.y0}, {f.rows.x1, bottom}, true);
  draw_phases(f, f.rows.y0, f.rows.y1, true);
  // Boundaries that come close step back, and vanish before they become a wall.
  const float apart = f.axis.to_x(static_cast<double>(f.model.ii)) - f.axis.to_x(0);
  const float strength = std::clamp((apart - px(5)) / px(60), 0.0f, 1.0f) * 0.85f;
  for (const GanttMark& mark : f.model.marks) {
    const float x = std::floor(f.axis.to_x(static_cast<double>(mark.at)));
    if (strength <= 0 || x < f.rows.x0 || x > f.rows.x1) continue;
    if (mark.strong)
      paint::dashed_vertical(f.draw, x, top, bottom, {with_alpha(theme().ii_line, strength), px(4), std::max(1.0f, px(1.2f))});
  }
  // What lies outside the model is not part of the schedule: a veil makes its ends visible.
  const float begin = f.axis.to_x(static_cast<double>(f.model.begin)), end = f.axis.to_x(static_cast<double>(f.model.end));
  const Color veil = with_alpha(theme().window, 0.45f);
  if (begin > f.rows.x0) f.draw.AddRectFilled({f.rows.x0, f.rows.y0}, {begin, bottom}, veil);
  if (end < f.rows.x1) f.draw.AddRectFilled({end + 1, f.rows.y0}, {f.rows.x1 + px(8), bottom}, veil);

  for (const Cycle flag : f.overlay.flags) {
    const float x = std::floor(f.axis.to_x(static_cast<double>(flag)));
    f.draw.AddRectFilled({x, f.ruler.y0 + px(2)}, {x + 1, bottom}, with_alpha(theme().warning, 0.8f));
    f.draw.AddTriangleFilled({x + 1, f.ruler.y0 + px(2)}, {x + px(9), f.ruler.y0 + px(6)}, {x + 1, f.ruler.y0 + px(10)}, theme().warning);
  }

  const auto band = [&](float x0, float x1, Color color) {
    f.draw.AddRectFilled({x0, f.ruler.y0}, {x1, bottom}, with_alpha(color, 0.13f));
    for (const float x : {x0, x1}) f.draw.AddRectFilled({x - px(0.75f), f.ruler.y0}, {x + px(0.75f), bottom}, color);
  };
  const auto plate = [&](float x, float y, std::string_view text, Color fill, Color ink) {
    if (f.ruler.height() <= 0) return;  // the chart above says it
    const float width = paint::text_width(fonts().mono_small, text) + px(12);
    x = std::clamp(x, f.rows.x0, std::max(f.rows.x0, f.rows.x1 - width));
    f.draw.AddRectFilled({x, y}, {x + width, y + px(18)}, fill, px(3));
    paint::text({f.draw, fonts().mono_small, ink}, {x + px(6), y + (px(18) - paint::text_height(fonts().mono_small)) / 2}, text);
  };
  if (f.view.range) {
    const float x0 = f.axis.to_x(static_cast<double>(f.view.range->begin)), x1 = f.axis.to_x(static_cast<double>(f.view.range->end));
    band(x0, x1, theme().accent);
    const std::string text = drawable(describe(*f.view.range));
    plate((x0 + x1) / 2 - paint::text_width(fonts().mono_small, text) / 2 - px(6), f.marks.y1 - px(18), text, theme().accent,
          theme().accent_text);
  }
  if (f.view.snapped && f.view.snapped->to != Snap::To::Cycle) {
    const float x = f.axis.to_x(static_cast<double>(f.view.snapped->at));
    float y0 = f.rows.y0, y1 = f.rows.y1;
    if (f.view.snapped->bar) {
      const paint::Box bar = f.bar_box(f.model.bars[*f.view.snapped->bar]);
      y0 = bar.y0 - px(4);
      y1 = bar.y1 + px(4);
    }
    f.draw.AddRectFilled({x - px(1.5f), y0}, {x + px(1.5f), y1}, theme().warning);
  }
  if (f.view.drag == ChartDrag::ZoomRange) {
    const float mouse = ImGui::GetIO().MousePos.x;
    band(std::min(f.view.drag_x, mouse), std::max(f.view.drag_x, mouse), theme().warning);
    plate(mouse + px(8), f.marks.y1 - px(18), ImGui::GetIO().KeyCtrl ? "zoom out" : "zoom in", theme().warning, 0xff000000u);
  }
  if (f.view.hovered_cycle) {
    const float x = std::floor(f.axis.to_x(static_cast<double>(*f.view.hovered_cycle)));
    f.draw.AddRectFilled({x, f.ruler.y1}, {x + 1, bottom}, with_alpha(theme().hairline, 0.55f));
    plate(x + px(5), f.ruler.y0 + px(1), grouped(*f.view.hovered_cycle), theme().raised, theme().text);
  }
  f.draw.PopClipRect();
}

}  // namespace heddle::app

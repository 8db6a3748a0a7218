// The kernel's prologue and epilogue on the chart: pale bars with a frame, under those of the schedule. They can be read, not taken hold
// of.
#include <fmt/format.h>

#include <algorithm>

#include "app/platform/fonts.h"
#include "app/window/chart/gantt_parts.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/widgets.h"
#include "core/chart/chart_layout.h"

namespace heddle::app {
namespace {

constexpr float kSmallestEnd = 3;  // pixels

paint::Box box_of(const ChartFrame& f, const GanttEndBar& bar) {
  const float top = f.row_y(f.layout.lane_top(bar)), gap = std::min(px(3), f.layout.lane * 0.12f);
  const float x0 = f.axis.to_x(static_cast<double>(bar.begin)), x1 = f.axis.to_x(static_cast<double>(bar.end_at));
  return {x0, top + gap, std::max(x1, x0 + kSmallestEnd), top + f.layout.lane - gap};
}

/// Its name stands behind it where it is too short, and nothing else comes there.
bool named_behind(const ChartFrame& f, const GanttEndBar& bar, const paint::Box& box) {
  const float width = paint::text_width(fonts().small, bar.label);
  if (box.height() < paint::text_height(fonts().small) * 0.8f || width + px(8) <= box.width()) return false;
  const auto after = [&](const auto& other) { return other.row == bar.row && other.lane == bar.lane && other.begin >= bar.end_at; };
  float until = std::min(f.rows.x1, f.axis.to_x(static_cast<double>(f.model.end)));
  for (const GanttBar& other : f.model.bars)
    if (after(other)) until = std::min(until, f.axis.to_x(static_cast<double>(other.begin)));
  for (const GanttEndBar& other : f.model.ends)
    if (after(other)) until = std::min(until, f.axis.to_x(static_cast<double>(other.begin)));
  return box.x1 + width + px(6) <= until;
}

}  // namespace

std::vector<LaneSpan> end_spans(const ChartFrame& f, std::size_t row, int lane) {
  std::vector<LaneSpan> spans;
  for (const GanttEndBar& bar : f.model.ends) {
    if (bar.row != row || bar.lane != lane) continue;
    const paint::Box box = box_of(f, bar);
    spans.push_back({box.x0, box.x1 + (named_behind(f, bar, box) ? paint::text_width(fonts().small, bar.label) + px(6) : 0)});
  }
  return spans;
}

void draw_end_bars(ChartFrame& f) {
  ImFont* font = fonts().small;
  const std::vector<GanttEndBar>& bars = f.model.ends;
  for (std::size_t b = 0; b < bars.size(); ++b) {
    const GanttEndBar& bar = bars[b];
    const paint::Box box = box_of(f, bar);
    if (box.x1 < f.rows.x0 || box.x0 > f.rows.x1) continue;
    const paint::Box seen{std::max(box.x0, f.rows.x0 - px(4)), box.y0, std::min(box.x1, f.rows.x1 + px(4)), box.y1};
    const RoleColor color = role_color(bar.role);
    f.draw.AddRectFilled(seen.low(), seen.high(), with_alpha(color.fill, 0.25f), px(3));
    f.draw.AddRect({seen.x0 + 0.5f, seen.y0 + 0.5f}, {seen.x1 - 0.5f, seen.y1 - 0.5f}, color.fill, px(3), 0, px(1));
    // In the bar, else behind it where its row is free.
    const float width = paint::text_width(font, bar.label), y = (box.y0 + box.y1 - paint::text_height(font)) / 2 - px(1);
    if (box.height() >= paint::text_height(font) * 0.8f) {
      if (width + px(8) <= seen.width())
        paint::text({f.draw, font, theme().text}, {(seen.x0 + seen.x1 - width) / 2, y}, bar.label);
      else if (named_behind(f, bar, box))
        paint::text({f.draw, font, theme().text}, {box.x1 + px(3), y}, bar.label);
    }
    if (probe::on())
      probe::item(f.probe_name("once/") + bar.label, std::max(box.x0, f.rows.x0), box.y0, std::min(box.x1, f.rows.x1), box.y1);
  }
}

void draw_end_tooltip(ChartFrame& f) {
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  if (f.view.drag != ChartDrag::None || tooltips_rest() || !ImGui::IsWindowHovered()) return;
  if (mouse.x < f.rows.x0 || mouse.x > f.rows.x1 || mouse.y < f.rows.y0 || mouse.y > f.rows.y1) return;
  for (const GanttEndBar& bar : f.model.ends) {
    const paint::Box box = box_of(f, bar);
    if (mouse.x < box.x0 || mouse.x > box.x1 || mouse.y < box.y0 || mouse.y > box.y1) continue;
    const std::string text =
        fmt::format("{}  {}\n{} of the kernel, once per tile: predicted, not scheduled\n{} cycles on {} from {}, result after {}",
                    bar.label, bar.kind, bar.prologue ? "prologue" : "epilogue", grouped(bar.end_at - bar.begin),
                    f.model.rows[bar.row].label, grouped(bar.begin), grouped(bar.latency_end - bar.begin));
    ImGui::BeginTooltip();
    ImGui::TextUnformatted(text.c_str());
    ImGui::EndTooltip();
    return;
  }
}

}  // namespace heddle::app

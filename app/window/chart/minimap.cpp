// The whole timeline in a strip: one thin line per row; bars that share a pixel are one rectangle.
#include <algorithm>

#include "app/platform/fonts.h"
#include "app/window/chart/gantt_parts.h"
#include "app/window/kit/probe.h"

namespace heddle::app {

namespace {

void draw_rows(ChartFrame& f, const GanttModel& model, const TimeAxis& axis, float y0, float y1) {
  const float line = std::max(1.0f, (y1 - y0) / static_cast<float>(std::max<std::size_t>(1, model.rows.size())));
  const auto& bars = model.bars;
  for (std::size_t b = 0; b < bars.size();) {
    const std::size_t row = bars[b].row;
    const float x0 = axis.to_x(static_cast<double>(bars[b].begin));
    float x1 = axis.to_x(static_cast<double>(bars[b].end));
    std::size_t next = b + 1;
    while (next < bars.size() && bars[next].row == row && bars[next].role == bars[b].role && bars[next].lane == bars[b].lane &&
           axis.to_x(static_cast<double>(bars[next].begin)) < x1 + 0.5f)
      x1 = std::max(x1, axis.to_x(static_cast<double>(bars[next++].end)));
    const float y = y0 + static_cast<float>(row) * line;
    f.draw.AddRectFilled({x0, y}, {std::max(x1 - (x1 - x0 > 4 ? 1.0f : 0.0f), x0 + 1), y + std::max(1.0f, line - 1)},
                         role_color(bars[b].role).fill);
    b = next;
  }
  for (const GanttEndBar& bar : model.ends) {
    const float x0 = axis.to_x(static_cast<double>(bar.begin)), x1 = axis.to_x(static_cast<double>(bar.end_at));
    const float y = y0 + static_cast<float>(bar.row) * line;
    f.draw.AddRectFilled({x0, y}, {std::max(x1, x0 + 1), y + std::max(1.0f, line - 1)}, with_alpha(role_color(bar.role).fill, 0.5f));
  }
}

}  // namespace

void draw_minimap(ChartFrame& f) {
  const paint::Box& box = f.minimap;
  ImDrawList& draw = f.draw;
  draw.AddRectFilled(box.low(), box.high(), theme().chart);
  const TimeAxis axis = minimap_axis(f.view, f.model, box.x0, box.x1);
  draw.PushClipRect(box.low(), box.high(), true);
  const float pad = px(3);
  const float band = box.height() / static_cast<float>(1 + f.below.size());
  draw_rows(f, f.model, axis, box.y0 + pad, box.y0 + band - (f.below.empty() ? pad : px(1)));
  for (std::size_t i = 0; i < f.below.size(); ++i) {
    const float top = box.y0 + static_cast<float>(i + 1) * band;
    draw_rows(f, *f.below[i], axis, top + px(1), top + band - (i + 1 == f.below.size() ? pad : px(1)));
    draw.AddRectFilled({box.x0, top}, {box.x1, top + 1}, theme().border);
  }
  for (const GanttMark& mark : f.model.marks)
    if (mark.strong) {
      const float x = axis.to_x(static_cast<double>(mark.at));
      draw.AddRectFilled({x, box.y0}, {x + 1, box.y1}, with_alpha(theme().ii_line, 0.35f));
    }
  const float seen0 = std::clamp(axis.to_x(f.view.visible.begin), box.x0, box.x1 - px(6));
  const float seen1 = std::clamp(axis.to_x(f.view.visible.end), seen0 + px(6), box.x1);
  const Color veil = with_alpha(theme().chart, 0.6f);
  draw.AddRectFilled(box.low(), {seen0, box.y1}, veil);
  draw.AddRectFilled({seen1, box.y0}, box.high(), veil);
  draw.AddRectFilled({seen0, box.y0}, {seen1, box.y1}, with_alpha(theme().accent, 0.07f));
  draw.AddRect({seen0 + 0.5f, box.y0 + 0.5f}, {seen1 - 0.5f, box.y1 - 0.5f}, theme().accent, px(2), 0, px(1.5f));
  draw.PopClipRect();
  paint::text({draw, fonts().small, theme().faint}, {f.labels.x0 + px(10), (box.y0 + box.y1 - paint::text_height(fonts().small)) / 2},
              "overview");
  if (probe::on()) probe::item("gantt/minimap", box.x0, box.y0, box.x1, box.y1);
}

}  // namespace heddle::app

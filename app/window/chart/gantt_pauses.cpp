// What holds warps on the chart with contention: issue, waits and turns, in a row of each group. They can be read, not taken hold of.
#include <fmt/format.h>

#include <algorithm>

#include "app/platform/fonts.h"
#include "app/window/chart/gantt_parts.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/widgets.h"
#include "core/chart/chart_layout.h"

namespace heddle::app {
namespace {

paint::Box pause_box(const ChartFrame& f, const GanttPause& pause) {
  const float top = f.row_y(f.layout.lane_top(pause)), gap = f.layout.lane * 0.22f;
  const float x0 = f.axis.to_x(static_cast<double>(pause.begin)), x1 = f.axis.to_x(static_cast<double>(pause.end));
  return {x0, top + gap, std::max(x1, x0 + 1), top + f.layout.lane - gap};
}

std::string pause_word(const GanttPause& pause) {
  return pause.kind == GanttPause::Kind::Issue ? "issue " + pause.label : std::string(to_string(pause.kind));
}

}  // namespace

void draw_pauses(ChartFrame& f) {
  ImFont* font = fonts().small;
  const RoleColor color = role_color(UnitRole::Sync);
  for (std::size_t p = 0; p < f.model.pauses.size(); ++p) {
    const GanttPause& pause = f.model.pauses[p];
    const paint::Box box = pause_box(f, pause);
    if (box.x1 < f.rows.x0 || box.x0 > f.rows.x1) continue;
    const paint::Box seen{std::max(box.x0, f.rows.x0 - px(4)), box.y0, std::min(box.x1, f.rows.x1 + px(4)), box.y1};
    const bool issues = pause.kind == GanttPause::Kind::Issue, turn = pause.kind == GanttPause::Kind::Turn;
    f.draw.AddRectFilled(seen.low(), seen.high(), with_alpha(color.fill, issues ? 0.6f : turn ? 0.35f : 0.15f), px(2));
    if (!issues) f.draw.AddRect({seen.x0 + 0.5f, seen.y0 + 0.5f}, {seen.x1 - 0.5f, seen.y1 - 0.5f}, color.fill, px(2), 0, px(1));
    const std::string word = pause_word(pause);
    const float width = paint::text_width(font, word), y = (box.y0 + box.y1 - paint::text_height(font)) / 2 - px(1);
    if (box.height() >= paint::text_height(font) * 0.8f && width + px(8) <= seen.width())
      paint::text({f.draw, font, theme().text}, {(seen.x0 + seen.x1 - width) / 2, y}, word);
    if (probe::on())
      probe::item(f.probe_name("pause/") + fmt::format("{}", p), std::max(box.x0, f.rows.x0), box.y0, std::min(box.x1, f.rows.x1), box.y1);
  }
}

void draw_pause_tooltip(ChartFrame& f) {
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  if (f.view.drag != ChartDrag::None || tooltips_rest() || !ImGui::IsWindowHovered()) return;
  if (mouse.x < f.rows.x0 || mouse.x > f.rows.x1 || mouse.y < f.rows.y0 || mouse.y > f.rows.y1) return;
  for (const GanttPause& pause : f.model.pauses) {
    const paint::Box box = pause_box(f, pause);
    if (mouse.x < box.x0 || mouse.x > box.x1 || mouse.y < box.y0 || mouse.y > box.y1) continue;
    const std::string text = fmt::format("{}\nfrom {} to {}", pause_text(pause), grouped(pause.begin), grouped(pause.end));
    ImGui::BeginTooltip();
    ImGui::TextUnformatted(text.c_str());
    ImGui::EndTooltip();
    return;
  }
}

}  // namespace heddle::app

// Notes on the chart: a small sheet at the corner of the op's bars, or on the ruler; its text on hover, a click edits it.
#include <algorithm>
#include <cmath>

#include "app/platform/fonts.h"
#include "app/window/chart/gantt_parts.h"
#include "app/window/kit/probe.h"

namespace heddle::app {
namespace {

/// A sheet of paper with a folded corner.
void paint_sheet(ImDrawList& draw, ImVec2 at, float size, bool hovered) {
  const Color fill = theme().warning, ink = 0xff000000u;
  const float fold = size * 0.35f;
  draw.AddRectFilled({at.x - px(1), at.y - px(1)}, {at.x + size + px(1), at.y + size + px(1)}, ink, px(2));
  draw.AddRectFilled(at, {at.x + size, at.y + size}, fill, px(1));
  draw.AddTriangleFilled({at.x + size - fold, at.y + size}, {at.x + size, at.y + size - fold}, {at.x + size, at.y + size}, ink);
  for (const float line : {0.3f, 0.55f})
    draw.AddRectFilled({at.x + size * 0.2f, at.y + size * line}, {at.x + size * 0.8f, at.y + size * line + std::max(1.0f, px(1))}, ink);
  if (hovered) draw.AddRect({at.x - px(2), at.y - px(2)}, {at.x + size + px(2), at.y + size + px(2)}, theme().text, px(2));
}

float sheet_size() { return std::floor(px(11)); }

/// Calls use(x, y, clip) for every place where the note is drawn.
template <class Use>
void each_sheet(const ChartFrame& f, const Note& note, Use use) {
  const float size = sheet_size();
  if (note.op.empty()) return use(std::floor(f.axis.to_x(static_cast<double>(note.at))) - size / 2, f.ruler.y1 - size - px(1), f.ruler);
  for (const GanttBar& bar : f.model.bars) {
    if (bar.wraps_left || f.problem.op(bar.op).name != note.op) continue;
    const paint::Box box = f.bar_box(bar);
    use(std::max(box.x0 + px(1), box.x1 - size - px(2)), box.y0 + px(2), f.rows);
  }
}

bool over_sheet(float x, float y, float left, float top) {
  const float reach = px(3), size = sheet_size();
  return x >= left - reach && x <= left + size + reach && y >= top - reach && y <= top + size + reach;
}

}  // namespace

void draw_notes_on_chart(ChartFrame& f) {
  const float size = sheet_size();
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const bool mouse_free = f.view.drag == ChartDrag::None && ImGui::IsWindowHovered();
  for (std::size_t i = 0; i < f.overlay.notes.size(); ++i) {
    bool named = false;
    each_sheet(f, f.overlay.notes[i], [&](float x, float y, const paint::Box& clip) {
      if (x + size < clip.x0 || x > clip.x1 || y + size < clip.y0 || y > clip.y1) return;
      const bool hovered = mouse_free && over_sheet(mouse.x, mouse.y, x, y);
      f.draw.PushClipRect(clip.low(), clip.high(), true);
      paint_sheet(f.draw, {x, y}, size, hovered);
      f.draw.PopClipRect();
      if (probe::on() && !named) probe::item("gantt/note/" + std::to_string(i), x, y, x + size, y + size);
      named = true;
      if (!hovered) return;
      ImGui::BeginTooltip();
      ImGui::PushTextWrapPos(px(320));
      ImGui::TextUnformatted(f.overlay.notes[i].text.c_str());
      ImGui::PopTextWrapPos();
      ImGui::EndTooltip();
      f.view.hovered_for = 0;  // instead of the bar's own
    });
  }
}

std::optional<std::size_t> note_at(const ChartFrame& f, float x, float y) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < f.overlay.notes.size(); ++i)
    each_sheet(f, f.overlay.notes[i], [&](float left, float top, const paint::Box&) {
      if (over_sheet(x, y, left, top)) found = i;
    });
  return found;
}

}  // namespace heddle::app

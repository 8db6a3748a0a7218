// Each mark is drawn as the chart draws it, on a bar of its own.
#include "app/window/frame/marks_legend.h"

#include <algorithm>
#include <utility>

#include "app/session/commands.h"
#include "app/window/frame/panels.h"
#include "app/window/kit/actions.h"
#include "app/window/kit/chart_paint.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/widgets.h"

namespace heddle::app {
namespace {

enum class LegendMark {
  Unit,
  Hatch,
  Critical,
  Selected,
  Issue,
  Latency,
  Wrapped,
  Pinned,
  Proposed,
  Differs,
  Ghost,
  Slack,
  Violation,
  Conflict,
  Once,
  Boundary
};
constexpr std::pair<LegendMark, const char*> kLegend[] = {
    {LegendMark::Unit, "colour: the unit that an op occupies"},          {LegendMark::Hatch, "hatch: another iteration than k"},
    {LegendMark::Critical, "outline: critical, it limits II"},           {LegendMark::Selected, "halo: selected"},
    {LegendMark::Issue, "dark foot: cycles the warps are busy issuing"}, {LegendMark::Latency, "thin line: until the result is there"},
    {LegendMark::Wrapped, "chevrons: goes on at the other edge"},        {LegendMark::Pinned, "pin: its start is fixed by a constraint"},
    {LegendMark::Proposed, "dashed: proposed, not yet solved"},          {LegendMark::Differs, "folded corner: differs from B"},
    {LegendMark::Ghost, "outline without filling: where B has it"},      {LegendMark::Slack, "line with ends: how far it can move"},
    {LegendMark::Violation, "red cross-hatch: breaks a rule"},           {LegendMark::Conflict, "x2: lanes of a warp meet in a bank"},
    {LegendMark::Once, "pale: prologue or epilogue, once per tile"},     {LegendMark::Boundary, "dashed line: one II from the next"}};
constexpr float kLine = 22;

void paint_pin(ImDrawList& draw, const paint::Box& b) {
  const float x = b.x0 + px(7), y = b.y0 + px(5);
  draw.AddCircleFilled({x, y}, px(3), 0xffffffffu);
  draw.AddLine({x, y}, {x, b.y1 - px(2)}, 0xffffffffu, px(1.5f));
}

/// What lies on the bar, or stands for it.
void paint_on_bar(LegendMark mark, const paint::Box& b) {
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const float middle = (b.y0 + b.y1) / 2;
  const auto line = [&](Color color, float thick) { draw.AddRect(b.low(), b.high(), color, px(3), 0, thick); };
  switch (mark) {
    case LegendMark::Hatch: return paint::hatch(draw, b, {1, b.x0, px(9), theme().hatch, px(2)});
    case LegendMark::Critical: return line(theme().outline, px(2));
    case LegendMark::Selected: return line(theme().accent, px(2.5f));
    case LegendMark::Issue: return draw.AddRectFilled({b.x0 + px(1), b.y1 - px(4)}, {b.x0 + b.width() / 2, b.y1}, 0xaa000000u);
    case LegendMark::Wrapped: return paint::continues(draw, {b.x1, middle}, px(3.5f), true, 0xff000000u);
    case LegendMark::Pinned: return paint_pin(draw, b);
    case LegendMark::Proposed:
      paint::dashed_horizontal(draw, b.x0, b.x1, b.y0, {theme().accent, px(4), px(1.5f)});
      paint::dashed_horizontal(draw, b.x0, b.x1, b.y1, {theme().accent, px(4), px(1.5f)});
      paint::dashed_vertical(draw, b.x0, b.y0, b.y1, {theme().accent, px(4), px(1.5f)});
      return paint::dashed_vertical(draw, b.x1, b.y0, b.y1, {theme().accent, px(4), px(1.5f)});
    case LegendMark::Differs: return draw.AddTriangleFilled({b.x1 - px(9), b.y0}, {b.x1, b.y0}, {b.x1, b.y0 + px(9)}, 0xffffffffu);
    case LegendMark::Ghost: return line(theme().second, px(1.6f));
    case LegendMark::Slack:
      draw.AddRectFilled({b.x0, middle - px(1)}, {b.x1, middle + px(1)}, theme().text);
      draw.AddRectFilled({b.x0, b.y0 + px(3)}, {b.x0 + px(2), b.y1 - px(3)}, theme().text);
      return draw.AddRectFilled({b.x1 - px(2), b.y0 + px(3)}, {b.x1, b.y1 - px(3)}, theme().text);
    case LegendMark::Violation: paint::cross_hatch(draw, b, b.x0, px(7), theme().bad); return line(theme().bad, px(2));
    case LegendMark::Conflict:
      draw.AddRectFilled({b.x0 + px(2), b.y0 + px(1)}, {b.x0 + px(22), b.y1 - px(1)}, theme().bad_fill, px(3));
      draw.AddRect({b.x0 + px(2), b.y0 + px(1)}, {b.x0 + px(22), b.y1 - px(1)}, theme().bad, px(3));
      return paint_text(fonts().small_bold, {b.x0 + px(5), middle - text_size(fonts().small_bold, "x2").y / 2}, theme().text, "x2");
    case LegendMark::Once: return line(role_color(UnitRole::Special).fill, px(1));
    case LegendMark::Unit:
    case LegendMark::Latency:
    case LegendMark::Boundary: return;
  }
}

void paint_mark(LegendMark mark, const paint::Box& b) {
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const Color fill = role_color(UnitRole::Special).fill;
  const bool bare = mark == LegendMark::Proposed || mark == LegendMark::Ghost || mark == LegendMark::Slack;
  if (mark == LegendMark::Boundary) return paint::dashed_vertical(draw, (b.x0 + b.x1) / 2, b.y0, b.y1, {theme().ii_line, px(4), px(1.5f)});
  const float end = mark == LegendMark::Latency ? b.x0 + b.width() * 0.6f : b.x1;
  if (!bare) draw.AddRectFilled(b.low(), {end, b.y1}, mark == LegendMark::Once ? with_alpha(fill, 0.25f) : fill, px(3));
  if (mark == LegendMark::Latency) draw.AddRectFilled({end, b.y1 - px(4)}, {b.x1, b.y1 - px(2.5f)}, fill);
  paint_on_bar(mark, b);
}

}  // namespace

std::size_t mark_count() { return std::size(kLegend); }

void draw_marks_of_chart() {
  const float line = px(kLine), width = ImGui::GetContentRegionAvail().x;
  for (const auto& [mark, what] : kLegend) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    paint_mark(mark, {at.x + px(6), at.y + px(3), at.x + px(46), at.y + line - px(3)});
    paint_text(fonts().small, ImVec2(at.x + px(56), at.y + px(3)), theme().text, fitted(fonts().small, what, width - px(60)));
    ImGui::Dummy(ImVec2(width, line));
  }
}

void draw_marks_sheet(const Session& session, UiState& ui) {
  if (!session.view().legend || !session.view().pictures.empty()) return;
  float widest = 0;
  for (const auto& [mark, what] : kLegend) widest = std::max(widest, text_size(fonts().small, what).x);
  const float head = px(28), pad = px(8), width = widest + px(66) + 2 * pad,
              height = head + px(kLine) * static_cast<float>(mark_count()) + pad;
  const ImVec2 whole = ImGui::GetWindowSize(), from = ImGui::GetWindowPos();
  const ImVec2 size(std::min(width, whole.x - px(16)), std::min(height, whole.y - px(48)));
  if (size.x < px(120) || size.y < px(60)) return;
  ImGui::SetCursorScreenPos(ImVec2(from.x + whole.x - size.x - px(16), from.y + px(40)));
  ImGui::PushStyleColor(ImGuiCol_ChildBg, theme().raised);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(pad, pad));
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
  ImGui::BeginChild("marks", size, true, ImGuiWindowFlags_AlwaysUseWindowPadding);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  paint_text(fonts().small_bold, ImVec2(at.x + px(6), at.y + px(2)), theme().heading, "MARKS OF THE CHART");
  ImGui::SetCursorScreenPos(ImVec2(at.x + ImGui::GetContentRegionAvail().x - px(62), at.y - px(3)));
  if (button("legend/close", "Close", ButtonKind::Flat, {}, {px(60), px(22)})) ui.commands.push(toggle_legend());
  if (ImGui::IsItemHovered()) tooltip(keys_of("legend"));
  ImGui::SetCursorScreenPos(ImVec2(at.x, at.y + head - pad));
  draw_marks_of_chart();
  const ImVec2 low = ImGui::GetWindowPos();
  ImGui::EndChild();
  ImGui::PopStyleVar(2);
  ImGui::PopStyleColor();
  if (probe::on()) probe::item("pane/marks", low.x, low.y, low.x + size.x, low.y + size.y);
}

}  // namespace heddle::app

// Predicted against measured speed on logarithmic axes: kinds as colours, machines as symbols, what was fitted to it hollow.

#include <algorithm>
#include <iterator>
#include <utility>

#include "app/session/commands.h"
#include "app/session/truth_state.h"
#include "app/window/kit/focus.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/widgets.h"
#include "app/window/parts/ui_state.h"
#include "app/window/tabs/truth/truth_tab_state.h"
#include "app/window/tabs/truth/truth_views.h"

namespace heddle::app {
namespace {

constexpr double kBand = 0.10;  ///< measured over predicted is off by at most that in what validation calls within 10 %

PlotShape shape_of(std::size_t machine) {
  constexpr PlotShape kShapes[] = {PlotShape::Circle, PlotShape::Triangle, PlotShape::Square, PlotShape::Diamond, PlotShape::Turned};
  return kShapes[machine % std::size(kShapes)];
}

UnitRole role_of(std::size_t kind) {
  constexpr UnitRole kRoles[] = {UnitRole::Tensor, UnitRole::Copy, UnitRole::Special, UnitRole::Float,
                                 UnitRole::Smem,   UnitRole::Alu,  UnitRole::Tmem,    UnitRole::Sync};
  return kRoles[kind % std::size(kRoles)];
}

/// A symbol and its word; true when pressed. What cannot be pressed has no name.
bool entry(const std::string& name, const std::string& label, PlotDot dot, bool faded = false) {
  const float height = px(20), mark = px(18);
  const ImVec2 text = text_size(fonts().small, label), at = ImGui::GetCursorScreenPos();
  const float width = mark + text.x + px(4);
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  bool pressed = false;
  if (name.empty()) {
    ImGui::Dummy({width, height});
  } else {
    ImGui::PushID(name.c_str());
    pressed = ImGui::InvisibleButton("entry", {width, height});
    ImGui::PopID();
    if (probe::on()) probe::last_item(name);
    if (ImGui::IsItemHovered()) draw.AddRectFilled(at, {at.x + width, at.y + height}, theme().hovered, px(3));
    pressed = focus::station().pressed || pressed;
  }
  const float alpha = faded ? 0.4f : 1.0f;
  dot.color = with_alpha(dot.color, alpha);
  paint_plot_mark(draw, {at.x + px(9), at.y + height / 2}, dot);
  paint_text(fonts().small, {at.x + mark, at.y + (height - text.y) / 2}, with_alpha(theme().text, alpha), label);
  return pressed;
}

/// Kinds can be pressed: one alone is shown, or all again.
void draw_legend(TruthTabState& s, float right) {
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {px(8), px(1)});
  ImGui::BeginGroup();
  const float left = ImGui::GetCursorScreenPos().x, radius = px(4.5f);
  bool first = true;
  const auto next = [&](const std::string& label) {
    if (std::exchange(first, false)) return;
    ImGui::SameLine(0, px(8));
    if (ImGui::GetCursorScreenPos().x + px(22) + text_size(fonts().small, label).x > right) {
      ImGui::NewLine();
      ImGui::SetCursorScreenPos({left, ImGui::GetCursorScreenPos().y});
    }
  };
  for (std::size_t i = 0; i < s.model.kinds.size(); ++i) {
    next(s.model.kinds[i]);
    if (entry("truth/kind/" + s.model.kinds[i], s.model.kinds[i], {PlotShape::Circle, true, radius, truth_color(i)}, s.only && s.only != i))
      s.only = s.only == i ? std::nullopt : std::optional(i);
    if (ImGui::IsItemHovered()) tooltip(s.only == i ? "Click: all kinds." : "Click: this kind alone.");
  }
  for (std::size_t i = 0; i < s.model.machines.size(); ++i) {
    next(s.model.machines[i]);
    entry({}, s.model.machines[i], {shape_of(i), true, radius, theme().dim});
  }
  next("fitted to it");
  entry({}, "fitted to it", {PlotShape::Circle, false, radius, theme().dim});
  ImGui::EndGroup();
  ImGui::PopStyleVar();
}

}  // namespace

Color truth_color(std::size_t kind) { return role_edge(role_of(kind)); }
Color truth_ink(std::size_t kind) { return role_ink(role_of(kind)); }

void draw_truth_plot(const Session& session, UiState& ui, ImVec2 size) {
  TruthTabState& s = ui.of<TruthTabState>();
  const ImVec2 begin = ImGui::GetCursorScreenPos();
  // A low pane is for the points; the mouse says what each is.
  if (size.y > px(230)) {
    draw_legend(s, begin.x + size.x);
    size.y -= ImGui::GetCursorScreenPos().y - begin.y;
  }
  PlotModel plot;
  plot.x.title = "measured, TFLOP/s";
  plot.y.title = "predicted, TFLOP/s";
  plot.title = "the line: as measured; the band: within 10 %";
  for (PlotAxis* axis : {&plot.x, &plot.y}) {
    axis->log = true;
    axis->low = s.model.low;
    axis->high = s.model.high;
  }
  // Measured over predicted from 0.9 to 1.1.
  plot.band = PlotBand{1 / (1 + kBand), 1 / (1 - kBand)};
  std::vector<std::size_t> rows;
  for (const TruthRow& row : s.model.rows) {
    if (!row.has_point() || (s.only && row.color != *s.only)) continue;
    PlotPoint point;
    point.x = row.measured;
    point.y = row.predicted;
    point.mark = row.fitted.empty() ? PlotMark::Filled : PlotMark::Hollow;
    point.shape = shape_of(row.shape);
    point.color = truth_color(row.color);
    point.current = session.truth().chosen() == row.index;
    if (point.current) point.label = row.id;
    point.about = drawable(about_truth(row)) + "\nClick: what its time is made of. Double click: open its kernel.";
    plot.points.push_back(std::move(point));
    rows.push_back(row.index);
  }
  const PlotAnswer answer = draw_plot("truth/plot", plot, size, s.plot);
  if (!answer.picked) return;
  const std::size_t row = rows[*answer.picked];
  const bool again = answer.by_key && session.truth().chosen() == row;
  ui.commands.push(SelectPublished{row});
  if (answer.twice || again) ui.commands.push(OpenPublished{row});
}

}  // namespace heddle::app

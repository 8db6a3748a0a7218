// The strip over the chart that says what is pointed at and what is laid over the bars, each with an x to end it.
#include <fmt/format.h>

#include <algorithm>

#include "app/session/commands.h"
#include "app/session/question_state.h"
#include "app/window/frame/panels.h"
#include "app/window/kit/pretty_text.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/widgets.h"

namespace heddle::app {
namespace {

struct Chip {
  const char *name, *key;
  std::string text;
  Color edge;
  Command end;
};

std::string whisker_legend(const Session& session, const ChartOverlay& overlay) {
  const QuestionState& asked = session.question(Topic::Slack);
  if (overlay.slack && overlay.slack->exact) {
    const auto& ops = overlay.slack->ops;
    const auto settled = std::count_if(ops.begin(), ops.end(), [](const OpRange& r) { return r.settled(); });
    return fmt::format("Room to move: thin by longest paths, thick exact ({} of {} proved)", settled, ops.size());
  }
  if (overlay.slack) return "Room to move, by longest paths; the Slack tab asks for exact ranges";
  if (asked.active()) return "Room to move: " + asked.doing;
  const std::string why = session.why_no_question(Topic::Slack);
  return why.empty() ? "Room to move: ask in the Slack tab" : "Room to move: " + why;
}

std::string barrier_legend(const Models& models) {
  if (!models.gantt || models.gantt->barriers.empty() || models.gantt->barriers.front().kind == BarrierLane::Kind::Tensor)
    return "Barriers: this schedule needs none";
  return "Barriers by slot: hatched filling, pale full, solid read; a line on top: phase 1";
}

std::string tensor_legend(const Models& models) {
  if (!models.gantt || models.gantt->barriers.empty() || models.gantt->barriers.back().kind != BarrierLane::Kind::Tensor)
    return "Tensor memory: this kernel uses none";
  return "Tensor memory by slot: hatched being written, pale there, solid being read";
}

std::string queue_legend(const Models& models) {
  if (!models.gantt || models.gantt->queues.empty()) return "Queues: this schedule has no ring";
  return "Queues by slots: pale being filled, solid filled; hatched below starving, above full";
}

float draw_chip(const Chip& chip, ImVec2 at, float room, float height, UiState& ui) {
  const Theme& t = theme();
  const float cross = px(22), pad = px(10);
  const std::string shown = fitted(fonts().small, chip.text, room - cross - 2 * pad);
  const float width = text_size(fonts().small, shown).x + cross + 2 * pad;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddRectFilled(at, ImVec2(at.x + width, at.y + height), t.raised, px(4));
  list.AddRectFilled(at, ImVec2(at.x + px(4), at.y + height), chip.edge, px(2));
  const float line = text_size(fonts().small, "X").y;
  paint_text(fonts().small, ImVec2(at.x + pad, at.y + (height - line) / 2), t.text, shown);
  ImGui::SetCursorScreenPos(at);
  ImGui::InvisibleButton((std::string("text ") + chip.name).c_str(), ImVec2(std::max(1.0f, width - cross), height));
  if (probe::on()) probe::last_item(chip.name);
  if (ImGui::IsItemHovered() && shown != chip.text) tooltip(chip.text);
  ImGui::SetCursorScreenPos(ImVec2(at.x + width - cross, at.y));
  const std::string end = std::string(chip.name) + "/end";
  if (ImGui::InvisibleButton(end.c_str(), ImVec2(cross, height))) ui.commands.push(chip.end);
  if (probe::on()) probe::last_item(end);
  const bool hovered = ImGui::IsItemHovered();
  if (hovered) tooltip(fmt::format("end this  {}", chip.key));
  const ImVec2 middle(at.x + width - cross / 2 - px(2), at.y + height / 2);
  const float r = px(4);
  const Color ink = hovered ? t.text : t.dim;
  list.AddLine(ImVec2(middle.x - r, middle.y - r), ImVec2(middle.x + r, middle.y + r), ink, px(1.5f));
  list.AddLine(ImVec2(middle.x - r, middle.y + r), ImVec2(middle.x + r, middle.y - r), ink, px(1.5f));
  return width;
}

}  // namespace

float draw_chart_legend(const Session& session, const Models& models, UiState& ui, float top) {
  const ChartOverlay& overlay = models.overlay;
  std::vector<Chip> chips;
  if (!overlay.highlight.why.empty())
    chips.push_back({"legend/highlight", "Esc", drawable(pretty(overlay.highlight.why)), theme().accent, end_highlight()});
  if (!overlay.critical.empty()) chips.push_back({"legend/critical", "C", overlay.critical, theme().warning, toggle_critical()});
  if (overlay.whiskers) chips.push_back({"legend/whiskers", "L", whisker_legend(session, overlay), theme().text, ToggleWhiskers{}});
  if (overlay.barriers) chips.push_back({"legend/barriers", "H", barrier_legend(models), theme().second, toggle_barriers()});
  if (overlay.tensor) chips.push_back({"legend/tensor", "V", tensor_legend(models), theme().second, toggle_tensor()});
  if (overlay.queues) chips.push_back({"legend/queues", "Q", queue_legend(models), theme().second, toggle_queues()});
  if (!models.measured_legend.empty() &&
      (!models.compare || session.view().chart_view == ChartView::A || session.view().chart_view == ChartView::Three))
    chips.push_back({"legend/measured", "T", models.measured_legend, theme().second, ToggleMeasured{}});
  if (chips.empty()) return 0;
  const float height = px(22), gap = px(8), left = px(12);
  const ImVec2 origin = ImGui::GetWindowPos();
  const float whole = ImGui::GetWindowSize().x - 2 * left;
  // Where they do not fit beside each other, each gets a line of its own.
  float natural = 0;
  for (const Chip& chip : chips) natural += text_size(fonts().small, chip.text).x + px(42) + gap;
  const bool stacked = natural > whole;
  float x = origin.x + left, y = origin.y + top;
  for (const Chip& chip : chips) {
    const float width = draw_chip(chip, ImVec2(x, y), whole, height, ui);
    if (stacked)
      y += height + px(3);
    else
      x += width + gap;
  }
  return (stacked ? y : y + height + px(3)) - (origin.y + top) + px(2);
}

}  // namespace heddle::app

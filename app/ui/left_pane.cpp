// The left pane: schedules with their status, user constraints, and the list of ops.
#include <fmt/format.h>

#include <algorithm>

#include "app/ui/constraint_rows.h"
#include "app/ui/panels.h"
#include "app/ui/probe.h"
#include "app/ui/widgets.h"
#include "core/report/chart_layout.h"

namespace heddle::app {
namespace {

void draw_schedules(const Session& session, UiState& ui) {
  const Content& content = session.content();
  section("SCHEDULES", content.schedules.empty() ? "" : "cycles");
  if (content.schedules.empty()) {
    const bool running = session.live().active();
    wrapped_text(fonts().small, theme().dim,
                 !content.problem ? "None. First choose a machine that can run this kernel."
                 : running        ? "Solving. The first schedule appears here as soon as it is found."
                                  : "None yet. Press F5 to solve, or drop a schedule file on the window.");
    return;
  }
  for (std::size_t i = 0; i < content.schedules.size(); ++i) {
    const bool shown = content.shown == i;
    const ScheduleLine line = describe_entry(*content.schedules[i]);
    const std::string name = fmt::format("schedules/{}", i);
    const RowArea row = pick_row(name.c_str(), shown, px(42));
    const float badge = px(20), top = row.min.y + px(11), left = row.min.x + px(8);
    if (shown) {
      ImGui::GetWindowDrawList()->AddRectFilled(ImVec2(left, top), ImVec2(left + badge, top + badge), theme().accent,
                                                px(4));
      const ImVec2 size = text_size(fonts().bold, "A");
      paint_text(fonts().bold, ImVec2(left + (badge - size.x) / 2, top + (badge - size.y) / 2), theme().accent_text,
                 "A");
    }
    const float text = left + badge + px(9);
    const float number = text_size(fonts().mono_bold, line.ii).x;
    const float room = row.max.x - px(10) - number - px(8) - text;
    paint_text(fonts().body, ImVec2(text, row.min.y + px(4)), theme().text, fitted(fonts().body, line.name, room));
    paint_text(fonts().small, ImVec2(text, row.min.y + px(22)), tone_ink(line.tone),
               fitted(fonts().small, line.detail, room));
    paint_text_right(fonts().mono_bold, row.max.x - px(10), row.min.y + px(12), theme().text, line.ii);
    if (row.clicked) ui.commands.push(SelectSchedule{i});
    if (ImGui::BeginPopupContextItem(name.c_str())) {
      if (ImGui::MenuItem("Show")) ui.commands.push(SelectSchedule{i});
      if (ImGui::MenuItem("Remove from the list")) ui.commands.push(RemoveSchedule{i});
      ImGui::EndPopup();
    }
  }
}

/// A clickable column title of the list of ops.
void sort_title(const char* name, const char* label, OpsColumn column, float right, float top, UiState& ui) {
  const bool current = ui.list_sort == column;
  std::string text = label;
  if (current && !fonts().built_in) text += ui.list_descending ? " ▾" : " ▴";
  const ImVec2 size = text_size(fonts().small, text);
  ImGui::SetCursorScreenPos(ImVec2(right - size.x - px(4), top - px(2)));
  ImGui::PushID(name);
  const bool pressed = ImGui::InvisibleButton("title", ImVec2(size.x + px(8), size.y + px(4)));
  ImGui::PopID();
  if (probe::on()) probe::last_item(name);
  paint_text(fonts().small, ImVec2(right - size.x, top),
             current || ImGui::IsItemHovered() ? theme().text : theme().faint, text);
  if (!pressed) return;
  ui.list_descending = current && !ui.list_descending;
  ui.list_sort = column;
}

void draw_ops_list(const Session& session, const Models& models, UiState& ui) {
  const float width = ImGui::GetContentRegionAvail().x;
  const ImVec2 before = ImGui::GetCursorScreenPos();
  section("OPS");
  const ImVec2 after = ImGui::GetCursorScreenPos();
  const float top = before.y + ImGui::GetStyle().ItemSpacing.y + px(4);
  const bool show_slack = width > px(215);
  const float start_end = show_slack ? px(62) : px(10);
  if (show_slack) sort_title("ops/sort/slack", "slack", OpsColumn::Slack, before.x + width - px(10), top, ui);
  sort_title("ops/sort/start", "start", OpsColumn::Start, before.x + width - start_end, top, ui);
  if (width > px(130))
    sort_title("ops/sort/name", "name", OpsColumn::Name, before.x + width - start_end - px(58), top, ui);
  ImGui::SetCursorScreenPos(after);
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(px(8), px(3)));
  input_field("ops/filter", "filter", ui.ops_filter, sizeof ui.ops_filter, width);
  ImGui::PopStyleVar();
  std::vector<OpsTableRow> rows = models.ops;
  const std::size_t all = rows.size();
  filter_ops(rows, ui.ops_filter);
  sort_ops(rows, ui.list_sort, ui.list_descending);
  if (rows.size() < all)
    wrapped_text(fonts().small, theme().warning,
                 fmt::format("{} of {} ops are hidden by the filter", all - rows.size(), all));
  ImGui::BeginChild("ops", ImVec2(0, 0));
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(rows.size()), px(23));
  while (clipper.Step()) {
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
      const OpsTableRow& op = rows[static_cast<std::size_t>(i)];
      const std::string name = "ops/" + op.name;
      const RowArea row = pick_row(name.c_str(), session.selection().contains(op.op), px(23));
      const float y = row.min.y + px(6);
      ImDrawList& list = *ImGui::GetWindowDrawList();
      list.AddRectFilled(ImVec2(row.min.x + px(8), y + px(1)), ImVec2(row.min.x + px(18), y + px(11)),
                         role_color(op.role).fill, px(2));
      const std::string slack = cell(op, OpsColumn::Slack);
      const std::string start = cell(op, OpsColumn::Start);
      if (show_slack)
        paint_text_right(fonts().mono_small, row.max.x - px(10), row.min.y + px(5), slack_ink(op.slack, theme().dim),
                         slack);
      paint_text_right(fonts().mono_small, row.max.x - start_end, row.min.y + px(5), theme().dim, start);
      const float room = row.max.x - start_end - text_size(fonts().mono_small, start).x - px(8) - (row.min.x + px(27));
      paint_text(fonts().body, ImVec2(row.min.x + px(27), row.min.y + px(3)), theme().text,
                 fitted_middle(fonts().body, op.name, std::max(room, px(20))));
      if (row.hovered) tooltip(op.name);
      if (row.clicked) ui.commands.push(SelectOp{op.op, ImGui::GetIO().KeyCtrl});
      if (row.double_clicked) ui.commands.push(ZoomToSelection{});
    }
  }
  clipper.End();
  ImGui::PopStyleVar();
  ImGui::EndChild();
}

}  // namespace

void draw_left_pane(const Session& session, const Models& models, UiState& ui) {
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(px(8), px(3)));
  const float room = ImGui::GetContentRegionAvail().y;
  const Content& content = session.content();
  // Schedules and constraints take what they need, up to half of the pane; then they scroll.
  const float rows =
      static_cast<float>(content.schedules.size()) * (px(42) + px(3)) + constraint_list_height(session, ui);
  const float wanted = px(34) + (content.schedules.empty() ? px(64) : 0) + rows + px(4);
  ImGui::BeginChild("schedules", ImVec2(0, std::min(wanted, room * 0.5f)));
  draw_schedules(session, ui);
  draw_constraint_list(session, ui);
  ImGui::EndChild();
  draw_ops_list(session, models, ui);
  ImGui::PopStyleVar();
}

}  // namespace heddle::app

// The left pane: schedules with their status, user constraints, and the list of ops.
#include <fmt/format.h>

#include <algorithm>

#include "app/session/commands.h"
#include "app/window/frame/panels.h"
#include "app/window/frame/schedule_list.h"
#include "app/window/frame/source_pane.h"
#include "app/window/kit/focus.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/table.h"
#include "app/window/kit/widgets.h"
#include "app/window/parts/constraint_rows.h"
#include "app/window/parts/constraints_state.h"
#include "core/chart/chart_layout.h"

namespace heddle::app {
namespace {

/// A clickable column title of the list of ops.
void sort_title(const char* label, std::string_view column, float right, float top, UiState& ui) {
  const std::string name = std::string("ops/sort/") + label;
  const bool current = ui.list_sort == column;
  std::string text = label;
  if (current && !fonts().built_in) text += ui.list_descending ? " ▾" : " ▴";
  const ImVec2 size = text_size(fonts().small, text);
  ImGui::SetCursorScreenPos(ImVec2(right - size.x - px(4), top - px(2)));
  ImGui::PushID(name.c_str());
  const bool pressed = ImGui::InvisibleButton("title", ImVec2(size.x + px(8), size.y + px(4)));
  ImGui::PopID();
  if (probe::on()) probe::last_item(name);
  paint_text(fonts().small, ImVec2(right - size.x, top), current || ImGui::IsItemHovered() ? theme().text : theme().faint, text);
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
  if (show_slack) sort_title("slack", "slack", before.x + width - px(10), top, ui);
  sort_title("start", "start", before.x + width - start_end, top, ui);
  if (width > px(130)) sort_title("name", "op", before.x + width - start_end - px(58), top, ui);
  ImGui::SetCursorScreenPos(after);
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(px(8), px(3)));
  input_field("ops/filter", "filter", ui.ops_filter, sizeof ui.ops_filter, width);
  ImGui::PopStyleVar();
  std::vector<OpsTableRow> rows = models.ops;
  const std::size_t all = rows.size();
  filter_ops(rows, ui.ops_filter);
  sort_by(rows, column_of(ops_columns(), ui.list_sort), ui.list_descending);
  if (rows.size() < all)
    wrapped_text(fonts().small, theme().warning, fmt::format("{} of {} ops are hidden by the filter", all - rows.size(), all));
  const float room = ImGui::GetContentRegionAvail().y;
  ImGui::BeginChild("ops", ImVec2(0, whole_rows(room, px(23))));
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
  const auto draw_row = [&](std::size_t i) {
    const OpsTableRow& op = rows[i];
    const std::string name = (op.once.empty() ? "ops/" : "once/" + op.once + "/") + op.name;
    const RowArea row = pick_row(name.c_str(), op.op.valid() && session.selection().contains(op.op), px(23));
    const float y = row.min.y + px(6);
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(ImVec2(row.min.x + px(8), y + px(1)), ImVec2(row.min.x + px(18), y + px(11)), role_color(op.role).fill, px(2));
    const std::string slack = op.once.empty() ? column_of(ops_columns(), "slack").text(op) : "";
    const std::string start = column_of(ops_columns(), "start").text(op);
    if (show_slack) paint_text_right(fonts().mono_small, row.max.x - px(10), row.min.y + px(5), slack_ink(op.slack, theme().dim), slack);
    const float until = row.max.x - (op.once.empty() ? start_end : px(10));
    paint_text_right(fonts().mono_small, until, row.min.y + px(5), theme().dim, start);
    const float room = until - text_size(fonts().mono_small, start).x - px(8) - (row.min.x + px(27));
    paint_text(fonts().body, ImVec2(row.min.x + px(27), row.min.y + px(3)), theme().text,
               fitted_middle(fonts().body, op.name, std::max(room, px(20))));
    if (row.hovered)
      tooltip(op.once.empty() ? op.name : op.name + ": " + op.once + " of the kernel, once per tile. Predicted, not scheduled.");
    if (!op.op.valid()) return;
    if (row.clicked) ui.commands.push(SelectOp{op.op, ImGui::GetIO().KeyCtrl});
    if (row.double_clicked) ui.commands.push(zoom_to_selection());
  };
  draw_seen_rows(rows.size(), draw_row, px(23));
  settle_on_rows(px(23));
  ImGui::PopStyleVar();
  ImGui::EndChild();
}

}  // namespace

void draw_left_pane(const Session& session, const Models& models, UiState& ui) {
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(px(8), px(3)));
  const float room = ImGui::GetContentRegionAvail().y;
  // Schedules and constraints take what they need, up to half of the pane; then they scroll, and the field for a new one stays in sight.
  const float rows = constraint_list_height(session, ui);
  const float wanted = source_pane_height(session) + schedule_list_height(session) + rows + px(4);
  const float field = add_constraint_height(session, ui), most = room * (session.content().source ? 0.62f : 0.5f);
  const auto add_field = [&] { draw_add_constraint("constraints", session, ui, ImGui::GetContentRegionAvail().x); };
  float& list_end = ui.of<ConstraintsState>().list_end;  // the heights above are estimates
  const bool scrolls = list_end + field > most;
  ImGui::BeginChild("schedules", ImVec2(0, scrolls ? most - field : std::min(std::max(wanted, list_end) + field, most)));
  draw_source_pane(session, ui);
  draw_schedule_list(session, ui);
  draw_constraint_list(session, ui);
  list_end = ImGui::GetCursorPosY();
  if (!scrolls) add_field();
  ImGui::EndChild();
  if (scrolls) add_field();
  draw_ops_list(session, models, ui);
  ImGui::PopStyleVar();
}

}  // namespace heddle::app

// The Ops tab: every op with its numbers.
#include <algorithm>

#include "app/session/commands.h"
#include "app/window/kit/table.h"
#include "app/window/kit/widgets.h"
#include "app/window/parts/ui_state.h"

namespace heddle::app {
void draw_ops_tab(const Session& session, const Models& models, UiState& ui) {
  if (models.ops.empty()) return colored_text(theme().dim, "Open a kernel and a machine to see their ops.");
  std::vector<OpsTableRow> rows = models.ops;
  filter_ops(rows, ui.ops_filter);
  constexpr ImGuiTableFlags kFlags = ImGuiTableFlags_Sortable | ImGuiTableFlags_ScrollX | ImGuiTableFlags_ScrollY | ImGuiTableFlags_RowBg |
                                     ImGuiTableFlags_SizingStretchProp | ImGuiTableFlags_Resizable | ImGuiTableFlags_NoSavedSettings;
  const auto columns = ops_columns();
  const float room = ImGui::GetContentRegionAvail().y;
  if (!ImGui::BeginTable("ops_table", static_cast<int>(columns.size()), kFlags, ImVec2(0, room),
                         std::max(px(560), ImGui::GetContentRegionAvail().x)))
    return;
  ImGui::TableSetupScrollFreeze(0, 1);
  const Column<OpsTableRow>& start = column_of(columns, "start");
  for (const auto& column : columns)
    ImGui::TableSetupColumn(column.title, &column == &start ? ImGuiTableColumnFlags_DefaultSort : ImGuiTableColumnFlags_None,
                            &column == &columns.front() ? 2.2f
                            : column.number             ? 1.0f
                                                        : 1.3f);
  ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
  for (const auto& column : columns) {
    ImGui::TableNextColumn();
    draw_heading(column, "table");
  }
  bool descending = false;
  if (const auto* column = sorted_column(columns, descending)) sort_by(rows, *column, descending);
  const Column<OpsTableRow>& slack = column_of(columns, "slack");
  draw_seen_rows(rows.size(), [&](std::size_t i) {
    const OpsTableRow& row = rows[i];
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const bool selected = session.selection().contains(row.op);
    if (table_row("table/op/" + row.name, selected, ImGuiSelectableFlags_AllowDoubleClick)) {
      ui.commands.push(SelectOp{row.op, ImGui::GetIO().KeyCtrl});
      if (ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) ui.commands.push(zoom_to_selection());
    }
    ImGui::GetWindowDrawList()->AddRectFilled(ImVec2(at.x, at.y + px(4)), ImVec2(at.x + px(10), at.y + px(14)), role_color(row.role).fill,
                                              px(2));
    paint_text(row.critical ? fonts().bold : fonts().body, ImVec2(at.x + px(18), at.y), theme().text, row.name);
    draw_cells(columns, row, [&](const auto& column) { return &column == &slack ? slack_ink(row.slack, theme().text) : theme().text; });
  });
  ImGui::EndTable();
}

}  // namespace heddle::app

// The Ops tab: every op with its numbers.

#include "app/session/commands.h"
#include "app/window/kit/table.h"
#include "app/window/kit/widgets.h"
#include "app/window/parts/ui_state.h"

namespace heddle::app {
void draw_ops_tab(const Session& session, const Models& models, UiState& ui) {
  if (models.ops.empty()) return colored_text(theme().dim, "Open a kernel and a machine to see their ops.");
  std::vector<OpsTableRow> rows = models.ops;
  filter_ops(rows, ui.ops_filter);
  const auto all = ops_columns();
  std::vector<Column<OpsTableRow>> columns(all.begin(), all.end());
  for (auto& column : columns) column.width = column.number ? 1.0f : 1.3f;
  columns.front().width = 2.0f;
  column_of(columns, "group").width = 1.9f;
  column_of(columns, "start").flags = ImGuiTableColumnFlags_DefaultSort;
  column_of(columns, "slack").ink = [](const OpsTableRow& row) { return slack_ink(row.slack, theme().text); };
  TableLook look =
      scrolling_look(ImVec2(0, ImGui::GetContentRegionAvail().y), px(560), ImGuiTableFlags_Sortable | ImGuiTableFlags_Resizable);
  const auto handle = [&](const OpsTableRow& row, std::size_t) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const bool once = !row.op.valid();
    if (table_row((once ? "table/" + row.once + "/" : "table/op/") + row.name, !once && session.selection().contains(row.op),
                  ImGuiSelectableFlags_AllowDoubleClick) &&
        !once) {
      ui.commands.push(SelectOp{row.op, ImGui::GetIO().KeyCtrl});
      if (ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) ui.commands.push(zoom_to_selection());
    }
    if (once && ImGui::IsItemHovered()) tooltip(row.once + " of the kernel, once per tile: predicted, not scheduled");
    ImGui::GetWindowDrawList()->AddRectFilled(ImVec2(at.x, at.y + px(4)), ImVec2(at.x + px(10), at.y + px(14)), role_color(row.role).fill,
                                              px(2));
    paint_text(row.critical ? fonts().bold : fonts().body, ImVec2(at.x + px(18), at.y), theme().text, row.name);
  };
  draw_table(
      TableOf("ops_table", look, columns), rows, [](const auto& column) { draw_heading(column, "table"); }, handle);
}

}  // namespace heddle::app

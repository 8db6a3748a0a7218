// The Ops tab: every op with its numbers.
#include <fmt/format.h>

#include <algorithm>

#include "app/session/commands.h"
#include "app/ui/focus.h"
#include "app/ui/panels.h"
#include "app/ui/probe.h"
#include "app/ui/widgets.h"

namespace heddle::app {
void draw_ops_tab(const Session& session, const Models& models, UiState& ui) {
  if (models.ops.empty()) return colored_text(theme().dim, "Open a kernel and a machine to see their ops.");
  std::vector<OpsTableRow> rows = models.ops;
  filter_ops(rows, ui.ops_filter);
  constexpr ImGuiTableFlags kFlags = ImGuiTableFlags_Sortable | ImGuiTableFlags_ScrollX | ImGuiTableFlags_ScrollY |
                                     ImGuiTableFlags_RowBg | ImGuiTableFlags_SizingStretchProp |
                                     ImGuiTableFlags_Resizable | ImGuiTableFlags_NoSavedSettings;
  const float room = ImGui::GetContentRegionAvail().y;
  if (!ImGui::BeginTable("ops_table", 8, kFlags, ImVec2(0, room), std::max(px(560), ImGui::GetContentRegionAvail().x)))
    return;
  ImGui::TableSetupScrollFreeze(0, 1);
  for (OpsColumn column : kOpsColumns)
    ImGui::TableSetupColumn(title(column),
                            column == OpsColumn::Start ? ImGuiTableColumnFlags_DefaultSort : ImGuiTableColumnFlags_None,
                            column == OpsColumn::Name ? 2.2f
                            : is_number(column)       ? 1.0f
                                                      : 1.3f);
  ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
  for (int c = 0; c < 8; ++c) {
    ImGui::TableSetColumnIndex(c);
    // Titles of numbers end where the numbers end.
    const FontScope scope(fonts().small_bold);
    if (is_number(kOpsColumns[c])) {
      const float room = ImGui::GetContentRegionAvail().x - ImGui::CalcTextSize(title(kOpsColumns[c])).x;
      ImGui::SetCursorPosX(ImGui::GetCursorPosX() + std::max(0.0f, room - px(14)));
    }
    ImGui::TableHeader(title(kOpsColumns[c]));
    if (probe::on()) probe::last_item(std::string("table/") + title(kOpsColumns[c]));
  }
  if (const ImGuiTableSortSpecs* specs = ImGui::TableGetSortSpecs(); specs && specs->SpecsCount > 0)
    sort_ops(rows, kOpsColumns[specs->Specs[0].ColumnIndex],
             specs->Specs[0].SortDirection == ImGuiSortDirection_Descending);
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(rows.size()));
  int done = 0;
  while (clipper.Step()) {
    focus::skip(done, clipper.DisplayStart, clipper.ItemsHeight);
    done = clipper.DisplayEnd;
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
      const OpsTableRow& row = rows[static_cast<std::size_t>(i)];
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      const ImVec2 at = ImGui::GetCursorScreenPos();
      const bool selected = session.selection().contains(row.op);
      if (table_row("table/op/" + row.name, selected, ImGuiSelectableFlags_AllowDoubleClick)) {
        ui.commands.push(SelectOp{row.op, ImGui::GetIO().KeyCtrl});
        if (ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) ui.commands.push(ZoomToSelection{});
      }
      ImGui::GetWindowDrawList()->AddRectFilled(ImVec2(at.x, at.y + px(4)), ImVec2(at.x + px(10), at.y + px(14)),
                                                role_color(row.role).fill, px(2));
      paint_text(row.critical ? fonts().bold : fonts().body, ImVec2(at.x + px(18), at.y), theme().text, row.name);
      for (OpsColumn column : kOpsColumns) {
        if (column == OpsColumn::Name) continue;
        ImGui::TableNextColumn();
        cell_text(cell(row, column), is_number(column),
                  column == OpsColumn::Slack ? slack_ink(row.slack, theme().text) : theme().text);
      }
    }
  }
  focus::skip(done, static_cast<int>(rows.size()), clipper.ItemsHeight);
  clipper.End();
  ImGui::EndTable();
}

}  // namespace heddle::app

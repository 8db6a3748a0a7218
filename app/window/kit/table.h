// Parts of tables: headings that sort, rows of which only those on screen are drawn, and the cells of a row.
#pragma once

#include <imgui.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "app/window/kit/column.h"
#include "app/window/kit/focus.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/theme.h"
#include "app/window/kit/widgets.h"

namespace heddle::app {

/// Calls `draw` with the index of every row that is on screen; the others are stations of the keyboard all the same. `height`: of a
/// row, where all are known to be of one height.
template <class Draw>
void draw_seen_rows(std::size_t count, Draw draw, float height = -1) {
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(count), height);
  int done = 0;
  while (clipper.Step()) {
    focus::skip(done, clipper.DisplayStart, clipper.ItemsHeight);
    done = clipper.DisplayEnd;
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) draw(static_cast<std::size_t>(i));
  }
  focus::skip(done, static_cast<int>(count), clipper.ItemsHeight);
  clipper.End();
}

/// The heading of the present column of a sortable ImGui table; titles of numbers end where the numbers end. The probe knows it as
/// "PREFIX/TITLE".
template <class Row>
void draw_heading(const Column<Row>& column, const char* prefix, bool at_the_right = true) {
  const FontScope scope(fonts().small_bold);
  if (column.number && at_the_right) {
    const float room = ImGui::GetContentRegionAvail().x - ImGui::CalcTextSize(column.title).x;
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + std::max(0.0f, room - px(14)));
  }
  ImGui::TableHeader(column.title);
  if (*column.about && ImGui::IsItemHovered()) tooltip(column.about);
  if (probe::on()) probe::last_item(std::string(prefix) + "/" + column.title);
}

/// Which of these columns the present ImGui table is sorted by; null: another one, or none.
template <class Row>
const Column<Row>* sorted_column(std::span<const Column<Row>> columns, bool& descending) {
  const ImGuiTableSortSpecs* specs = ImGui::TableGetSortSpecs();
  if (!specs || specs->SpecsCount == 0 || static_cast<std::size_t>(specs->Specs[0].ColumnIndex) >= columns.size()) return nullptr;
  descending = specs->Specs[0].SortDirection == ImGuiSortDirection_Descending;
  return &columns[static_cast<std::size_t>(specs->Specs[0].ColumnIndex)];
}

/// All cells but the first, which is also the row's handle. `ink` gives the colour for a column.
template <class Row, class Ink>
void draw_cells(std::span<const Column<Row>> columns, const Row& row, Ink ink) {
  for (const Column<Row>& column : columns.subspan(1)) {
    ImGui::TableNextColumn();
    cell_text(column.text(row), column.number, ink(column));
  }
}

}  // namespace heddle::app

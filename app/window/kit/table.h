// Tables: headings, sorting, rows of which only those on screen are drawn, and cells.
#pragma once

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <optional>
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

/// The heading of the present column of a table that sorts by itself; titles of numbers end where the numbers end. The probe knows it as
/// "PREFIX/TITLE".
template <class Row>
void draw_heading(const Column<Row>& column, const char* prefix, bool at_the_right = true) {
  const FontScope scope(fonts().small_bold);
  if (column.number && at_the_right) {
    const float room = ImGui::GetContentRegionAvail().x - ImGui::CalcTextSize(column.title.c_str()).x;
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + std::max(0.0f, room - px(14)));
  }
  const ImVec2 at = ImGui::GetCursorScreenPos(), size = ImGui::CalcTextSize(column.title.c_str());
  ImGui::TableHeader(column.title.c_str());
  if (probe::on()) probe::label(*ImGui::GetWindowDrawList(), column.title, {at.x, at.y, at.x + size.x, at.y + size.y});
  if (!column.about.empty() && ImGui::IsItemHovered()) tooltip(column.about);
  if (probe::on()) probe::last_item(std::string(prefix) + "/" + column.title);
}

/// The same for a table whose order the tab keeps.
template <class Row>
void draw_heading(const Column<Row>& column, const char* prefix, TableOrder& order) {
  if (sort_heading((std::string(prefix) + "/" + column.title).c_str(), column.title.c_str(), column.number, column.title == order.column,
                   order.descending))
    order.column = column.title;
  if (!column.about.empty() && ImGui::IsItemHovered()) tooltip(column.about);
}

/// The heading of a column that cannot be sorted by.
template <class Row>
void draw_heading(const Column<Row>& column, Color ink = theme().heading) {
  const FontScope scope(fonts().small_bold);
  const float room = ImGui::GetContentRegionAvail().x - ImGui::CalcTextSize(column.title.c_str()).x;
  if (column.number) ImGui::SetCursorPosX(ImGui::GetCursorPosX() + std::max(0.0f, room));
  colored_text(ink, column.title);
  if (!column.about.empty() && ImGui::IsItemHovered()) tooltip(column.about);
}

/// A table that scrolls ends with a whole row: it is as high as the rows that it has room for, as they were in the frame before.
class WholeRows {
 public:
  WholeRows(const char* id, ImGuiTableFlags flags, std::size_t rows)
      : memory_(*ImGui::GetStateStorage()), key_(ImGui::GetID(id)), top_(ImGui::GetCursorScreenPos().y), rows_(rows) {
    if (!(flags & ImGuiTableFlags_ScrollY)) rows_ = 0;
  }
  ImVec2 fitted(ImVec2 size) const {
    const float row = memory_.GetFloat(key_, 0), around = memory_.GetFloat(key_ + 1, 0), room = size.y - around;
    if (row <= 0 || size.y <= 0 || room < row || room >= row * static_cast<float>(rows_)) return size;
    return {size.x, around + whole_rows(room, row)};
  }
  /// Call in the first cell of every row.
  void see_row(std::size_t i) {
    if (rows_ == 0) return;
    const float y = ImGui::GetCursorScreenPos().y;
    if (seen_ && *seen_ + 1 == i) memory_.SetFloat(key_, y - y_);
    if (i == 0) {
      const float bar = ImGui::GetScrollMaxX() > 0 ? ImGui::GetStyle().ScrollbarSize : 0;
      memory_.SetFloat(key_ + 1, y + ImGui::GetScrollY() - ImGui::GetStyle().CellPadding.y - top_ + bar);
    }
    seen_ = i;
    y_ = y;
  }
  /// After the last row.
  void settle() const {
    if (rows_ > 0) settle_on_rows(memory_.GetFloat(key_, 0));
  }

 private:
  ImGuiStorage& memory_;
  ImGuiID key_;
  float top_, y_ = 0;
  std::size_t rows_;
  std::optional<std::size_t> seen_;
};

/// How tables differ from each other.
struct TableLook {
  ImGuiTableFlags flags = 0;  ///< ImGuiTableFlags_Sortable: it sorts by itself
  ImVec2 size{0, 0};
  float inner_width = 0;
  int held = 0;                 ///< so many columns at the left stay where they are
  bool every_row = false;       ///< also those that are not on screen: their cells say how wide columns are
  TableOrder* order = nullptr;  ///< what it is sorted by, where the tab keeps it
  const char* none = nullptr;   ///< what stands there when there is no row
};

/// Of a table that scrolls both ways and is as wide as its columns need, or as the room: what is over goes to all columns, and the bar
/// hides none of them. `also`: flags beside those.
inline TableLook scrolling_look(ImVec2 size, float needed, ImGuiTableFlags also = 0) {
  TableLook look;
  look.flags = also | ImGuiTableFlags_ScrollX | ImGuiTableFlags_ScrollY | ImGuiTableFlags_RowBg | ImGuiTableFlags_SizingStretchProp |
               ImGuiTableFlags_NoSavedSettings;
  look.size = size;
  const float room = size.x > 0 ? size.x : ImGui::GetContentRegionAvail().x;
  look.inner_width = std::max(needed, room - ImGui::GetStyle().ScrollbarSize);
  return look;
}

/// Words in a column whose width is not theirs: cut where they do not fit, and whole under the mouse.
inline void cut_cell_text(const std::string& text, Color ink) {
  const std::string shown = fitted(ImGui::GetFont(), text, ImGui::GetContentRegionAvail().x);
  cell_text(shown, false, ink);
  if (shown != text && ImGui::IsItemHovered()) tooltip(text);
}

/// What a table is, but for its rows.
template <class Row>
struct TableOf {
  TableOf(const char* of, const TableLook& as, const std::vector<Column<Row>>& with) : id(of), look(as), columns(with) {}

  const char* id;
  const TableLook& look;
  const std::vector<Column<Row>>& columns;
};

/// `heading(column)` draws a heading; `first(row, i)` the first cell of row i, which is also the row's handle.
template <class Row, class Heading, class First>
void draw_table(const TableOf<Row>& table, std::vector<Row>& rows, Heading heading, First first) {
  const char* id = table.id;
  const TableLook& look = table.look;
  const std::vector<Column<Row>>& columns = table.columns;
  WholeRows whole(id, look.flags, rows.size());
  if (!ImGui::BeginTable(id, static_cast<int>(columns.size()), look.flags, whole.fitted(look.size), look.inner_width)) return;
  if (look.flags & ImGuiTableFlags_ScrollY) ImGui::TableSetupScrollFreeze(look.held, 1);
  for (const Column<Row>& column : columns) ImGui::TableSetupColumn(column.title.c_str(), column.flags, column.width);
  ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
  for (const Column<Row>& column : columns) {
    ImGui::TableNextColumn();
    heading(column);
  }
  TableOrder own;
  TableOrder& order = look.order ? *look.order : own;
  if (const ImGuiTableSortSpecs* specs = ImGui::TableGetSortSpecs(); specs && specs->SpecsCount > 0)
    order = {columns[static_cast<std::size_t>(specs->Specs[0].ColumnIndex)].title,
             specs->Specs[0].SortDirection == ImGuiSortDirection_Descending};
  sort_by(rows, std::span(columns), order);
  const auto draw = [&](std::size_t i) {
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    whole.see_row(i);
    first(rows[i], i);
    for (const Column<Row>& column : std::span(columns).subspan(1)) {
      ImGui::TableNextColumn();
      const Color ink = column.ink ? column.ink(rows[i]) : theme().text;
      if (column.draw)
        column.draw(rows[i]);
      else if (!column.number && (look.flags & ImGuiTableFlags_SizingMask_) == ImGuiTableFlags_SizingStretchProp)
        cut_cell_text(column.text(rows[i]), ink);
      else
        cell_text(column.text(rows[i]), column.number, ink);
    }
  };
  if (look.every_row)
    for (std::size_t i = 0; i < rows.size(); ++i) draw(i);
  else
    draw_seen_rows(rows.size(), draw);
  whole.settle();
  if (rows.empty() && look.none) {
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    colored_text(theme().dim, look.none);
  }
  ImGui::EndTable();
}

/// A table that keeps its order itself: rows stand as they are given until a heading is pressed. The probe knows headings as
/// "ID/sort/TITLE".
template <class Row, class First>
void draw_sorted_table(const char* id, TableLook look, const std::vector<Column<Row>>& columns, std::vector<Row>& rows, First first) {
  ImGuiStorage& memory = *ImGui::GetStateStorage();
  const ImGuiID key = ImGui::GetID((std::string(id) + "/order").c_str());
  const int kept = memory.GetInt(key, 0);  // one more than the column's index, negative: descending
  TableOrder order;
  if (const auto column = static_cast<std::size_t>(std::abs(kept)); column > 0 && column <= columns.size())
    order = {columns[column - 1].title, kept < 0};
  look.order = &order;
  const std::string prefix = std::string(id) + "/sort";
  draw_table(
      TableOf(id, look, columns), rows, [&](const Column<Row>& column) { draw_heading(column, prefix.c_str(), order); }, first);
  for (std::size_t c = 0; c < columns.size(); ++c)
    if (!order.column.empty() && columns[c].title == order.column)
      memory.SetInt(key, order.descending ? -static_cast<int>(c + 1) : static_cast<int>(c + 1));
}

}  // namespace heddle::app

// Tables of the truth tab: rows, kinds, pairs.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "app/session/commands.h"
#include "app/session/truth_state.h"
#include "app/window/kit/table.h"
#include "app/window/parts/ui_state.h"
#include "app/window/tabs/truth/truth_tab_state.h"
#include "app/window/tabs/truth/truth_views.h"

namespace heddle::app {
namespace {

TableLook look_of(ImVec2 size, float least, TableOrder& order) {
  TableLook look;
  look.flags = ImGuiTableFlags_SizingStretchProp | ImGuiTableFlags_ScrollX | ImGuiTableFlags_ScrollY | ImGuiTableFlags_RowBg |
               ImGuiTableFlags_NoSavedSettings;
  look.size = size;
  look.inner_width = size.x < px(least) ? px(least) : 0;  // 0: what there is room for
  look.order = &order;
  return look;
}

/// Numbers as wide as their headings, texts by shares of the rest, cut where there is no room for them.
template <class Row>
void lay_out(std::vector<Column<Row>>& columns, const std::map<std::string_view, float>& shares) {
  for (Column<Row>& column : columns) {
    if (column.number) {
      column.width = std::max(text_size(fonts().small_bold, column.title).x + px(14), px(54));
      column.flags = ImGuiTableColumnFlags_WidthFixed;
      continue;
    }
    column.width = shares.at(column.title);
    column.flags = ImGuiTableColumnFlags_WidthStretch;
    // These differ at their end.
    column.draw = [text = column.text, ink = column.ink,
                   cut = column.title == "kind" || column.title == "implementation" ? fitted_middle : fitted](const Row& row) {
      colored_text(ink ? ink(row) : theme().text,
                   cut(fonts().small, drawable(text(row)), std::max(ImGui::GetContentRegionAvail().x, px(20))));
    };
  }
}

/// Nothing is cut: every column as wide as its cells, and the table scrolls where there is no room for all of them. The first one takes
/// what is left over and stays. Returns what they need.
float lay_out_whole(std::vector<Column<TruthKind>>& columns, const std::vector<TruthKind>& rows) {
  float needed = 0;
  for (Column<TruthKind>& column : columns) {
    float width = text_size(fonts().small_bold, column.title).x + px(14);
    for (const TruthKind& row : rows)
      width = std::max(width, text_size(column.number ? fonts().mono_small : fonts().small, column.text(row)).x + px(4));
    column.width = width;
    column.flags = &column == &columns.front() ? ImGuiTableColumnFlags_WidthStretch : ImGuiTableColumnFlags_WidthFixed;
    needed += width + 2 * ImGui::GetStyle().CellPadding.x;
    if (column.number) continue;
    column.draw = [text = column.text, ink = column.ink](const TruthKind& row) {
      const FontScope small(fonts().small);
      colored_text(ink ? ink(row) : theme().text, text(row));
    };
  }
  return needed;
}

void select(UiState& ui, std::size_t row) {
  ui.commands.push(SelectPublished{row});
  if (ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) ui.commands.push(OpenPublished{row});
}

}  // namespace

void draw_truth_rows(const Session& session, UiState& ui, ImVec2 size) {
  TruthTabState& s = ui.of<TruthTabState>();
  const FontScope small(fonts().small);
  auto columns = truth_columns();
  column_of(columns, "kind").ink = [](const TruthRow& row) { return row.has_point() ? truth_ink(row.color) : theme().dim; };
  column_of(columns, "ratio").ink = [](const TruthRow& row) { return row.ratio < 0.9 || row.ratio > 1.1 ? theme().warning : theme().good; };
  column_of(columns, "note").ink = [](const TruthRow&) { return theme().dim; };
  // The mouse over a row says these too.
  for (const auto& [title, least] : {std::pair("note", 900), {"busiest", 720}, {"machine", 580}})
    if (size.x < px(static_cast<float>(least))) std::erase_if(columns, [&](const auto& column) { return column.title == title; });
  lay_out(columns, {{"id", 1.0f}, {"kind", 1.9f}, {"implementation", 2.0f}, {"machine", 1.1f}, {"busiest", 1.0f}, {"note", 2.2f}});
  const auto heading = [&](const auto& column) { draw_heading(column, "truth/sort", s.rows_order); };
  draw_table(TableOf("truth_rows", look_of(size, 420, s.rows_order), columns), s.rows, heading, [&](const TruthRow& row, std::size_t i) {
    if (table_row(fmt::format("truth/row/{}", i), session.truth().chosen() == row.index, ImGuiSelectableFlags_AllowDoubleClick))
      select(ui, row.index);
    if (ImGui::IsItemHovered()) tooltip(drawable(about_truth(row)) + (row.has_point() ? "\nDouble click: open its kernel." : ""));
    ImGui::SameLine(0, 0);
    columns.front().draw(row);
  });
}

void draw_truth_kinds(UiState& ui, ImVec2 size) {
  TruthTabState& s = ui.of<TruthTabState>();
  const FontScope small(fonts().small);
  auto columns = kind_columns();
  column_of(columns, "band").ink = [](const TruthKind& row) { return row.inside ? theme().dim : theme().bad; };
  const float needed = lay_out_whole(columns, s.model.kind_rows) + ImGui::GetStyle().ScrollbarSize;
  TableLook look = look_of(size, 0, s.kinds_order);
  if (needed > size.x) look.inner_width = needed;
  look.held = 1;
  const auto heading = [&](const auto& column) { draw_heading(column, "truth/kinds/sort", s.kinds_order); };
  draw_table(TableOf("truth_kinds", look, columns), s.model.kind_rows, heading, [&](const TruthKind& row, std::size_t i) {
    (void)table_row(fmt::format("truth/kinds/{}", i), false);
    ImGui::SameLine(0, 0);
    columns.front().draw(row);
  });
}

void draw_truth_pairs(const Session& session, UiState& ui, ImVec2 size) {
  TruthTabState& s = ui.of<TruthTabState>();
  const FontScope small(fonts().small);
  auto columns = pair_columns();
  column_of(columns, "verdict").ink = [](const TruthPair& row) { return row.tone == Tone::Neutral ? theme().dim : tone_ink(row.tone); };
  column_of(columns, "note").ink = [](const TruthPair&) { return theme().dim; };
  if (size.x < px(820)) columns.pop_back();
  lay_out(columns, {{"pair", 2.0f}, {"what the first has", 2.7f}, {"verdict", 1.5f}, {"note", 2.2f}});
  const auto heading = [&](const auto& column) { draw_heading(column, "truth/pairs/sort", s.pairs_order); };
  draw_table(TableOf("truth_pairs", look_of(size, 480, s.pairs_order), columns), s.model.pairs, heading,
             [&](const TruthPair& row, std::size_t i) {
               if (table_row(fmt::format("truth/pair/{}", i), session.truth().chosen() == row.row, ImGuiSelectableFlags_AllowDoubleClick))
                 select(ui, row.row);
               if (ImGui::IsItemHovered())
                 tooltip(drawable(fmt::format("{}: {}\nmeasured {}{}\n{}{}", row.who, row.what, row.measured,
                                              row.predicted.empty() ? "" : ", predicted " + row.predicted, row.verdict,
                                              row.known.empty() ? "" : ": " + row.known)));
               ImGui::SameLine(0, 0);
               columns.front().draw(row);
             });
}

}  // namespace heddle::app

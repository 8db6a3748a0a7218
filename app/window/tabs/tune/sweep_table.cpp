// The table of a sweep: 100 000 rows are no trouble, only those on the screen are drawn.
#include <fmt/format.h>

#include <algorithm>

#include "app/session/sweep_state.h"
#include "app/window/kit/focus.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/table.h"
#include "app/window/kit/widgets.h"
#include "app/window/parts/ui_state.h"
#include "app/window/tabs/tune/sweep_state.h"
#include "app/window/tabs/tune/sweep_views.h"

namespace heddle::app {
namespace {

constexpr ImGuiTableFlags kSweepTable = ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_NoSavedSettings | ImGuiTableFlags_RowBg |
                                        ImGuiTableFlags_ScrollX | ImGuiTableFlags_ScrollY;
constexpr std::size_t kMeasured = 60;  ///< rows whose cells say how wide a column must be

/// As wide as its title and the cells of some rows.
float width_of_column(const SweepTable& table, const SweepTabState& s, SweepColumnRef column) {
  float width = text_size(fonts().small_bold, column_title(table, column)).x + px(16);
  for (std::size_t k = 0; k < std::min(kMeasured, s.order.size()); ++k) {
    const SweepPoint& point = table.points[s.order[k * s.order.size() / std::min(kMeasured, s.order.size())]];
    width = std::max(width, text_size(fonts().mono_small, cell_of(table, point, column)).x + px(4));
  }
  return std::min(width, px(column.column == SweepColumn::Why ? 420 : 170));
}

void draw_cell(const SweepTable& table, const SweepPoint& point, SweepColumnRef column, bool best) {
  const std::string text = cell_of(table, point, column);
  if (column.column == SweepColumn::Status) return colored_text(sweep_ink(point), text);
  const Color ink = best && column.column == SweepColumn::Value ? theme().good
                    : column.column == SweepColumn::Why         ? theme().dim
                                                                : theme().text;
  if (column_of_numbers(table, column)) return cell_text(text, true, ink);
  colored_text(ink, drawable(fitted(fonts().small, text, std::max(ImGui::GetContentRegionAvail().x, px(20)))));
}

}  // namespace

void draw_sweep_table(const Session& session, UiState& ui, ImVec2 size) {
  SweepTabState& s = ui.of<SweepTabState>();
  const SweepTable& table = session.sweep().table();
  const FontScope small(fonts().small);
  if (s.columns.empty()) return ImGui::Dummy(size);
  if (!ImGui::BeginTable("sweep", static_cast<int>(s.columns.size()), kSweepTable, size)) return;
  ImGui::TableSetupScrollFreeze(2, 1);
  for (std::size_t c = 0; c < s.columns.size(); ++c)
    ImGui::TableSetupColumn(fmt::format("{}##{}", column_title(table, s.columns[c]), c).c_str(), ImGuiTableColumnFlags_WidthFixed,
                            width_of_column(table, s, s.columns[c]));
  ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
  for (const SweepColumnRef& column : s.columns) {
    ImGui::TableNextColumn();
    const std::string title = column_title(table, column);
    if (sort_heading(("sweep/sort/" + title).c_str(), title.c_str(), column_of_numbers(table, column), column == s.choice.sort,
                     s.choice.descending))
      s.choice.sort = column;
  }
  const float height = ImGui::GetTextLineHeightWithSpacing();
  if (s.go_to) {
    const auto at = std::find(s.order.begin(), s.order.end(), *s.go_to);
    if (at != s.order.end()) ImGui::SetScrollY(std::max(0.0f, static_cast<float>(at - s.order.begin()) * height - size.y * 0.3f));
    s.go_to.reset();
  }
  std::optional<std::uint32_t> hovered;
  draw_seen_rows(s.order.size(), [&](std::size_t i) {
    const std::uint32_t index = s.order[i];
    const SweepPoint& point = table.points[index];
    ImGui::TableNextRow();
    for (std::size_t c = 0; c < s.columns.size(); ++c) {
      ImGui::TableNextColumn();
      if (c == 0) {
        if (table_row(fmt::format("sweep/row/{}", i), s.chosen == index || s.hovered == index)) pick_point(session, ui, index, false);
        if (ImGui::IsItemClicked(ImGuiMouseButton_Right)) pick_point(session, ui, index, true);
        if (ImGui::IsItemHovered()) {
          hovered = index;
          tooltip(drawable(about_point(table, point)) + "\nClick: show its schedule. Right click: compare with it as B.");
        }
        ImGui::SameLine(0, 0);
      }
      draw_cell(table, point, s.columns[c], table.best == index);
    }
  });
  ImGui::EndTable();
  if (hovered || ImGui::IsItemHovered()) s.hovered = hovered;
}

}  // namespace heddle::app

// The Units tab: what every unit and memory has to do, and how full it is.
#include <fmt/format.h>

#include <algorithm>

#include "app/window/kit/probe.h"
#include "app/window/kit/widgets.h"
#include "app/window/parts/ui_state.h"
#include "core/chart/chart_layout.h"

namespace heddle::app {
namespace {

/// A bar of `share` (0..1 and above) of the cell's width.
void share_bar(double share, Color color) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, height = px(10), y = at.y + px(4);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddRectFilled(ImVec2(at.x, y), ImVec2(at.x + width, y + height), theme().input, px(2));
  list.AddRectFilled(ImVec2(at.x, y), ImVec2(at.x + width * static_cast<float>(std::clamp(share, 0.0, 1.0)), y + height), color, px(2));
  ImGui::Dummy(ImVec2(width, px(16)));
}

}  // namespace

void draw_units_tab(const Session& session, const Models&, UiState&) {
  const Content& content = session.content();
  if (!content.problem) return colored_text(theme().dim, "Open a kernel and a machine to see what it needs.");
  const Problem& problem = *content.problem;
  const ScheduleEntry* entry = content.entry();
  ImGui::BeginChild("units", ImVec2(0, 0));
  constexpr ImGuiTableFlags kFlags = ImGuiTableFlags_SizingStretchProp | ImGuiTableFlags_NoSavedSettings;
  if (ImGui::BeginTable("unit_table", 6, kFlags)) {
    struct Heading {
      const char* text;
      float weight;
    };
    for (const Heading& h :
         {Heading{"unit", 1.2f}, {"about", 5.2f}, {"work", 0.7f}, {"bound", 0.7f}, {"share of II", 1.4f}, {"busy", 0.9f}})
      ImGui::TableSetupColumn(h.text, 0, h.weight);
    ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
    for (int c = 0; c < 6; ++c) {
      ImGui::TableSetColumnIndex(c);
      const FontScope scope(fonts().small_bold);
      const bool number = c == 2 || c == 3 || c == 5;
      const std::string_view name = ImGui::TableGetColumnName(c);
      if (number) ImGui::SetCursorPosX(ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x - ImGui::CalcTextSize(name.data()).x);
      colored_text(theme().heading, name);
    }
    const Cycle ii = entry ? entry->schedule.ii : content.bounds->min_ii();
    for (const UnitLoad& load : content.bounds->units) {
      const Unit& unit = problem.unit(load.unit);
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      colored_text(load.unit == content.bounds->binding_unit ? theme().text : theme().dim, unit.name);
      ImGui::TableNextColumn();
      const std::string about = fitted(fonts().body, unit.about, ImGui::GetContentRegionAvail().x);
      colored_text(theme().dim, about);
      if (about != unit.about && ImGui::IsItemHovered()) tooltip(drawable(unit.about));
      ImGui::TableNextColumn();
      cell_text(grouped(load.work), true, theme().text);
      ImGui::TableNextColumn();
      cell_text(grouped(load.bound), true, theme().text);
      ImGui::TableNextColumn();
      share_bar(static_cast<double>(load.bound) / static_cast<double>(std::max<Cycle>(ii, 1)), role_color(unit.role).fill);
      ImGui::TableNextColumn();
      const std::string busy =
          entry ? fmt::format("{:.1f} %", 100.0 * static_cast<double>(entry->usage.busy[load.unit.index()]) / static_cast<double>(ii))
                : std::string("-");
      cell_text(busy, true, theme().text);
    }
    const auto memory = [&](const char* name, const char* about, std::int64_t used, std::int64_t limit, Color color) {
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      colored_text(theme().dim, name);
      ImGui::TableNextColumn();
      colored_text(theme().dim, about);
      ImGui::TableNextColumn();
      cell_text(grouped(used), true, theme().text);
      ImGui::TableNextColumn();
      cell_text(grouped(limit), true, theme().text);
      ImGui::TableNextColumn();
      share_bar(static_cast<double>(used) / static_cast<double>(std::max<std::int64_t>(limit, 1)), color);
      ImGui::TableNextColumn();
    };
    if (entry) {
      memory("smem bytes", "allocated, of the limit", entry->usage.smem_bytes, problem.limits.smem_bytes, role_color(UnitRole::Smem).fill);
      if (problem.limits.tmem_columns > 0)
        memory("tmem columns", "allocated, of the limit", entry->usage.tmem_columns, problem.limits.tmem_columns,
               role_color(UnitRole::Tmem).fill);
    }
    ImGui::EndTable();
  }
  ImGui::EndChild();
}

}  // namespace heddle::app

// The tabs under the chart, and the log, the constraints and the units among them.
#include <fmt/format.h>

#include <algorithm>

#include "app/ui/panels.h"
#include "app/ui/probe.h"
#include "app/ui/widgets.h"
#include "app/viewmodel/explain_model.h"
#include "core/io/constraints_json.h"
#include "core/report/chart_layout.h"

namespace heddle::app {
namespace {

struct TabLabel {
  BottomTab tab;
  const char *name, *label;
};
constexpr TabLabel kTabs[] = {{BottomTab::Log, "tab/log", "Log"},
                              {BottomTab::Explain, "tab/explain", "Explain"},
                              {BottomTab::Ops, "tab/ops", "Ops"},
                              {BottomTab::Units, "tab/units", "Units"},
                              {BottomTab::Constraints, "tab/constraints", "Constraints"}};

void draw_tab_strip(const Session& session, UiState& ui) {
  const float height = px(28);
  const ImVec2 begin = ImGui::GetCursorScreenPos();
  for (const TabLabel& tab : kTabs) {
    const bool current = session.view().tab == tab.tab;
    ImFont* font = current ? fonts().bold : fonts().body;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const ImVec2 size = text_size(font, tab.label);
    const float width = text_size(fonts().bold, tab.label).x + px(20);
    ImGui::PushID(tab.name);
    if (ImGui::InvisibleButton("tab", ImVec2(width, height))) ui.commands.push(ShowTab{tab.tab});
    ImGui::PopID();
    if (probe::on()) probe::last_item(tab.name);
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const bool hovered = ImGui::IsItemHovered();
    if (current || hovered)
      list.AddRectFilled(at, ImVec2(at.x + width, at.y + height), current ? theme().card : theme().hovered, px(3));
    if (current)
      list.AddRectFilled(ImVec2(at.x, at.y + height - px(2)), ImVec2(at.x + width, at.y + height), theme().accent);
    paint_text(font, ImVec2(at.x + (width - size.x) / 2, at.y + (height - size.y) / 2),
               current ? theme().text : theme().dim, tab.label);
    ImGui::SameLine(0, px(2));
  }
  ImGui::SetCursorScreenPos(ImVec2(begin.x, begin.y + height + px(4)));
}

Color ink_of(LogLevel level) {
  switch (level) {
    case LogLevel::Info: return theme().text;
    case LogLevel::Good: return theme().good;
    case LogLevel::Warning: return theme().warning;
    case LogLevel::Bad: return theme().bad;
    case LogLevel::Detail: return theme().faint;
  }
  return theme().text;
}

std::string as_text(const Log& log) {
  std::string text;
  for (const LogEntry& entry : log) text += fmt::format("{:9.3f}  {}\n", entry.seconds, entry.text);
  return text;
}

/// A cell of a table: numbers right aligned and monospaced.
void cell_text(std::string_view text, bool number, Color color) {
  if (!number) {
    colored_text(color, text);
    return;
  }
  const FontScope scope(fonts().mono_small);
  const float room = ImGui::GetContentRegionAvail().x;
  const float width = ImGui::CalcTextSize(text.data(), text.data() + text.size()).x;
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + std::max(0.0f, room - width));
  ImGui::SetCursorPosY(ImGui::GetCursorPosY() + px(1));
  colored_text(color, text);
}

/// A bar of `share` (0..1 and above) of the cell's width.
void share_bar(double share, Color color) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, height = px(10), y = at.y + px(4);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddRectFilled(ImVec2(at.x, y), ImVec2(at.x + width, y + height), theme().input, px(2));
  list.AddRectFilled(ImVec2(at.x, y),
                     ImVec2(at.x + width * static_cast<float>(std::clamp(share, 0.0, 1.0)), y + height), color, px(2));
  ImGui::Dummy(ImVec2(width, px(16)));
}

}  // namespace

void draw_log_tab(const Session& session, UiState& ui) {
  const Log& log = session.log();
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(px(8), px(3)));
  input_field("log/filter", "search the log", ui.log_filter, sizeof ui.log_filter, px(240));
  ImGui::SameLine();
  if (button("log/copy", "Copy", ButtonKind::Flat)) ui.commands.push(CopyText{as_text(log)});
  ImGui::PopStyleVar();
  ImGui::BeginChild("lines", ImVec2(0, 0));
  push_font(fonts().mono_small);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(px(8), px(2)));
  std::vector<const LogEntry*> shown;
  for (const LogEntry& entry : log)
    if (matches(entry.text, ui.log_filter)) shown.push_back(&entry);
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(shown.size()));
  while (clipper.Step()) {
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
      const LogEntry& entry = *shown[static_cast<std::size_t>(i)];
      colored_text(theme().faint, fmt::format("{:8.3f}", entry.seconds));
      ImGui::SameLine(0, px(12));
      colored_text(ink_of(entry.level), entry.text);
    }
  }
  clipper.End();
  ImGui::PopStyleVar();
  // Follows the end, unless somebody has scrolled up to read.
  if (log.size() != ui.log_seen && ImGui::GetScrollY() >= ImGui::GetScrollMaxY() - px(40)) ImGui::SetScrollHereY(1);
  ui.log_seen = log.size();
  pop_font();
  ImGui::EndChild();
}

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
  while (clipper.Step()) {
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
      const OpsTableRow& row = rows[static_cast<std::size_t>(i)];
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      const ImVec2 at = ImGui::GetCursorScreenPos();
      const bool selected = session.selection().contains(row.op);
      if (ImGui::Selectable(("##" + row.name).c_str(), selected,
                            ImGuiSelectableFlags_SpanAllColumns | ImGuiSelectableFlags_AllowDoubleClick)) {
        ui.commands.push(SelectOp{row.op, ImGui::GetIO().KeyCtrl});
        if (ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) ui.commands.push(ZoomToSelection{});
      }
      if (probe::on()) probe::last_item("table/op/" + row.name);
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
  clipper.End();
  ImGui::EndTable();
}

void draw_units_tab(const Session& session) {
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
    for (const Heading& h : {Heading{"unit", 1.2f},
                             {"about", 2.4f},
                             {"work", 0.9f},
                             {"bound", 0.9f},
                             {"share of II", 2.2f},
                             {"busy", 0.9f}})
      ImGui::TableSetupColumn(h.text, 0, h.weight);
    ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
    for (int c = 0; c < 6; ++c) {
      ImGui::TableSetColumnIndex(c);
      const FontScope scope(fonts().small_bold);
      const bool number = c == 2 || c == 3 || c == 5;
      const std::string_view name = ImGui::TableGetColumnName(c);
      if (number)
        ImGui::SetCursorPosX(ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x -
                             ImGui::CalcTextSize(name.data()).x);
      colored_text(theme().heading, name);
    }
    const Cycle ii = entry ? entry->schedule.ii : content.bounds->min_ii();
    for (const UnitLoad& load : content.bounds->units) {
      const Unit& unit = problem.unit(load.unit);
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      colored_text(load.unit == content.bounds->binding_unit ? theme().text : theme().dim, unit.name);
      ImGui::TableNextColumn();
      colored_text(theme().dim, fitted(fonts().body, unit.about, ImGui::GetContentRegionAvail().x));
      ImGui::TableNextColumn();
      cell_text(grouped(load.work), true, theme().text);
      ImGui::TableNextColumn();
      cell_text(grouped(load.bound), true, theme().text);
      ImGui::TableNextColumn();
      share_bar(static_cast<double>(load.bound) / static_cast<double>(std::max<Cycle>(ii, 1)),
                role_color(unit.role).fill);
      ImGui::TableNextColumn();
      const std::string busy =
          entry ? fmt::format("{:.1f} %", 100.0 * static_cast<double>(entry->usage.busy[load.unit.index()]) /
                                              static_cast<double>(ii))
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
      memory("smem bytes", "allocated, of the limit", entry->usage.smem_bytes, problem.limits.smem_bytes,
             role_color(UnitRole::Smem).fill);
      if (problem.limits.tmem_columns > 0)
        memory("tmem columns", "allocated, of the limit", entry->usage.tmem_columns, problem.limits.tmem_columns,
               role_color(UnitRole::Tmem).fill);
    }
    ImGui::EndTable();
  }
  ImGui::EndChild();
}

void draw_constraints_tab(const Session& session, UiState& ui) {
  const Constraints& constraints = session.content().constraints;
  if (constraints.empty()) {
    colored_text(theme().text, "No constraints of yours.");
    wrapped_text(
        fonts().small, theme().dim,
        "A constraints file (schema heddle.constraints/1) pins ops, orders them, or limits stages, warps, registers "
        "and memory. Drop one on the window or open it with Ctrl+O; each can then be switched on and off here, and F5 "
        "solves under those that are on.");
    return;
  }
  const std::vector<std::size_t> core = build_explain(session).core;
  ImGui::BeginChild("constraints", ImVec2(0, 0));
  constexpr ImGuiTableFlags kFlags = ImGuiTableFlags_SizingStretchProp | ImGuiTableFlags_NoSavedSettings;
  if (ImGui::BeginTable("constraint_table", 3, kFlags)) {
    ImGui::TableSetupColumn("on", ImGuiTableColumnFlags_WidthFixed, px(40));
    ImGui::TableSetupColumn("name", 0, 1);
    ImGui::TableSetupColumn("demands", 0, 2);
    for (std::size_t i = 0; i < constraints.size(); ++i) {
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      bool enabled = constraints[i].enabled;
      ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(px(2), px(1)));
      if (ImGui::Checkbox(fmt::format("##on{}", i).c_str(), &enabled)) ui.commands.push(ToggleConstraint{i});
      ImGui::PopStyleVar();
      if (probe::on()) probe::last_item(fmt::format("constraint_table/{}", i));
      ImGui::TableNextColumn();
      const bool guilty = std::find(core.begin(), core.end(), i) != core.end();
      colored_text(guilty    ? theme().bad
                   : enabled ? theme().text
                             : theme().faint,
                   (guilty ? "! " : "") + constraints[i].name);
      if (guilty && ImGui::IsItemHovered()) tooltip("with the others that are marked it leaves no schedule");
      ImGui::TableNextColumn();
      colored_text(enabled ? theme().text : theme().faint, describe(constraints[i]));
    }
    ImGui::EndTable();
  }
  ImGui::EndChild();
}

void draw_bottom_pane(const Session& session, const Models& models, UiState& ui) {
  draw_tab_strip(session, ui);
  ImGui::BeginChild("tab", ImVec2(0, 0));
  switch (session.view().tab) {
    case BottomTab::Log: draw_log_tab(session, ui); break;
    case BottomTab::Explain: draw_explain_tab(session, ui); break;
    case BottomTab::Ops: draw_ops_tab(session, models, ui); break;
    case BottomTab::Units: draw_units_tab(session); break;
    case BottomTab::Constraints: draw_constraints_tab(session, ui); break;
  }
  ImGui::EndChild();
}

}  // namespace heddle::app

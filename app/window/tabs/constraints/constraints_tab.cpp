// The Constraints tab: what the user demands, with switches, prices and who is to blame, as a table.
#include <fmt/format.h>

#include <algorithm>

#include "app/session/command_line.h"
#include "app/session/proposal_commands.h"
#include "app/session/question_state.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/widgets.h"
#include "app/window/parts/constraint_rows.h"
#include "app/window/parts/constraints_state.h"
#include "app/window/parts/question_bar.h"

namespace heddle::app {
namespace {

void draw_verbs(const Session& session, const ConstraintList& list, UiState& ui) {
  const QuestionState& price = session.question(Topic::Price);
  if (price.active()) {
    if (button("constraint_table/cancel", "Cancel", ButtonKind::Plain)) ui.commands.push(CancelAsk{Topic::Price});
    ImGui::SameLine();
    colored_text(theme().dim, fmt::format("{} · {}", price.doing, seconds_text(price.seconds)));
  } else {
    if (button("constraint_table/price", "Price them", ButtonKind::Primary, session.why_no_question(Topic::Price)))
      ui.commands.push(Ask{Topic::Price, price_options(ui)});
    if (bool& open = ui.of<ConstraintsState>().layouts_open; layouts_choice(Topic::Price, session, open)) open = !open;
    ImGui::SameLine();
    colored_text(theme().dim, !price.failure.empty()                               ? price.failure
                              : list.any_priced && !session.answered(Topic::Price) ? "prices are answers to an earlier question"
                                                                                   : "what II would gain without each");
  }
  const float right = ImGui::GetWindowContentRegionMax().x;
  ImGui::SameLine(std::max(px(380), right - px(330)));
  if (button("constraint_table/copy", "Copy")) ui.commands.push(copy_text(constraints_tsv(list)));
  ImGui::SameLine(0, px(6));
  copy_command_button("constraint_table/command", session, ui, ask_command(session, Topic::Price, price_options(ui)));
  ImGui::SameLine(0, px(6));
  if (button("constraint_table/save", "Save ...")) {
    ui.path_prompt.ask = Prompt::ConstraintsPath;
    ui.path_prompt.just_opened = true;
  }
}

void draw_table_row(const ConstraintRow& row, bool with_periods, const Session& session, UiState& ui) {
  const std::string name = fmt::format("constraint_table/{}", row.index);
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  bool enabled = row.enabled;
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(px(2), px(1)));
  if (ImGui::Checkbox(("##on" + name).c_str(), &enabled)) ui.commands.push(ToggleConstraint{row.index});
  ImGui::PopStyleVar();
  if (probe::on()) probe::last_item(name);
  const Color ink = row.guilty ? theme().bad : row.enabled ? theme().text : theme().faint;
  ImGui::TableNextColumn();
  // Held ones have a name for files; here it is said what they are for.
  const std::string called = row.frame ? "held, so that pins mean what you saw" : row.name;
  colored_text(ink, called.empty() ? (row.guilty ? "!" : "") : (row.guilty ? "! " : "") + called);
  ImGui::TableNextColumn();
  if (!draw_demand_editor(name + "/edit", {row.index, true}, session, ui, ImGui::GetContentRegionAvail().x)) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = std::max(px(20), ImGui::GetContentRegionAvail().x);
    ImGui::PushID(name.c_str());
    if (ImGui::InvisibleButton("demand", ImVec2(width, ImGui::GetTextLineHeight()))) begin_editing({row.index, true}, row, ui);
    ImGui::PopID();
    if (probe::on()) probe::last_item(name + "/text");
    if (ImGui::IsItemHovered()) ImGui::SetMouseCursor(ImGuiMouseCursor_TextInput);
    paint_text(fonts().body, at, ink, fitted(fonts().body, row.demand, width));
  }
  ImGui::TableNextColumn();
  cell_text(row.price, true, row.price_old ? theme().faint : row.price == "+0" ? theme().dim : theme().text);
  if (!row.price_detail.empty() && ImGui::IsItemHovered()) tooltip(row.price_detail);
  if (with_periods) {
    ImGui::TableNextColumn();
    cell_text(row.period_price, true, row.price_old ? theme().faint : row.period_price == "+0" ? theme().dim : theme().text);
    if (!row.price_detail.empty() && ImGui::IsItemHovered()) tooltip(row.price_detail);
  }
  ImGui::TableNextColumn();
  colored_text(row.guilty || row.broken ? theme().bad : theme().dim, row.status);
  ImGui::TableNextColumn();
  if (link((name + "/remove").c_str(), "remove")) ui.commands.push(RemoveConstraint{row.index});
}

}  // namespace

void draw_constraints_tab(const Session& session, const Models&, UiState& ui) {
  const ConstraintList list = build_constraint_list(session);
  if (list.rows.empty() && session.content().choices.empty()) {
    colored_text(theme().text, "No constraints of yours.");
    wrapped_text(fonts().small, theme().dim,
                 "Drag a bar in the chart to pin it, press P on selected ops, or type a demand here: pins, orders, groups, "
                 "and limits of stages, warps, registers and memory. Every one can be switched off again, and priced. A "
                 "constraints file (schema heddle.constraints/1) can be dropped on the window.");
    ImGui::Dummy(ImVec2(0, px(4)));
    draw_add_constraint("constraint_table", session, ui, std::min(px(420), ImGui::GetContentRegionAvail().x));
    return;
  }
  draw_verbs(session, list, ui);
  draw_refusal("constraint_table", session, ui);
  ImGui::BeginChild("constraints", ImVec2(0, 0));
  constexpr ImGuiTableFlags kFlags =
      ImGuiTableFlags_SizingStretchProp | ImGuiTableFlags_NoSavedSettings | ImGuiTableFlags_RowBg | ImGuiTableFlags_PadOuterX;
  if (ImGui::BeginTable("constraint_table", list.periods ? 7 : 6, kFlags)) {
    ImGui::TableSetupColumn("on", ImGuiTableColumnFlags_WidthFixed, px(36));
    ImGui::TableSetupColumn("name", 0, 2);
    ImGui::TableSetupColumn("demand", 0, 3);
    ImGui::TableSetupColumn("price", ImGuiTableColumnFlags_WidthFixed, px(72));
    if (list.periods) ImGui::TableSetupColumn("period", ImGuiTableColumnFlags_WidthFixed, px(72));
    ImGui::TableSetupColumn("status", 0, 2);
    ImGui::TableSetupColumn("", ImGuiTableColumnFlags_WidthFixed, px(64));
    ImGui::TableHeadersRow();
    for (const ConstraintRow& row : list.rows) draw_table_row(row, list.periods, session, ui);
    ImGui::EndTable();
  }
  for (const LayoutDemand& each : list.layouts) {
    colored_text(theme().text, each.demand);
    ImGui::SameLine();
    colored_text(each.price == "+0" ? theme().dim : theme().warning, each.price);
    if (ImGui::IsItemHovered()) tooltip(each.detail);
  }
  draw_add_constraint("constraint_table", session, ui, std::min(px(420), ImGui::GetContentRegionAvail().x));
  ImGui::EndChild();
}

}  // namespace heddle::app

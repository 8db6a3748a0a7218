// The strip of tabs, and the pane that shows the current one.
#include "app/ui/tabs.h"

#include <algorithm>

#include "app/ui/panels.h"
#include "app/ui/probe.h"
#include "app/ui/widgets.h"

namespace heddle::app {
namespace {

constexpr Tab kTabs[] = {
    {BottomTab::Log, "log", "Log", draw_log_tab},
    {BottomTab::Explain, "explain", "Explain", draw_explain_tab},
    {BottomTab::Slack, "slack", "Slack", draw_slack_tab},
    {BottomTab::Alternatives, "alternatives", "Alternatives", draw_alternatives_tab},
    {BottomTab::WhatIf, "what_if", "What if", draw_what_if_tab},
    {BottomTab::Pareto, "pareto", "Pareto", draw_pareto_tab},
    {BottomTab::Sensitivity, "sensitivity", "Sensitivity", draw_sensitivity_tab},
    {BottomTab::Compare, "compare", "Compare", draw_compare_tab},
    {BottomTab::Graph, "graph", "Graph", draw_graph_tab},
    {BottomTab::Pipeline, "pipeline", "Pipeline", draw_pipeline_tab},
    {BottomTab::Ops, "ops", "Ops", draw_ops_tab},
    {BottomTab::Units, "units", "Units", draw_units_tab},
    {BottomTab::Constraints, "constraints", "Constraints", draw_constraints_tab}};

void draw_tab_strip(const Session& session, UiState& ui) {
  const float height = px(28);
  const ImVec2 begin = ImGui::GetCursorScreenPos();
  for (const Tab& tab : tabs()) {
    const bool current = session.view().tab == tab.tab;
    ImFont* font = current ? fonts().bold : fonts().body;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const ImVec2 size = text_size(font, tab.label);
    const float width = text_size(fonts().bold, tab.label).x + px(20);
    ImGui::PushID(tab.id);
    if (ImGui::InvisibleButton("tab", ImVec2(width, height))) ui.commands.push(ShowTab{tab.tab});
    if (ImGui::IsItemHovered() && ImGui::IsMouseDoubleClicked(0)) ui.maximized = !ui.maximized;
    ImGui::PopID();
    if (probe::on()) probe::last_item(std::string("tab/") + tab.id);
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

}  // namespace

std::span<const Tab> tabs() { return kTabs; }

const Tab* find_tab(std::string_view id) {
  const auto found = std::find_if(std::begin(kTabs), std::end(kTabs), [&](const Tab& t) { return id == t.id; });
  return found == std::end(kTabs) ? nullptr : found;
}

void draw_bottom_pane(const Session& session, const Models& models, UiState& ui) {
  draw_tab_strip(session, ui);
  ImGui::BeginChild("tab", ImVec2(0, 0));
  for (const Tab& tab : kTabs)
    if (tab.tab == session.view().tab) tab.draw(session, models, ui);
  ImGui::EndChild();
}

}  // namespace heddle::app

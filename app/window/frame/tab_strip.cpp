// The strip of tabs, and the pane that shows the current one.
#include "app/window/parts/tabs.h"

#include <algorithm>

#include "app/session/commands.h"
#include "app/window/frame/panels.h"
#include "app/window/kit/focus.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/widgets.h"

namespace heddle::app {
namespace {

constexpr Tab kTabs[] = {{BottomTab::Log, "log", "Log", draw_log_tab},
                         {BottomTab::Explain, "explain", "Explain", draw_explain_tab},
                         {BottomTab::Slack, "slack", "Slack", draw_slack_tab},
                         {BottomTab::Alternatives, "alternatives", "Alternatives", draw_alternatives_tab},
                         {BottomTab::WhatIf, "what_if", "What if", draw_what_if_tab},
                         {BottomTab::Pareto, "pareto", "Pareto", draw_pareto_tab},
                         {BottomTab::Sensitivity, "sensitivity", "Sensitivity", draw_sensitivity_tab},
                         {BottomTab::Compare, "compare", "Compare", draw_compare_tab},
                         {BottomTab::Audit, "audit", "Audit", draw_audit_tab},
                         {BottomTab::Graph, "graph", "Graph", draw_graph_tab},
                         {BottomTab::Pipeline, "pipeline", "Pipeline", draw_pipeline_tab},
                         {BottomTab::Ops, "ops", "Ops", draw_ops_tab},
                         {BottomTab::Units, "units", "Units", draw_units_tab},
                         {BottomTab::Constraints, "constraints", "Constraints", draw_constraints_tab},
                         {BottomTab::Cuda, "cuda", "CUDA", draw_cuda_tab},
                         {BottomTab::Runs, "runs", "Runs", draw_runs_tab},
                         {BottomTab::Sweep, "sweep", "Sweep", draw_sweep_tab},
                         {BottomTab::Truth, "truth", "Truth", draw_truth_tab}};

float width_of(const Tab& tab) { return text_size(fonts().bold, tab.label).x + px(20); }

void draw_tab(const Tab& tab, bool current, float height, UiState& ui) {
  ImFont* font = current ? fonts().bold : fonts().body;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 size = text_size(font, tab.label);
  const float width = width_of(tab);
  ImGui::PushID(tab.id);
  if (ImGui::InvisibleButton("tab", ImVec2(width, height))) ui.commands.push(show_tab(tab.tab));
  if (ImGui::IsItemHovered() && ImGui::IsMouseDoubleClicked(0)) ui.maximized = !ui.maximized;
  ImGui::PopID();
  if (probe::on()) probe::last_item(std::string("tab/") + tab.id);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const bool hovered = ImGui::IsItemHovered();
  if (focus::station().pressed) ui.commands.push(show_tab(tab.tab));
  if (current || hovered) list.AddRectFilled(at, ImVec2(at.x + width, at.y + height), current ? theme().card : theme().hovered, px(3));
  if (current) list.AddRectFilled(ImVec2(at.x, at.y + height - px(2)), ImVec2(at.x + width, at.y + height), theme().accent);
  paint_text(font, ImVec2(at.x + (width - size.x) / 2, at.y + (height - size.y) / 2), current ? theme().text : theme().dim, tab.label);
  if (hovered && !keys_of(tab.id).empty()) tooltip(std::string(tab.label) + "  " + keys_of(tab.id));
}

/// Those that fit, in their order, the current one always among them; all others are in a list at the right end.
void draw_tab_strip(const Session& session, UiState& ui) {
  const float height = px(28), gap = px(2);
  const ImVec2 begin = ImGui::GetCursorScreenPos();
  const float room = ImGui::GetContentRegionAvail().x;
  const auto all = tabs();
  float whole = 0;
  for (const Tab& tab : all) whole += width_of(tab) + gap;
  const bool crowded = whole > room;
  const float more = crowded ? px(58) : 0;
  std::size_t current = 0;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].tab == session.view().tab) current = i;
  // From the first one on as many as fit.
  const auto end_from = [&](std::size_t first) {
    float x = 0;
    std::size_t i = first;
    while (i < all.size() && (i == first || x + width_of(all[i]) <= room - more)) x += width_of(all[i++]) + gap;
    return i;
  };
  std::size_t& first = ui.strip_first;
  if (!crowded) first = 0;
  first = std::min(first, current);
  while (first < current && end_from(first) <= current) ++first;
  // Room that was won is used.
  while (first > 0 && end_from(first - 1) > current && end_from(first - 1) == all.size()) --first;
  const std::size_t end = end_from(first);
  for (std::size_t i = first; i < end; ++i) {
    draw_tab(all[i], i == current, height, ui);
    ImGui::SameLine(0, gap);
  }
  if (crowded) {
    ImGui::SetCursorScreenPos(ImVec2(begin.x + room - more, begin.y));
    const std::size_t hidden = all.size() - (end - first);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    if (ImGui::InvisibleButton("more", ImVec2(more, height))) ImGui::OpenPopup("more tabs");
    if (probe::on()) probe::last_item("tab/more");
    if (focus::station().pressed) ImGui::OpenPopup("more tabs");
    ImDrawList& list = *ImGui::GetWindowDrawList();
    if (ImGui::IsItemHovered()) list.AddRectFilled(at, ImVec2(at.x + more, at.y + height), theme().hovered, px(3));
    const std::string text = "+" + std::to_string(hidden);
    const ImVec2 size = text_size(fonts().body, text);
    paint_text(fonts().body, ImVec2(at.x + px(10), at.y + (height - size.y) / 2), theme().accent, text);
    const float x = at.x + px(18) + size.x, y = at.y + height / 2 - px(2);
    list.AddTriangleFilled(ImVec2(x, y), ImVec2(x + px(8), y), ImVec2(x + px(4), y + px(5)), theme().accent);
    if (ImGui::BeginPopup("more tabs")) {
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (i >= first && i < end) continue;
        if (ImGui::MenuItem(all[i].label, keys_of(all[i].id).c_str())) ui.commands.push(show_tab(all[i].tab));
        if (probe::on()) probe::last_item(std::string("tab/more/") + all[i].id);
      }
      ImGui::EndPopup();
    }
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

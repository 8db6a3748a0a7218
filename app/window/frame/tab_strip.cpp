// The strip of tabs, and the pane that shows the current one. Every group and every tab of it has its own place: nothing slides.
#include <algorithm>
#include <array>

#include "app/session/commands.h"
#include "app/window/frame/panels.h"
#include "app/window/kit/focus.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/widgets.h"
#include "app/window/parts/tabs.h"

namespace heddle::app {
namespace {

constexpr Tab kTabs[] = {{BottomTab::Explain, TabGroup::Why, "explain", "Explain", draw_explain_tab},
                         {BottomTab::Slack, TabGroup::Why, "slack", "Slack", draw_slack_tab},
                         {BottomTab::Ops, TabGroup::Why, "ops", "Ops", draw_ops_tab},
                         {BottomTab::Units, TabGroup::Why, "units", "Units", draw_units_tab},
                         {BottomTab::Machine, TabGroup::Why, "machine", "Machine", draw_machine_tab},
                         {BottomTab::Log, TabGroup::Why, "log", "Log", draw_log_tab},
                         {BottomTab::WhatIf, TabGroup::WhatIf, "what_if", "Numbers", draw_what_if_tab},
                         {BottomTab::Constraints, TabGroup::WhatIf, "constraints", "Constraints", draw_constraints_tab},
                         {BottomTab::Sensitivity, TabGroup::WhatIf, "sensitivity", "Sensitivity", draw_sensitivity_tab},
                         {BottomTab::Pareto, TabGroup::WhatIf, "pareto", "Pareto", draw_pareto_tab},
                         {BottomTab::Alternatives, TabGroup::WhatIf, "alternatives", "Alternatives", draw_alternatives_tab},
                         {BottomTab::Family, TabGroup::WhatIf, "family", "Family", draw_family_tab},
                         {BottomTab::Compare, TabGroup::Compare, "compare", "Schedules", draw_compare_tab},
                         {BottomTab::Triton, TabGroup::Compare, "triton", "Triton", draw_triton_tab},
                         {BottomTab::Audit, TabGroup::Compare, "audit", "Audit", draw_audit_tab},
                         {BottomTab::Truth, TabGroup::Compare, "truth", "Truth", draw_truth_tab},
                         {BottomTab::Graph, TabGroup::Kernel, "graph", "Graph", draw_graph_tab},
                         {BottomTab::Pipeline, TabGroup::Kernel, "pipeline", "Pipeline", draw_pipeline_tab},
                         {BottomTab::Layout, TabGroup::Kernel, "layout", "Layout", draw_layout_tab},
                         {BottomTab::Simulate, TabGroup::Kernel, "simulate", "Whole kernel", draw_simulate_tab},
                         {BottomTab::Cuda, TabGroup::Kernel, "cuda", "CUDA", draw_cuda_tab},
                         {BottomTab::Runs, TabGroup::Kernel, "runs", "Runs", draw_runs_tab},
                         {BottomTab::Sweep, TabGroup::Kernel, "sweep", "Tune", draw_sweep_tab}};

struct Group {
  TabGroup group;
  const char *id, *label;
};
constexpr Group kGroups[kTabGroups] = {{TabGroup::Why, "why", "Why"},
                                       {TabGroup::WhatIf, "what_if", "What if"},
                                       {TabGroup::Compare, "compare", "Compare"},
                                       {TabGroup::Kernel, "kernel", "Kernel"}};

/// What a group opens with: the tab of it that was shown last.
struct TabStripState {
  std::array<BottomTab, kTabGroups> last;
  TabStripState() {
    for (const Group& group : kGroups)
      last[static_cast<std::size_t>(group.group)] =
          std::find_if(std::begin(kTabs), std::end(kTabs), [&](const Tab& t) { return t.group == group.group; })->tab;
  }
};

const Tab& row_of(BottomTab tab) {
  return *std::find_if(std::begin(kTabs), std::end(kTabs), [&](const Tab& t) { return t.tab == tab; });
}

constexpr float kAround = 20;  // pixels around a label, where there is room

// Wide enough for the bold label of the current one, so that nothing moves.
float width_of(const char* label, float around = px(kAround)) { return text_size(fonts().bold, label).x + around; }

enum class Piece { Group, Tab };

struct PieceLook {
  Piece piece;
  bool current;
  float height, around;
};

/// True when it was pressed, with the mouse or the keyboard.
bool draw_piece(const std::string& name, const char* label, const PieceLook& look) {
  const auto& [piece, current, height, around] = look;
  ImFont* font = current ? fonts().bold : fonts().body;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 size = text_size(font, label);
  const float width = width_of(label, around);
  const ImVec2 end(at.x + width, at.y + height);
  ImGui::PushID(name.c_str());
  bool pressed = ImGui::InvisibleButton("tab", ImVec2(width, height));
  ImGui::PopID();
  if (probe::on()) probe::last_item(name);
  pressed = focus::station().pressed || pressed;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const bool hovered = ImGui::IsItemHovered();
  if (piece == Piece::Group) {
    if (current || hovered) list.AddRectFilled(at, end, current ? theme().selected : theme().hovered, px(4));
  } else {
    if (current || hovered) list.AddRectFilled(at, end, current ? theme().card : theme().hovered, px(3));
    if (current) list.AddRectFilled(ImVec2(at.x, end.y - px(2)), end, theme().accent);
  }
  paint_text(font, ImVec2(at.x + (width - size.x) / 2, at.y + (height - size.y) / 2), current ? theme().text : theme().dim, label);
  return pressed;
}

constexpr float kLow = 150;  // pixels: a pane that has no room for two rows of tabs

/// The groups as a list that opens, where there is no room for all of them; returns its width.
template <class Open>
float draw_group_list(const Group& current, float height, Open open) {
  if (draw_piece("tab/group", current.label, {Piece::Group, true, height, px(kAround)})) ImGui::OpenPopup("groups");
  const float width = ImGui::GetItemRectSize().x;
  if (ImGui::BeginPopup("groups")) {
    for (const Group& group : kGroups) {
      if (ImGui::MenuItem(group.label)) open(group);
      if (probe::on()) probe::last_item(std::string("tab/group/") + group.id);
    }
    ImGui::EndPopup();
  }
  return width;
}

/// The groups, and beside them, or below them in a narrow window, the tabs of the current one.
void draw_tab_strip(const Session& session, UiState& ui) {
  const float height = px(28), gap = px(2), between = px(20);
  const ImVec2 begin = ImGui::GetCursorScreenPos();
  const float room = ImGui::GetContentRegionAvail().x;
  const Tab& shown = row_of(session.view().tab);
  TabStripState& state = ui.of<TabStripState>();
  state.last[static_cast<std::size_t>(shown.group)] = shown.tab;
  float groups = 0;
  std::array<float, kTabGroups> widths{};
  for (const Group& group : kGroups) groups += width_of(group.label) + gap;
  for (const Tab& tab : kTabs) widths[static_cast<std::size_t>(tab.group)] += width_of(tab.label) + gap;
  const bool wide = groups + between + *std::max_element(widths.begin(), widths.end()) <= room;
  const bool low = !wide && ImGui::GetWindowHeight() < px(kLow);
  const bool beside = wide || low;
  const auto open = [&](const Group& group) { ui.commands.push(show_tab(state.last[static_cast<std::size_t>(group.group)])); };
  if (low) {
    groups = draw_group_list(kGroups[static_cast<std::size_t>(shown.group)], height, open);
  } else {
    for (const Group& group : kGroups) {
      if (draw_piece(std::string("tab/group/") + group.id, group.label, {Piece::Group, group.group == shown.group, height, px(kAround)}))
        open(group);
      ImGui::SameLine(0, gap);
    }
  }
  if (beside) {
    const float x = begin.x + groups + between / 2;
    ImGui::GetWindowDrawList()->AddRectFilled(ImVec2(x - px(1), begin.y + px(6)), ImVec2(x, begin.y + height - px(6)), theme().border);
  }
  const ImVec2 second = beside ? ImVec2(begin.x + groups + between, begin.y) : ImVec2(begin.x, begin.y + height + gap);
  ImGui::SetCursorScreenPos(second);
  // Tabs of a group that are too many for the row stand closer together.
  const auto count =
      static_cast<float>(std::count_if(std::begin(kTabs), std::end(kTabs), [&](const Tab& t) { return t.group == shown.group; }));
  const float excess = widths[static_cast<std::size_t>(shown.group)] - (begin.x + room - second.x);
  const float around = px(kAround) - std::clamp(excess / count, 0.0f, px(kAround - 4));
  for (const Tab& tab : kTabs) {
    if (tab.group != shown.group) continue;
    if (draw_piece(std::string("tab/") + tab.id, tab.label, {Piece::Tab, tab.tab == shown.tab, height, around}))
      ui.commands.push(show_tab(tab.tab));
    if (ImGui::IsItemHovered()) {
      if (ImGui::IsMouseDoubleClicked(0)) ui.maximized = !ui.maximized;
      if (!keys_of(tab.id).empty()) tooltip(std::string(tab.label) + "  " + keys_of(tab.id));
    }
    ImGui::SameLine(0, gap);
  }
  ImGui::SetCursorScreenPos(ImVec2(begin.x, second.y + height + px(4)));
}

}  // namespace

std::span<const Tab> tabs() { return kTabs; }

const Tab* find_tab(std::string_view id) {
  const auto found = std::find_if(std::begin(kTabs), std::end(kTabs), [&](const Tab& t) { return id == t.id; });
  return found == std::end(kTabs) ? nullptr : found;
}

const char* id_of(TabGroup group) { return kGroups[static_cast<std::size_t>(group)].id; }

void draw_bottom_pane(const Session& session, const Models& models, UiState& ui) {
  draw_tab_strip(session, ui);
  ImGui::BeginChild("tab", ImVec2(0, 0));
  row_of(session.view().tab).draw(session, models, ui);
  ImGui::EndChild();
}

}  // namespace heddle::app

// The tabs under the chart, in four groups, as a table: the strip, the palette, the command line and the tests all read it.
#pragma once

#include <span>
#include <string_view>

#include "app/session/commands.h"

namespace heddle::app {

class Session;
struct Models;
struct UiState;

enum class TabGroup { Why, WhatIf, Compare, Kernel };
inline constexpr int kTabGroups = 4;

struct Tab {
  BottomTab tab;
  TabGroup group;
  const char* id;  ///< "slack"; the probe knows it as "tab/slack" while its group is shown
  const char* label;
  void (*draw)(const Session&, const Models&, UiState&);
};

/// Those of a group stand together.
std::span<const Tab> tabs();
/// Null when there is none of that name.
const Tab* find_tab(std::string_view id);
/// "why": the probe knows the group as "tab/group/why".
const char* id_of(TabGroup group);

void draw_log_tab(const Session& session, const Models& models, UiState& ui);
void draw_explain_tab(const Session& session, const Models& models, UiState& ui);
void draw_slack_tab(const Session& session, const Models& models, UiState& ui);
void draw_alternatives_tab(const Session& session, const Models& models, UiState& ui);
void draw_machine_tab(const Session& session, const Models& models, UiState& ui);
void draw_family_tab(const Session& session, const Models& models, UiState& ui);
void draw_what_if_tab(const Session& session, const Models& models, UiState& ui);
void draw_pareto_tab(const Session& session, const Models& models, UiState& ui);
void draw_sensitivity_tab(const Session& session, const Models& models, UiState& ui);
void draw_compare_tab(const Session& session, const Models& models, UiState& ui);
void draw_triton_tab(const Session& session, const Models& models, UiState& ui);
void draw_audit_tab(const Session& session, const Models& models, UiState& ui);
void draw_graph_tab(const Session& session, const Models& models, UiState& ui);
void draw_pipeline_tab(const Session& session, const Models& models, UiState& ui);
void draw_ops_tab(const Session& session, const Models& models, UiState& ui);
void draw_units_tab(const Session& session, const Models& models, UiState& ui);
void draw_constraints_tab(const Session& session, const Models& models, UiState& ui);
void draw_cuda_tab(const Session& session, const Models& models, UiState& ui);
void draw_simulate_tab(const Session& session, const Models& models, UiState& ui);
void draw_runs_tab(const Session& session, const Models& models, UiState& ui);
void draw_sweep_tab(const Session& session, const Models& models, UiState& ui);
void draw_layout_tab(const Session& session, const Models& models, UiState& ui);
void draw_truth_tab(const Session& session, const Models& models, UiState& ui);

}  // namespace heddle::app

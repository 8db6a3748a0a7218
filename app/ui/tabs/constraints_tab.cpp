// The Constraints tab: what the user demands, with switches.
#include <fmt/format.h>

#include <algorithm>

#include "app/ui/panels.h"
#include "app/ui/probe.h"
#include "app/ui/widgets.h"
#include "app/viewmodel/explain_model.h"
#include "core/io/constraints_json.h"

namespace heddle::app {
void draw_constraints_tab(const Session& session, const Models&, UiState& ui) {
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

}  // namespace heddle::app

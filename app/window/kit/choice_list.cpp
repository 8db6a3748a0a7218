#include "app/window/kit/choice_list.h"

#include "app/window/kit/fuzzy.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/widgets.h"

namespace heddle::app {
namespace {

constexpr std::size_t kFewRows = 12;  // seen at a glance

char filter_[64] = "";  ///< of the list that is open: there is one at a time

}  // namespace

std::optional<std::size_t> choose(const std::string& name, std::string_view prefix, const std::string& shown,
                                  std::span<const ChoiceRow> rows, float width) {
  ImGui::SetNextItemWidth(width);
  ImGui::PushID(name.c_str());
  const bool open = ImGui::BeginCombo("##choice", shown.c_str(), ImGuiComboFlags_HeightLargest);
  if (probe::on()) probe::last_item(name);
  std::optional<std::size_t> chosen;
  if (open) {
    const bool to_search = rows.size() > kFewRows;
    bool entered = false;
    if (ImGui::IsWindowAppearing()) filter_[0] = 0;
    if (to_search) {
      if (ImGui::IsWindowAppearing()) ImGui::SetKeyboardFocusHere();
      input_field((name + "/filter").c_str(), "a few letters", filter_, sizeof filter_, ImGui::GetContentRegionAvail().x);
      entered = filter_[0] && key_pressed(Key::Enter);
    }
    bool any = false;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const ChoiceRow& row = rows[i];
      if (to_search && !fuzzy_match(row.label, filter_)) continue;
      const ImGuiSelectableFlags flags = row.can_be_chosen ? ImGuiSelectableFlags_None : ImGuiSelectableFlags_Disabled;
      ImGui::PushID(static_cast<int>(i));
      const bool pressed = ImGui::Selectable(row.label.c_str(), row.current, flags);
      ImGui::PopID();
      // One that is scrolled out of sight cannot be pressed.
      if (probe::on() && ImGui::IsItemVisible()) probe::last_item(std::string(prefix) + row.id);
      if (!row.about.empty() && ImGui::IsItemHovered()) tooltip(row.about);
      if ((pressed || (entered && !any)) && row.can_be_chosen) {
        if (!row.current) chosen = i;
        ImGui::CloseCurrentPopup();
      }
      any = true;
    }
    if (!any) colored_text(theme().dim, "nothing matches");
    ImGui::EndCombo();
  }
  ImGui::PopID();
  return chosen;
}

}  // namespace heddle::app

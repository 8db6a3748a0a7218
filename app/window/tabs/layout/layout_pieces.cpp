// What is pressed in the Layout tab's lines of small letters.
#include "app/window/kit/focus.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/widgets.h"
#include "app/window/tabs/layout/layout_views_drawn.h"

namespace heddle::app {

bool piece(const std::string& name, std::string_view label, bool on, const std::string& about, const std::string& why_not) {
  const ImVec2 size = text_size(fonts().small, label), box(size.x + px(14), px(22));
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::PushID(name.c_str());
  bool pressed = ImGui::InvisibleButton("piece", box);
  ImGui::PopID();
  if (probe::on()) probe::last_item(name);
  const bool hovered = ImGui::IsItemHovered();
  pressed |= focus::station().pressed;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const bool possible = why_not.empty();
  list.AddRectFilled(at, {at.x + box.x, at.y + box.y}, on ? theme().selected : hovered && possible ? theme().hovered : theme().card, px(4));
  if (on) list.AddRect(at, {at.x + box.x, at.y + box.y}, theme().accent, px(4));
  paint_text(fonts().small, {at.x + px(7), at.y + (box.y - size.y) / 2},
             !possible ? theme().faint
             : on      ? theme().text
                       : theme().dim,
             label);
  if (hovered) tooltip(possible ? about : why_not);
  return pressed && possible;
}

float piece_width(std::string_view label) { return text_size(fonts().small, label).x + px(14); }

void caption(std::string_view text) {
  const ImVec2 at = ImGui::GetCursorScreenPos(), size = text_size(fonts().small, text);
  paint_text(fonts().small, {at.x, at.y + (px(22) - size.y) / 2}, theme().dim, text);
  ImGui::Dummy({size.x, px(22)});
}

}  // namespace heddle::app

// The switch in the mode bar: A, A over B, ghosts, a window of its own; and what B is aligned at.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "app/window/frame/panels.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/widgets.h"

namespace heddle::app {
namespace {

/// Text in a box that is lit when it is chosen.
bool choice(const char* name, const std::string& label, bool current, const std::string& why_not, const std::string& tip) {
  const float height = px(24);
  const ImVec2 at = ImGui::GetCursorScreenPos(), size = text_size(fonts().small, label), box(size.x + px(16), height);
  ImGui::PushID(name);
  const bool pressed = ImGui::InvisibleButton("choice", box) && why_not.empty();
  ImGui::PopID();
  if (probe::on()) probe::last_item(name);
  const bool hovered = ImGui::IsItemHovered();
  if (current || (hovered && why_not.empty()))
    ImGui::GetWindowDrawList()->AddRectFilled(at, ImVec2(at.x + box.x, at.y + box.y), current ? theme().raised : theme().hovered, px(4));
  paint_text(fonts().small, ImVec2(at.x + px(8), at.y + (height - size.y) / 2),
             !why_not.empty() ? theme().faint
             : current        ? theme().text
                              : theme().dim,
             label);
  if (hovered) tooltip(why_not.empty() ? tip : why_not);
  ImGui::SameLine(0, px(2));
  return pressed;
}

float choice_width(const std::string& label) { return text_size(fonts().small, label).x + px(16) + px(2); }

}  // namespace

void draw_compare_bar(const Session& session, const Models& models, UiState& ui, float left, float right) {
  const bool three = session.content().triton() && session.content().entry();
  if (!models.compare && !three) return;
  struct View {
    const char *name, *label, *action;
  };
  std::vector<View> views_here;
  if (three) views_here.push_back({"compare/three", "all three", "chart_three"});
  views_here.push_back({"compare/a", "A", "chart_a"});
  if (models.compare)
    views_here.insert(views_here.end(), {{"compare/split", "A over B", "chart_split"},
                                         {"compare/ghost", "ghosts", "chart_ghost"},
                                         {"compare/window", "own window", "window_b"}});
  const Alignment& alignment = session.view().alignment;
  const std::string op = alignment.at == Alignment::At::Op && alignment.op.valid() ? session.content().problem->op(alignment.op).name : "";
  const std::string at_op = op.empty() ? std::string("selected op") : fitted_middle(fonts().small, op, px(80));
  struct At {
    const char *name, *action;
    std::string label, tip;
  };
  const At kAts[] = {
      {"compare/align/start", "align_start", "II start", "iterations of A and B begin at the same cycle"},
      {"compare/align/most", "align_most", "most ops", "B is shifted so that as many ops as possible start where they start in A"},
      {"compare/align/op", "align_op", at_op,
       "B is shifted so that this op starts where it starts in A; select another op and click to change it"}};
  const char* kCaption = "align at";
  float views = 0, ats = text_size(fonts().small, kCaption).x + px(26);
  for (const View& view : views_here) views += choice_width(view.label);
  for (const At& at : kAts) ats += choice_width(at.label);
  const bool with_ats = models.compare && left + px(16) + views + ats <= right;
  if (left + px(8) + views > right) return;  // menu and keys still switch
  ImGui::SetCursorPos(ImVec2(std::max(left + px(8), right - views - (with_ats ? ats : 0)), px(5)));
  for (const View& view : views_here) {
    const Action& action = *find_action(view.action);
    const bool way = action.checked != nullptr;  // of showing B here
    if (choice(view.name, view.label, way && action.checked(session), why_not(action, session),
               way ? fmt::format("{}  {}", action.label, keys_of("next_chart")) : std::string(action.label)))
      perform(action, session, ui);
  }
  if (!with_ats) return;
  ImGui::SameLine(0, px(16));
  const ImVec2 at = ImGui::GetCursorScreenPos(), size = text_size(fonts().small, kCaption);
  paint_text(fonts().small, ImVec2(at.x, at.y + (px(24) - size.y) / 2), theme().faint, kCaption);
  ImGui::Dummy(ImVec2(size.x, px(24)));
  ImGui::SameLine(0, px(6));
  for (const At& one : kAts) {
    const Action& action = *find_action(one.action);
    const std::string reason = why_not(action, session);
    if (choice(one.name, one.label, action.checked(session), reason, one.tip)) perform(action, session, ui);
  }
}

}  // namespace heddle::app

#include "app/window/parts/constraint_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "app/command/option_words.h"
#include "app/session/proposal.h"
#include "app/session/proposal_commands.h"
#include "app/session/question_state.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/widgets.h"
#include "app/window/parts/constraints_state.h"
#include "core/answers/layout_choice.h"
#include "core/library/layout_demands.h"
#include "core/schedule/constraint_text.h"

namespace heddle::app {
namespace {

constexpr float kRow = 24, kField = 26, kCaption = 17;

bool any_held(const Session& session) {
  const Constraints& all = session.content().constraints;
  return std::any_of(all.begin(), all.end(), is_frame);
}

void put(char* buffer, std::size_t size, const std::string& text) {
  const std::size_t count = std::min(size - 1, text.size());
  std::memcpy(buffer, text.data(), count);
  buffer[count] = 0;
}

std::string first_fault(const Error& error) {
  if (error.faults.empty()) return "this is not understood";
  const Fault& fault = error.faults.front();
  return fault.hint.empty() ? fault.message : fault.message + "; " + fault.hint;
}

bool entered_field(const std::string& name, const char* hint, char* buffer, std::size_t size, float width) {
  ImGui::SetNextItemWidth(width);
  const bool entered = ImGui::InputTextWithHint(("##" + name).c_str(), hint, buffer, size, ImGuiInputTextFlags_EnterReturnsTrue);
  if (probe::on()) probe::last_item(name);
  return entered;
}

void draw_switch(ImVec2 box, bool enabled) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImVec2 corner(box.x + px(14), box.y + px(14));
  if (!enabled) return list.AddRect(box, corner, theme().faint, px(3));
  list.AddRectFilled(box, corner, theme().accent, px(3));
  list.AddLine(ImVec2(box.x + px(3), box.y + px(7)), ImVec2(box.x + px(6), box.y + px(10)), theme().accent_text, px(2));
  list.AddLine(ImVec2(box.x + px(6), box.y + px(10)), ImVec2(box.x + px(11), box.y + px(4)), theme().accent_text, px(2));
}

bool spot(const std::string& name, ImVec2 at, ImVec2 size) {
  ImGui::SetCursorScreenPos(at);
  ImGui::PushID(name.c_str());
  const bool pressed = ImGui::InvisibleButton("spot", ImVec2(std::max(1.0f, size.x), std::max(1.0f, size.y)));
  ImGui::PopID();
  if (probe::on()) probe::last_item(name);
  return pressed;
}

std::string row_tip(const ConstraintRow& row) {
  std::string tip = row.demand;
  if (!row.name.empty()) tip = row.name + ": " + row.demand;
  if (row.frame)
    tip +=
        "\nHolds the picture still: without it a schedule could be shifted as a whole, or trade groups,\n"
        "and the other constraints would not mean what was seen.";
  tip += "\n" + row.status;
  if (row.enabled) tip += row.price_detail.empty() ? "" : "\nprice: " + row.price_detail;
  if (row.price_old) tip += " (an answer to an earlier question)";
  return tip + "\nClick the words to change them.";
}

void draw_row(const ConstraintRow& row, const Session& session, UiState& ui) {
  const std::string name = fmt::format("constraints/{}", row.index);
  const float width = std::max(ImGui::GetContentRegionAvail().x, 1.0f), height = px(kRow);
  const ImVec2 min = ImGui::GetCursorScreenPos(), max(min.x + width, min.y + height);
  if (probe::on()) probe::item(name, min.x, min.y, max.x, max.y);
  if (draw_demand_editor(name + "/edit", {row.index, false}, session, ui, width)) return;
  const bool hovered = ImGui::IsMouseHoveringRect(min, max) && ImGui::IsWindowHovered(ImGuiHoveredFlags_AllowWhenBlockedByActiveItem);
  if (hovered) ImGui::GetWindowDrawList()->AddRectFilled(min, max, theme().hovered, px(4));
  if (spot(name + "/switch", min, ImVec2(px(26), height))) ui.commands.push(ToggleConstraint{row.index});
  draw_switch(ImVec2(min.x + px(8), min.y + px(5)), row.enabled);

  float right = max.x - px(6);
  if (hovered || row.guilty) {
    const float side = px(18);
    right -= side;
    if (spot(name + "/remove", ImVec2(right, min.y), ImVec2(side, height))) ui.commands.push(RemoveConstraint{row.index});
    const bool over = ImGui::IsItemHovered();
    const Color ink = over ? theme().bad : theme().dim;
    if (over) tooltip("remove this constraint");
    const float cx = right + side / 2, cy = min.y + height / 2, r = px(4);
    ImGui::GetWindowDrawList()->AddLine({cx - r, cy - r}, {cx + r, cy + r}, ink, px(1.6f));
    ImGui::GetWindowDrawList()->AddLine({cx - r, cy + r}, {cx + r, cy - r}, ink, px(1.6f));
  }
  if (row.enabled) {
    const std::string price = row.price == "?" ? "price" : row.price;
    const ImVec2 size = text_size(fonts().mono_small, price);
    const std::string why_not = session.why_no_question(Topic::Price);
    const bool running = session.question(Topic::Price).active();
    const bool ask = (row.price == "?" || row.price_old) && !running;
    // Where nothing has been asked the link shows on hover only, so that the list stays calm.
    if (!ask || row.price != "?" || hovered) {
      right -= size.x + px(4);
      if (ask && spot(name + "/price", ImVec2(right, min.y), ImVec2(size.x, height)) && why_not.empty())
        ui.commands.push(Ask{Topic::Price, price_options(ui)});
      if (ask && ImGui::IsItemHovered()) tooltip(why_not.empty() ? "ask what every constraint costs" : why_not);
      const Color ink = ask && row.price == "?" ? theme().accent
                        : row.price_old         ? theme().faint
                        : row.price == "+0"     ? theme().dim
                                                : theme().warning;
      paint_text(fonts().mono_small, ImVec2(right, min.y + px(6)), ink, running ? "…" : price);
    }
  }
  const ImVec2 words(min.x + px(28), min.y);
  if (spot(name + "/text", words, ImVec2(right - words.x - px(4), height))) begin_editing({row.index, false}, row, ui);
  const bool over = ImGui::IsItemHovered();
  if (over) tooltip(row_tip(row));
  const bool pin = row.demand.compare(0, 4, "pin ") == 0;
  const std::string demand = row.frame ? row.demand.substr(pin ? 4 : 0) : row.demand;
  const std::string text = (row.guilty ? "! " : "") + demand;
  const Color ink = row.guilty ? theme().bad : !row.enabled ? theme().faint : row.frame ? theme().dim : theme().text;
  paint_text(fonts().small, ImVec2(words.x + px(2), min.y + px(5)), ink, fitted(fonts().small, text, right - words.x - px(6)));
  if (!row.enabled) {
    const float y = min.y + height / 2, end = words.x + px(2) + std::min(text_size(fonts().small, text).x, right - words.x - px(6));
    ImGui::GetWindowDrawList()->AddLine({words.x + px(2), y}, {end, y}, theme().faint);
  }
  ImGui::SetCursorScreenPos(ImVec2(min.x, max.y + ImGui::GetStyle().ItemSpacing.y));
}

}  // namespace

AskOptions price_options(UiState& ui) {
  AskOptions options;
  options.layouts_open = ui.of<ConstraintsState>().layouts_open;
  return options;
}

void begin_editing(DemandPlace place, const ConstraintRow& row, UiState& ui) {
  ConstraintsState& state = ui.of<ConstraintsState>();
  state.editing = place.index;
  state.editing_in_tab = place.in_tab;
  state.edit_fault.clear();
  state.focus_edit = true;
  put(state.edit, sizeof state.edit, row.demand);
}

bool draw_demand_editor(const std::string& name, DemandPlace place, const Session& session, UiState& ui, float width) {
  ConstraintsState& state = ui.of<ConstraintsState>();
  if (state.editing != place.index || state.editing_in_tab != place.in_tab) return false;
  const Constraints& constraints = session.content().constraints;
  if (place.index >= constraints.size()) {
    state.editing.reset();
    return false;
  }
  if (state.focus_edit) ImGui::SetKeyboardFocusHere();
  const bool entered = entered_field(name, "", state.edit, sizeof state.edit, width);
  const bool begun = std::exchange(state.focus_edit, false);
  if (entered) {
    auto parsed = parse_constraint(state.edit, *session.content().problem);
    if (!parsed) {
      state.edit_fault = first_fault(parsed.error());
      state.focus_edit = true;
    } else {
      parsed->enabled = constraints[place.index].enabled;
      if (is_frame(constraints[place.index]))
        parsed->name = "frame: " + describe(*parsed);
      else if (constraints[place.index].name != describe(constraints[place.index]))
        parsed->name = constraints[place.index].name;
      if (!(*parsed == constraints[place.index])) ui.commands.push(ReplaceConstraint{place.index, *parsed, parsed->enabled});
      state.editing.reset();
    }
  } else if (!begun && !ImGui::IsItemActive() && state.edit_fault.empty()) {
    state.editing.reset();  // left with Escape or a click elsewhere
  } else if (!begun && ImGui::IsItemDeactivated() && !entered) {
    state.editing.reset();
  }
  if (!state.edit_fault.empty() && state.editing) wrapped_text(fonts().small, theme().bad, state.edit_fault);
  return true;
}

void draw_add_constraint(const char* name, const Session& session, UiState& ui, float width) {
  if (!session.content().problem) return;
  ConstraintsState& state = ui.of<ConstraintsState>();
  const float side = px(kField);
  const std::string base(name);
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(px(8), px(3)));
  if (state.focus_add) {
    ImGui::SetKeyboardFocusHere();
    state.focus_add = false;
  }
  // With an op of this kernel, and where it is.
  const Problem& problem = *session.content().problem;
  const ScheduleEntry* entry = session.content().entry();
  const OpId op = session.selection().primary().valid() ? session.selection().primary() : OpId(problem.ops.size() / 2);
  const std::string example =
      problem.ops.empty() ? "at most 3 stages" : fmt::format("pin {} at {}", problem.op(op).name, entry ? entry->schedule.start(op) : 100);
  const std::string hint = (text_size(fonts().body, "add: " + example).x + px(20) < width - side - px(4) ? "add: " : "") + example;
  const bool entered = entered_field(base + "/add", hint.c_str(), state.add, sizeof state.add, width - side - px(4));
  if (ImGui::IsItemHovered() && !ImGui::IsItemActive())
    tooltip("A demand as a sentence, for example\n  " + example +
            "\n  A and B in one group\n  A before B by 64\n  registers <= 240\n  at most 3 stages\n  layout dqs0 panels 32\n  store dqs0 "
            "by st.shared.8\nEnter solves under it.");
  ImGui::PopStyleVar();
  if (ImGui::IsItemEdited()) state.add_fault.clear();
  ImGui::SameLine(0, px(4));
  if (button((base + "/common").c_str(), "+", ButtonKind::Flat, {}, {side, side})) ImGui::OpenPopup("common");
  if (ImGui::BeginPopup("common")) {
    for (const SuggestedConstraint& s : suggest_constraints(session)) {
      const std::string label = s.edit_first ? s.label + " ..." : s.label;
      const bool chosen = ImGui::MenuItem(label.c_str());
      if (probe::on()) probe::last_item(base + "/common/" + s.id);
      if (!chosen) continue;
      if (s.edit_first) {
        put(state.add, sizeof state.add, describe(s.constraint));
        state.focus_add = true;
      } else {
        ui.commands.push(AddConstraint{s.constraint, true, s.hold_group});
      }
    }
    if (session.selection().empty()) ImGui::TextDisabled("select ops for more");
    ImGui::EndPopup();
  }
  if (entered && state.add[0]) {
    LayoutChoices choices;
    std::vector<Fault> faults;
    const Content& content = session.content();
    if (take_layout_demand(state.add, *content.kernel, choices, faults)) {
      state.add_fault = faults.empty() ? "" : first_fault(in_options({ErrorKind::Input, faults}));
      state.focus_add = !faults.empty();
      if (!faults.empty()) return wrapped_text(fonts().small, theme().bad, state.add_fault);
      ui.commands.push(ChooseLayouts{merged(content.choices, choices), choices_in_words(choices), true});
      state.add[0] = 0;
      return;
    }
    auto parsed = parse_constraint(state.add, *session.content().problem);
    if (parsed) {
      ui.commands.push(AddConstraint{*parsed, true, parsed->ops.size() == 1});
      state.add[0] = 0;
      state.add_fault.clear();
    } else {
      state.add_fault = first_fault(parsed.error());
      state.focus_add = true;
    }
  }
  if (!state.add_fault.empty()) wrapped_text(fonts().small, theme().bad, state.add_fault);
}

void draw_refusal(const char* name, const Session& session, UiState& ui) {
  if (!session.live().refuted()) return;
  const ConstraintList list = build_constraint_list(session);
  const std::string base(name);
  wrapped_text(fonts().small, theme().bad, "No schedule meets all of these. What is shown is the one before.");
  const auto guilty = std::find_if(list.rows.rbegin(), list.rows.rend(), [](const ConstraintRow& r) { return r.guilty; });
  if (session.next_undo() && link((base + "/undo").c_str(), "undo")) ui.commands.push(Undo{});
  if (guilty == list.rows.rend()) return;
  ImGui::SameLine(0, px(14));
  if (link((base + "/switch_off").c_str(), "switch off")) {
    ui.commands.push(ToggleConstraint{guilty->index, true});
  }
  if (ImGui::IsItemHovered()) tooltip("switch off " + guilty->demand + ", and solve");
}

float constraint_list_height(const Session& session, const UiState& ui) {
  if (!session.content().problem) return 0;
  const float rows =
      static_cast<float>(session.content().constraints.size()) * (px(kRow) + px(3)) + (any_held(session) ? px(kCaption + 3) : 0);
  const bool words = !ui.of<ConstraintsState>().edit_fault.empty();
  return px(30) + rows + (session.live().refuted() ? px(54) : 0) + (words ? px(40) : 0);
}

float add_constraint_height(const Session& session, const UiState& ui) {
  if (!session.content().problem) return 0;
  return px(kField) + px(6) + (ui.of<ConstraintsState>().add_fault.empty() ? 0 : px(40));
}

void draw_constraint_list(const Session& session, UiState& ui) {
  if (!session.content().problem) return;
  const ConstraintList list = build_constraint_list(session);
  section("CONSTRAINTS", list.any_priced ? "price" : "");
  for (const ConstraintRow& row : list.rows)
    if (!row.frame) draw_row(row, session, ui);
  if (any_held(session)) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x;
    paint_text(fonts().small, ImVec2(at.x + px(8), at.y), theme().faint,
               fitted(fonts().small, "held, so that pins mean what you saw", width - px(8)));
    ImGui::Dummy(ImVec2(width, px(kCaption)));
    if (ImGui::IsItemHovered())
      tooltip("Without it a schedule could be shifted as a whole, or trade groups, and meet the pins without any change.");
  }
  for (const ConstraintRow& row : list.rows)
    if (row.frame) draw_row(row, session, ui);
  draw_refusal("constraints", session, ui);
}

}  // namespace heddle::app

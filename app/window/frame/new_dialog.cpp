// The dialog that makes a kernel from a pattern: a list of patterns, and fields for the options of the chosen one (core/patterns says
// both). What is wrong stands beside its field while typing.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>

#include "app/session/commands.h"
#include "app/window/frame/panels.h"
#include "app/window/kit/choice_list.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/widgets.h"
#include "core/base/text_style.h"
#include "core/formats/kernel_json.h"
#include "core/patterns/pattern.h"

namespace heddle::app {
namespace {

struct NewDialogState {
  bool wanted = false, just_opened = false;
  std::size_t pattern = 0;
  std::map<std::string, PatternChoices> choices;  ///< by pattern: what was set in one is there on the way back
  char name[128] = "";
  // Of these choices, until they change.
  std::optional<PatternChoices> made_of;
  std::string made_named;
  std::optional<Result<Kernel>> made;
};

const char* title_of(const std::string& pattern) {
  static const std::map<std::string, const char*> kTitles{{"gemm", "GEMM, and what is fused behind it"},
                                                          {"batched_gemm", "Batched GEMM"},
                                                          {"dual_gemm", "Dual GEMM"},
                                                          {"attention", "Attention forward"},
                                                          {"layernorm", "Layer norm"},
                                                          {"rmsnorm", "RMS norm"},
                                                          {"softmax", "Softmax"},
                                                          {"elementwise", "Element by element"}};
  const auto found = kTitles.find(pattern);
  return found == kTitles.end() ? pattern.c_str() : found->second;
}

/// "row_scale" as people read it.
std::string spoken(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

void draw_field(const std::string& pattern, const PatternOption& option, PatternChoices& choices, const std::string& fault) {
  const float label = px(110), field = px(120);
  const auto set = choices.find(option.name);
  const std::string value = set == choices.end() ? option.standard : set->second;
  const std::string id = "new/" + pattern + "/" + option.name;
  const float left = ImGui::GetCursorPosX(), whole = ImGui::GetContentRegionAvail().x;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float height = ImGui::GetFrameHeight();
  paint_text(fonts().body, {at.x, at.y + (height - text_size(fonts().body, "X").y) / 2},
             value == option.standard ? theme().dim : theme().text, spoken(option.name));
  ImGui::SetCursorPosX(left + label);
  ImGui::SetNextItemWidth(field);
  const auto choose_option = [&](const std::string& word) { choices[option.name] = word; };
  ImGui::PushID(id.c_str());
  switch (option.type) {
    case PatternOption::Type::Flag: {
      bool on = value == "yes";
      if (ImGui::Checkbox("##flag", &on)) choose_option(on ? "yes" : "no");
      if (probe::on()) probe::last_item(id);
      break;
    }
    case PatternOption::Type::Choice: {
      std::vector<ChoiceRow> rows;
      for (const std::string& word : option.choices) rows.push_back({word, word, {}, word == value, true});
      if (const auto chosen = choose(id, id + "/", value, rows, field)) choose_option(option.choices[*chosen]);
      break;
    }
    case PatternOption::Type::Integer: {
      char text[32];
      std::snprintf(text, sizeof text, "%s", value.c_str());
      if (ImGui::InputText("##number", text, sizeof text, ImGuiInputTextFlags_CharsDecimal)) choose_option(text);
      if (probe::on()) probe::last_item(id);
      break;
    }
  }
  ImGui::PopID();
  const float room = whole - label - field - px(14);
  const std::string said = fault.empty() ? option.about : fault;
  const std::string shown = fitted(fonts().small, said, room);
  const ImVec2 note(at.x + label + field + px(14), at.y + (height - text_size(fonts().small, "X").y) / 2);
  paint_text(fonts().small, note, fault.empty() ? theme().faint : theme().bad, shown);
  if (ImGui::IsMouseHoveringRect(note, {note.x + room, note.y + height}) && shown != said) tooltip(said + "\n" + allowed_text(option));
}

void draw_patterns(NewDialogState& s, float width, float height) {
  ImGui::BeginChild("patterns", {width, height});
  for (std::size_t i = 0; i < patterns().size(); ++i) {
    const Pattern& pattern = patterns()[i];
    const RowArea row = pick_row(("new/pattern/" + pattern.name).c_str(), s.pattern == i, px(30));
    paint_text(fonts().body, {row.min.x + px(8), row.min.y + px(6)}, theme().text,
               fitted(fonts().body, title_of(pattern.name), row.max.x - row.min.x - px(16)));
    if (row.hovered) tooltip(pattern.about);
    if (row.clicked) s.pattern = i;
  }
  ImGui::EndChild();
}

std::string fault_of(const Result<Kernel>& made, const std::string& option) {
  if (made.ok()) return {};
  for (const Fault& fault : made.error().faults)
    if (fault.pointer == option || fault.pointer == "/" + option) return fault.message + (fault.hint.empty() ? "" : ": " + fault.hint);
  return {};
}

}  // namespace

void begin_new_kernel(UiState& ui) { ui.of<NewDialogState>().wanted = true; }

void draw_new_dialog(UiState& ui) {
  NewDialogState& s = ui.of<NewDialogState>();
  if (std::exchange(s.wanted, false)) {
    s.just_opened = true;
    ImGui::OpenPopup("new");
  }
  if (!begin_modal("new", {px(980), px(640)})) return;
  dialog_title("New kernel");
  const float foot = px(52), height = ImGui::GetContentRegionAvail().y - foot;
  draw_patterns(s, px(250), height);
  ImGui::SameLine(0, px(18));
  const Pattern& pattern = patterns()[s.pattern];
  PatternChoices& choices = s.choices[pattern.name];
  if (!s.made || s.made_of != choices || s.made_named != pattern.name + "/" + s.name) {
    s.made = kernel_of(pattern, choices, s.name);
    s.made_of = choices;
    s.made_named = pattern.name + "/" + s.name;
  }
  ImGui::BeginChild("options", {0, height});
  wrapped_text(fonts().body, theme().text, pattern.about);
  ImGui::Dummy({0, px(4)});
  std::string other;
  if (!s.made->ok())
    for (const Fault& fault : s.made->error().faults) {
      const auto is = [&](const PatternOption& o) { return fault.pointer == o.name || fault.pointer == "/" + o.name; };
      if (std::none_of(pattern.options.begin(), pattern.options.end(), is)) other = fault.message;
    }
  for (const PatternOption& option : pattern.options) draw_field(pattern.name, option, choices, fault_of(*s.made, option.name));
  ImGui::EndChild();

  ImGui::SetCursorPosY(ImGui::GetWindowSize().y - foot);
  if (std::exchange(s.just_opened, false)) ImGui::SetKeyboardFocusHere();
  input_field("new/name", ("name: " + pattern.name).c_str(), s.name, sizeof s.name, px(250));
  const bool enter = key_pressed(Key::Enter);
  ImGui::SameLine(0, px(18));
  const std::string why_not = s.made->ok() ? ""
                              : other.empty()
                                  ? count_of(static_cast<std::int64_t>(s.made->error().faults.size()), "option") + " cannot be so"
                                  : other;
  const bool create = button("new/create", "Create and solve", ButtonKind::Primary, why_not, {px(150), px(32)});
  if ((create || enter) && s.made->ok()) {
    ui.commands.push(NewKernel{brief_kernel_text(**s.made)});
    ui.commands.push(show_editor(SourceOf::Kernel));
    s.name[0] = 0;
    ImGui::CloseCurrentPopup();
  }
  ImGui::SameLine();
  if (button("new/cancel", "Cancel", ButtonKind::Plain, {}, {px(90), px(32)}) || key_pressed(Key::Escape)) ImGui::CloseCurrentPopup();
  ImGui::SameLine(0, px(14));
  if (s.made->ok()) {
    const Kernel& kernel = **s.made;
    const std::string text =
        fmt::format("{} in the loop, {} before and {} after it", count_of(static_cast<std::int64_t>(kernel.body.size()), "op"),
                    kernel.prologue.size(), kernel.epilogue.size());
    ImGui::AlignTextToFramePadding();
    colored_text(theme().dim, fitted(fonts().body, text, ImGui::GetContentRegionAvail().x));
  } else {
    colored_text(theme().bad, fitted(fonts().body, why_not, ImGui::GetContentRegionAvail().x));
  }
  ImGui::EndPopup();
}

}  // namespace heddle::app

#include "app/window/parts/question_bar.h"

#include <fmt/format.h>

#include "app/session/command_line.h"
#include "app/session/proposal_commands.h"
#include "app/session/question_state.h"
#include "app/window/parts/ui_state.h"

namespace heddle::app {

void draw_question_bar(const Session& session, UiState& ui, Topic topic, const AskOptions& options, const char* verb) {
  const QuestionState& asked = session.question(topic);
  const std::string name = to_string(topic);
  const float height = px(26);
  if (asked.active()) {
    const bool stopping = asked.phase == QuestionState::Phase::Stopping;
    if (button((name + "/cancel").c_str(), stopping ? "Stopping" : "Cancel", ButtonKind::Plain, stopping ? "it is being stopped" : "",
               {0, height}))
      ui.commands.push(CancelAsk{topic});
  } else if (button((name + "/ask").c_str(), verb, session.answered(topic) ? ButtonKind::Plain : ButtonKind::Primary,
                    session.why_no_question(topic), {0, height})) {
    ui.commands.push(Ask{topic, options});
  }
  ImGui::SameLine();
}

void draw_question_state(const Session& session, Topic topic) {
  const QuestionState& asked = session.question(topic);
  std::string text;
  Color color = theme().dim;
  if (asked.active()) {
    text = asked.doing + (asked.phase == QuestionState::Phase::Waiting ? "" : " · " + seconds_text(asked.seconds));
  } else if (!asked.failure.empty()) {
    text = "failed: " + asked.failure;
    color = theme().bad;
  } else if (asked.phase == QuestionState::Phase::Done && !session.answered(topic)) {
    text = "! answer to an earlier question";
    color = theme().warning;
  } else if (const std::string end = session.answered(topic) ? cut_short(asked.answer) : std::string(); !end.empty()) {
    text = end + ": the answer is partial";
    color = theme().warning;
  } else if (const std::string reason = session.why_no_question(topic); !reason.empty()) {
    text = reason;
  }
  if (text.empty()) return;
  ImGui::AlignTextToFramePadding();
  colored_text(color, fitted(fonts().body, text, std::max(ImGui::GetContentRegionAvail().x, px(30))));
}

void draw_copy_buttons(const std::string& name, const Session& session, UiState& ui, const std::function<std::string()>& table,
                       const std::string& command) {
  const float height = px(26);
  if (ImGui::GetContentRegionAvail().x < button_width("Copy") + button_width("Copy as command") + px(8)) ImGui::NewLine();
  if (button((name + "/copy").c_str(), "Copy", ButtonKind::Plain, {}, {0, height})) ui.commands.push(copy_text(table()));
  if (ImGui::IsItemHovered()) tooltip("the table, tab-separated");
  ImGui::SameLine();
  copy_command_button((name + "/command").c_str(), session, ui, command, {0, height});
  ImGui::SameLine();
}

void copy_command_button(const char* name, const Session& session, UiState& ui, const std::string& line, ImVec2 size) {
  if (button(name, "Copy as command", ButtonKind::Plain, line.empty() ? why_no_line(session) : "", size)) ui.commands.push(copy_text(line));
  if (ImGui::IsItemHovered() && !line.empty()) tooltip(line);
}

bool layouts_choice(Topic topic, const Session& session, bool on) {
  constexpr const char* kLabel = "layouts open";
  same_line_if_room(button_width(kLabel));
  const std::string why_not = session.why_no_question(Topic::Layouts);
  const bool pressed = choice(fmt::format("{}/layouts", to_string(topic)).c_str(), kLabel, on, on ? std::string() : why_not);
  if (ImGui::IsItemHovered() && why_not.empty())
    tooltip("Layouts and instructions are left to the solver, too: each optimum is the least over all of them.");
  return pressed;
}

bool choice(const char* name, std::string_view label, bool on, const std::string& why_not) {
  const float height = px(26);
  if (!on) return button(name, label, ButtonKind::Flat, why_not, {0, height});
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = button_width(label);
  ImGui::GetWindowDrawList()->AddRectFilled(at, ImVec2(at.x + width, at.y + height), theme().selected, px(4));
  const bool pressed = button(name, label, ButtonKind::Flat, why_not, {0, height});
  ImGui::GetWindowDrawList()->AddRect(at, ImVec2(at.x + width, at.y + height), theme().accent, px(4));
  return pressed;
}

float button_width(std::string_view label) { return text_size(fonts().body, label).x + 2 * ImGui::GetStyle().FramePadding.x; }

void same_line_if_room(float width) {
  ImGui::SameLine();
  if (ImGui::GetContentRegionAvail().x < width) ImGui::NewLine();
}

}  // namespace heddle::app

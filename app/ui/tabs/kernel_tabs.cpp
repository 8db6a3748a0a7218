// The Runs tab, as long as there is nothing in it: what will stand here, what is missing for it, and what there is
// instead today.
#include <fmt/format.h>

#include <initializer_list>

#include "app/cli/command_table.h"
#include "app/session/command_line.h"
#include "app/ui/panels.h"
#include "app/ui/question_bar.h"
#include "app/ui/widgets.h"

namespace heddle::app {
namespace {

struct Verb {
  const char *id, *command;  ///< what `heddle` calls it; null: nothing does it
};

/// The Kernel menu's verbs, each with the reason why it cannot be done, which greyed buttons alone would hide, and with its
/// command line where there is one.
void draw_verbs(const char* tab, const Session& session, UiState& ui, std::initializer_list<Verb> verbs) {
  std::string said;
  for (const auto& [id, command] : verbs) {
    const Action& action = *find_action(id);
    const std::string reason = why_not(action, session);
    if (button(fmt::format("{}/{}", tab, id).c_str(), action.label, ButtonKind::Plain, reason, 0, px(28))) perform(action, session, ui);
    if (command && find_command(command)) {
      ImGui::SameLine(0, px(8));
      copy_command_button(fmt::format("{}/{}_command", tab, id).c_str(), session, ui, command_line(session, command), ButtonKind::Plain, 0, px(28));
    }
    if (!reason.empty() && reason != said) {
      ImGui::SameLine(0, px(12));
      ImGui::AlignTextToFramePadding();
      colored_text(theme().dim, fitted(fonts().body, reason, ImGui::GetContentRegionAvail().x));
    }
    said = reason;
  }
}

void draw_instead(const char* name, const char* sentence, const char* verb, BottomTab tab, UiState& ui) {
  ImGui::Dummy(ImVec2(0, px(6)));
  wrapped_text(fonts().small, theme().dim, sentence);
  if (button(name, verb, ButtonKind::Plain, {}, 0, px(28))) ui.commands.push(ShowTab{tab});
}

}  // namespace

void draw_runs_tab(const Session& session, const Models&, UiState& ui) {
  ImGui::Dummy(ImVec2(0, px(4)));
  wrapped_text(fonts().body, theme().text,
               "Runs on a GPU: checked against the reference, timed, and every op's measured start and end over the schedule's own, so that the worst misprediction shows.");
  ImGui::Dummy(ImVec2(0, px(4)));
  draw_verbs("runs", session, ui, {{"run_kernel", "run"}, {"overlay_measured", nullptr}, {"adopt_measured", nullptr}});
  draw_instead("runs/sensitivity", "Which of the machine's numbers would matter most, were they measured to be another, can be asked without a GPU.",
               "Show the sensitivity", BottomTab::Sensitivity, ui);
}

}  // namespace heddle::app

#include "app/window/tabs/schedules/paper_view.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "app/session/command_line.h"
#include "app/session/proposal_commands.h"
#include "app/session/question_state.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/widgets.h"
#include "app/window/parts/question_bar.h"
#include "app/window/parts/ui_state.h"
#include "app/window/tabs/schedules/compare_state.h"

namespace heddle::app {
namespace {

constexpr const char* kAblations[] = {"fewer-warps", "no-subtiling", "no-cross-warp"};

void draw_paper_question(const Session& session, UiState& ui, const PaperAnswer* answer, const Problem* problem) {
  AskOptions& asks = ui.of<CompareTabState>().paper;
  PaperOptions& options = asks.paper;
  ImGui::AlignTextToFramePadding();
  colored_text(theme().dim, "costs up to U");
  ImGui::SameLine();
  int u = static_cast<int>(options.u);
  ImGui::SetNextItemWidth(px(64));
  if (ImGui::InputInt("##u", &u, 0, 0)) options.u = std::clamp(u, 1, 1'000'000);
  if (probe::on()) probe::last_item("paper/u");
  if (ImGui::IsItemHovered()) tooltip("the paper divides cycles down until their sum is at most this");
  same_line_if_room(px(60));
  ImGui::AlignTextToFramePadding();
  colored_text(theme().dim, "also without");
  for (const char* name : kAblations) {
    same_line_if_room(button_width(name));
    const auto found = std::find(options.ablations.begin(), options.ablations.end(), name);
    const bool on = found != options.ablations.end();
    if (!choice((std::string("paper/ablation/") + name).c_str(), name, on)) continue;
    if (on)
      options.ablations.erase(found);
    else
      options.ablations.emplace_back(name);
  }
  same_line_if_room(px(120));
  draw_question_bar(session, ui, Topic::Paper, asks, "Schedule");
  if (answer && problem)
    draw_copy_buttons(
        "paper", session, ui, [&] { return paper_summary(*problem, *answer, {}); }, ask_command(session, Topic::Paper, asks));
  else
    copy_command_button("paper/command", session, ui, ask_command(session, Topic::Paper, asks), {0, px(26)});
  ImGui::SameLine();
  draw_question_state(session, Topic::Paper);
  ImGui::NewLine();
}

/// The command's own page, line by line; titles of its parts stand out.
void draw_paper_page(const std::string& page) {
  const FontScope mono(fonts().mono_small);
  std::istringstream lines(page);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, px(1)});
  const float line_height = std::floor(ImGui::GetTextLineHeight() + px(1));  // lines begin at whole pixels
  ImGui::BeginChild("page", {0, whole_rows(ImGui::GetContentRegionAvail().y, line_height)});
  for (std::string line; std::getline(lines, line);) {
    const bool title = !line.empty() && line.front() != ' ';
    const std::string shown = line.empty() ? " " : fitted(fonts().mono_small, drawable(line), ImGui::GetContentRegionAvail().x);
    colored_text(title ? theme().text : theme().dim, shown);
    if (shown.size() != line.size() && !line.empty() && ImGui::IsItemHovered()) tooltip(drawable(line));
  }
  settle_on_rows(line_height);
  ImGui::EndChild();
  ImGui::PopStyleVar();
}

}  // namespace

void draw_paper_view(const Session& session, UiState& ui) {
  const QuestionState& asked = session.question(Topic::Paper);
  const auto* answer = asked.as<PaperAnswer>();
  const Problem* problem = asked.problem.get();
  draw_paper_question(session, ui, answer, problem);
  if (!answer || !problem) {
    if (asked.active()) return;
    wrapped_text(fonts().body, theme().text, "What would the Twill paper's own method make of this kernel?");
    wrapped_text(fonts().small, theme().dim,
                 "Costs are made small, a modulo schedule gives I, a joint problem gives warps and starts; then the order is run at native "
                 "cycles and compared with the optimum. Its encoder shares nothing with the solver's.");
    return;
  }
  const bool current = session.answered(Topic::Paper);
  colored_text(current ? theme().text : theme().warning,
               fitted(fonts().body, drawable(paper_headline(*answer, {})), ImGui::GetContentRegionAvail().x - px(200)));
  if (answer->worth && !answer->worth->deadlock) {
    ImGui::SameLine();
    if (button("paper/take", "Compare as B", ButtonKind::Plain, current ? "" : "it is an answer to an earlier question", {0, px(24)}))
      ui.commands.push(AdoptSchedule{answer->worth->schedule, "Twill paper", true});
    if (ImGui::IsItemHovered()) tooltip("its groups and order at native cycles, as a row of the list of schedules");
  }
  draw_paper_page(paper_summary(*problem, *answer, {}));
}

}  // namespace heddle::app

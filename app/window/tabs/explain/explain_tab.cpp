// The Explain tab: cards of reasons, and bound against best over time.
#include <fmt/format.h>

#include <algorithm>

#include "app/session/command_line.h"
#include "app/session/proposal_commands.h"
#include "app/session/question_state.h"
#include "app/window/kit/pretty_text.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/widgets.h"
#include "app/window/parts/explain_model.h"
#include "app/window/parts/progress_plot.h"
#include "app/window/parts/question_bar.h"
#include "app/window/parts/ui_state.h"
#include "core/chart/chart_layout.h"

namespace heddle::app {
namespace {

/// What the tab remembers between frames.
struct ExplainTabState {
  int relaxing = -1;  ///< the card whose ways out are unfolded
};

/// One line per way out: the change, what it buys, and a button that tries it.
float steps_height(const ExplainCard& card) { return static_cast<float>(card.steps.size()) * px(26) + px(6); }

void draw_steps(const std::string& name, const ExplainCard& card, ImVec2 at, float width, UiState& ui) {
  const Theme& t = theme();
  const float button_width = text_size(fonts().body, "re-solve with this").x;
  const float room = width - button_width - px(24), half = std::floor(room * 0.52f);
  for (std::size_t i = 0; i < card.steps.size(); ++i) {
    const ExplainStep& step = card.steps[i];
    const float y = at.y + static_cast<float>(i) * px(26);
    paint_text(fonts().small, ImVec2(at.x, y), t.text, fitted(fonts().small, step.change, half - px(10)));
    const Color ink = step.tone == Tone::Neutral ? t.dim : tone_ink(step.tone);
    paint_text(fonts().small, ImVec2(at.x + half, y), ink, fitted(fonts().small, step.result, room - half - px(6)));
    ImGui::SetCursorScreenPos(ImVec2(at.x, y));
    ImGui::Dummy(ImVec2(room, px(20)));
    if (ImGui::IsItemHovered()) tooltip(step.change + "\n" + step.result + (step.attempt ? "" : "\n" + step.why_not));
    const std::string probe_name = name + "/" + std::to_string(i);
    if (!step.attempt) {
      paint_text(fonts().small, ImVec2(at.x + width - button_width - px(8), y), t.faint,
                 fitted(fonts().small, "cannot be tried", button_width));
      continue;
    }
    ImGui::SetCursorScreenPos(ImVec2(at.x + width - button_width - px(8), y - px(1)));
    if (link(probe_name.c_str(), "re-solve with this")) ui.commands.push(*step.attempt);
    if (ImGui::IsItemHovered())
      tooltip("Puts this change in force and solves again; the schedule shown now becomes B. Ctrl+Z takes it back.");
  }
}

void draw_card(std::size_t index, const ExplainCard& card, const Highlight& lit, float width, UiState& ui) {
  const Theme& t = theme();
  const std::string number = std::to_string(index);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float pad = px(12), edge = px(4), gap = px(14);
  const bool open = ui.of<ExplainTabState>().relaxing == static_cast<int>(index) && !card.steps.empty();
  const bool shown = !card.shown.why.empty() && lit == card.shown;
  const char *show = shown ? "hide" : "show", *relax = open ? "fold" : "relax";
  float links = 0;
  if (!card.shown.why.empty()) links += text_size(fonts().body, show).x + gap;
  if (!card.steps.empty()) links += text_size(fonts().body, relax).x + gap;
  const float wrap = width - 2 * pad - edge - links;
  const auto height_of = [&](ImFont* font, const std::string& text) {
    const FontScope scope(font);
    return text.empty() ? 0 : ImGui::CalcTextSize(text.c_str(), nullptr, false, wrap).y + px(4);
  };
  const std::string eased = card.eased.empty() || open ? "" : "easing only this: " + card.eased;
  const float first = height_of(fonts().body, card.sentence), second = height_of(fonts().small, card.detail),
              third = height_of(fonts().small, eased);
  const float text = px(8) + first + second + third, height = text + (open ? steps_height(card) : 0) + px(4);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddRectFilled(at, ImVec2(at.x + width, at.y + height), t.card, px(4));
  const Color edge_color = card.tone == Tone::Neutral ? role_color(card.role).fill : tone_ink(card.tone);
  list.AddRectFilled(at, ImVec2(at.x + edge, at.y + height), edge_color, px(2));
  if (shown) list.AddRect(at, ImVec2(at.x + width, at.y + height), t.accent, px(4), 0, px(1.5f));
  float y = at.y + px(8);
  const auto write = [&](ImFont* font, Color color, const std::string& words, float tall) {
    if (words.empty()) return;
    paint_wrapped(font, ImVec2(at.x + edge + pad, y), color, words, wrap);
    y += tall;
  };
  write(fonts().body, t.text, card.sentence, first);
  write(fonts().small, t.dim, card.detail, second);
  write(fonts().small, t.dim, eased, third);
  float x = at.x + width - links;
  if (!card.shown.why.empty()) {
    ImGui::SetCursorScreenPos(ImVec2(x, at.y + px(8)));
    if (link(("explain/show/" + number).c_str(), show)) {
      ui.commands.push(ClearSelection{});
      ui.commands.push(show_highlight(shown ? Highlight{} : card.shown));
    }
    x += text_size(fonts().body, show).x + gap;
  }
  if (!card.steps.empty()) {
    ImGui::SetCursorScreenPos(ImVec2(x, at.y + px(8)));
    if (link(("explain/relax/" + number).c_str(), relax)) ui.of<ExplainTabState>().relaxing = open ? -1 : static_cast<int>(index);
  }
  if (open) draw_steps("explain/try/" + number, card, ImVec2(at.x + edge + pad, at.y + text + px(2)), width - edge - 2 * pad, ui);
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy(ImVec2(width, height + px(2)));
}

/// Title, what kind of reason it is, and what can be done about the question.
void draw_head(const Session& session, const ExplainModel& model, float width, UiState& ui) {
  const QuestionState& asked = session.question(Topic::Explain);
  const bool asking = asked.active() && session.answered(Topic::Explain);
  const float height = text_size(fonts().bold, "X").y + px(8);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(px(8), px(2)));
  struct Verb {
    const char *name, *label;
  };
  std::vector<Verb> verbs{{"explain/copy", "Copy"}, {"explain/command", "Copy as command"}};
  if (asking)
    verbs.push_back({"explain/cancel", "Cancel"});
  else
    verbs.push_back({"explain/ask", model.solved ? "Ask again" : "Ask the solver"});
  float buttons = 0;
  for (const Verb& verb : verbs) buttons += text_size(fonts().body, verb.label).x + px(16) + px(6);
  float x = at.x + width - buttons;
  const std::string title = fitted(fonts().bold, model.title, width - buttons - px(10));
  paint_text(fonts().bold, ImVec2(at.x, at.y + px(3)), theme().text, title);
  const float used = text_size(fonts().bold, title).x + px(12);
  const bool beside = used + text_size(fonts().small, model.note).x < width - buttons - px(10);
  if (beside) paint_text(fonts().small, ImVec2(at.x + used, at.y + px(5)), theme().dim, model.note);
  for (const Verb& verb : verbs) {
    ImGui::SetCursorScreenPos(ImVec2(x, at.y));
    const std::string_view name = verb.name;
    if (name == "explain/command") {
      copy_command_button(verb.name, session, ui, ask_command(session, Topic::Explain, session.question(Topic::Explain).options));
      x += text_size(fonts().body, verb.label).x + px(22);
      continue;
    }
    const std::string why = name == "explain/ask" ? session.why_no_question(Topic::Explain) : "";
    if (button(verb.name, verb.label, ButtonKind::Plain, why)) {
      if (name == "explain/copy") ui.commands.push(copy_text(explain_as_text(model)));
      if (name == "explain/cancel") ui.commands.push(CancelAsk{Topic::Explain});
      if (name == "explain/ask") ui.commands.push(Ask{Topic::Explain, {}});
    }
    x += text_size(fonts().body, verb.label).x + px(22);
  }
  ImGui::PopStyleVar();
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy(ImVec2(width, height));
  if (!beside && !model.note.empty()) wrapped_text(fonts().small, theme().dim, model.note);
  if (asking)
    colored_text(theme().accent,
                 fitted(fonts().body, fmt::format("asking the solver · {} · {}", pretty(asked.doing), seconds_text(asked.seconds)), width));
  else if (!asked.failure.empty() && session.answered(Topic::Explain))
    wrapped_text(fonts().small, theme().bad, "the question failed: " + asked.failure);
  else if (!model.cut_short.empty())
    wrapped_text(fonts().small, theme().warning, model.cut_short + ". Ask again, with more time if need be.");
  else if (model.outdated && !asked.active())
    wrapped_text(fonts().small, theme().warning,
                 "The solver's answer was to an earlier question; this is arithmetic. Ask the solver again.");
}

/// Fewer than three different points say nothing.
bool worth_a_plot(const LiveSolve& live) {
  int points = 0;
  for (std::size_t i = 0; i < live.history.size(); ++i)
    points += i == 0 || live.history[i].bound != live.history[i - 1].bound || live.history[i].best != live.history[i - 1].best;
  return points >= 3;
}

}  // namespace

void draw_explain_tab(const Session& session, const Models&, UiState& ui) {
  const ExplainModel model = build_explain(session);
  const bool plot = worth_a_plot(session.live()) && ImGui::GetContentRegionAvail().y > px(90);
  const float whole = ImGui::GetContentRegionAvail().x, plot_width = plot ? std::min(px(260), whole * 0.26f) : 0;
  const float height = ImGui::GetContentRegionAvail().y;
  const ImVec2 begin = ImGui::GetCursorScreenPos();
  ImGui::BeginChild("reasons", ImVec2(whole - plot_width - (plot ? px(12) : 0), height));
  const float width = ImGui::GetContentRegionAvail().x;
  draw_head(session, model, width, ui);
  for (std::size_t i = 0; i < model.cards.size(); ++i) draw_card(i, model.cards[i], session.view().highlight, width, ui);
  for (const std::string& remark : model.remarks) wrapped_text(fonts().small, theme().dim, remark);
  if (!model.next.empty()) {
    colored_text(theme().dim, "Bounds by arithmetic below this:");
    ImGui::SameLine();
    wrapped_text(fonts().body, theme().text, model.next);
  }
  ImGui::EndChild();
  if (plot) {
    ImGui::SetCursorScreenPos(ImVec2(begin.x + whole - plot_width, begin.y));
    draw_progress_plot(session.live(), ImVec2(plot_width, std::min(height - px(6), px(180))));
  }
}

}  // namespace heddle::app

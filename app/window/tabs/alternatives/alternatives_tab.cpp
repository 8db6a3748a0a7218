// The Alternatives tab: other schedules that are as good, what each does differently, and taking one over as A or B.
#include <fmt/format.h>

#include <algorithm>

#include "app/session/command_line.h"
#include "app/session/proposal_commands.h"
#include "app/session/question_state.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/table.h"
#include "app/window/kit/widgets.h"
#include "app/window/parts/question_bar.h"
#include "app/window/parts/ui_state.h"
#include "app/window/tabs/alternatives/alternatives_model.h"
#include "app/window/tabs/alternatives/alternatives_state.h"

namespace heddle::app {
namespace {

constexpr Aspect kAspects[] = {Aspect::Any, Aspect::Groups, Aspect::Order, Aspect::Stages};

AskOptions options_of(const AlternativesTabState& state) {
  AskOptions options;
  options.alternatives.count = state.count;
  options.alternatives.aspect = state.aspect;
  options.alternatives.ii_only = state.ii_only;
  return options;
}

/// The next item goes beside the last one, or on a line of its own where it does not fit.
void beside(float width, float gap) {
  const float right = ImGui::GetWindowPos().x + ImGui::GetWindowContentRegionMax().x;
  if (ImGui::GetItemRectMax().x + gap + width <= right) ImGui::SameLine(0, gap);
}
float button_room(std::string_view label) { return text_size(fonts().body, label).x + px(18); }

/// What is asked: how many, told apart by what; and the buttons.
void draw_question(const Session& session, const AlternativesModel* model, UiState& ui) {
  AlternativesTabState& state = ui.of<AlternativesTabState>();
  const QuestionState& asked = session.question(Topic::Alternatives);
  const bool asking = asked.active() && session.answered(Topic::Alternatives);
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(px(8), px(2)));
  ImGui::AlignTextToFramePadding();
  colored_text(theme().dim, "up to");
  ImGui::SameLine(0, px(6));
  ImGui::SetNextItemWidth(px(44));
  if (ImGui::InputInt("##count", &state.count, 0, 0)) state.count = std::clamp(state.count, 1, 1000);
  if (probe::on()) probe::last_item("alternatives/count");
  ImGui::SameLine(0, px(8));
  colored_text(theme().dim, "that differ in");
  for (const Aspect aspect : kAspects) {
    beside(button_room(aspect == Aspect::Any ? "anything" : to_string(aspect)), px(4));
    const bool chosen = state.aspect == aspect;
    const std::string name = std::string("alternatives/aspect/") + to_string(aspect);
    if (choice(name.c_str(), aspect == Aspect::Any ? "anything" : to_string(aspect), chosen)) state.aspect = aspect;
    if (ImGui::IsItemHovered()) tooltip(about(aspect));
  }
  beside(text_size(fonts().body, "equal II only").x + px(34), px(8));
  ImGui::Checkbox("equal II only", &state.ii_only);
  if (probe::on()) probe::last_item("alternatives/ii_only");
  if (ImGui::IsItemHovered()) tooltip("Without this, every objective (stages, warps, memory, registers) must be as good too.");
  beside(button_room("Search again"), px(10));
  if (asking) {
    if (button("alternatives/cancel", "Cancel")) ui.commands.push(CancelAsk{Topic::Alternatives});
  } else if (button("alternatives/ask", model ? "Search again" : "Search", model ? ButtonKind::Plain : ButtonKind::Primary,
                    session.why_no_question(Topic::Alternatives))) {
    state.picked = 0;
    ui.commands.push(Ask{Topic::Alternatives, options_of(state)});
  }
  if (model) {
    beside(button_room("Copy"), px(6));
    if (button("alternatives/copy", "Copy")) ui.commands.push(copy_text(alternatives_as_text(*model)));
  }
  beside(button_room("Copy as command"), px(6));
  copy_command_button("alternatives/command", session, ui, ask_command(session, Topic::Alternatives, options_of(state)));
  ImGui::PopStyleVar();
  if (asking) colored_text(theme().accent, fmt::format("{} · {}", asked.doing, seconds_text(asked.seconds)));
  if (!asked.failure.empty()) wrapped_text(fonts().small, theme().bad, "the question failed: " + asked.failure);
}

AdoptSchedule take_over(const Alternatives& answer, const AlternativeRow& row, bool as_baseline) {
  AdoptSchedule adopt{schedule_of(answer, row), row.name, as_baseline};
  if (answer.first.lower_bound > 0) adopt.lower_bound = answer.first.lower_bound;
  return adopt;
}

void draw_rows(const Alternatives& answer, const AlternativesModel& model, bool current, float width, UiState& ui) {
  using Row = AlternativeRow;
  const auto number = [](const char* title, std::string Row::*text, float width, const char* about = "") {
    return Column<Row>{title, true, [text](const Row& row) { return row.*text; }, {}, about}.wide(width);
  };
  std::vector<Column<Row>> columns{
      Column<Row>{"schedule"}.wide(1.7f).sorted_by([](const Row& row) { return row.index; }),
      number("if off", &Row::if_off, 1.2f,
             "cycles an iteration as hardware runs it when numbers are off, mean and 95th percentile (predicted); the most robust first"),
      number("distance", &Row::distance, 1.1f, "from the first: pairs of ops that relate differently, and rings of another depth"),
      number("nearest", &Row::nearest, 0.9f, "the same, from the nearest one found before"),
      number(model.periods ? "sustains" : "period", &Row::period, 0.9f, "cycles per iteration when it runs as it stands"),
      number("stages", &Row::stages, 0.8f),
      number("length", &Row::length, 0.9f, "cycles from the start of an iteration to its end"),
      number("margin", &Row::margin, 0.8f, "robustness: how late the median op may come in every iteration before II is lost"),
      number("critical", &Row::critical, 1.0f, "ops that allow no delay at all")};
  if (model.periods)
    columns.insert(columns.begin() + 1,
                   number("period", &Row::contended, 0.9f, "cycles per iteration where warp groups take time from each other, predicted"));
  // As wide as their numbers and titles need; where that is too much the table scrolls sideways.
  float all = 0;
  for (Column<Row>& column : columns) {
    float need = text_size(fonts().small_bold, column.title).x + px(12);
    if (column.text)
      for (const Row& row : model.rows) need = std::max(need, text_size(fonts().mono_small, column.text(row)).x);
    column.width = column.text ? need + px(4) : px(96);
    all += column.width + 2 * ImGui::GetStyle().CellPadding.x;
  }
  TableLook look = scrolling_look(ImVec2(width, ImGui::GetContentRegionAvail().y), all);
  look.held = 1;
  look.every_row = true;
  TableOrder& order = ui.of<AlternativesTabState>().order;
  look.order = &order;
  std::vector<Row> rows = model.rows;
  const auto heading = [&](const Column<Row>& column) { draw_heading(column, "alternatives/sort", order); };
  draw_table(TableOf("alternatives", look, columns), rows, heading, [&](const Row& row, std::size_t) {
    const std::string label = fitted_middle(fonts().body, row.name, ImGui::GetContentRegionAvail().x);
    if (table_row("alternatives/row/" + std::to_string(row.index + 1), ui.of<AlternativesTabState>().picked == row.index)) {
      ui.of<AlternativesTabState>().picked = row.index;
      if (current) ui.commands.push(take_over(answer, row, true));
    }
    ImGui::SameLine(0, 0);
    colored_text(theme().text, label);
  });
}

void draw_differences(const Alternatives& answer, const AlternativeRow& row, bool current, UiState& ui) {
  colored_text(theme().heading, row.differs);
  for (const std::string& sentence : row.differences) wrapped_text(fonts().small, theme().text, sentence);
  if (row.index > 0 && row.index != answer.found.size() && row.differences.empty())
    wrapped_text(fonts().small, theme().dim, "in the streams of its groups only");
  ImGui::Dummy(ImVec2(0, px(4)));
  const std::string why = current ? "" : "it is an answer to an earlier question";
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(px(8), px(2)));
  if (button("alternatives/as_b", "Compare as B", ButtonKind::Plain, why)) ui.commands.push(take_over(answer, row, true));
  ImGui::SameLine(0, px(6));
  if (button("alternatives/as_a", "Show as A", ButtonKind::Plain, why)) ui.commands.push(take_over(answer, row, false));
  ImGui::PopStyleVar();
}

}  // namespace

void draw_alternatives_tab(const Session& session, const Models&, UiState& ui) {
  const QuestionState& asked = session.question(Topic::Alternatives);
  const auto* answer = asked.as<Alternatives>();
  const bool known = answer && asked.problem && !answer->found.empty();
  if (!known) {
    draw_question(session, nullptr, ui);
    if (answer && !asked.active() && session.answered(Topic::Alternatives))
      wrapped_text(fonts().body, theme().warning, "No schedule was found. " + answer->first.explanation + answer->fault);
    else
      wrapped_text(
          fonts().body, theme().dim,
          "Other schedules that are as good as the best one: how many there are tells whether the optimum is fragile, and one of them may "
          "be easier to write.");
    const std::string why = session.why_no_question(Topic::Alternatives);
    if (!why.empty()) wrapped_text(fonts().small, theme().faint, why);
    return;
  }
  const bool current = session.answered(Topic::Alternatives);
  const AlternativesModel model = build_alternatives(*asked.problem, *answer);
  draw_question(session, &model, ui);
  ImGui::PushStyleVar(ImGuiStyleVar_Alpha, current ? 1.0f : 0.55f);
  const std::string head = asked.active() ? fmt::format("{} so far", model.rows.size()) : model.headline;
  colored_text(model.proved ? theme().good : theme().text, head);
  ImGui::SameLine(0, px(10));
  const float room = ImGui::GetContentRegionAvail().x;
  const std::string terms = (current ? "" : "answer to an earlier question · ") + model.terms;
  const std::string shown = fitted(fonts().small, terms, room);
  {
    const FontScope scope(fonts().small);
    colored_text(current ? theme().dim : theme().warning, shown);
  }
  if (shown != terms && ImGui::IsItemHovered()) tooltip(terms);
  ui.of<AlternativesTabState>().picked = std::min(ui.of<AlternativesTabState>().picked, model.rows.size() - 1);
  const auto picked = std::find_if(model.rows.begin(), model.rows.end(),
                                   [&](const AlternativeRow& row) { return row.index == ui.of<AlternativesTabState>().picked; });
  const float whole = ImGui::GetContentRegionAvail().x, side = std::floor(whole * 0.32f);
  draw_rows(*answer, model, current, whole - side - px(12), ui);
  ImGui::SameLine(0, px(12));
  ImGui::BeginChild("differences", ImVec2(side, 0));
  draw_differences(*answer, *picked, current, ui);
  ImGui::EndChild();
  ImGui::PopStyleVar();
}

}  // namespace heddle::app

// Layouts left to the solver: the question, what it claims, and every candidate with why it was not taken.
#include <fmt/format.h>

#include <algorithm>

#include "app/session/command_line.h"
#include "app/session/proposal_commands.h"
#include "app/session/question_state.h"
#include "app/session/session.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/table.h"
#include "app/window/kit/widgets.h"
#include "app/window/parts/question_bar.h"
#include "app/window/parts/ui_state.h"
#include "app/window/tabs/layout/layout_views_drawn.h"
#include "core/base/text_style.h"
#include "core/chart/chart_layout.h"

namespace heddle::app {
namespace {

struct ChoosingRow {
  CandidateRow row;
  const LayoutDecision* decision = nullptr;
  AccessCost cost;
  const LayoutCandidate& candidate() const { return decision->candidates[row.candidate]; }
};

Column<ChoosingRow> number_column(std::string title, std::int64_t (*of)(const ChoosingRow&), std::string about) {
  Column<ChoosingRow> column;
  column.title = std::move(title);
  column.number = true;
  column.text = [of](const ChoosingRow& row) { return grouped(of(row)); };
  column.key = [of](const ChoosingRow& row) { return std::optional(of(row)); };
  column.about = std::move(about);
  column.flags = ImGuiTableColumnFlags_WidthFixed;
  column.width = std::max(text_size(fonts().small_bold, column.title).x, text_size(fonts().body, "00 000").x) + px(10);
  return column;
}

std::vector<Column<ChoosingRow>> columns_of() {
  Column<ChoosingRow> what;
  what.title = "layout and instructions";
  what.text = [](const ChoosingRow& row) { return choices_in_words(row.candidate().choices); };
  what.flags = ImGuiTableColumnFlags_WidthStretch;
  what.width = 2;
  Column<ChoosingRow> why;
  why.title = "why";
  why.text = [](const ChoosingRow& row) { return row.row.why; };
  why.ink = [](const ChoosingRow& row) { return row.row.chosen ? theme().good : theme().dim; };
  why.flags = ImGuiTableColumnFlags_WidthStretch;
  why.width = 1;
  return {what,
          number_column(
              "port", [](const ChoosingRow& r) { return r.cost.port; }, "cycles of the port of shared memory, per iteration"),
          number_column(
              "ways", [](const ChoosingRow& r) { return static_cast<std::int64_t>(r.cost.ways); }, "lanes that meet in a bank"),
          number_column(
              "selects", [](const ChoosingRow& r) { return r.cost.selects; }, "of lanes that exchange what they store"),
          number_column(
              "bytes", [](const ChoosingRow& r) { return r.candidate().bytes; }, "in shared memory"),
          why};
}

void draw_candidates(const ChosenLayouts& chosen) {
  std::vector<ChoosingRow> rows;
  for (CandidateRow& row : candidate_rows(chosen)) {
    const LayoutDecision& decision = chosen.question.decisions[row.decision];
    const AccessCost cost = decision.candidates[row.candidate].cost();
    rows.push_back({std::move(row), &decision, cost});
  }
  const std::vector<Column<ChoosingRow>> columns = columns_of();
  TableLook look;
  look.flags = ImGuiTableFlags_SizingStretchProp | ImGuiTableFlags_ScrollY | ImGuiTableFlags_RowBg | ImGuiTableFlags_NoSavedSettings;
  look.size = ImGui::GetContentRegionAvail();
  draw_sorted_table("layout_candidates", look, columns, rows, [&](const ChoosingRow& row, std::size_t i) {
    const std::string whole = columns.front().text(row);
    const std::string shown = fitted(fonts().body, whole, ImGui::GetContentRegionAvail().x);
    colored_text(row.row.dominated ? theme().dim : theme().text, shown);
    if (probe::on()) probe::last_item(fmt::format("layouts/candidate/{}", i));
    if (ImGui::IsItemHovered()) tooltip(whole + "\n" + decision_text(*row.decision));
  });
}

}  // namespace

void draw_layout_choosing(const Session& session, UiState& ui) {
  const QuestionState& asked = session.question(Topic::Layouts);
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(px(8), px(2)));
  draw_question_bar(session, ui, Topic::Layouts, {}, session.answered(Topic::Layouts) ? "Choose again" : "Choose layouts");
  copy_command_button("layouts/command", session, ui, ask_command(session, Topic::Layouts, {}), {0, px(26)});
  ImGui::SameLine();
  const auto* answer = asked.as<LayoutsAnswer>();
  const bool settled = answer && session.answered(Topic::Layouts) && !asked.active();
  if (settled && answer->chosen.outcome.schedule) {
    const LayoutChoices next = choices_to_use(answer->chosen, session.content().choices);
    const std::string nothing = next == session.content().choices ? "what is in force is as good as any" : "";
    if (button("layouts/use", "Use these", ButtonKind::Plain, nothing, {0, px(26)})) choose_layouts(session, ui, next, "best layouts");
    ImGui::SameLine();
  }
  ImGui::PopStyleVar();
  draw_question_state(session, Topic::Layouts);
  if (!asked.active() && asked.failure.empty() && settled) ImGui::NewLine();
  if (!answer) {
    if (!asked.active())
      wrapped_text(fonts().body, theme().dim,
                   "Leaves to the solver how tiles lie in shared memory and by which instructions they move, and finds them together with "
                   "the schedule, with proof. What is chosen above stays as it is.");
    return;
  }
  for (const Fault& fault : answer->faults) wrapped_text(fonts().body, theme().bad, fault.message);
  if (!answer->faults.empty()) return;
  wrapped_text(fonts().body, theme().text, layout_claim(answer->chosen));
  if (probe::on()) probe::last_item("layouts/claim");
  std::string dropped;
  for (const LayoutDecision& decision : answer->chosen.question.decisions)
    dropped += (dropped.empty() ? "" : " · ") + decision_text(decision);
  if (!dropped.empty()) {
    const FontScope scope(fonts().small);
    colored_text(theme().dim, fitted(fonts().small, dropped, ImGui::GetContentRegionAvail().x));
    if (ImGui::IsItemHovered()) tooltip(dropped);
    draw_candidates(answer->chosen);
  }
}

}  // namespace heddle::app

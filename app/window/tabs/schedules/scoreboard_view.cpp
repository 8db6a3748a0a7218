#include "app/window/tabs/schedules/scoreboard_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/session/command_line.h"
#include "app/session/question_state.h"
#include "app/window/kit/pretty_text.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/table.h"
#include "app/window/kit/widgets.h"
#include "app/window/parts/question_bar.h"
#include "app/window/parts/ui_state.h"
#include "app/window/tabs/schedules/compare_state.h"
#include "app/window/tabs/schedules/scoreboard_model.h"

namespace heddle::app {
namespace {

constexpr float kNameWidth = 190;

const char* heading_of(ScoreColumn column) { return column == ScoreColumn::Place ? "#" : title(column); }

/// Of the widest cell, the title and the mark of sorting included; names are cut.
float column_width(const std::vector<ScoreRow>& rows, std::size_t column) {
  float width = text_size(fonts().small_bold, heading_of(kScoreColumns[column])).x + px(12);
  for (const ScoreRow& row : rows) width = std::max(width, text_size(fonts().body, row.cells[column]).x);
  return (kScoreColumns[column] == ScoreColumn::Name ? std::min(width, px(kNameWidth)) : width) + px(6);
}

void draw_rows(const Scoreboard& board, const std::vector<ScoreRow>& rows, bool current, float width, UiState& ui) {
  constexpr int kColumns = static_cast<int>(std::size(kScoreColumns));
  constexpr ImGuiTableFlags kFlags = ImGuiTableFlags_ScrollX | ImGuiTableFlags_ScrollY | ImGuiTableFlags_RowBg |
                                     ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_NoSavedSettings;
  WholeRows whole("scoreboard", kFlags, rows.size());
  if (!ImGui::BeginTable("scoreboard", kColumns, kFlags, whole.fitted(ImVec2(width, ImGui::GetContentRegionAvail().y)))) return;
  ImGui::TableSetupScrollFreeze(2, 1);
  for (std::size_t k = 0; k < std::size(kScoreColumns); ++k)
    ImGui::TableSetupColumn(title(kScoreColumns[k]), ImGuiTableColumnFlags_WidthFixed, column_width(rows, k));
  ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
  CompareTabState& state = ui.of<CompareTabState>();
  for (int c = 0; c < kColumns; ++c) {
    ImGui::TableSetColumnIndex(c);
    const ScoreColumn column = kScoreColumns[c];
    const bool current = state.sorted == column;
    if (sort_heading(fmt::format("scoreboard/sort/{}", to_string(column)).c_str(), heading_of(column), is_number(column), current,
                     state.descending)) {
      if (!current) state.descending = greatest_first(column);
      state.sorted = column;
    }
    if (ImGui::IsItemHovered()) tooltip(about(column));
  }
  for (const ScoreRow& row : rows) {
    const Contender& c = board.contenders[row.contender];
    ImGui::TableNextRow();
    for (std::size_t k = 0; k < row.cells.size(); ++k) {
      ImGui::TableNextColumn();
      if (k == 0) {
        whole.see_row(static_cast<std::size_t>(&row - rows.data()));
        ImGui::PushID(static_cast<int>(row.contender));
        if (ImGui::Selectable("##row", ui.of<CompareTabState>().picked == row.contender,
                              ImGuiSelectableFlags_SpanAllColumns | ImGuiSelectableFlags_AllowDoubleClick)) {
          ui.of<CompareTabState>().picked = row.contender;
          if (current && c.schedule && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) ui.commands.push(adopt(board, c, false));
        }
        ImGui::PopID();
        if (probe::on()) probe::last_item("scoreboard/row/" + c.name);
        ImGui::SameLine(0, 0);
      }
      const ScoreColumn column = kScoreColumns[k];
      const bool verdict = column == ScoreColumn::Checker;
      const Color color = !c.schedule ? theme().faint
                          : verdict   ? (c.valid() ? theme().good : theme().bad)
                          : c.valid() ? theme().text
                                      : theme().dim;
      const FontScope scope(column == ScoreColumn::Name ? (c.kind == ContenderKind::Solver ? fonts().bold : fonts().body) : fonts().small);
      cell_text(column == ScoreColumn::Name ? fitted_middle(fonts().body, row.cells[k], px(kNameWidth)) : row.cells[k], is_number(column),
                color);
    }
  }
  whole.settle();
  ImGui::EndTable();
}

void draw_details(const Scoreboard& board, const Contender& c, bool current, UiState& ui) {
  colored_text(theme().heading, fitted_middle(fonts().body, c.name, ImGui::GetContentRegionAvail().x));
  // Above the words, so that they stay where they are from row to row.
  const std::string why = !c.schedule ? "there is no schedule" : current ? "" : "it is an answer to an earlier question";
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(px(8), px(2)));
  if (button("scoreboard/as_b", "Compare as B", ButtonKind::Plain, why)) ui.commands.push(adopt(board, c, true));
  same_line_if_room(button_width("Show as A"));
  if (button("scoreboard/as_a", "Show as A", ButtonKind::Plain, why)) ui.commands.push(adopt(board, c, false));
  ImGui::PopStyleVar();
  wrapped_text(fonts().small, c.valid() ? theme().text : theme().bad, pretty(score_reason(c)));
  if (!c.about.empty()) wrapped_text(fonts().small, theme().dim, c.about);
  for (std::size_t i = 1; i < c.verdict.violations.size(); ++i)
    wrapped_text(fonts().small, theme().bad, pretty(c.verdict.violations[i].message));
  if (!c.log.empty()) colored_text(theme().heading, "HOW IT CAME ABOUT");
  for (const std::string& line : c.log) wrapped_text(fonts().small, theme().dim, pretty(line));
}

}  // namespace

void draw_scoreboard(const Session& session, UiState& ui) {
  const QuestionState& asked = session.question(Topic::Compare);
  const auto* board = asked.as<Scoreboard>();
  draw_question_bar(session, ui, Topic::Compare, {}, board ? "Simulate again" : "Simulate all");
  if (board) {
    draw_copy_buttons(
        "scoreboard", session, ui,
        [&] { return scoreboard_tsv(*board, ui.of<CompareTabState>().sorted, ui.of<CompareTabState>().descending); },
        ask_command(session, Topic::Compare, {}));
  }
  draw_question_state(session, Topic::Compare);
  ImGui::NewLine();
  if (!board || board->contenders.empty()) {
    wrapped_text(
        fonts().body, theme().dim,
        "The schedules that people use today beside the optimum: hand schedules that ship with the kernel, what compilers' heuristics "
        "would do, "
        "and the schedules of the list. One checker judges all of them, one evaluator says how many cycles each needs per iteration.");
    return;
  }
  const bool current = session.answered(Topic::Compare);
  ImGui::PushStyleVar(ImGuiStyleVar_Alpha, current ? 1.0f : 0.55f);
  const std::string head = pretty(scoreboard_headline(*board));
  const std::string shown = fitted(fonts().small, head, ImGui::GetContentRegionAvail().x);
  {
    const FontScope scope(fonts().small);
    colored_text(theme().text, shown);
  }
  if (shown != head && ImGui::IsItemHovered()) tooltip(head);
  for (const std::string& name : beyond_bound(*board))
    wrapped_text(fonts().small, theme().bad, name + " is below the proved bound: model, checker or evaluator is wrong. Please report it.");
  const std::vector<ScoreRow> rows = score_rows(*board, grouped, ui.of<CompareTabState>().sorted, ui.of<CompareTabState>().descending);
  ui.of<CompareTabState>().picked = std::min(ui.of<CompareTabState>().picked, board->contenders.size() - 1);
  const float whole = ImGui::GetContentRegionAvail().x, side = std::clamp(whole * 0.3f, px(180), px(420));
  draw_rows(*board, rows, current, whole - side - px(12), ui);
  ImGui::SameLine(0, px(12));
  ImGui::BeginChild("details", ImVec2(side, 0));
  draw_details(*board, board->contenders[ui.of<CompareTabState>().picked], current, ui);
  ImGui::EndChild();
  ImGui::PopStyleVar();
}

}  // namespace heddle::app

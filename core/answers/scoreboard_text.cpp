// Text of the scoreboard.
#include "core/answers/scoreboard_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/answers/scoreboard_rows.h"
#include "core/answers/summary.h"
#include "core/chart/csv.h"

namespace heddle {
namespace {

std::string how_it_ended(const Scoreboard& board) {
  if (board.cancelled) return "interrupted: what is missing was not looked at";
  return board.timed_out ? "out of time: the solver's own schedule is not proved" : "";
}

/// A name in `beyond` would be a fault of Heddle; it is said where the numbers are.
std::string fault_line(const Scoreboard& board) {
  std::string names;
  for (const std::string& name : beyond_bound(board)) names += (names.empty() ? "" : ", ") + printable(name);
  if (names.empty()) return {};
  return fmt::format("fault: {} is below the proved bound; model, checker or evaluator is wrong, please report it", names);
}

/// '|' would end a cell, '<' begin a tag.
std::string markdown_cell(const std::string& text) {
  std::string escaped;
  for (const char c : printable(text)) {
    if (c == '<') {
      escaped += "&lt;";
      continue;
    }
    if (c == '|' || c == '*' || c == '_' || c == '`' || c == '\\' || c == '[') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string markdown_line(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const std::string& cell : cells) line += " " + markdown_cell(cell) + " |";
  return line + "\n";
}

}  // namespace

std::string scoreboard_text(const Problem& problem, const Scoreboard& board, const TextStyle& style, bool with_log) {
  std::string text = styled(problem_title(problem), style) + "\n" + wrapped(styled(scoreboard_headline(board, ungrouped), style), "", style.width) + "\n";
  std::vector<TextColumn> columns;
  for (const ScoreColumn column : kScoreColumns) columns.push_back({title(column), is_number(column)});
  const std::vector<ScoreRow> rows = score_rows(board, ungrouped);
  std::vector<std::vector<std::string>> cells;
  for (const ScoreRow& row : rows) {
    cells.push_back(row.cells);
    for (std::string& cell : cells.back()) cell = styled(cell, style);
  }
  text += text_table(columns, cells);
  text += "\n";
  for (const ScoreRow& row : rows) {
    const Contender& c = board.contenders[row.contender];
    text += wrapped(fmt::format("{}: {}", styled(c.name, style), styled(score_reason(c), style)), "  ", style.width);
    if (!with_log) continue;
    if (!c.about.empty()) text += wrapped(styled(c.about, style), "    ", style.width);
    for (const std::string& line : c.log) text += wrapped(styled(line, style), "      ", style.width);
  }
  for (const std::string& line : {how_it_ended(board), fault_line(board)})
    if (!line.empty()) text += "\n" + styled(line, style) + "\n";
  return text;
}

std::string scoreboard_markdown(const Problem& problem, const Scoreboard& board) {
  std::string text = "**" + markdown_cell(problem_title(problem)) + "**\n\n" + markdown_cell(scoreboard_headline(board, ungrouped)) + "\n\n";
  std::vector<std::string> titles, rules;
  for (const ScoreColumn column : kScoreColumns) {
    titles.push_back(title(column));
    rules.push_back(is_number(column) ? "---:" : "---");
  }
  text += markdown_line(titles) + "|";
  for (const std::string& rule : rules) text += rule + "|";
  text += "\n";
  const std::vector<ScoreRow> rows = score_rows(board, ungrouped);
  for (const ScoreRow& row : rows) text += markdown_line(row.cells);
  text += "\n";
  for (const ScoreRow& row : rows) {
    const Contender& c = board.contenders[row.contender];
    text += fmt::format("- **{}**: {}\n", markdown_cell(c.name), markdown_cell(score_reason(c)));
  }
  for (const std::string& line : {how_it_ended(board), fault_line(board)})
    if (!line.empty()) text += "\n" + markdown_cell(line) + "\n";
  return text;
}

std::string scoreboard_csv(const Scoreboard& board) {
  std::string text = csv_record({"place", "schedule", "kind", "status", "valid", "deadlock", "period_cycles", "gap_percent", "ii_cycles", "stages", "warps",
                                 "registers_per_thread", "smem_bytes", "tmem_columns", "barriers", "waits", "violations", "kernel_cycles", "simulated_period_cycles", "microseconds", "tflops", "stalled_percent", "reason"});
  for (const ScoreRow& row : score_rows(board, ungrouped)) {
    const Contender& c = board.contenders[row.contender];
    const bool has = c.schedule.has_value();
    const auto number = [&](std::int64_t value) { return has ? std::to_string(value) : std::string(); };
    const auto budgets = c.usage.register_budget;
    const bool ran = c.simulated && c.simulated->fault.empty();
    const auto gap = gap_percent(board, c);
    text += csv_record({row.place > 0 ? std::to_string(row.place) : "", printable(c.name), to_string(c.kind), has ? to_string(c.status) : "",
                        has ? (c.valid() ? "1" : "0") : "", has ? (c.period.deadlock ? "1" : "0") : "", c.period.deadlock ? "" : number(c.period.cycles()),
                        gap ? fmt::format("{:.3f}", *gap) : "", number(has ? c.schedule->ii : 0), number(c.stages), number(c.usage.warps),
                        number(budgets.empty() ? 0 : *std::max_element(budgets.begin(), budgets.end())), number(c.usage.smem_bytes),
                        number(c.usage.tmem_columns), number(c.barriers), number(c.waits),
                        has ? std::to_string(c.verdict.violations.size()) : "", ran ? std::to_string(c.simulated->cycles) : "",
                        ran ? fmt::format("{:.3f}", c.simulated->period) : "", ran ? fmt::format("{:.3f}", c.simulated->microseconds) : "",
                        ran && c.simulated->tflops > 0 ? fmt::format("{:.1f}", c.simulated->tflops) : "",
                        ran ? fmt::format("{:.2f}", 100 * c.simulated->stalled()) : "", printable(score_reason(c))});
  }
  return text;
}

}  // namespace heddle

#include "app/window/tabs/schedules/scoreboard_model.h"

namespace heddle::app {

AdoptSchedule adopt(const Scoreboard& board, const Contender& contender, bool as_baseline) {
  AdoptSchedule taken;
  taken.schedule = *contender.schedule;
  taken.name = contender.name;
  taken.as_baseline = as_baseline;
  taken.explanation = score_reason(contender);
  if (contender.valid()) taken.lower_bound = board.lower_bound;
  return taken;
}

std::string scoreboard_tsv(const Scoreboard& board, ScoreColumn by, bool descending) {
  std::string text;
  for (const ScoreColumn column : kScoreColumns) text += std::string(*title(column) ? title(column) : "place") + "\t";
  text += "why\n";
  for (const ScoreRow& row : score_rows(board, ungrouped, by, descending)) {
    for (const std::string& cell : row.cells) text += cell + "\t";
    text += score_reason(board.contenders[row.contender]) + "\n";
  }
  return text;
}

}  // namespace heddle::app

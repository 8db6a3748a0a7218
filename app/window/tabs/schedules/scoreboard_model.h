// What the window does with a scoreboard: taking a contender over, copying the table.
#pragma once

#include <string>

#include "app/session/proposal_commands.h"
#include "core/answers/scoreboard.h"

namespace heddle::app {

/// Pre: it has a schedule.
AdoptSchedule adopt(const Scoreboard& board, const Contender& contender, bool as_baseline);

/// With a header line and without grouped numbers, for spreadsheets; in the order of that column.
std::string scoreboard_tsv(const Scoreboard& board, ScoreColumn by = ScoreColumn::Place, bool descending = false);

}  // namespace heddle::app

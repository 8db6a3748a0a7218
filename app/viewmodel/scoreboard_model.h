// What the window does with a scoreboard: taking a contender over, copying the table, naming its files.
#pragma once

#include <string>
#include <vector>

#include "app/session/commands.h"
#include "app/session/session.h"
#include "core/report/scoreboard_rows.h"

namespace heddle::app {

/// Pre: it has a schedule.
AdoptSchedule adopt(const Scoreboard& board, const Contender& contender, bool as_baseline);

/// With a header line and without grouped numbers, for spreadsheets.
std::string scoreboard_tsv(const Scoreboard& board);

/// The files of schedules in the list that `heddle compare` has to be given for the same board.
std::vector<std::string> contender_files(const Session& session);

}  // namespace heddle::app

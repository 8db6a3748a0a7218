// A scoreboard as a table of text: what `heddle compare`, its files and the window's Scoreboard tab share.
#pragma once

#include <string>
#include <vector>

#include "core/answers/difference_rows.h"
#include "core/answers/scoreboard.h"

namespace heddle {

enum class ScoreColumn { Place, Name, Kind, II, Period, Gap, Kernel, Stalled, Stages, Warps, Registers, Smem, Tmem, Waits, Checker };
inline constexpr ScoreColumn kScoreColumns[] = {ScoreColumn::Place,   ScoreColumn::Name,   ScoreColumn::Kind,  ScoreColumn::II,        ScoreColumn::Period,
                                                ScoreColumn::Gap,     ScoreColumn::Kernel, ScoreColumn::Stalled, ScoreColumn::Stages,  ScoreColumn::Warps,
                                                ScoreColumn::Registers, ScoreColumn::Smem, ScoreColumn::Tmem,  ScoreColumn::Waits,     ScoreColumn::Checker};
const char* title(ScoreColumn column);
/// What the column means and its unit, one sentence.
const char* about(ScoreColumn column);
bool is_number(ScoreColumn column);

struct ScoreRow {
  std::size_t contender = 0;        ///< of the board
  int place = 0;                    ///< from 1; equal periods share one; 0: not ranked
  std::vector<std::string> cells;   ///< per column; "-" where there is nothing
};
/// In the order of ranking(). SMEM is in KiB; "registers" are the greatest budget of a thread.
std::vector<ScoreRow> score_rows(const Scoreboard& board, NumberText number = grouped);

/// What limits the contender, or why it is not ranked: one sentence.
std::string score_reason(const Contender& contender);

/// "7 legal schedules, 2 illegal; II >= 2048, proved: TC ..."
std::string scoreboard_headline(const Scoreboard& board, NumberText number = grouped);

}  // namespace heddle

// Scoreboards for other programs: what `heddle compare --json` prints. Written only.
#pragma once

#include "core/answer/scoreboard.h"
#include "core/io/json.h"

namespace heddle {

/// Bound, ranking and every contender with its figures, verdict and schedule.
Json scoreboard_json(const Problem& problem, const Constraints& constraints, const Scoreboard& board);

}  // namespace heddle

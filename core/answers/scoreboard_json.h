// Scoreboards for other programs: what `heddle compare --json` prints. Written only.
#pragma once

#include "core/answers/scoreboard.h"
#include "core/base/json.h"

namespace heddle {

/// Bound, ranking and every contender with its figures, verdict and schedule.
Json scoreboard_json(const Problem& problem, const Constraints& constraints, const Scoreboard& board);

}  // namespace heddle

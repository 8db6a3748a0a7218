// The scoreboard for people and for other programs: as text, Markdown and CSV.
#pragma once

#include <string>

#include "core/answers/scoreboard.h"
#include "core/base/text_style.h"

namespace heddle {

/// Title, table, and a sentence for every contender: what limits it, or what it breaks.
std::string scoreboard_text(const Problem& problem, const Scoreboard& board, const TextStyle& style, bool with_log = false);

/// A table that can be pasted into an issue, and the same sentences as a list.
std::string scoreboard_markdown(const Problem& problem, const Scoreboard& board);

/// One record per contender (RFC 4180), numbers without grouping, units in the column names.
std::string scoreboard_csv(const Scoreboard& board);

}  // namespace heddle

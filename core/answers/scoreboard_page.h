// The scoreboard as a page: one HTML file with the table, the charts and the sentences; no scripts, no references to
// anything outside the file.
#pragma once

#include <string>

#include "core/answers/scoreboard.h"
#include "core/chart/svg.h"

namespace heddle {

/// Charts show one II window each, all on the scale of the longest, best schedule first.
std::string scoreboard_html(const Problem& problem, const Scoreboard& board, SvgTheme theme = SvgTheme::Light);

}  // namespace heddle

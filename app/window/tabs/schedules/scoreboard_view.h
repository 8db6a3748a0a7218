// The scoreboard inside the Compare tab: everything that there is for this problem, ranked, and what is said about each.
#pragma once

#include "app/session/session.h"

namespace heddle::app {

struct UiState;

/// Begins on the line at which the cursor stands.
void draw_scoreboard(const Session& session, UiState& ui);

}  // namespace heddle::app

// Twill's own formulation inside the Compare tab: its pipeline run to the letter on what is open, and what its schedule is worth at native
// cycles.
#pragma once

#include "app/session/session.h"

namespace heddle::app {

struct UiState;

void draw_paper_view(const Session& session, UiState& ui);

}  // namespace heddle::app

// The race inside the Compare tab: programs of the kernel against each other on a GPU, and the table of what they took.
#pragma once

#include "app/session/session.h"

namespace heddle::app {

struct UiState;

void draw_race_view(const Session& session, UiState& ui);

}  // namespace heddle::app

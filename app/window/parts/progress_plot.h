// Bound and best of a solve over time.
#pragma once

#include <imgui.h>

#include "app/session/session.h"

namespace heddle::app {

/// Bound rising and best II falling as steps.
void draw_progress_plot(const LiveSolve& live, ImVec2 size);

}  // namespace heddle::app

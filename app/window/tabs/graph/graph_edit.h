// Beside the picture of the graph: the chosen op as a form. What is changed there is a change of the kernel's text.
#pragma once

#include "app/session/session.h"
#include "app/window/parts/ui_state.h"

namespace heddle::app {

/// Empty when the graph can be edited, else why not.
std::string why_no_graph_edit(const Session& session);

/// Draws into the current window.
void draw_graph_edit(const Session& session, UiState& ui);

}  // namespace heddle::app

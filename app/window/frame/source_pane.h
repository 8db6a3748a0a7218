// What of a compiler's file is shown: the file, what it holds, its loops, the reading. At the top of the left pane; and, in the inspector,
// what a dump says of an op.
#pragma once

#include <string>

#include "app/session/session.h"

namespace heddle::app {

struct UiState;

/// 0 where none is open.
float source_pane_height(const Session& session);
void draw_source_pane(const Session& session, UiState& ui);
/// The op's shape and its name in the compiler; of an inner loop, the way to it.
void draw_dumped_op(const Session& session, const std::string& op, UiState& ui);

}  // namespace heddle::app

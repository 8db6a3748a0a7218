// The part of the Triton tab that gives the shown schedule back: whether Triton's passes can be told it, what would change, and the
// buttons.
#pragma once

#include <functional>

#include "app/session/session.h"
#include "core/triton/comparison.h"

namespace heddle::app {

struct UiState;

/// `ended` is called below each row. Pre: a Triton kernel is open and has a problem. `comparison` may be null.
void draw_triton_return(const Session& session, const triton::Comparison* comparison, UiState& ui, const std::function<void()>& ended);

}  // namespace heddle::app

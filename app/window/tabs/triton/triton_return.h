// The part of the Triton tab that gives the shown schedule back: whether Triton's passes can be told it, what would change, and the
// buttons.
#pragma once

#include <functional>

#include "app/session/session.h"
#include "core/triton/audit/comparison.h"

namespace heddle::app {

struct UiState;

/// `ended` is called below each row. `headed`: verdict and buttons stand elsewhere. Pre: a Triton kernel is open and has a problem.
/// `comparison` may be null.
void draw_triton_return(const Session& session, const triton::Comparison* comparison, bool headed, UiState& ui,
                        const std::function<void()>& ended);
/// Verdict and buttons on one line, for low windows.
void draw_triton_return_line(const Session& session, const triton::Comparison* comparison, UiState& ui);

}  // namespace heddle::app

// The solver's answer to "why?" as cards.
#pragma once

#include "app/window/parts/explain_model.h"
#include "core/answers/explanation.h"

namespace heddle::app {

/// Pre: the answer is one about the session's problem as it stands.
void explain_by_answer(const Session& session, const Explanation& answer, ExplainModel& model);

}  // namespace heddle::app

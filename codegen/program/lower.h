// The loop of every role: from the lines of the pipeline program to steps with places, barriers and cursors.
#pragma once

#include "codegen/program/draft.h"

namespace heddle::codegen {

void lower_loops(ProgramDraft& draft);
/// Where boxes of TMA begin; refuses those that cannot.
void begin_boxes(ProgramDraft& draft);

}  // namespace heddle::codegen

// Cutting every role's loop and folding its run into prologue, steady loop and drain.
#pragma once

#include "codegen/program/draft.h"

namespace heddle::codegen {

/// Decides copies, and fills role.sections, role.stages and role.cursors. Of the program trips, buffers and barriers are known.
void cut_loops(ProgramDraft& draft);

}  // namespace heddle::codegen

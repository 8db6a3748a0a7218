// The last pass: threads, shared memory and register budgets of a program whose roles are done.
#pragma once

#include "codegen/program/draft.h"

namespace heddle::codegen {

void lay_out(ProgramDraft& draft);

}  // namespace heddle::codegen

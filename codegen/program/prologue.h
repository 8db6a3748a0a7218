// What runs once per tile before the loop: tiles that are loaded and registers that are set.
#pragma once

#include "codegen/program/draft.h"

namespace heddle::codegen {

/// A tile that is loaded once: notes that the role reads it.
void read_per_tile(ProgramDraft& draft, std::size_t role, Place& place);
/// It needs to know who does what after the loop, which it decides first.
void lower_prologue(ProgramDraft& draft);

}  // namespace heddle::codegen

// Loads that threads make themselves, each a part of the tile (cp.async), where no TMA is: how they arrive, and who must fence.
#pragma once

#include "codegen/program/draft.h"

namespace heddle::codegen {

/// All threads of the role that loads copy 16 bytes or less at a time, and arrive at the tile's full barrier when theirs are there
/// (cp.async.mbarrier.arrive.noinc). What they write is written by the generic proxy (PTX ISA, cp.async), so that a role whose mmas or
/// stores read the tile fences behind its wait.
void arrange_copies(ProgramDraft& draft);
/// The role's threads copy.
bool copies(const Role& role);

}  // namespace heddle::codegen

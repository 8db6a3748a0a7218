// Loads that threads make themselves, each a part of the tile (cp.async), where no TMA is: how they arrive, and who must fence.
#pragma once

#include "codegen/program/draft.h"

namespace heddle::codegen {

/// Every thread of the loading role copies up to 16 bytes at a time. It arrives at the tile's full barrier when its own copies are there
/// (cp.async.mbarrier.arrive.noinc). What they write is written by the generic proxy (PTX ISA, cp.async), so that a role whose mmas or
/// stores read the tile fences behind its wait.
void arrange_copies(ProgramDraft& draft);
/// The role's threads copy.
bool copies(const Role& role);

}  // namespace heddle::codegen

// When wgmmas are issued and awaited: one of a sum in flight, and whose turn it is on the tensor core.
#pragma once

#include "codegen/program/draft.h"

namespace heddle::codegen {

/// A wgmma that adds up and whose registers nothing else touches in the loop is awaited only when the next one has been
/// issued, where the rings have the slots for it: the tensor core finds the next one queued.
void keep_one_in_flight(ProgramDraft& draft);
/// Which roles take turns on the tensor core.
void order_turns(ProgramDraft& draft);

}  // namespace heddle::codegen

// Barriers with phases and parities: who waits, who arrives, and when a phase is over.
#pragma once

#include "codegen/interpret/state.h"

namespace heddle::codegen {

/// Ends the phase when nothing is missing.
void turn(BlockState& state, Phase& phase, std::size_t barrier);
/// False: an arrival came when the phase it is about was over.
bool arrive(BlockState& state, Phase& phase, std::size_t barrier, int count, std::int64_t about);

void wait(BlockState& state, const Flat& flat);
void tell(BlockState& state, const Flat& flat);
/// Arrives when all mmas that the role has issued so far are complete.
void signal(BlockState& state, const Flat& flat);

}  // namespace heddle::codegen

// What steps do with values: computing, issuing what happens later, and its happening.
#pragma once

#include "codegen/interpret/state.h"

namespace heddle::codegen {

void compute(BlockState& state, const Flat& flat);
void issue(BlockState& state, const Flat& flat);
/// What was asked for happens: operands are read now, and must still be what was meant. `which` of what the role has in flight.
void complete(BlockState& state, std::size_t role, Engine engine, std::size_t which);

}  // namespace heddle::codegen

// Who may read, fill and tell of what, in registers, shared memory and tensor memory. Who may not makes a fault.
#pragma once

#include "codegen/interpret/state.h"

namespace heddle::codegen {

/// Null: there is no such copy.
RegisterCell* register_at(BlockState& state, std::size_t role, const Place& place, bool output);
/// The slot, or the columns of a slot of tensor memory that the step's piece of the value takes; empty and a fault where there are none.
Slots slots_at(BlockState& state, const Flat& flat, const Place& place, std::size_t block);
Slots slots_at(BlockState& state, const Flat& flat, const Place& place);
/// The slot that an arrival or a wait is about; empty where the buffer has no such slot.
Slots slot_behind(BlockState& state, std::size_t role, const Step& step, std::size_t block);

/// What the place holds, or null. `sum`: an mma adds to it.
const Array* read(BlockState& state, const Flat& flat, const Place& place, bool async, bool sum);
bool may_read(BlockState& state, const Flat& flat, const Place& place, const Slot& slot, bool async);

/// A role fills only what it has itself waited for, and tells only of what it has itself done: with each ring minded by its
/// own barriers, no ring depends on the depth of another.
bool may_fill(BlockState& state, const Flat& flat, const Place& place, const Slot& slot);
void write_register(BlockState& state, const Flat& flat, const Place& place, Array&& array);
struct Filling {
  bool by_threads = false;  ///< else by TMA
  Array array = {};
  unsigned part = 0;  ///< one per block of the cluster; 0: the whole
};
void fill_slot(BlockState& state, const Flat& flat, Slot& slot, const Place& place, Filling&& filling);

bool may_tell(BlockState& state, const Flat& flat);

}  // namespace heddle::codegen

// Who may read, fill and tell of what, in registers, shared memory and tensor memory.
#include <algorithm>

#include <fmt/format.h>

#include "codegen/interpret/machine.h"

namespace heddle::codegen {
namespace {

/// A piece may be taken out of the whole.
bool covers(const Piece& has, const Piece& wanted) { return has.count == 1 || has == wanted; }

std::uint64_t all_of(const Piece& piece) { return (std::uint64_t{1} << piece.count) - 1; }

/// The columns of a piece, into the tile that has the others.
void put_piece(Array& tile, const Array& from, const Piece& piece) {
  const std::int64_t columns = tile.shape.back(), width = columns / piece.count;
  for (std::size_t k = 0; k < tile.data.size(); ++k)
    if (static_cast<std::int64_t>(k) % columns / width == piece.number) tile.data[k] = from.data[k];
}

}  // namespace

// ---- where

BlockMachine::RegisterCell* BlockMachine::register_at(std::size_t role, const Place& place, bool output) {
  auto& copies = agents_[role].variables[place.index];
  const std::size_t copy = output && role_at(role).variables[place.index].moves ? 0 : static_cast<std::size_t>(place.copy);
  return copy < copies.size() ? &copies[copy] : nullptr;
}

BlockMachine::Slots BlockMachine::whole_slot(std::size_t block, std::size_t buffer, std::size_t at) {
  const std::size_t cells = cells_per_slot(buffer);
  auto& ring = slots(block, buffer);
  return (at + 1) * cells <= ring.size() ? Slots(ring).subspan(at * cells, cells) : Slots();
}

BlockMachine::Slots BlockMachine::slots_at(std::size_t role, const Flat& flat, const Place& place, std::size_t block) {
  const auto at = static_cast<std::size_t>(agents_[role].cursors[place.cursor].slot);
  const Slots slot = whole_slot(block, place.index, at);
  if (slot.empty()) fail(FaultKind::NotReady, role, flat, agents_[role].tile, fmt::format("slot {} does not exist", at));
  return part_of(slot, place.index, place.value, flat.step->piece);
}

BlockMachine::Slots BlockMachine::slot_behind(std::size_t role, const Step& step, std::size_t block) {
  return whole_slot(block, program_.barriers[step.barrier].buffer, static_cast<std::size_t>(agents_[role].cursors[step.cursor].slot));
}

// ---- reading

const Array* BlockMachine::read(std::size_t role, const Flat& flat, const Place& place, bool async, bool sum) {
  if (place.kind == Place::Kind::Variable) {
    const RegisterCell* cell = read_register(role, flat, place, async, sum);
    return cell ? &cell->array : nullptr;
  }
  if (place.kind != Place::Kind::Buffer) return nullptr;
  const Slots slots = slots_at(role, flat, place);
  for (Slot& slot : slots) {
    if (!may_read(role, flat, place, slot, async)) return nullptr;
    slot.used |= bit(role);
  }
  return slots.empty() ? nullptr : &slots.front().array;
}

const BlockMachine::RegisterCell* BlockMachine::read_register(std::size_t role, const Flat& flat, const Place& place, bool async,
                                                              bool sum) {
  const std::int64_t tile = agents_[role].tile;
  const auto refuse = [&](FaultKind kind, std::string what) {
    fail(kind, role, flat, tile, std::move(what));
    return nullptr;
  };
  const RegisterCell* found = register_at(role, place, false);
  if (!found) return refuse(FaultKind::NotReady, "a copy that does not exist");
  // A wgmma may add to what an earlier one of the role is still adding to; no other may read it.
  if (found->flying > 0 && found->summing && !sum)
    return refuse(FaultKind::Overwrite, "reads registers that a wgmma in flight may still write");
  // What a wgmma in flight takes from registers may go into another one, but no thread may look at it (PTX ISA, wgmma.mma_async).
  if (found->flying > 0 && !async) return refuse(FaultKind::Overwrite, "reads registers that a wgmma in flight still takes as its operand");
  if (!holds(*found, flat, place, tile)) return refuse(FaultKind::NotReady, wanted(role, flat, place) + content(*found));
  if (found->loading)
    return refuse(FaultKind::NotReady, fmt::format("uses {} before its load from tensor memory has been awaited", content(*found)));
  if (!covers(found->piece, flat.step->piece))
    return refuse(FaultKind::NotReady, fmt::format("finds piece {} of {}", found->piece.number + 1, content(*found)));
  return found;
}

bool BlockMachine::may_read(std::size_t role, const Flat& flat, const Place& place, const Slot& slot, bool async) {
  const std::int64_t tile = agents_[role].tile;
  const Piece piece = piece_of(flat, place);
  const auto refuse = [&](FaultKind kind, std::string what) {
    fail(kind, role, flat, tile, std::move(what));
    return false;
  };
  if (slot.filling) return refuse(FaultKind::NotReady, "reads a slot that TMA is still filling");
  if (slot.adding) return refuse(FaultKind::NotReady, fmt::format("reads {} while a product is still filling it", content(slot)));
  if (slot.missing) return refuse(FaultKind::NotReady, "reads a slot of which the other block has not brought its part");
  if (slot.writer != kNothing && (slot.writer != role || slot.by_product) && (slot.seen & bit(role)) == 0)
    return refuse(FaultKind::NotReady, slot.writer == role ? "reads what its own product has filled without having waited for it"
                                                           : "reads what another role has filled without having waited for it");
  if (is_tensor(place)) {
    if (!holds(slot, flat, place, tile)) return refuse(FaultKind::NotReady, wanted(role, flat, place) + content(slot));
    if (slot.storing) return refuse(FaultKind::Fence, fmt::format("reads {} before its stores have been awaited", content(slot)));
    if (slot.writer != role && !slot.by_product && (slot.touched & bit(slot.writer)))
      return refuse(FaultKind::Fence, fmt::format("reads {}, which another role has stored without a fence since", content(slot)));
    if (async && slot.writer == role && !slot.by_product && ((slot.touched | slot.unmet) & bit(role)))
      return refuse(FaultKind::Fence,
                    fmt::format("reads {}, which its threads have stored, before they have met behind a fence", content(slot)));
    return true;
  }
  const bool there = slot.piece.count == piece.count ? slot.pieces >> piece.number & 1 : slot.pieces == all_of(slot.piece);
  if (!there && slot.value != kNothing)
    return refuse(FaultKind::NotReady, fmt::format("finds piece {} of {}", slot.piece.number + 1, content(slot)));
  if (async && slot.unfenced) return refuse(FaultKind::Fence, "reads what threads wrote to shared memory without a fence in between");
  if (!holds(slot, flat, place, tile)) return refuse(FaultKind::NotReady, wanted(role, flat, place) + content(slot));
  return true;
}

// ---- filling

bool BlockMachine::may_fill(std::size_t role, const Flat& flat, const Place& place, const Slot& slot) {
  const Buffer& buffer = program_.buffers[place.index];
  if (!buffer.empty || slot.granted == role || (slot.seen & bit(role))) return true;
  const bool tile = slot.tile == agents_[role].tile, same = tile && slot.iteration == iteration_of(flat, place);
  if (same && slot.writer == role) return true;
  // In tensor memory values of one iteration take turns in a slot (P over S) as data demands it: what is free is what comes last. A role
  // may also replace what its own threads have put there and told nobody of.
  if (buffer.tensor() && (same || (tile && slot.writer == role && !slot.by_product && !slot.told))) return true;
  fail(FaultKind::Overwrite, role, flat, agents_[role].tile,
       fmt::format("fills the slot of {} without having waited until it is free", content(slot)));
  return false;
}

void BlockMachine::write_register(std::size_t role, const Flat& flat, const Place& place, Array&& array) {
  auto& copies = agents_[role].variables[place.index];
  RegisterCell* cell = register_at(role, place, true);
  if (!cell) return fail(FaultKind::NotReady, role, flat, agents_[role].tile, "a copy that does not exist");
  if (role_at(role).variables[place.index].moves) std::rotate(copies.begin(), copies.end() - 1, copies.end());
  if (cell->flying > 0)
    return fail(FaultKind::Overwrite, role, flat, agents_[role].tile, "writes registers that a wgmma in flight may still use");
  if (cell->loading)
    return fail(FaultKind::Overwrite, role, flat, agents_[role].tile,
                fmt::format("writes over {} before its load from tensor memory has been awaited", content(*cell)));
  cell->value = place.value;
  cell->iteration = iteration_of(flat, place);
  cell->tile = agents_[role].tile;
  cell->array = std::move(array);
  cell->piece = piece_of(flat, place);
}

void BlockMachine::fill_slot(std::size_t role, const Flat& flat, Slot& slot, const Place& place, bool by_threads, Array&& array,
                             unsigned part) {
  const std::int64_t tile = agents_[role].tile;
  const Piece piece = piece_of(flat, place);
  if (part && holds(slot, flat, place, tile) && (slot.missing & part)) {  // the other block has brought its part of the same
    slot.missing &= ~part;
    slot.filling |= part;
    if (slot.granted == role) slot.granted = kNothing;
    return;
  }
  if (piece.count > 1 && slot.piece.count == piece.count && slot.writer == role && holds(slot, flat, place, tile) &&
      slot.pieces != all_of(piece) && takes_all_pieces(place)) {
    if (!array.data.empty()) put_piece(slot.array, array, piece);
    slot.pieces |= std::uint64_t{1} << piece.number;
    slot.unfenced = true;
    return;
  }
  if (slot.readers > 0 || slot.filling)
    return fail(FaultKind::Overwrite, role, flat, tile,
                fmt::format("overwrites {} while it is being {}", content(slot), slot.filling ? "filled" : "read"));
  if (slot.untold) return fail(FaultKind::Fence, role, flat, tile, "overwrites what a store has read before all warps know that it has");
  slot.value = place.value;
  slot.iteration = iteration_of(flat, place);
  slot.tile = tile;
  slot.array = std::move(array);
  slot.writer = role;
  slot.piece = piece;
  slot.pieces = std::uint64_t{1} << piece.number;
  slot.seen = slot.used = 0;
  if (slot.granted == role) slot.granted = kNothing;
  slot.filling = part;
  slot.missing = part ? ((1u << program_.cluster) - 1) & ~part : 0;
  slot.unfenced = by_threads && !program_.buffers[place.index].registers;
}

// ---- telling

bool BlockMachine::may_tell(std::size_t role, const Flat& flat) {
  const Step& step = *flat.step;
  const Barrier& barrier = program_.barriers[step.barrier];
  const bool tensor = program_.buffers[barrier.buffer].tensor();
  const auto refuse = [&](FaultKind kind, std::string what) {
    fail(kind, role, flat, agents_[role].tile, std::move(what));
    return false;
  };
  if (step.count <= 0) return true;
  if (tensor && step.kind == StepKind::Arrive && agents_[role].touched)
    return refuse(FaultKind::Fence, "tells of tensor memory that its threads have loaded or stored without a fence since");
  const Blocks blocks = blocks_of(role);
  for (std::size_t block = blocks.first; block < blocks.end; ++block) {
    const Slots slot = slot_behind(role, step, block);
    if (barrier.full) {
      for (Slot& part : part_of(slot, barrier.buffer, barrier.value, {})) {
        if (!may_say_filled(role, flat, part)) return false;
        part.told = true;
      }
      continue;
    }
    bool used = slot.empty();
    for (Slot& part : slot) {
      used = used || (part.used & bit(role));
      part.seen &= ~bit(role);
      if (!may_say_free(role, flat, part)) return false;
    }
    if (step.kind == StepKind::Signal && !used)
      return refuse(FaultKind::Overwrite, fmt::format("frees the slot of {}, of which it has read nothing", content(slot.front())));
  }
  return true;
}

bool BlockMachine::may_say_filled(std::size_t role, const Flat& flat, const Slot& slot) {
  const Step& step = *flat.step;
  const Barrier& barrier = program_.barriers[step.barrier];
  const std::int64_t tile = agents_[role].tile;
  const std::int64_t about = barrier.per_tile ? agents_[role].trips - 1 : step.iteration + flat.shift;
  const bool now = slot.iteration <= kPerTile || slot.iteration == about;
  // A signal tells of products only, an arrival of what threads did.
  const bool own = slot.writer == role && slot.by_product == (step.kind == StepKind::Signal);
  if (slot.value != barrier.value || slot.tile != tile || !own || !now) {
    fail(FaultKind::NotReady, role, flat, tile, fmt::format("says that the slot is filled when it holds {}", content(slot)));
    return false;
  }
  if (slot.pieces != all_of(slot.piece) && !program_.buffers[barrier.buffer].tensor()) {
    fail(FaultKind::NotReady, role, flat, tile, fmt::format("says that the slot is filled when it holds pieces of {}", content(slot)));
    return false;
  }
  if (!slot.storing) return true;
  fail(FaultKind::Fence, role, flat, tile, fmt::format("tells of {} before its stores have been awaited", content(slot)));
  return false;
}

bool BlockMachine::signals_itself(std::size_t role, std::size_t barrier) const {
  for (const Section& section : role_at(role).sections)
    for (const Step& step : section.steps)
      if (step.kind == StepKind::Signal && step.barrier == barrier) return true;
  return false;
}

bool BlockMachine::may_say_free(std::size_t role, const Flat& flat, const Slot& slot) {
  const auto refuse = [&](FaultKind kind, const char* why) {
    fail(kind, role, flat, agents_[role].tile, fmt::format("frees the slot of {} before {}", content(slot), why));
    return false;
  };
  if (flat.step->kind == StepKind::Signal) return true;
  if (std::find(slot.users.begin(), slot.users.end(), role) != slot.users.end() && !signals_itself(role, flat.step->barrier))
    return refuse(FaultKind::Overwrite, "what it has issued to read it has been awaited");
  if (slot.writer == role && slot.adding) return refuse(FaultKind::Overwrite, "its products that fill it are complete");
  if (slot.loading & bit(role)) return refuse(FaultKind::Overwrite, "its loads from it have been awaited");
  if (slot.storing & bit(role)) return refuse(FaultKind::Overwrite, "its stores into it have been awaited");
  if (slot.touched & bit(role)) return refuse(FaultKind::Fence, "a fence that follows its loads and stores");
  return true;
}

}  // namespace heddle::codegen

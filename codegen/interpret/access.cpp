#include "codegen/interpret/access.h"

#include <algorithm>

#include <fmt/format.h>

#include "codegen/interpret/faults.h"

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

/// The columns of a value, or of a piece of it, in a slot.
Slots part_of(const BlockState& state, Slots slot, std::size_t buffer, std::size_t value, const Piece& piece) {
  if (slot.empty() || state.edges.empty() || state.edges[buffer].empty()) return slot;
  const std::vector<int>& edges = state.edges[buffer];
  const auto cell = [&](int number) {
    const TensorColumns& columns = state.columns[value];
    const auto at = std::lower_bound(edges.begin(), edges.end(), columns.first + columns.count * number / piece.count);
    return std::min(static_cast<std::size_t>(at - edges.begin()), slot.size());
  };
  const std::size_t first = cell(piece.number);
  return slot.subspan(first, std::max(cell(piece.number + 1), first) - first);
}

/// All of slot `at` of a buffer; empty where the buffer has no such slot.
Slots whole_slot(BlockState& state, std::size_t block, std::size_t buffer, std::size_t at) {
  const std::size_t cells = state.cells_per_slot(buffer);
  auto& ring = state.slots(block, buffer);
  return (at + 1) * cells <= ring.size() ? Slots(ring).subspan(at * cells, cells) : Slots();
}

const RegisterCell* read_register(BlockState& state, const Flat& flat, const Place& place, bool async, bool sum) {
  const std::int64_t tile = state.agents[flat.role].tile;
  const auto refuse = [&](FaultKind kind, std::string what) {
    state.fail(kind, flat, tile, std::move(what));
    return nullptr;
  };
  const RegisterCell* found = register_at(state, flat.role, place, false);
  if (!found) return refuse(FaultKind::NotReady, "a copy that does not exist");
  // A wgmma may add to what an earlier one of the role is still adding to; no other may read it.
  if (found->flying > 0 && found->summing && !sum)
    return refuse(FaultKind::Overwrite, "reads registers that a wgmma in flight may still write");
  // What a wgmma in flight takes from registers may go into another one, but no thread may look at it (PTX ISA, wgmma.mma_async).
  if (found->flying > 0 && !async) return refuse(FaultKind::Overwrite, "reads registers that a wgmma in flight still takes as its operand");
  if (!state.holds(*found, flat, place, tile)) return refuse(FaultKind::NotReady, wanted(state, flat, place) + content(state, *found));
  if (found->loading)
    return refuse(FaultKind::NotReady, fmt::format("uses {} before its load from tensor memory has been awaited", content(state, *found)));
  if (!covers(found->piece, flat.step->piece))
    return refuse(FaultKind::NotReady, fmt::format("finds piece {} of {}", found->piece.number + 1, content(state, *found)));
  return found;
}

/// The role's mmas free the barrier's slots by themselves: an arrival speaks of its threads only.
bool signals_itself(const BlockState& state, std::size_t role, std::size_t barrier) {
  for (const Section& section : state.role_at(role).sections)
    for (const Step& step : section.steps)
      if (step.kind == StepKind::Signal && step.barrier == barrier) return true;
  return false;
}

bool may_say_filled(BlockState& state, const Flat& flat, const Slot& slot) {
  const Step& step = *flat.step;
  const Barrier& barrier = state.program.barriers[step.barrier];
  const std::int64_t tile = state.agents[flat.role].tile;
  const std::int64_t about = barrier.per_tile ? state.agents[flat.role].trips - 1 : step.iteration + flat.shift;
  const bool now = slot.iteration <= kPerTile || slot.iteration == about;
  // A signal tells of mmas only, an arrival of what threads did.
  const bool own = slot.writer == flat.role && slot.by_product == (step.kind == StepKind::Signal);
  if (slot.value != barrier.value || slot.tile != tile || !own || !now) {
    state.fail(FaultKind::NotReady, flat, tile, fmt::format("says that the slot is filled when it holds {}", content(state, slot)));
    return false;
  }
  if (slot.pieces != all_of(slot.piece) && !state.program.buffers[barrier.buffer].tensor()) {
    state.fail(FaultKind::NotReady, flat, tile,
               fmt::format("says that the slot is filled when it holds pieces of {}", content(state, slot)));
    return false;
  }
  if (!slot.storing) return true;
  state.fail(FaultKind::Fence, flat, tile, fmt::format("tells of {} before its stores have been awaited", content(state, slot)));
  return false;
}

bool may_say_free(BlockState& state, const Flat& flat, const Slot& slot) {
  const auto refuse = [&](FaultKind kind, const char* why) {
    state.fail(kind, flat, state.agents[flat.role].tile, fmt::format("frees the slot of {} before {}", content(state, slot), why));
    return false;
  };
  if (flat.step->kind == StepKind::Signal) return true;
  if (std::find(slot.users.begin(), slot.users.end(), flat.role) != slot.users.end() &&
      !signals_itself(state, flat.role, flat.step->barrier))
    return refuse(FaultKind::Overwrite, "what it has issued to read it has been awaited");
  if (slot.writer == flat.role && slot.adding) return refuse(FaultKind::Overwrite, "its mmas that fill it are complete");
  if (slot.loading & state.bit(flat.role)) return refuse(FaultKind::Overwrite, "its loads from it have been awaited");
  if (slot.storing & state.bit(flat.role)) return refuse(FaultKind::Overwrite, "its stores into it have been awaited");
  if (slot.touched & state.bit(flat.role)) return refuse(FaultKind::Fence, "a fence that follows its loads and stores");
  return true;
}

}  // namespace

RegisterCell* register_at(BlockState& state, std::size_t role, const Place& place, bool output) {
  auto& copies = state.agents[role].variables[place.index];
  const std::size_t copy = output && state.role_at(role).variables[place.index].moves ? 0 : static_cast<std::size_t>(place.copy);
  return copy < copies.size() ? &copies[copy] : nullptr;
}

Slots slots_at(BlockState& state, const Flat& flat, const Place& place, std::size_t block) {
  const auto at = static_cast<std::size_t>(state.agents[flat.role].cursors[place.cursor].slot);
  const Slots slot = whole_slot(state, block, place.index, at);
  if (slot.empty()) state.fail(FaultKind::NotReady, flat, state.agents[flat.role].tile, fmt::format("slot {} does not exist", at));
  return part_of(state, slot, place.index, place.value, flat.step->piece);
}

Slots slots_at(BlockState& state, const Flat& flat, const Place& place) { return slots_at(state, flat, place, state.block_of(flat.role)); }

Slots slot_behind(BlockState& state, std::size_t role, const Step& step, std::size_t block) {
  return whole_slot(state, block, state.program.barriers[step.barrier].buffer,
                    static_cast<std::size_t>(state.agents[role].cursors[step.cursor].slot));
}

const Array* read(BlockState& state, const Flat& flat, const Place& place, bool async, bool sum) {
  if (place.kind == Place::Kind::Variable) {
    const RegisterCell* cell = read_register(state, flat, place, async, sum);
    return cell ? &cell->array : nullptr;
  }
  if (place.kind != Place::Kind::Buffer) return nullptr;
  const Slots slots = slots_at(state, flat, place);
  for (Slot& slot : slots) {
    if (!may_read(state, flat, place, slot, async)) return nullptr;
    slot.used |= state.bit(flat.role);
  }
  return slots.empty() ? nullptr : &slots.front().array;
}

bool may_read(BlockState& state, const Flat& flat, const Place& place, const Slot& slot, bool async) {
  const std::int64_t tile = state.agents[flat.role].tile;
  const Piece piece = state.piece_of(flat, place);
  const auto refuse = [&](FaultKind kind, std::string what) {
    state.fail(kind, flat, tile, std::move(what));
    return false;
  };
  if (slot.filling) return refuse(FaultKind::NotReady, "reads a slot that TMA is still filling");
  if (slot.adding) return refuse(FaultKind::NotReady, fmt::format("reads {} while an mma is still filling it", content(state, slot)));
  if (slot.missing) return refuse(FaultKind::NotReady, "reads a slot of which the other block has not brought its part");
  if (slot.writer != kNothing && (slot.writer != flat.role || slot.by_product) && (slot.seen & state.bit(flat.role)) == 0)
    return refuse(FaultKind::NotReady, slot.writer == flat.role ? "reads what its own mma has filled without having waited for it"
                                                                : "reads what another role has filled without having waited for it");
  if (state.is_tensor(place)) {
    if (!state.holds(slot, flat, place, tile)) return refuse(FaultKind::NotReady, wanted(state, flat, place) + content(state, slot));
    if (slot.storing) return refuse(FaultKind::Fence, fmt::format("reads {} before its stores have been awaited", content(state, slot)));
    if (slot.writer != flat.role && !slot.by_product && (slot.touched & state.bit(slot.writer)))
      return refuse(FaultKind::Fence, fmt::format("reads {}, which another role has stored without a fence since", content(state, slot)));
    if (async && slot.writer == flat.role && !slot.by_product && ((slot.touched | slot.unmet) & state.bit(flat.role)))
      return refuse(FaultKind::Fence,
                    fmt::format("reads {}, which its threads have stored, before they have met behind a fence", content(state, slot)));
    return true;
  }
  const bool there = slot.piece.count == piece.count ? slot.pieces >> piece.number & 1 : slot.pieces == all_of(slot.piece);
  if (!there && slot.value != kNothing)
    return refuse(FaultKind::NotReady, fmt::format("finds piece {} of {}", slot.piece.number + 1, content(state, slot)));
  if (async && slot.copied && !(slot.fenced & state.bit(flat.role)))
    return refuse(FaultKind::Fence,
                  fmt::format("reads {}, which threads have copied, without a fence behind its wait", content(state, slot)));
  if (async && slot.unfenced) return refuse(FaultKind::Fence, "reads what threads wrote to shared memory without a fence in between");
  if (!state.holds(slot, flat, place, tile)) return refuse(FaultKind::NotReady, wanted(state, flat, place) + content(state, slot));
  return true;
}

bool may_fill(BlockState& state, const Flat& flat, const Place& place, const Slot& slot) {
  const Buffer& buffer = state.program.buffers[place.index];
  if (!buffer.empty || slot.granted == flat.role || (slot.seen & state.bit(flat.role))) return true;
  const bool tile = slot.tile == state.agents[flat.role].tile, same = tile && slot.iteration == state.iteration_of(flat, place);
  if (same && slot.writer == flat.role) return true;
  // In tensor memory values of one iteration take turns in a slot (P over S) as data demands it: what is free is what comes last. A role
  // may also replace what its own threads have put there and told nobody of.
  if (buffer.tensor() && (same || (tile && slot.writer == flat.role && !slot.by_product && !slot.told))) return true;
  state.fail(FaultKind::Overwrite, flat, state.agents[flat.role].tile,
             fmt::format("fills the slot of {} without having waited until it is free", content(state, slot)));
  return false;
}

void write_register(BlockState& state, const Flat& flat, const Place& place, Array&& array) {
  auto& copies = state.agents[flat.role].variables[place.index];
  RegisterCell* cell = register_at(state, flat.role, place, true);
  if (!cell) return state.fail(FaultKind::NotReady, flat, state.agents[flat.role].tile, "a copy that does not exist");
  if (state.role_at(flat.role).variables[place.index].moves) std::rotate(copies.begin(), copies.end() - 1, copies.end());
  if (cell->flying > 0)
    return state.fail(FaultKind::Overwrite, flat, state.agents[flat.role].tile, "writes registers that a wgmma in flight may still use");
  if (cell->loading)
    return state.fail(FaultKind::Overwrite, flat, state.agents[flat.role].tile,
                      fmt::format("writes over {} before its load from tensor memory has been awaited", content(state, *cell)));
  cell->value = place.value;
  cell->iteration = state.iteration_of(flat, place);
  cell->tile = state.agents[flat.role].tile;
  cell->array = std::move(array);
  cell->piece = state.piece_of(flat, place);
}

void fill_slot(BlockState& state, const Flat& flat, Slot& slot, const Place& place, Filling&& filling) {
  auto& [by_threads, array, part] = filling;
  const std::int64_t tile = state.agents[flat.role].tile;
  const Piece piece = state.piece_of(flat, place);
  if (part && state.holds(slot, flat, place, tile) && (slot.missing & part)) {  // the other block has brought its part of the same
    slot.missing &= ~part;
    slot.filling |= part;
    if (slot.granted == flat.role) slot.granted = kNothing;
    return;
  }
  if (piece.count > 1 && slot.piece.count == piece.count && slot.writer == flat.role && state.holds(slot, flat, place, tile) &&
      slot.pieces != all_of(piece) && state.takes_all_pieces(place)) {
    if (!array.data.empty()) put_piece(slot.array, array, piece);
    slot.pieces |= std::uint64_t{1} << piece.number;
    slot.unfenced = true;
    return;
  }
  if (slot.readers > 0 || slot.filling)
    return state.fail(FaultKind::Overwrite, flat, tile,
                      fmt::format("overwrites {} while it is being {}", content(state, slot), slot.filling ? "filled" : "read"));
  if (slot.untold) return state.fail(FaultKind::Fence, flat, tile, "overwrites what a store has read before all warps know that it has");
  slot.value = place.value;
  slot.iteration = state.iteration_of(flat, place);
  slot.tile = tile;
  slot.array = std::move(array);
  slot.writer = flat.role;
  slot.piece = piece;
  slot.pieces = std::uint64_t{1} << piece.number;
  slot.seen = slot.used = slot.fenced = 0;
  slot.copied = flat.step->copies;
  if (slot.granted == flat.role) slot.granted = kNothing;
  slot.filling = part;
  slot.missing = part ? ((1u << state.program.cluster) - 1) & ~part : 0;
  slot.unfenced = by_threads && !state.program.buffers[place.index].registers;
}

bool may_tell(BlockState& state, const Flat& flat) {
  const Step& step = *flat.step;
  const Barrier& barrier = state.program.barriers[step.barrier];
  const bool tensor = state.program.buffers[barrier.buffer].tensor();
  const auto refuse = [&](FaultKind kind, std::string what) {
    state.fail(kind, flat, state.agents[flat.role].tile, std::move(what));
    return false;
  };
  if (step.count <= 0) return true;
  if (tensor && step.kind == StepKind::Arrive && state.agents[flat.role].touched)
    return refuse(FaultKind::Fence, "tells of tensor memory that its threads have loaded or stored without a fence since");
  const Blocks blocks = state.blocks_of(flat.role);
  for (std::size_t block = blocks.first; block < blocks.end; ++block) {
    const Slots slot = slot_behind(state, flat.role, step, block);
    if (barrier.full) {
      for (Slot& part : part_of(state, slot, barrier.buffer, barrier.value, {})) {
        if (!may_say_filled(state, flat, part)) return false;
        part.told = true;
      }
      continue;
    }
    bool used = slot.empty();
    for (Slot& part : slot) {
      used = used || (part.used & state.bit(flat.role));
      part.seen &= ~state.bit(flat.role);
      if (!may_say_free(state, flat, part)) return false;
    }
    if (step.kind == StepKind::Signal && !used)
      return refuse(FaultKind::Overwrite, fmt::format("frees the slot of {}, of which it has read nothing", content(state, slot.front())));
  }
  return true;
}

}  // namespace heddle::codegen

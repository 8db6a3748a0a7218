#include "codegen/interpret/tensor.h"

#include <algorithm>

#include <fmt/format.h>

#include "codegen/interpret/access.h"
#include "codegen/interpret/barriers.h"
#include "codegen/interpret/faults.h"

namespace heddle::codegen {
namespace {

/// `adds`: to what mmas of the role that are in flight add to.
bool may_overwrite(BlockState& state, const Flat& flat, const Slot& slot, bool by_threads, bool adds) {
  const auto refuse = [&](FaultKind kind, const char* why) {
    state.fail(kind, flat, state.agents[flat.role].tile, fmt::format("overwrites {} {}", content(state, slot), why));
    return false;
  };
  if (slot.readers > 0) return refuse(FaultKind::Overwrite, "while an mma in flight still reads it");
  if (slot.adding > 0 && !adds) return refuse(FaultKind::Overwrite, "while an mma in flight still fills it");
  if (slot.loading) return refuse(FaultKind::Overwrite, "before loads from it have been awaited");
  if (slot.storing) return refuse(FaultKind::Overwrite, "before stores into it have been awaited");
  if (slot.touched & ~state.bit(flat.role))
    return refuse(FaultKind::Fence, "which another role has loaded or stored without a fence since");
  if (!by_threads && ((slot.touched | slot.unmet) & state.bit(flat.role)))
    return refuse(FaultKind::Fence, "which its own threads have loaded or stored, before they have met behind a fence");
  return true;
}

void fill_columns(BlockState& state, const Flat& flat, Slot& slot, const Place& place, bool by_product) {
  slot.value = place.value;
  slot.iteration = state.iteration_of(flat, place);
  slot.tile = state.agents[flat.role].tile;
  slot.writer = flat.role;
  slot.by_product = by_product;
  slot.told = false;
  slot.seen = slot.used = 0;
  if (slot.granted == flat.role) slot.granted = kNothing;
  slot.loading = slot.unmet = 0;
  slot.storing = slot.touched = by_product ? 0 : state.bit(flat.role);
}

std::optional<OpRef> filling_op(const BlockState& state, std::size_t value) {
  for (std::size_t i = 0; i < state.kernel.prologue.size(); ++i) {
    const TileOp& op = state.kernel.prologue[i];
    if (op.kind == "fill" && op.outputs.size() == 1 && op.outputs[0] == state.kernel.values[value].name)
      return OpRef{OpRef::List::Prologue, i};
  }
  return std::nullopt;
}

/// The first mma of a tile does not add where the prologue fills the accumulator.
bool begins_with_zero(const BlockState& state, const Flat& flat, const Place& place) {
  return state.iteration_of(flat, place) == -1 && filling_op(state, place.value).has_value();
}

}  // namespace

bool has_fenced(BlockState& state, const Flat& flat) {
  if (!state.agents[flat.role].waited) return true;
  state.fail(FaultKind::Fence, flat, state.agents[flat.role].tile, "goes to tensor memory after a wait without a fence in between");
  return false;
}

void store_columns(BlockState& state, const Flat& flat, const Place& place, const Array& array) {
  for (Slot& slot : slots_at(state, flat, place)) {
    if (!may_fill(state, flat, place, slot) || !may_overwrite(state, flat, slot, true, false)) return;
    fill_columns(state, flat, slot, place, false);
    slot.array = array;
  }
}

void note_loads(BlockState& state, const Flat& flat) {
  const Step& step = *flat.step;
  bool loads = false;
  for (const Place& in : step.inputs) {
    if (!state.is_tensor(in)) continue;
    loads = true;
    for (Slot& slot : slots_at(state, flat, in)) {
      slot.loading |= state.bit(flat.role);
      slot.touched |= state.bit(flat.role);
    }
  }
  if (loads && step.output.kind == Place::Kind::Variable) register_at(state, flat.role, step.output, true)->loading = true;
  state.agents[flat.role].touched = state.agents[flat.role].touched || loads || state.is_tensor(step.output);
}

void await_own(BlockState& state, std::size_t role, bool reads) {
  state.for_each_tensor_slot(role, [&](Slot& slot) { (reads ? slot.loading : slot.storing) &= ~state.bit(role); });
  if (!reads) return;
  for (auto& copies : state.agents[role].variables)
    for (RegisterCell& cell : copies) cell.loading = false;
}

void fence_before(BlockState& state, std::size_t role) {
  state.agents[role].touched = false;
  // What has not been awaited is not over when the fence is.
  state.for_each_tensor_slot(role, [&](Slot& slot) {
    const std::uint64_t over = slot.touched & ~(slot.loading | slot.storing) & state.bit(role);
    slot.touched &= ~over;
    slot.unmet |= over;
  });
}

void issue_product(BlockState& state, const Flat& flat) {
  Agent& agent = state.agents[flat.role];
  const Step& step = *flat.step;
  if (!has_fenced(state, flat)) return;
  auto made = std::make_unique<Async>();
  Async& async = *made;
  async.at = flat;
  async.tile = agent.tile;
  const Blocks blocks = state.blocks_of(flat.role);
  for (std::size_t block = blocks.first; block < blocks.end; ++block) {
    Slots sum;
    for (std::size_t k = 0; k < step.inputs.size(); ++k) {
      if (k == 2 && begins_with_zero(state, flat, step.inputs[k])) {
        async.operands.push_back(nullptr);
        continue;
      }
      const Slots slots = slots_at(state, flat, step.inputs[k], block);
      if (slots.empty()) return;
      for (Slot& slot : slots) {
        // Mmas of one role that add into the same tile follow each other without a wait.
        const bool adds = k == 2 && slot.by_product && slot.writer == flat.role;
        if (adds && !state.holds(slot, flat, step.inputs[k], agent.tile))
          return state.fail(FaultKind::NotReady, flat, agent.tile, wanted(state, flat, step.inputs[k]) + content(state, slot));
        if (!adds && !may_read(state, flat, step.inputs[k], slot, true)) return;
        slot.used |= state.bit(flat.role);
        if (k < 2) async.reads.push_back(&slot);
      }
      async.operands.push_back(&slots.front());
      if (k == 2) sum = slots;
    }
    const Slots result = slots_at(state, flat, step.output, block);
    for (Slot& slot : result) {
      const bool adds = !sum.empty() && &slot >= &sum.front() && &slot <= &sum.back();
      if (!adds && !may_fill(state, flat, step.output, slot)) return;
      if (!may_overwrite(state, flat, slot, false, adds && slot.by_product && slot.writer == flat.role)) return;
    }
    for (Slot& slot : result) {
      fill_columns(state, flat, slot, step.output, true);
      ++slot.adding;
      async.fills.push_back(&slot);
    }
  }
  for (Slot* slot : async.reads) {
    ++slot->readers;
    slot->users.push_back(flat.role);
  }
  agent.products.push_back(&async);
  state.pool.push_back(std::move(made));
}

void complete_product(BlockState& state, std::size_t role, const Async& async) {
  const Step& step = *async.at.step;
  for (Phase* phase : async.signals)
    if (!arrive(state, *phase, async.barrier, 1, async.use))
      return state.fail(FaultKind::Parity, async.at, async.tile, fmt::format("arrives when phase {} is over already", async.use));
  if (step.kind == StepKind::Signal) return;
  for (Slot* slot : async.reads) {
    --slot->readers;
    slot->users.erase(std::find(slot->users.begin(), slot->users.end(), role));
  }
  for (Slot* slot : async.fills) --slot->adding;
  if (!state.data) return;
  const Blocks blocks = state.blocks_of(role);
  const std::size_t count = blocks.end - blocks.first, cells = async.fills.size() / count;
  for (std::size_t block = 0; block < count; ++block) {
    const std::int64_t tile = async.tile * state.program.cluster + static_cast<std::int64_t>(blocks.first + block);
    const auto complain = [&](const std::string& complaint) {
      if (!complaint.empty()) state.fail(FaultKind::Semantics, async.at, async.tile, complaint);
      return !complaint.empty();
    };
    Array zero, result;
    std::vector<const Array*> inputs;
    for (std::size_t k = 0; k < step.inputs.size(); ++k) {
      const Slot* operand = async.operands[block * step.inputs.size() + k];
      if (!operand) {
        const std::size_t value = step.inputs[k].value;
        if (complain(state.data->compute({*filling_op(state, value), {}, tile, 0, {}, value}, &zero))) return;
        std::fill(zero.data.begin(), zero.data.end(), 0.0f);
      }
      inputs.push_back(operand ? &operand->array : &zero);
    }
    if (complain(state.data->compute({step.op, {}, tile, step.iteration + async.at.shift, std::move(inputs), step.output.value}, &result)))
      return;
    for (std::size_t cell = 0; cell < cells; ++cell) async.fills[block * cells + cell]->array = result;
  }
}

}  // namespace heddle::codegen

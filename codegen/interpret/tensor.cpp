// Tensor memory and tcgen05 (PTX ISA, tcgen05 family): products that one thread issues and that end at any later moment, in order; signals
// behind them; loads and stores by four warps, the fences and waits around them.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "codegen/interpret/machine.h"

namespace heddle::codegen {

// ---- columns

void BlockMachine::cut_columns() {
  edges_.resize(program_.buffers.size());
  columns_.resize(kernel_.values.size());
  std::vector<std::set<int>> edges(program_.buffers.size());
  const auto note = [&](std::size_t buffer, std::size_t value, const Piece& piece) {
    if (!program_.buffers[buffer].tensor()) return;
    TensorColumns& columns = columns_[value];
    if (columns.count == 0) columns = columns_of(kernel_, program_.params, value);
    for (const int number : {piece.number, piece.number + 1}) edges[buffer].insert(columns.first + columns.count * number / piece.count);
  };
  for (std::size_t b = 0; b < program_.buffers.size(); ++b) {
    if (program_.buffers[b].tensor()) edges[b] = {0, program_.buffers[b].columns};
    for (const std::size_t value : program_.buffers[b].values) note(b, value, {});
  }
  for (const Barrier& barrier : program_.barriers) note(barrier.buffer, barrier.value, {});
  for (std::size_t r = 0; r < program_.roles.size(); ++r)
    for (const Section& section : program_.roles[r].sections)
      for (const Step& step : section.steps) {
        if (step.output.kind == Place::Kind::Buffer) note(step.output.index, step.output.value, step.piece);
        for (const Place& in : step.inputs)
          if (in.kind == Place::Kind::Buffer) note(in.index, in.value, step.piece);
        if (step.kind == StepKind::Issue && step.engine == Engine::Mma) issues_[r] = true;
      }
  for (std::size_t b = 0; b < edges.size(); ++b) edges_[b].assign(edges[b].begin(), edges[b].end());
  for (std::size_t r = 0; r < program_.roles.size() && program_.pair; ++r)
    for (const Section& section : program_.roles[r].sections)
      for (const Step& step : section.steps)
        if (issues_[r] && step.kind == StepKind::Wait) leads_[step.barrier] = true;
}

BlockMachine::Slots BlockMachine::part_of(Slots slot, std::size_t buffer, std::size_t value, const Piece& piece) const {
  if (slot.empty() || edges_.empty() || edges_[buffer].empty()) return slot;
  const std::vector<int>& edges = edges_[buffer];
  const auto cell = [&](int number) {
    const TensorColumns& columns = columns_[value];
    const auto at = std::lower_bound(edges.begin(), edges.end(), columns.first + columns.count * number / piece.count);
    return std::min(static_cast<std::size_t>(at - edges.begin()), slot.size());
  };
  const std::size_t first = cell(piece.number);
  return slot.subspan(first, std::max(cell(piece.number + 1), first) - first);
}

// ---- loads and stores by threads

bool BlockMachine::has_fenced(std::size_t role, const Flat& flat) {
  if (!agents_[role].waited) return true;
  fail(FaultKind::Fence, role, flat, agents_[role].tile, "goes to tensor memory after a wait without a fence in between");
  return false;
}

bool BlockMachine::may_overwrite(std::size_t role, const Flat& flat, const Slot& slot, bool by_threads, bool adds) {
  const auto refuse = [&](FaultKind kind, const char* why) {
    fail(kind, role, flat, agents_[role].tile, fmt::format("overwrites {} {}", content(slot), why));
    return false;
  };
  if (slot.readers > 0) return refuse(FaultKind::Overwrite, "while a product in flight still reads it");
  if (slot.adding > 0 && !adds) return refuse(FaultKind::Overwrite, "while a product in flight still fills it");
  if (slot.loading) return refuse(FaultKind::Overwrite, "before loads from it have been awaited");
  if (slot.storing) return refuse(FaultKind::Overwrite, "before stores into it have been awaited");
  if (slot.touched & ~bit(role)) return refuse(FaultKind::Fence, "which another role has loaded or stored without a fence since");
  if (!by_threads && ((slot.touched | slot.unmet) & bit(role)))
    return refuse(FaultKind::Fence, "which its own threads have loaded or stored, before they have met behind a fence");
  return true;
}

void BlockMachine::fill_columns(std::size_t role, const Flat& flat, Slot& slot, const Place& place, bool by_product) {
  slot.value = place.value;
  slot.iteration = iteration_of(flat, place);
  slot.tile = agents_[role].tile;
  slot.writer = role;
  slot.by_product = by_product;
  slot.told = false;
  slot.seen = slot.used = 0;
  if (slot.granted == role) slot.granted = kNothing;
  slot.loading = slot.unmet = 0;
  slot.storing = slot.touched = by_product ? 0 : bit(role);
}

void BlockMachine::store_columns(std::size_t role, const Flat& flat, const Place& place, const Array& array) {
  for (Slot& slot : slots_at(role, flat, place)) {
    if (!may_fill(role, flat, place, slot) || !may_overwrite(role, flat, slot, true, false)) return;
    fill_columns(role, flat, slot, place, false);
    slot.array = array;
  }
}

void BlockMachine::note_loads(std::size_t role, const Flat& flat) {
  const Step& step = *flat.step;
  bool loads = false;
  for (const Place& in : step.inputs) {
    if (!is_tensor(in)) continue;
    loads = true;
    for (Slot& slot : slots_at(role, flat, in)) {
      slot.loading |= bit(role);
      slot.touched |= bit(role);
    }
  }
  if (loads && step.output.kind == Place::Kind::Variable) register_at(role, step.output, true)->loading = true;
  agents_[role].touched = agents_[role].touched || loads || is_tensor(step.output);
}

void BlockMachine::await_own(std::size_t role, bool reads) {
  for_each_tensor_slot(role, [&](Slot& slot) { (reads ? slot.loading : slot.storing) &= ~bit(role); });
  if (!reads) return;
  for (auto& copies : agents_[role].variables)
    for (RegisterCell& cell : copies) cell.loading = false;
}

void BlockMachine::fence_before(std::size_t role) {
  agents_[role].touched = false;
  // What has not been awaited is not over when the fence is.
  for_each_tensor_slot(role, [&](Slot& slot) {
    const std::uint64_t over = slot.touched & ~(slot.loading | slot.storing) & bit(role);
    slot.touched &= ~over;
    slot.unmet |= over;
  });
}

// ---- products

bool BlockMachine::begins_with_zero(const Flat& flat, const Place& place) const {
  return iteration_of(flat, place) == -1 && filling_op(place.value).has_value();
}

std::optional<OpRef> BlockMachine::filling_op(std::size_t value) const {
  for (std::size_t i = 0; i < kernel_.prologue.size(); ++i) {
    const TileOp& op = kernel_.prologue[i];
    if (op.kind == "fill" && op.outputs.size() == 1 && op.outputs[0] == kernel_.values[value].name) return OpRef{OpRef::List::Prologue, i};
  }
  return std::nullopt;
}

void BlockMachine::issue_product(std::size_t role, const Flat& flat) {
  Agent& agent = agents_[role];
  const Step& step = *flat.step;
  if (!has_fenced(role, flat)) return;
  auto made = std::make_unique<Async>();
  Async& async = *made;
  async.role = role;
  async.at = flat;
  async.tile = agent.tile;
  const Blocks blocks = blocks_of(role);
  for (std::size_t block = blocks.first; block < blocks.end; ++block) {
    Slots sum;
    for (std::size_t k = 0; k < step.inputs.size(); ++k) {
      if (k == 2 && begins_with_zero(flat, step.inputs[k])) {
        async.operands.push_back(nullptr);
        continue;
      }
      const Slots slots = slots_at(role, flat, step.inputs[k], block);
      if (slots.empty()) return;
      for (Slot& slot : slots) {
        // Products of one role that add into the same tile follow each other without a wait.
        const bool adds = k == 2 && slot.by_product && slot.writer == role;
        if (adds && !holds(slot, flat, step.inputs[k], agent.tile))
          return fail(FaultKind::NotReady, role, flat, agent.tile, wanted(role, flat, step.inputs[k]) + content(slot));
        if (!adds && !may_read(role, flat, step.inputs[k], slot, true)) return;
        slot.used |= bit(role);
        if (k < 2) async.reads.push_back(&slot);
      }
      async.operands.push_back(&slots.front());
      if (k == 2) sum = slots;
    }
    const Slots result = slots_at(role, flat, step.output, block);
    for (Slot& slot : result) {
      const bool adds = !sum.empty() && &slot >= &sum.front() && &slot <= &sum.back();
      if (!adds && !may_fill(role, flat, step.output, slot)) return;
      if (!may_overwrite(role, flat, slot, false, adds && slot.by_product && slot.writer == role)) return;
    }
    for (Slot& slot : result) {
      fill_columns(role, flat, slot, step.output, true);
      ++slot.adding;
      async.fills.push_back(&slot);
    }
  }
  for (Slot* slot : async.reads) {
    ++slot->readers;
    slot->users.push_back(role);
  }
  agent.products.push_back(&async);
  pool_.push_back(std::move(made));
}

void BlockMachine::signal(std::size_t role, const Flat& flat) {
  Agent& agent = agents_[role];
  const Step& step = *flat.step;
  const auto at = static_cast<std::size_t>(agent.cursors[step.cursor].slot);
  if (at >= phases(block_of(role), step.barrier).size())
    return fail(FaultKind::NotReady, role, flat, agent.tile, fmt::format("slot {} does not exist", at));
  if (!may_tell(role, flat)) return;
  auto made = std::make_unique<Async>();
  made->role = role;
  made->at = flat;
  made->tile = agent.tile;
  made->barrier = step.barrier;
  made->use = use_of(role, step.cursor);
  const Blocks blocks = blocks_of(role);
  for (std::size_t block = blocks.first; block < (leads_[step.barrier] ? blocks.first + 1 : blocks.end); ++block)
    made->signals.push_back(&phases(block, step.barrier)[at]);
  agent.products.push_back(made.get());
  pool_.push_back(std::move(made));
}

void BlockMachine::complete_product(std::size_t role, const Async& async) {
  const Step& step = *async.at.step;
  for (Phase* phase : async.signals)
    if (!arrive(*phase, async.barrier, 1, async.use))
      return fail(FaultKind::Parity, role, async.at, async.tile, fmt::format("arrives when phase {} is over already", async.use));
  if (step.kind == StepKind::Signal) return;
  for (Slot* slot : async.reads) {
    --slot->readers;
    slot->users.erase(std::find(slot->users.begin(), slot->users.end(), role));
  }
  for (Slot* slot : async.fills) --slot->adding;
  if (!data_) return;
  const Blocks blocks = blocks_of(role);
  const std::size_t count = blocks.end - blocks.first, cells = async.fills.size() / count;
  for (std::size_t block = 0; block < count; ++block) {
    const std::int64_t tile = async.tile * program_.cluster + static_cast<std::int64_t>(blocks.first + block);
    const auto complain = [&](const std::string& complaint) {
      if (!complaint.empty()) fail(FaultKind::Semantics, role, async.at, async.tile, complaint);
      return !complaint.empty();
    };
    Array zero, result;
    std::vector<const Array*> inputs;
    for (std::size_t k = 0; k < step.inputs.size(); ++k) {
      const Slot* operand = async.operands[block * step.inputs.size() + k];
      if (!operand) {
        const std::size_t value = step.inputs[k].value;
        if (complain(data_->compute(*filling_op(value), {}, tile, 0, {}, &zero, value))) return;
        std::fill(zero.data.begin(), zero.data.end(), 0.0f);
      }
      inputs.push_back(operand ? &operand->array : &zero);
    }
    if (complain(data_->compute(step.op, {}, tile, step.iteration + async.at.shift, inputs, &result, step.output.value))) return;
    for (std::size_t cell = 0; cell < cells; ++cell) async.fills[block * cells + cell]->array = result;
  }
}

}  // namespace heddle::codegen

// What steps do with values: computing, issuing what happens later, and its happening.
#include <algorithm>

#include <fmt/format.h>

#include "codegen/interpret/machine.h"

namespace heddle::codegen {

void BlockMachine::compute(std::size_t role, const Flat& flat) {
  const Step& step = *flat.step;
  const bool tensor =
      is_tensor(step.output) || std::any_of(step.inputs.begin(), step.inputs.end(), [&](const Place& p) { return is_tensor(p); });
  if (tensor && !has_fenced(role, flat)) return;
  std::vector<const Array*> inputs;
  for (const Place& place : step.inputs) {
    inputs.push_back(read(role, flat, place, false, false));
    if (fault_) return;
  }
  Array result;
  if (data_) {
    if (step.kind == StepKind::Put) {
      result = *inputs.at(0);
    } else {
      const std::string complaint = data_->compute(step.op, step.piece, tile_of(role, agents_[role].tile), step.iteration + flat.shift,
                                                   inputs, step.output.kind == Place::Kind::None ? nullptr : &result, step.output.value);
      if (!complaint.empty()) return fail(FaultKind::Semantics, role, flat, agents_[role].tile, complaint);
    }
  }
  if (step.output.kind == Place::Kind::Variable) write_register(role, flat, step.output, std::move(result));
  if (is_tensor(step.output)) {
    store_columns(role, flat, step.output, result);
  } else if (step.output.kind == Place::Kind::Buffer) {
    const Slots slot = slots_at(role, flat, step.output);
    if (!slot.empty() && may_fill(role, flat, step.output, slot.front()))
      fill_slot(role, flat, slot.front(), step.output, true, std::move(result));
  }
  if (tensor && !fault_) note_loads(role, flat);
}

void BlockMachine::issue(std::size_t role, const Flat& flat) {
  Agent& agent = agents_[role];
  const Step& step = *flat.step;
  if (step.engine == Engine::Mma && step.output.kind == Place::Kind::Buffer) return issue_product(role, flat);
  if (data_ && step.engine != Engine::Mma)
    if (std::string why = data_->misplaced(step, tile_of(role, agent.tile), step.iteration + flat.shift); !why.empty())
      return fail(FaultKind::Alignment, role, flat, agent.tile, std::move(why));
  auto made = std::make_unique<Async>();
  Async& async = *made;
  async.role = role;
  async.at = flat;
  async.tile = agent.tile;
  for (std::size_t k = 0; k < step.inputs.size(); ++k) {
    const bool sum = step.engine == Engine::Mma && k == 2;
    read(role, flat, step.inputs[k], true, sum);
    if (fault_) return;
    if (step.inputs[k].kind == Place::Kind::Variable && !sum) async.registers.push_back(register_at(role, step.inputs[k], false));
    if (step.inputs[k].kind == Place::Kind::Buffer) async.reads.push_back(&slots_at(role, flat, step.inputs[k]).front());
  }
  if (step.engine == Engine::Mma) {
    RegisterCell* cell = register_at(role, step.output, true);
    if (!cell) return fail(FaultKind::NotReady, role, flat, agent.tile, "a copy that does not exist");
    const bool adds = step.inputs.size() > 2;
    if (cell->flying > 0 && !(adds && cell->summing))
      return fail(FaultKind::Overwrite, role, flat, agent.tile, "writes registers that a wgmma in flight may still use");
    cell->value = step.output.value;
    cell->iteration = iteration_of(flat, step.output);
    cell->tile = agent.tile;
    cell->summing = true;
    async.registers.push_back(cell);
    agent.products.push_back(&async);
    agent.open_products.push_back(&async);
  } else if (step.engine == Engine::Store) {
    agent.stores.push_back(&async);
    agent.open_stores.push_back(&async);
  } else {
    const Slots own_slot = slots_at(role, flat, step.output);
    if (own_slot.empty() || !may_fill(role, flat, step.output, own_slot.front())) return;
    const auto at = static_cast<std::size_t>(agent.cursors[step.output.cursor].slot),
               slot = static_cast<std::size_t>(agent.cursors[step.cursor].slot);
    if (slot >= phases(block_of(role), step.barrier).size())
      return fail(FaultKind::NotReady, role, flat, agent.tile, "a barrier that does not exist");
    const bool shared = is_shared(step.output.index);
    async.part = shared ? 1u << block_of(role) : 1u;
    async.use = use_of(role, step.cursor);
    async.barrier = step.barrier;
    for (std::size_t block = 0; block < static_cast<std::size_t>(program_.cluster); ++block) {
      if (!shared && block != block_of(role)) continue;
      Slot& target = slots(block, step.output.index)[at];
      fill_slot(role, flat, target, step.output, false, {}, shared ? async.part : 0);
      if (fault_) return;
      if (!shared) target.filling = 1;
      async.fills.push_back(&target);
      async.signals.push_back(&phases(block, step.barrier)[slot]);
    }
    Phase& own = phases(block_of(role), step.barrier)[slot];
    own.bytes += program_.barriers[step.barrier].tx_bytes;
    if (!arrive(own, step.barrier, 1, async.use))
      return fail(FaultKind::Parity, role, flat, agent.tile, fmt::format("arrives when phase {} is over already", async.use));
    agent.loads.push_back(&async);
  }
  for (RegisterCell* cell : async.registers) ++cell->flying;
  if (step.engine == Engine::Load) {
    // What names the rows of a gather is read by the thread that issues it.
    for (const Slot* slot : async.reads) async.taken.push_back(slot->array);
    async.reads.clear();
  }
  for (Slot* slot : async.reads) {
    ++slot->readers;
    slot->users.push_back(role);
  }
  pool_.push_back(std::move(made));
}

/// What was asked for happens: operands are read now, and must still be what was meant.
void BlockMachine::complete(std::size_t role, Engine engine, std::size_t which) {
  Agent& agent = agents_[role];
  auto& queue = engine == Engine::Mma ? agent.products : engine == Engine::Load ? agent.loads : agent.stores;
  Async& async = *queue[which];
  queue.erase(queue.begin() + static_cast<std::ptrdiff_t>(which));
  const Step& step = *async.at.step;
  async.done = true;
  if (!async.operands.empty() || step.kind == StepKind::Signal) return complete_product(role, async);
  if (data_) {
    std::vector<const Array*> inputs;
    std::size_t slot = 0, reg = 0;
    for (std::size_t k = 0; k < step.inputs.size(); ++k) {
      if (step.inputs[k].kind == Place::Kind::Buffer)
        inputs.push_back(engine == Engine::Load ? &async.taken[slot++] : &async.reads[slot++]->array);
      else if (engine == Engine::Mma && k == 2)
        inputs.push_back(&async.registers.back()->array);
      else
        inputs.push_back(&async.registers[reg++]->array);
    }
    Array result;
    const std::string complaint = data_->compute(step.op, step.piece, tile_of(role, async.tile), step.iteration + async.at.shift, inputs,
                                                 step.output.kind == Place::Kind::None ? nullptr : &result, step.output.value);
    if (!complaint.empty()) return fail(FaultKind::Semantics, role, async.at, async.tile, complaint);
    if (engine == Engine::Mma) async.registers.back()->array = std::move(result);
    for (Slot* slot : async.fills) slot->array = result;
  }
  for (Slot* slot : async.reads) --slot->readers;
  if (engine != Engine::Load) return;
  const std::int64_t bytes = program_.barriers[async.barrier].tx_bytes / static_cast<std::int64_t>(async.fills.size());
  for (Slot* slot : async.fills) slot->filling &= ~async.part;
  for (Phase* phase : async.signals) {
    if (phase->completed != async.use)
      return fail(FaultKind::Parity, role, async.at, async.tile,
                  fmt::format("brings bytes of phase {} when {} phases are over", async.use, phase->completed));
    phase->bytes -= bytes;
    turn(*phase, async.barrier);
  }
}

}  // namespace heddle::codegen

#include "codegen/interpret/operations.h"

#include <algorithm>

#include <fmt/format.h>

#include "codegen/interpret/access.h"
#include "codegen/interpret/barriers.h"
#include "codegen/interpret/faults.h"
#include "codegen/interpret/tensor.h"

namespace heddle::codegen {

void compute(BlockState& state, const Flat& flat) {
  const Step& step = *flat.step;
  const bool tensor = state.is_tensor(step.output) ||
                      std::any_of(step.inputs.begin(), step.inputs.end(), [&](const Place& p) { return state.is_tensor(p); });
  if (tensor && !has_fenced(state, flat)) return;
  std::vector<const Array*> inputs;
  for (const Place& place : step.inputs) {
    inputs.push_back(read(state, flat, place, false, false));
    if (state.fault) return;
  }
  Array result;
  if (state.data) {
    if (step.kind == StepKind::Put) {
      result = *inputs.at(0);
    } else {
      const std::string complaint = state.data->compute({step.op, step.piece, state.tile_of(flat.role, state.agents[flat.role].tile),
                                                         step.iteration + flat.shift, std::move(inputs), step.output.value},
                                                        step.output.kind == Place::Kind::None ? nullptr : &result);
      if (!complaint.empty()) return state.fail(FaultKind::Semantics, flat, state.agents[flat.role].tile, complaint);
    }
  }
  if (step.output.kind == Place::Kind::Variable) write_register(state, flat, step.output, std::move(result));
  if (state.is_tensor(step.output)) {
    store_columns(state, flat, step.output, result);
  } else if (step.output.kind == Place::Kind::Buffer) {
    const Slots slot = slots_at(state, flat, step.output);
    if (!slot.empty() && may_fill(state, flat, step.output, slot.front()))
      fill_slot(state, flat, slot.front(), step.output, {true, std::move(result)});
  }
  if (tensor && !state.fault) note_loads(state, flat);
}

void issue(BlockState& state, const Flat& flat) {
  Agent& agent = state.agents[flat.role];
  const Step& step = *flat.step;
  if (step.engine == Engine::Mma && step.output.kind == Place::Kind::Buffer) return issue_product(state, flat);
  if (state.data && step.engine != Engine::Mma && !step.copies)
    if (std::string why = state.data->misplaced(step, state.tile_of(flat.role, agent.tile), step.iteration + flat.shift); !why.empty())
      return state.fail(FaultKind::Alignment, flat, agent.tile, std::move(why));
  auto made = std::make_unique<Async>();
  Async& async = *made;
  async.at = flat;
  async.tile = agent.tile;
  for (std::size_t k = 0; k < step.inputs.size(); ++k) {
    const bool sum = step.engine == Engine::Mma && k == 2;
    read(state, flat, step.inputs[k], true, sum);
    if (state.fault) return;
    if (step.inputs[k].kind == Place::Kind::Variable && !sum)
      async.registers.push_back(register_at(state, flat.role, step.inputs[k], false));
    if (step.inputs[k].kind == Place::Kind::Buffer) async.reads.push_back(&slots_at(state, flat, step.inputs[k]).front());
  }
  if (step.engine == Engine::Mma) {
    RegisterCell* cell = register_at(state, flat.role, step.output, true);
    if (!cell) return state.fail(FaultKind::NotReady, flat, agent.tile, "a copy that does not exist");
    const bool adds = step.inputs.size() > 2;
    if (cell->flying > 0 && !(adds && cell->summing))
      return state.fail(FaultKind::Overwrite, flat, agent.tile, "writes registers that a wgmma in flight may still use");
    cell->value = step.output.value;
    cell->iteration = state.iteration_of(flat, step.output);
    cell->tile = agent.tile;
    cell->summing = true;
    async.registers.push_back(cell);
    agent.products.push_back(&async);
    agent.open_products.push_back(&async);
  } else if (step.engine == Engine::Store) {
    agent.stores.push_back(&async);
    agent.open_stores.push_back(&async);
  } else {
    const Slots own_slot = slots_at(state, flat, step.output);
    if (own_slot.empty() || !may_fill(state, flat, step.output, own_slot.front())) return;
    const auto at = static_cast<std::size_t>(agent.cursors[step.output.cursor].slot),
               slot = static_cast<std::size_t>(agent.cursors[step.cursor].slot);
    if (slot >= state.phases(state.block_of(flat.role), step.barrier).size())
      return state.fail(FaultKind::NotReady, flat, agent.tile, "a barrier that does not exist");
    const bool shared = state.is_shared(step.output.index);
    async.part = shared ? 1u << state.block_of(flat.role) : 1u;
    async.use = state.use_of(flat.role, step.cursor);
    async.barrier = step.barrier;
    for (std::size_t block = 0; block < static_cast<std::size_t>(state.program.cluster); ++block) {
      if (!shared && block != state.block_of(flat.role)) continue;
      Slot& target = state.slots(block, step.output.index)[at];
      fill_slot(state, flat, target, step.output, {.part = shared ? async.part : 0});
      if (state.fault) return;
      if (!shared) target.filling = 1;
      async.fills.push_back(&target);
      async.signals.push_back(&state.phases(block, step.barrier)[slot]);
    }
    Phase& own = state.phases(state.block_of(flat.role), step.barrier)[slot];
    own.bytes += state.program.barriers[step.barrier].tx_bytes;
    if (!step.copies && !arrive(state, own, step.barrier, 1, async.use))
      return state.fail(FaultKind::Parity, flat, agent.tile, fmt::format("arrives when phase {} is over already", async.use));
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
    slot->users.push_back(flat.role);
  }
  state.pool.push_back(std::move(made));
}

void complete(BlockState& state, std::size_t role, Engine engine, std::size_t which) {
  Agent& agent = state.agents[role];
  auto& queue = engine == Engine::Mma ? agent.products : engine == Engine::Load ? agent.loads : agent.stores;
  Async& async = *queue[which];
  queue.erase(queue.begin() + static_cast<std::ptrdiff_t>(which));
  const Step& step = *async.at.step;
  async.done = true;
  if (!async.operands.empty() || step.kind == StepKind::Signal) return complete_product(state, role, async);
  if (state.data) {
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
    const std::string complaint = state.data->compute(
        {step.op, step.piece, state.tile_of(role, async.tile), step.iteration + async.at.shift, std::move(inputs), step.output.value},
        step.output.kind == Place::Kind::None ? nullptr : &result);
    if (!complaint.empty()) return state.fail(FaultKind::Semantics, async.at, async.tile, complaint);
    if (engine == Engine::Mma) async.registers.back()->array = std::move(result);
    for (Slot* slot : async.fills) slot->array = result;
  }
  for (Slot* slot : async.reads) --slot->readers;
  if (engine != Engine::Load) return;
  const std::int64_t bytes = state.program.barriers[async.barrier].tx_bytes / static_cast<std::int64_t>(async.fills.size());
  for (Slot* slot : async.fills) slot->filling &= ~async.part;
  for (Phase* phase : async.signals) {
    if (phase->completed != async.use)
      return state.fail(FaultKind::Parity, async.at, async.tile,
                        fmt::format("brings bytes of phase {} when {} phases are over", async.use, phase->completed));
    phase->bytes -= bytes;
    if (!step.copies)
      turn(state, *phase, async.barrier);
    else if (!arrive(state, *phase, async.barrier, step.count, async.use))
      return state.fail(FaultKind::Parity, async.at, async.tile, fmt::format("arrives when phase {} is over already", async.use));
  }
}

}  // namespace heddle::codegen

#include "codegen/interpret/barriers.h"

#include <fmt/format.h>

#include "codegen/interpret/access.h"

namespace heddle::codegen {

void turn(BlockState& state, Phase& phase, std::size_t barrier) {
  if (phase.pending > 0 || phase.bytes != 0) return;
  ++phase.completed;
  phase.pending = state.program.barriers[barrier].arrivals;
}

bool arrive(BlockState& state, Phase& phase, std::size_t barrier, int count, std::int64_t about) {
  // Arrivals beyond this phase's count for the next one: then some waiter goes on too early, if not now then later.
  for (; count > 0; --count) {
    if (phase.completed != about) return false;
    --phase.pending;
    turn(state, phase, barrier);
  }
  return true;
}

void wait(BlockState& state, const Flat& flat) {
  Agent& agent = state.agents[flat.role];
  const Step& step = *flat.step;
  const Barrier& barrier = state.program.barriers[step.barrier];
  const auto at = static_cast<std::size_t>(agent.cursors[step.cursor].slot);
  const auto& ring = state.phases(state.block_of(flat.role), step.barrier);
  if (at >= ring.size()) return state.fail(FaultKind::NotReady, flat, agent.tile, fmt::format("slot {} does not exist", at));
  const Blocks blocks = state.blocks_of(flat.role);
  for (std::size_t block = blocks.first; block < blocks.end; ++block)
    for (Slot& slot : slot_behind(state, flat.role, step, block)) {
      if (step.fence) slot.fenced |= state.bit(flat.role);
      if (!barrier.full)
        slot.granted = flat.role;
      else if (slot.value == barrier.value || !state.program.buffers[barrier.buffer].tensor())
        slot.seen |= state.bit(flat.role);
    }
  agent.waited = true;
  const std::int64_t wanted = state.use_of(flat.role, step.cursor) + (step.ahead ? 0 : 1);
  if (ring[at].completed != wanted)
    state.fail(FaultKind::Parity, flat, agent.tile,
               fmt::format("passes although {} phases are over; it is about phase {}", ring[at].completed, wanted));
}

void tell(BlockState& state, const Flat& flat) {
  Agent& agent = state.agents[flat.role];
  const Step& step = *flat.step;
  const auto at = static_cast<std::size_t>(agent.cursors[step.cursor].slot);
  if (at >= state.phases(state.block_of(flat.role), step.barrier).size())
    return state.fail(FaultKind::NotReady, flat, agent.tile, fmt::format("slot {} does not exist", at));
  if (!may_tell(state, flat)) return;
  const bool all = !state.program.barriers[step.barrier].full && state.is_shared(state.program.barriers[step.barrier].buffer);
  for (std::size_t block = 0; block < static_cast<std::size_t>(state.program.cluster); ++block)
    if (all || block == state.block_of(flat.role))
      if (!arrive(state, state.phases(block, step.barrier)[at], step.barrier, step.count, state.use_of(flat.role, step.cursor)))
        return state.fail(FaultKind::Parity, flat, agent.tile,
                          fmt::format("arrives when phase {} is over already", state.use_of(flat.role, step.cursor)));
}

void signal(BlockState& state, const Flat& flat) {
  Agent& agent = state.agents[flat.role];
  const Step& step = *flat.step;
  const auto at = static_cast<std::size_t>(agent.cursors[step.cursor].slot);
  if (at >= state.phases(state.block_of(flat.role), step.barrier).size())
    return state.fail(FaultKind::NotReady, flat, agent.tile, fmt::format("slot {} does not exist", at));
  if (!may_tell(state, flat)) return;
  auto made = std::make_unique<Async>();
  made->at = flat;
  made->tile = agent.tile;
  made->barrier = step.barrier;
  made->use = state.use_of(flat.role, step.cursor);
  const Blocks blocks = state.blocks_of(flat.role);
  for (std::size_t block = blocks.first; block < (state.leads[step.barrier] ? blocks.first + 1 : blocks.end); ++block)
    made->signals.push_back(&state.phases(block, step.barrier)[at]);
  agent.products.push_back(made.get());
  state.pool.push_back(std::move(made));
}

}  // namespace heddle::codegen

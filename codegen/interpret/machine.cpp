// At every step one role that can go on, or one thing in flight that can complete, is drawn at random. Seeds differ in manner too: late
// completions, slow roles and fixed orders all come up.
#include "codegen/interpret/machine.h"

#include <algorithm>

#include <fmt/format.h>

#include "codegen/interpret/access.h"
#include "codegen/interpret/barriers.h"
#include "codegen/interpret/faults.h"
#include "codegen/interpret/operations.h"
#include "codegen/interpret/tensor.h"

namespace heddle::codegen {
namespace {

void meet(BlockState& state, std::size_t role) {
  for (std::size_t b = 0; b < state.program.buffers.size(); ++b)
    for (Slot& slot : state.slots(state.block_of(role), b)) {
      slot.unfenced = slot.untold = false;
      slot.unmet &= ~state.bit(role);
    }
  state.agents[role].waited = true;
}

void retire(Agent& agent, const Step& step) {
  auto& groups = step.engine == Engine::Mma ? agent.product_groups : agent.store_groups;
  while (groups.size() > static_cast<std::size_t>(step.keep)) {
    for (const Async* a : groups.front()) {
      for (RegisterCell* cell : a->registers)
        if (--cell->flying == 0) cell->summing = false;
      for (Slot* slot : a->reads) {
        if (step.engine == Engine::Store) slot->untold = true;
        slot->users.erase(std::find(slot->users.begin(), slot->users.end(), a->at.role));
      }
    }
    groups.pop_front();
  }
}

bool ready(const BlockState& state, std::size_t role) {
  const Agent& agent = state.agents[role];
  const Step& step = *agent.code[agent.at].step;
  if (step.kind == StepKind::Wait) {
    const CursorState& cursor = agent.cursors[step.cursor];
    const auto& ring = state.phases(state.block_of(role), step.barrier);
    if (static_cast<std::size_t>(cursor.slot) >= ring.size()) return true;  // step() complains
    const int parity = cursor.phase ^ (step.ahead ? 1 : 0);
    return (ring[static_cast<std::size_t>(cursor.slot)].completed & 1) != parity;
  }
  if (step.kind == StepKind::TakeTurn) return state.turns[role] > 0;
  if (step.kind == StepKind::Retire) {
    const auto& groups = step.engine == Engine::Mma ? agent.product_groups : agent.store_groups;
    const std::size_t keep = static_cast<std::size_t>(step.keep);
    for (std::size_t g = 0; g + keep < groups.size(); ++g)
      if (std::any_of(groups[g].begin(), groups[g].end(), [](const Async* a) { return !a->done; })) return false;
  }
  return true;
}

void step(BlockState& state, std::size_t role) {
  Agent& agent = state.agents[role];
  const Flat flat = agent.code[agent.at];
  const Step& step = *flat.step;
  switch (step.kind) {
    case StepKind::Wait: wait(state, flat); break;
    case StepKind::Issue: issue(state, flat); break;
    case StepKind::Commit: {
      auto& open = step.engine == Engine::Mma ? agent.open_products : agent.open_stores;
      (step.engine == Engine::Mma ? agent.product_groups : agent.store_groups).push_back(std::exchange(open, {}));
      break;
    }
    case StepKind::Retire: retire(agent, step); break;
    case StepKind::Compute:
    case StepKind::Put: compute(state, flat); break;
    case StepKind::Sync: meet(state, role); break;
    case StepKind::Arrive: tell(state, flat); break;
    case StepKind::Signal: signal(state, flat); break;
    case StepKind::AwaitReads: await_own(state, role, true); break;
    case StepKind::AwaitWrites: await_own(state, role, false); break;
    case StepKind::FenceBefore: fence_before(state, role); break;
    case StepKind::FenceAfter: agent.waited = false; break;
    case StepKind::TakeTurn: --state.turns[role]; break;
    case StepKind::PassTurn:
      if (++state.turns[state.block_of(role) * state.program.roles.size() + step.barrier] > 1)
        return state.fail(FaultKind::Turns, flat, agent.tile, "gives a turn before the last one has been taken");
      break;
    case StepKind::Advance: {
      CursorState& cursor = agent.cursors[step.cursor];
      ++cursor.count;
      if (++cursor.slot == state.role_at(role).cursors[step.cursor].depth) cursor.slot = 0, cursor.phase ^= 1;
      break;
    }
  }
  if (state.fault) return;
  if (++agent.at == agent.code.size()) {
    ++agent.tile;
    if (!state.finished(agent)) state.begin_tile(role);
  }
}

}  // namespace

std::optional<ProgramFault> run_block(const Kernel& kernel, const Program& program, const Interleaving& how, TileData* data) {
  BlockState state(kernel, program, how, data);
  state.turns.assign(state.agents.size(), 0);
  for (std::size_t block = 0; state.program.turns && block < static_cast<std::size_t>(state.program.cluster); ++block)
    if (state.program.turns->first != state.program.turns->last)
      state.turns[block * state.program.roles.size() + state.program.turns->first] = 1;
  const std::vector<int> turns_at_first = state.turns;
  if (auto fault = check_registers(state)) return fault;
  if (state.program.blackwell())
    for (auto fault : {check_tensor(state), check_lanes(state)})
      if (fault) return fault;
  // Manners of interleaving: how often a completion happens where a role could go on, and which roles are fast.
  enum Manner { kUniform, kLate, kEager, kOrdered, kOrderedLate, kUneven, kNoLoads, kNoProducts, kNoStores, kSlowRole, kManners };
  const auto manner = static_cast<Manner>(state.how.seed % kManners);
  // One kind of completion may be put off until nothing else can happen.
  const Engine last = manner == kNoLoads                             ? Engine::Load
                      : manner == kNoProducts || manner == kSlowRole ? Engine::Mma
                      : manner == kNoStores                          ? Engine::Store
                                                                     : Engine::None;
  std::vector<std::uint64_t> weight(state.agents.size(), 1);
  std::vector<std::size_t> order(state.agents.size());
  for (std::size_t r = 0; r < order.size(); ++r) order[r] = r;
  std::shuffle(order.begin(), order.end(), state.random);
  if (manner == kUneven)
    for (auto& w : weight) w = 1 + state.random() % 40;
  std::vector<std::size_t> able;
  struct Completion {
    std::size_t role;
    Engine engine;
    std::size_t which;
  };
  std::vector<Completion> completions, put_off;
  const auto completion = [&](std::size_t role, Engine engine, std::size_t which) {
    (engine == last && (manner != kSlowRole || role == order.front()) ? put_off : completions).push_back({role, engine, which});
  };
  while (!state.fault) {
    if (state.how.stop.stop_requested()) return std::nullopt;
    able.clear();
    completions.clear();
    put_off.clear();
    for (std::size_t r = 0; r < state.agents.size(); ++r) {
      Agent& a = state.agents[r];
      if (!state.finished(a) && a.code.empty()) a.tile = state.how.tiles;
      if (!state.finished(a) && ready(state, r)) able.push_back(r);
      if (!a.products.empty()) completion(r, Engine::Mma, 0);  // one role's products finish in order
      for (std::size_t k = 0; k < a.loads.size(); ++k) completion(r, Engine::Load, k);
      for (std::size_t k = 0; k < a.stores.size(); ++k) completion(r, Engine::Store, k);
    }
    if (able.empty() && completions.empty() && !put_off.empty()) {
      // One role's come after all others'.
      const auto place = [&](const Completion& c) { return std::find(order.begin(), order.end(), c.role) - order.begin(); };
      std::ptrdiff_t last_place = 0;
      for (const Completion& c : put_off) last_place = std::max(last_place, place(c));
      for (const Completion& c : put_off)
        if (place(c) == last_place) completions.push_back(c);
    }
    if (able.empty() && completions.empty()) break;
    bool finish = able.empty();
    if (!finish && !completions.empty()) {
      switch (manner) {
        case kLate:
        case kOrderedLate: break;
        case kEager: finish = true; break;
        case kOrdered: finish = state.random() % 10 == 0; break;
        default: finish = state.random() % (able.size() + completions.size()) < completions.size(); break;
      }
    }
    if (finish) {
      const Completion& c = completions[state.random() % completions.size()];
      complete(state, c.role, c.engine, c.which);
      continue;
    }
    std::size_t role = able[state.random() % able.size()];
    if (manner == kOrdered || manner == kOrderedLate) {
      role = *std::find_if(order.begin(), order.end(), [&](std::size_t r) { return std::find(able.begin(), able.end(), r) != able.end(); });
    } else if (manner == kUneven) {
      std::uint64_t sum = 0;
      for (const std::size_t r : able) sum += weight[r];
      std::uint64_t pick = state.random() % sum;
      for (const std::size_t r : able) {
        role = r;
        if (pick < weight[r]) break;
        pick -= weight[r];
      }
    }
    step(state, role);
  }
  if (state.fault) return state.fault;
  for (const Agent& agent : state.agents)
    if (!state.finished(agent)) return stuck(state);
  for (std::size_t r = 0; r < state.turns.size(); ++r)
    if (state.turns[r] != turns_at_first[r])
      return ProgramFault{
          FaultKind::Turns, state.role_at(r).name, "", state.how.tiles, 0, "the turns given and taken are not the same number", {}};
  return std::nullopt;
}

}  // namespace heddle::codegen

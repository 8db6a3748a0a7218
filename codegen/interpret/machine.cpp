// At every step one role that can go on, or one thing in flight that can complete, is drawn at random. Seeds differ in manner too: late
// completions, slow roles and fixed orders all come up.
#include "codegen/interpret/machine.h"

#include <algorithm>

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
        return state.fail(FaultKind::Turns, flat, agent.tile,
                          "arrives at a named barrier before the last arrival there has been waited for");
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

/// Draws what happens next: a role that can go on, or the completion of something in flight.
class Lots {
 public:
  explicit Lots(BlockState& state)
      : state_(state),
        manner_(static_cast<Manner>(state.how.seed % kManners)),
        weight_(state.agents.size(), 1),
        order_(state.agents.size()) {
    for (std::size_t r = 0; r < order_.size(); ++r) order_[r] = r;
    std::shuffle(order_.begin(), order_.end(), state.random);
    if (manner_ == kUneven)
      for (auto& w : weight_) w = 1 + state.random() % 40;
  }

  /// False: no role can go on, and nothing is in flight.
  bool happens() {
    gather();
    if (able_.empty() && completions_.empty()) return false;
    if (completes()) {
      const Completion& c = completions_[state_.random() % completions_.size()];
      complete(state_, c.role, c.engine, c.which);
    } else {
      step(state_, role());
    }
    return true;
  }

 private:
  /// How often a completion happens where a role could go on, and which roles are fast.
  enum Manner { kUniform, kLate, kEager, kOrdered, kOrderedLate, kUneven, kNoLoads, kNoProducts, kNoStores, kSlowRole, kManners };
  struct Completion {
    std::size_t role;
    Engine engine;
    std::size_t which;
  };

  /// One kind of completion may be put off until nothing else can happen.
  bool is_put_off(std::size_t role, Engine engine) const {
    switch (manner_) {
      case kNoLoads: return engine == Engine::Load;
      case kNoProducts: return engine == Engine::Mma;
      case kNoStores: return engine == Engine::Store;
      case kSlowRole: return engine == Engine::Mma && role == order_.front();
      default: return false;
    }
  }

  void gather() {
    able_.clear();
    completions_.clear();
    std::vector<Completion> put_off;
    const auto completion = [&](std::size_t role, Engine engine, std::size_t which) {
      (is_put_off(role, engine) ? put_off : completions_).push_back({role, engine, which});
    };
    for (std::size_t r = 0; r < state_.agents.size(); ++r) {
      Agent& a = state_.agents[r];
      if (!state_.finished(a) && a.code.empty()) a.tile = state_.how.tiles;
      if (!state_.finished(a) && ready(state_, r)) able_.push_back(r);
      if (!a.products.empty()) completion(r, Engine::Mma, 0);  // one role's mmas finish in order
      for (std::size_t k = 0; k < a.loads.size(); ++k) completion(r, Engine::Load, k);
      for (std::size_t k = 0; k < a.stores.size(); ++k) completion(r, Engine::Store, k);
    }
    if (!able_.empty() || !completions_.empty()) return;
    // One role's come after all others'.
    const auto place = [&](const Completion& c) { return std::find(order_.begin(), order_.end(), c.role) - order_.begin(); };
    std::ptrdiff_t last_place = 0;
    for (const Completion& c : put_off) last_place = std::max(last_place, place(c));
    for (const Completion& c : put_off)
      if (place(c) == last_place) completions_.push_back(c);
  }

  /// Else a role goes on.
  bool completes() {
    if (able_.empty() || completions_.empty()) return able_.empty();
    switch (manner_) {
      case kLate:
      case kOrderedLate: return false;
      case kEager: return true;
      case kOrdered: return state_.random() % 10 == 0;
      default: return state_.random() % (able_.size() + completions_.size()) < completions_.size();
    }
  }

  std::size_t role() {
    std::size_t role = able_[state_.random() % able_.size()];
    if (manner_ == kOrdered || manner_ == kOrderedLate)
      return *std::find_if(order_.begin(), order_.end(),
                           [&](std::size_t r) { return std::find(able_.begin(), able_.end(), r) != able_.end(); });
    if (manner_ != kUneven) return role;
    std::uint64_t sum = 0;
    for (const std::size_t r : able_) sum += weight_[r];
    std::uint64_t pick = state_.random() % sum;
    for (const std::size_t r : able_) {
      role = r;
      if (pick < weight_[r]) break;
      pick -= weight_[r];
    }
    return role;
  }

  BlockState& state_;
  const Manner manner_;
  std::vector<std::uint64_t> weight_;
  std::vector<std::size_t> order_;
  std::vector<std::size_t> able_;
  std::vector<Completion> completions_;
};

}  // namespace

std::optional<ProgramFault> run_block(const Kernel& kernel, const Program& program, const Interleaving& how, TileData* data) {
  BlockState state(kernel, program, how, data);
  state.turns.assign(state.agents.size(), 0);
  for (std::size_t block = 0; program.turns && block < static_cast<std::size_t>(program.cluster); ++block)
    if (program.turns->first != program.turns->last) state.turns[block * program.roles.size() + program.turns->first] = 1;
  const std::vector<int> turns_at_first = state.turns;
  if (auto fault = check_registers(state)) return fault;
  if (program.blackwell())
    for (auto fault : {check_tensor(state), check_lanes(state)})
      if (fault) return fault;
  Lots lots(state);
  while (!state.fault) {
    if (how.stop.stop_requested()) return std::nullopt;
    if (!lots.happens()) break;
  }
  if (state.fault) return state.fault;
  for (const Agent& agent : state.agents)
    if (!state.finished(agent)) return stuck(state);
  for (std::size_t r = 0; r < state.turns.size(); ++r)
    if (state.turns[r] != turns_at_first[r])
      return ProgramFault{FaultKind::Turns,
                          state.role_at(r).name,
                          "",
                          how.tiles,
                          0,
                          "the arrivals and the waits at its named barrier are not the same number",
                          {}};
  return std::nullopt;
}

}  // namespace heddle::codegen

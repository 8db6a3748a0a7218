// At every step one role that can go on, or one thing in flight that can complete, is drawn at random. Seeds differ in manner too: late
// completions, slow roles and fixed orders all come up.
#include "codegen/interpret/machine.h"

#include <algorithm>

#include <fmt/format.h>

namespace heddle::codegen {

BlockMachine::BlockMachine(const Kernel& kernel, const Program& program, const Interleaving& how, TileData* data)
    : kernel_(kernel), program_(program), how_(how), data_(data), random_(how.seed) {
  issues_.assign(program.roles.size(), false);
  leads_.assign(program.barriers.size(), false);
  if (program.blackwell()) cut_columns();
  for (int block = 0; block < program.cluster; ++block) {
    for (std::size_t b = 0; b < program.buffers.size(); ++b)
      slots_.emplace_back(static_cast<std::size_t>(program.buffers[b].depth) * cells_per_slot(b));
    for (const Barrier& barrier : program.barriers)
      phases_.emplace_back(static_cast<std::size_t>(program.buffers[barrier.buffer].depth), Phase{barrier.arrivals, 0, 0});
    for (std::size_t r = 0; r < program.roles.size(); ++r) {
      const Role& role = program.roles[r];
      Agent& agent = agents_.emplace_back();
      agent.role = &role;
      agent.block = static_cast<std::size_t>(block);
      agent.cursors.resize(role.cursors.size());
      for (const Variable& v : role.variables) agent.variables.emplace_back(static_cast<std::size_t>(v.copies));
      // The first block of a pair issues the products of both.
      if (program.pair && block > 0 && issues_[r])
        agent.tile = how.tiles;
      else
        begin_tile(agents_.size() - 1);
    }
  }
}

void BlockMachine::begin_tile(std::size_t role) {
  Agent& agent = agents_[role];
  agent.at = 0;
  std::int64_t trips = program_.trips;
  if (program_.varies && data_) {
    trips = rounded_trips(program_, data_->trips(tile_of(role, agent.tile)));
  } else if (program_.varies) {  // mostly short ones, where the ends of the pipeline meet
    std::mt19937_64 choose(how_.seed * 31 + static_cast<std::uint64_t>(agent.tile));
    const auto lengths = static_cast<std::uint64_t>((program_.trips - program_.least_trips) / program_.trip_step + 1);
    trips = program_.least_trips +
            program_.trip_step * static_cast<std::int64_t>(choose() % (choose() % 4 ? std::min<std::uint64_t>(lengths, 6) : lengths));
  }
  if (trips == agent.trips) return;
  agent.trips = trips;
  agent.code.clear();
  for_each_step(
      role_at(role),
      [&](const Section& section, const Step& step, std::int64_t shift) {
        agent.code.push_back({&section, &step, shift});
      },
      program_.trips - trips);
}

std::optional<ProgramFault> BlockMachine::run() {
  turns_.assign(agents_.size(), 0);
  for (std::size_t block = 0; program_.turns && block < static_cast<std::size_t>(program_.cluster); ++block)
    if (program_.turns->first != program_.turns->last) turns_[block * program_.roles.size() + program_.turns->first] = 1;
  const std::vector<int> turns_at_first = turns_;
  if (auto fault = check_registers()) return fault;
  if (program_.blackwell())
    for (auto fault : {check_tensor(), check_lanes()})
      if (fault) return fault;
  // Manners of interleaving: how often a completion happens where a role could go on, and which roles are fast.
  enum Manner { kUniform, kLate, kEager, kOrdered, kOrderedLate, kUneven, kNoLoads, kNoProducts, kNoStores, kSlowRole, kManners };
  const auto manner = static_cast<Manner>(how_.seed % kManners);
  // One kind of completion may be put off until nothing else can happen.
  const Engine last = manner == kNoLoads                             ? Engine::Load
                      : manner == kNoProducts || manner == kSlowRole ? Engine::Mma
                      : manner == kNoStores                          ? Engine::Store
                                                                     : Engine::None;
  std::vector<std::uint64_t> weight(agents_.size(), 1);
  std::vector<std::size_t> order(agents_.size());
  for (std::size_t r = 0; r < order.size(); ++r) order[r] = r;
  std::shuffle(order.begin(), order.end(), random_);
  if (manner == kUneven)
    for (auto& w : weight) w = 1 + random_() % 40;
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
  while (!fault_) {
    if (how_.stop.stop_requested()) return std::nullopt;
    able.clear();
    completions.clear();
    put_off.clear();
    for (std::size_t r = 0; r < agents_.size(); ++r) {
      Agent& a = agents_[r];
      if (!finished(a) && a.code.empty()) a.tile = how_.tiles;
      if (!finished(a) && ready(r)) able.push_back(r);
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
        case kOrdered: finish = random_() % 10 == 0; break;
        default: finish = random_() % (able.size() + completions.size()) < completions.size(); break;
      }
    }
    if (finish) {
      const Completion& c = completions[random_() % completions.size()];
      complete(c.role, c.engine, c.which);
      continue;
    }
    std::size_t role = able[random_() % able.size()];
    if (manner == kOrdered || manner == kOrderedLate) {
      role = *std::find_if(order.begin(), order.end(), [&](std::size_t r) { return std::find(able.begin(), able.end(), r) != able.end(); });
    } else if (manner == kUneven) {
      std::uint64_t sum = 0;
      for (const std::size_t r : able) sum += weight[r];
      std::uint64_t pick = random_() % sum;
      for (const std::size_t r : able) {
        role = r;
        if (pick < weight[r]) break;
        pick -= weight[r];
      }
    }
    step(role);
  }
  if (fault_) return fault_;
  for (const Agent& agent : agents_)
    if (!finished(agent)) return stuck();
  for (std::size_t r = 0; r < turns_.size(); ++r)
    if (turns_[r] != turns_at_first[r])
      return ProgramFault{FaultKind::Turns, role_at(r).name, "", how_.tiles, 0, "the turns given and taken are not the same number", {}};
  return std::nullopt;
}

// ---- barriers

void BlockMachine::turn(Phase& phase, std::size_t barrier) {
  if (phase.pending > 0 || phase.bytes != 0) return;
  ++phase.completed;
  phase.pending = program_.barriers[barrier].arrivals;
}

bool BlockMachine::arrive(Phase& phase, std::size_t barrier, int count, std::int64_t about) {
  // Arrivals beyond this phase's count for the next one: then some waiter goes on too early, if not now then later.
  for (; count > 0; --count) {
    if (phase.completed != about) return false;
    --phase.pending;
    turn(phase, barrier);
  }
  return true;
}

bool BlockMachine::ready(std::size_t role) const {
  const Agent& agent = agents_[role];
  const Step& step = *agent.code[agent.at].step;
  if (step.kind == StepKind::Wait) {
    const CursorState& cursor = agent.cursors[step.cursor];
    const auto& ring = phases(block_of(role), step.barrier);
    if (static_cast<std::size_t>(cursor.slot) >= ring.size()) return true;  // step() complains
    const int parity = cursor.phase ^ (step.ahead ? 1 : 0);
    return (ring[static_cast<std::size_t>(cursor.slot)].completed & 1) != parity;
  }
  if (step.kind == StepKind::TakeTurn) return turns_[role] > 0;
  if (step.kind == StepKind::Retire) {
    const auto& groups = step.engine == Engine::Mma ? agent.product_groups : agent.store_groups;
    const std::size_t keep = static_cast<std::size_t>(step.keep);
    for (std::size_t g = 0; g + keep < groups.size(); ++g)
      if (std::any_of(groups[g].begin(), groups[g].end(), [](const Async* a) { return !a->done; })) return false;
  }
  return true;
}

// ---- steps

void BlockMachine::step(std::size_t role) {
  Agent& agent = agents_[role];
  const Flat flat = agent.code[agent.at];
  const Step& step = *flat.step;
  switch (step.kind) {
    case StepKind::Wait: wait(role, flat); break;
    case StepKind::Issue: issue(role, flat); break;
    case StepKind::Commit: {
      auto& open = step.engine == Engine::Mma ? agent.open_products : agent.open_stores;
      (step.engine == Engine::Mma ? agent.product_groups : agent.store_groups).push_back(std::exchange(open, {}));
      break;
    }
    case StepKind::Retire: retire(agent, step); break;
    case StepKind::Compute:
    case StepKind::Put: compute(role, flat); break;
    case StepKind::Sync: meet(role); break;
    case StepKind::Arrive: tell(role, flat); break;
    case StepKind::Signal: signal(role, flat); break;
    case StepKind::AwaitReads: await_own(role, true); break;
    case StepKind::AwaitWrites: await_own(role, false); break;
    case StepKind::FenceBefore: fence_before(role); break;
    case StepKind::FenceAfter: agent.waited = false; break;
    case StepKind::TakeTurn: --turns_[role]; break;
    case StepKind::PassTurn:
      if (++turns_[block_of(role) * program_.roles.size() + step.barrier] > 1)
        return fail(FaultKind::Turns, role, flat, agent.tile, "gives a turn before the last one has been taken");
      break;
    case StepKind::Advance: {
      CursorState& cursor = agent.cursors[step.cursor];
      ++cursor.count;
      if (++cursor.slot == role_at(role).cursors[step.cursor].depth) cursor.slot = 0, cursor.phase ^= 1;
      break;
    }
  }
  if (fault_) return;
  if (++agent.at == agent.code.size()) {
    ++agent.tile;
    if (!finished(agent)) begin_tile(role);
  }
}

void BlockMachine::wait(std::size_t role, const Flat& flat) {
  Agent& agent = agents_[role];
  const Step& step = *flat.step;
  const Barrier& barrier = program_.barriers[step.barrier];
  const auto at = static_cast<std::size_t>(agent.cursors[step.cursor].slot);
  const auto& ring = phases(block_of(role), step.barrier);
  if (at >= ring.size()) return fail(FaultKind::NotReady, role, flat, agent.tile, fmt::format("slot {} does not exist", at));
  const Blocks blocks = blocks_of(role);
  for (std::size_t block = blocks.first; block < blocks.end; ++block)
    for (Slot& slot : slot_behind(role, step, block)) {
      if (!barrier.full)
        slot.granted = role;
      else if (slot.value == barrier.value || !program_.buffers[barrier.buffer].tensor())
        slot.seen |= bit(role);
    }
  agent.waited = true;
  const std::int64_t wanted = use_of(role, step.cursor) + (step.ahead ? 0 : 1);
  if (ring[at].completed != wanted)
    fail(FaultKind::Parity, role, flat, agent.tile,
         fmt::format("passes although {} phases are over; it is about phase {}", ring[at].completed, wanted));
}

void BlockMachine::meet(std::size_t role) {
  for (std::size_t b = 0; b < program_.buffers.size(); ++b)
    for (Slot& slot : slots(block_of(role), b)) {
      slot.unfenced = slot.untold = false;
      slot.unmet &= ~bit(role);
    }
  agents_[role].waited = true;
}

void BlockMachine::tell(std::size_t role, const Flat& flat) {
  Agent& agent = agents_[role];
  const Step& step = *flat.step;
  const auto at = static_cast<std::size_t>(agent.cursors[step.cursor].slot);
  if (at >= phases(block_of(role), step.barrier).size())
    return fail(FaultKind::NotReady, role, flat, agent.tile, fmt::format("slot {} does not exist", at));
  if (!may_tell(role, flat)) return;
  const bool all = !program_.barriers[step.barrier].full && is_shared(program_.barriers[step.barrier].buffer);
  for (std::size_t block = 0; block < static_cast<std::size_t>(program_.cluster); ++block)
    if (all || block == block_of(role))
      if (!arrive(phases(block, step.barrier)[at], step.barrier, step.count, use_of(role, step.cursor)))
        return fail(FaultKind::Parity, role, flat, agent.tile,
                    fmt::format("arrives when phase {} is over already", use_of(role, step.cursor)));
}

void BlockMachine::retire(Agent& agent, const Step& step) {
  auto& groups = step.engine == Engine::Mma ? agent.product_groups : agent.store_groups;
  while (groups.size() > static_cast<std::size_t>(step.keep)) {
    for (const Async* a : groups.front()) {
      for (RegisterCell* cell : a->registers)
        if (--cell->flying == 0) cell->summing = false;
      for (Slot* slot : a->reads) {
        if (step.engine == Engine::Store) slot->untold = true;
        slot->users.erase(std::find(slot->users.begin(), slot->users.end(), a->role));
      }
    }
    groups.pop_front();
  }
}

}  // namespace heddle::codegen

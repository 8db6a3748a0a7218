// The block's roles take turns; see interpret.h for what is watched.
#include "codegen/interpret/machine.h"

#include <algorithm>

#include <fmt/format.h>

#include "codegen/program/text.h"

namespace heddle::codegen {

BlockMachine::BlockMachine(const Kernel& kernel, const Program& program, const Interleaving& how, TileData* data)
    : kernel_(kernel), program_(program), how_(how), data_(data), random_(how.seed) {
  for (int block = 0; block < program.cluster; ++block) {
    for (const Buffer& buffer : program.buffers) slots_.emplace_back(static_cast<std::size_t>(buffer.depth));
    for (const Barrier& barrier : program.barriers)
      phases_.emplace_back(static_cast<std::size_t>(program.buffers[barrier.buffer].depth), Phase{barrier.arrivals, 0, 0});
    for (const Role& role : program.roles) {
      Agent& agent = agents_.emplace_back();
      agent.cursors.resize(role.cursors.size());
      for (const Variable& v : role.variables) agent.variables.emplace_back(static_cast<std::size_t>(v.copies));
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
    if (able.empty() && completions.empty()) std::swap(completions, put_off);
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
  const std::int64_t tile = agent.tile;
  switch (step.kind) {
    case StepKind::Wait: {
      const CursorState& cursor = agent.cursors[step.cursor];
      if (static_cast<std::size_t>(cursor.slot) >= phases(block_of(role), step.barrier).size())
        return fail(FaultKind::NotReady, role, flat, tile, fmt::format("slot {} does not exist", cursor.slot));
      if (Slot* slot = slot_behind(role, step)) {
        if (program_.barriers[step.barrier].full)
          slot->seen |= std::uint64_t{1} << role;
        else
          slot->granted = role;
      }
      const std::int64_t completed = phases(block_of(role), step.barrier)[static_cast<std::size_t>(cursor.slot)].completed;
      const std::int64_t wanted = use_of(role, step.cursor) + (step.ahead ? 0 : 1);
      if (completed != wanted)
        return fail(FaultKind::Parity, role, flat, tile,
                    fmt::format("passes although {} phases are over; it is about phase {}", completed, wanted));
      break;
    }
    case StepKind::Issue: issue(role, flat); break;
    case StepKind::Commit: {
      auto& open = step.engine == Engine::Mma ? agent.open_products : agent.open_stores;
      (step.engine == Engine::Mma ? agent.product_groups : agent.store_groups).push_back(std::exchange(open, {}));
      break;
    }
    case StepKind::Retire: retire(agent, step); break;
    case StepKind::Compute:
    case StepKind::Put: compute(role, flat); break;
    case StepKind::Sync:
      for (std::size_t b = 0; b < program_.buffers.size(); ++b)
        for (Slot& slot : slots(block_of(role), b)) slot.unfenced = slot.untold = false;
      break;
    case StepKind::Arrive: {
      const CursorState& cursor = agent.cursors[step.cursor];
      if (static_cast<std::size_t>(cursor.slot) >= phases(block_of(role), step.barrier).size())
        return fail(FaultKind::NotReady, role, flat, tile, fmt::format("slot {} does not exist", cursor.slot));
      if (!may_tell(role, flat)) return;
      const bool all = !program_.barriers[step.barrier].full && program_.buffers[program_.barriers[step.barrier].buffer].shared;
      for (std::size_t block = 0; block < static_cast<std::size_t>(program_.cluster); ++block)
        if (all || block == block_of(role))
          if (!arrive(phases(block, step.barrier)[static_cast<std::size_t>(cursor.slot)], step.barrier, step.count,
                      use_of(role, step.cursor)))
            return fail(FaultKind::Parity, role, flat, tile,
                        fmt::format("arrives when phase {} is over already", use_of(role, step.cursor)));
      break;
    }
    case StepKind::TakeTurn: --turns_[role]; break;
    case StepKind::PassTurn:
      if (++turns_[block_of(role) * program_.roles.size() + step.barrier] > 1)
        return fail(FaultKind::Turns, role, flat, tile, "gives a turn before the last one has been taken");
      break;
    case StepKind::Advance: {
      CursorState& cursor = agent.cursors[step.cursor];
      ++cursor.count;
      if (++cursor.slot == role_at(role).cursors[step.cursor].depth) cursor.slot = 0, cursor.phase ^= 1;
      break;
    }
  }
  if (++agent.at == agent.code.size()) {
    ++agent.tile;
    if (!finished(agent)) begin_tile(role);
  }
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

BlockMachine::RegisterCell* BlockMachine::register_at(std::size_t role, const Place& place, bool output) {
  auto& copies = agents_[role].variables[place.index];
  const std::size_t copy = output && role_at(role).variables[place.index].moves ? 0 : static_cast<std::size_t>(place.copy);
  return copy < copies.size() ? &copies[copy] : nullptr;
}

BlockMachine::Slot* BlockMachine::slot_at(std::size_t role, const Flat& flat, const Place& place) {
  const auto slot = static_cast<std::size_t>(agents_[role].cursors[place.cursor].slot);
  auto& ring = slots(block_of(role), place.index);
  if (slot < ring.size()) return &ring[slot];
  fail(FaultKind::NotReady, role, flat, agents_[role].tile, fmt::format("slot {} does not exist", slot));
  return nullptr;
}

BlockMachine::Slot* BlockMachine::slot_behind(std::size_t role, const Step& step) {
  auto& ring = slots(block_of(role), program_.barriers[step.barrier].buffer);
  const auto at = static_cast<std::size_t>(agents_[role].cursors[step.cursor].slot);
  return at < ring.size() ? &ring[at] : nullptr;
}

bool BlockMachine::may_fill(std::size_t role, const Flat& flat, const Place& place) {
  if (!program_.buffers[place.index].empty) return true;
  const Slot* slot = slot_at(role, flat, place);
  if (!slot) return false;
  const bool again = slot->writer == role && slot->tile == agents_[role].tile && slot->iteration == iteration_of(flat, place);
  if (again || slot->granted == role || (slot->seen >> role & 1)) return true;
  fail(FaultKind::Overwrite, role, flat, agents_[role].tile,
       fmt::format("fills the slot of {} without having waited until it is free", content(*slot)));
  return false;
}

bool BlockMachine::may_tell(std::size_t role, const Flat& flat) {
  const Step& step = *flat.step;
  const Barrier& barrier = program_.barriers[step.barrier];
  const std::int64_t tile = agents_[role].tile;
  Slot* slot = slot_behind(role, step);
  if (!slot || step.count <= 0) return true;
  if (barrier.full) {
    const bool now = slot->iteration <= kPerTile || slot->iteration == step.iteration + flat.shift;
    if (slot->value == barrier.value && slot->tile == tile && slot->writer == role && now) return true;
    fail(FaultKind::NotReady, role, flat, tile, fmt::format("says that the slot is filled when it holds {}", content(*slot)));
    return false;
  }
  slot->seen &= ~(std::uint64_t{1} << role);
  if (std::find(slot->users.begin(), slot->users.end(), role) == slot->users.end()) return true;
  fail(FaultKind::Overwrite, role, flat, tile,
       fmt::format("frees the slot of {} before what it has issued to read it has been awaited", content(*slot)));
  return false;
}

const Array* BlockMachine::read(std::size_t role, const Flat& flat, const Place& place, bool async, bool sum) {
  const std::int64_t tile = agents_[role].tile;
  const Cell* cell = nullptr;
  if (place.kind == Place::Kind::Variable) {
    const RegisterCell* found = register_at(role, place, false);
    if (!found) {
      fail(FaultKind::NotReady, role, flat, tile, "a copy that does not exist");
      return nullptr;
    }
    // A wgmma may add to what an earlier one of the role is still adding to; no other may read it.
    if (found->flying > 0 && found->summing && !sum) {
      fail(FaultKind::Overwrite, role, flat, tile, "reads registers that a wgmma in flight may still write");
      return nullptr;
    }
    // What a wgmma in flight takes from registers may go into another one, but no thread may look at it (PTX ISA, wgmma.mma_async).
    if (found->flying > 0 && !async) {
      fail(FaultKind::Overwrite, role, flat, tile, "reads registers that a wgmma in flight still takes as its operand");
      return nullptr;
    }
    cell = found;
  } else if (place.kind == Place::Kind::Buffer) {
    const Slot* slot = slot_at(role, flat, place);
    if (!slot) return nullptr;
    if (slot->filling) {
      fail(FaultKind::NotReady, role, flat, tile, "reads a slot that TMA is still filling");
      return nullptr;
    }
    if (slot->missing) {
      fail(FaultKind::NotReady, role, flat, tile, "reads a slot of which the other block has not brought its part");
      return nullptr;
    }
    if (slot->writer != role && slot->writer != kNothing && (slot->seen >> role & 1) == 0) {
      fail(FaultKind::NotReady, role, flat, tile, "reads what another role has filled without having waited for it");
      return nullptr;
    }
    if (slot->piece != flat.step->piece) {
      fail(FaultKind::NotReady, role, flat, tile, fmt::format("finds piece {} of {}", slot->piece.number + 1, content(*slot)));
      return nullptr;
    }
    if (async && slot->unfenced) {
      fail(FaultKind::Fence, role, flat, tile, "reads what threads wrote to shared memory without a fence in between");
      return nullptr;
    }
    cell = slot;
  }
  if (!cell) return nullptr;
  if (!holds(*cell, flat, place, tile)) {
    fail(FaultKind::NotReady, role, flat, tile,
         fmt::format("wants {} and finds {}", content({place.value, iteration_of(flat, place), tile, {}}), content(*cell)));
    return nullptr;
  }
  return &cell->array;
}

void BlockMachine::write_register(std::size_t role, const Flat& flat, const Place& place, Array&& array) {
  auto& copies = agents_[role].variables[place.index];
  RegisterCell* cell = register_at(role, place, true);
  if (!cell) return fail(FaultKind::NotReady, role, flat, agents_[role].tile, "a copy that does not exist");
  if (role_at(role).variables[place.index].moves) std::rotate(copies.begin(), copies.end() - 1, copies.end());
  if (cell->flying > 0)
    return fail(FaultKind::Overwrite, role, flat, agents_[role].tile, "writes registers that a wgmma in flight may still use");
  cell->value = place.value;
  cell->iteration = iteration_of(flat, place);
  cell->tile = agents_[role].tile;
  cell->array = std::move(array);
}

void BlockMachine::fill_slot(std::size_t role, const Flat& flat, Slot& slot, const Place& place, bool by_threads, Array&& array,
                             unsigned part) {
  const std::int64_t tile = agents_[role].tile;
  if (part && holds(slot, flat, place, tile) && (slot.missing & part)) {  // the other block has brought its part of the same
    slot.missing &= ~part;
    slot.filling |= part;
    if (slot.granted == role) slot.granted = kNothing;
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
  slot.piece = flat.step->piece;
  slot.seen = 0;
  if (slot.granted == role) slot.granted = kNothing;
  slot.filling = part;
  slot.missing = part ? ((1u << program_.cluster) - 1) & ~part : 0;
  slot.unfenced = by_threads && !program_.buffers[place.index].registers;
}

void BlockMachine::compute(std::size_t role, const Flat& flat) {
  const Step& step = *flat.step;
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
  if (step.output.kind == Place::Kind::Buffer && may_fill(role, flat, step.output))
    if (Slot* slot = slot_at(role, flat, step.output)) fill_slot(role, flat, *slot, step.output, true, std::move(result));
}

void BlockMachine::issue(std::size_t role, const Flat& flat) {
  Agent& agent = agents_[role];
  const Step& step = *flat.step;
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
    if (step.inputs[k].kind == Place::Kind::Buffer) async.reads.push_back(slot_at(role, flat, step.inputs[k]));
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
    if (!slot_at(role, flat, step.output) || !may_fill(role, flat, step.output)) return;
    const auto at = static_cast<std::size_t>(agent.cursors[step.output.cursor].slot),
               slot = static_cast<std::size_t>(agent.cursors[step.cursor].slot);
    if (slot >= phases(block_of(role), step.barrier).size())
      return fail(FaultKind::NotReady, role, flat, agent.tile, "a barrier that does not exist");
    const bool shared = program_.buffers[step.output.index].shared;
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
  if (data_) {
    std::vector<const Array*> inputs;
    std::size_t slot = 0, reg = 0;
    for (std::size_t k = 0; k < step.inputs.size(); ++k) {
      if (step.inputs[k].kind == Place::Kind::Buffer)
        inputs.push_back(&async.reads[slot++]->array);
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

// ---- words

std::string BlockMachine::content(const Cell& cell) const {
  if (cell.value == kNothing) return "nothing";
  std::string text = printable(kernel_.values[cell.value].name);
  if (cell.iteration > kPerTile) text += cell.iteration < 0 ? "[init]" : fmt::format("[{}]", cell.iteration);
  return how_.tiles > 1 ? fmt::format("{} of tile {}", text, cell.tile) : text;
}

void BlockMachine::fail(FaultKind kind, std::size_t role, const Flat& flat, std::int64_t tile, std::string what) {
  if (fault_) return;
  const Role& r = role_at(role);
  fault_ = ProgramFault{kind,
                        r.name,
                        step_text(kernel_, program_, r, *flat.section, *flat.step),
                        tile,
                        flat.step->iteration + flat.shift,
                        std::move(what),
                        flat.step->op};
}

std::optional<ProgramFault> BlockMachine::check_registers() const {
  int used = 0, warpgroups = 0;
  for (const Role& role : program_.roles) {
    used += (role.registers ? role.registers : program_.entry_registers) * role.warpgroups;
    warpgroups += role.warpgroups;
    const int live = role.variables.empty() ? 0 : live_registers(program_, role) + program_.register_overhead;
    const int budget = role.registers ? role.registers : program_.entry_registers;
    if (live > budget)
      return ProgramFault{
          FaultKind::Registers, role.name, "", 0, 0, fmt::format("{} registers are live at once, the budget is {}", live, budget), {}};
  }
  if (used > program_.entry_registers * warpgroups)
    return ProgramFault{FaultKind::Registers,
                        "",
                        "",
                        0,
                        0,
                        fmt::format("the budgets need {} registers per warpgroup in all, the block starts with {}", used,
                                    program_.entry_registers * warpgroups),
                        {}};
  return std::nullopt;
}

ProgramFault BlockMachine::stuck() const {
  ProgramFault fault;
  for (std::size_t r = 0; r < agents_.size(); ++r) {
    const Agent& agent = agents_[r];
    if (finished(agent)) continue;
    const Flat& flat = agent.code[agent.at];
    const std::string step = step_text(kernel_, program_, role_at(r), *flat.section, *flat.step);
    if (fault.role.empty()) {
      fault = {FaultKind::Deadlock, role_at(r).name, step, agent.tile, flat.step->iteration + flat.shift, "", flat.step->op};
    } else {
      fault.what += fmt::format("; {} is at '{}' of iteration {}", role_at(r).name, step, flat.step->iteration + flat.shift);
    }
  }
  fault.what = "no role can go on" + fault.what;
  return fault;
}

}  // namespace heddle::codegen

// What warps wait at: mbarriers, named barriers, the cluster's barrier, the pool of registers; and fences.
#include <algorithm>
#include <bit>

#include "ptx/judge/reference.h"
#include "ptx/run/inside.h"

namespace heddle::ptx {

namespace {

using Awaits = WarpFragment::Awaits;

constexpr Time kMissedTry = 5'000;  ///< a try_wait that failed
constexpr Time kFence = 10'000;
constexpr Time kSleepMost = 1'000'000'000;
/// So often lanes that wait at several barriers at once try again before they sleep at the first.
constexpr int kMostTries = 1000;
/// State of an mbarrier as mbarrier.arrive gives it: the phase, and pending arrivals above this bit.
constexpr int kPendingShift = 40;

/// The number behind a barrier's address: a count, bytes, a parity; what it is where none is written.
struct BarrierNumber {
  const char* what = "";
  std::uint64_t otherwise = 0;
};

/// Lanes that give the same barrier and number.
struct BarrierLanes {
  std::uint64_t address = 0, number = 0;
  LaneMask lanes = 0;
  std::int32_t count() const { return std::popcount(lanes); }
};

std::size_t address_index(const PtxInstruction& instruction) {
  std::size_t i = 0;
  while (i < instruction.operands.size() && instruction.operands[i].kind != PtxOperand::Kind::Address) ++i;
  return i;
}

bool known(ClusterRun& run, const PtxInstruction& instruction, const LaneValues& values, LaneMask lanes, const char* what) {
  if (values.unknown_bits == 0 || values.known(lanes)) return true;
  run.stop(instruction, std::string(what) + " of " + place_reference(run.pc_of(instruction)) + " is not known" +
                            (values.origin >= 0 ? ": it hangs on " + place_reference(values.origin) : ""));
  return false;
}

/// The barriers that lanes name, with the number behind the address. Empty: the run is stopped.
std::vector<BarrierLanes> barriers_of(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes,
                                      const BarrierNumber& number) {
  std::vector<BarrierLanes> groups;
  const std::size_t at = address_index(instruction);
  if (at >= instruction.operands.size()) {
    run.stop(instruction, "no mbarrier is named at " + place_reference(run.pc_of(instruction)));
    return groups;
  }
  const LaneValues addresses = run.value(fragment, instruction.operands[at]);
  const LaneValues numbers =
      at + 1 < instruction.operands.size() ? run.value(fragment, instruction.operands[at + 1]) : LaneValues::all(number.otherwise);
  if (!known(run, instruction, addresses, lanes, "the mbarrier") || !known(run, instruction, numbers, lanes, number.what)) return groups;
  for_lanes(lanes, [&](int lane) {
    const std::uint64_t address = addresses.bits[static_cast<std::size_t>(lane)], said = numbers.bits[static_cast<std::size_t>(lane)];
    const auto same = std::ranges::find_if(groups, [&](const BarrierLanes& g) { return g.address == address && g.number == said; });
    if (same != groups.end())
      same->lanes |= 1u << lane;
    else
      groups.push_back({address, said, 1u << lane});
  });
  return groups;
}

/// The barrier, made and known; else a finding and the end of the run, since nothing can be said from there on.
Mbarrier* barrier_at(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, std::uint64_t address) {
  const Barriers::By by = run.by(fragment, instruction);
  Mbarrier* barrier = run.barriers.use(address, by, run.warp_of(fragment).known);
  if (barrier == nullptr) run.stop(instruction, "no mbarrier was ever made at " + shared_reference(address));
  return barrier;
}

/// A CTA whose warps have all exited has no shared memory any more.
void check_alive(ClusterRun& run, const WarpFragment& fragment, const PtxInstruction& instruction, std::uint64_t address) {
  const int cta = cta_of(address);
  if (cta == run.warp_of(fragment).cta || cta >= run.cluster_size()) return;
  const bool alive = std::ranges::any_of(run.warps, [&](const Warp& warp) { return warp.cta == cta && warp.live != 0; });
  if (!alive)
    run.find(CheckRule::ExitWhileWaited, fragment, instruction,
             warp_reference(fragment.warp) + " reaches " + barrier_reference(address) + " of a CTA of the cluster that has exited",
             static_cast<std::int64_t>(address));
}

std::int32_t phase_of(const Mbarrier& barrier) { return static_cast<std::int32_t>(barrier.phase - barrier.first); }

// --- mbarriers

ActionEnd make(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes) {
  for (const BarrierLanes& group : barriers_of(run, fragment, instruction, lanes, {"the count", 1})) {
    if (group.address >= kSharedWindowEnd || cta_of(group.address) >= run.cluster_size() ||
        byte_of(group.address) + 8 > run.shared_bytes()) {
      run.find(CheckRule::OutOfShared, fragment, instruction,
               "an mbarrier at " + std::to_string(group.address) + " is beyond shared memory");
      run.stop(instruction, "an mbarrier is made beyond shared memory");
      return ActionEnd::Go;
    }
    const Warp& warp = run.warp_of(fragment);
    const ByteRange bytes{byte_of(group.address), byte_of(group.address) + 8};
    run.shadows[static_cast<std::size_t>(cta_of(group.address))].write(
        {&bytes, 1}, {warp.component, warp.epoch, Proxy::Generic, run.pc_of(instruction), warp.index, "mbarrier.init"}, warp.known);
    const auto count = static_cast<std::int64_t>(group.number & 0xFFFFFFFFu);
    if (run.barriers.init(group.address, count, run.by(fragment, instruction), warp.epoch)) continue;
    run.stop(instruction, "more mbarriers are made than Heddle follows");
    return ActionEnd::Go;
  }
  return ActionEnd::Go;
}

ActionEnd invalidate(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes) {
  for (const BarrierLanes& group : barriers_of(run, fragment, instruction, lanes, {"the number", 0}))
    run.barriers.inval(group.address, run.by(fragment, instruction), run.warp_of(fragment).known);
  return ActionEnd::Go;
}

ActionEnd arrive(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes) {
  const bool expects = instruction.has("expect_tx");
  const bool drops = instruction.opcode == Opcode::MbarrierArriveDrop;
  fragment.time += run.costs.arrive;
  const Barriers::By by = run.by(fragment, instruction);
  LaneValues state;
  for (const BarrierLanes& group :
       barriers_of(run, fragment, instruction, lanes, {expects ? "the bytes" : "the count", expects ? 0u : 1u})) {
    Mbarrier* barrier = barrier_at(run, fragment, instruction, group.address);
    if (barrier == nullptr) return ActionEnd::Go;
    check_alive(run, fragment, instruction, group.address);
    const auto token = static_cast<std::uint64_t>(barrier->phase) | static_cast<std::uint64_t>(barrier->pending) << kPendingShift;
    for_lanes(group.lanes, [&](int lane) { state.bits[static_cast<std::size_t>(lane)] = token; });
    const std::int64_t count = group.count() * (expects ? 1 : static_cast<std::int64_t>(group.number & 0xFFFFFFFFu));
    const std::int64_t bytes = expects ? static_cast<std::int64_t>(group.number & 0xFFFFFFFFu) * group.count() : 0;
    if (RunEvent* event = run.event(expects ? EventKind::Expect : EventKind::Arrive, fragment, instruction)) {
      event->address = group.address;
      event->amount = expects ? bytes : count;
      event->phase = phase_of(*barrier);
    }
    const KnownClocks brought = run.brought(fragment, instruction);
    if (drops && expects) run.barriers.expect(*barrier, bytes, by);
    run.wake(drops ? run.barriers.arrive_and_drop(*barrier, count, brought, by) : run.barriers.arrive(*barrier, count, bytes, brought, by),
             fragment.time);
  }
  if (instruction.operands.front().kind == PtxOperand::Kind::Register) run.assign(fragment, instruction.operands.front(), state, lanes);
  return ActionEnd::Go;
}

ActionEnd expect(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes) {
  const Barriers::By by = run.by(fragment, instruction);
  const bool completes = instruction.opcode == Opcode::MbarrierCompleteTx;
  for (const BarrierLanes& group : barriers_of(run, fragment, instruction, lanes, {"the bytes", 0})) {
    Mbarrier* barrier = barrier_at(run, fragment, instruction, group.address);
    if (barrier == nullptr) return ActionEnd::Go;
    const std::int64_t bytes = static_cast<std::int64_t>(group.number & 0xFFFFFFFFu) * group.count();
    if (RunEvent* event = completes ? nullptr : run.event(EventKind::Expect, fragment, instruction)) {
      event->address = group.address;
      event->amount = bytes;
      event->phase = phase_of(*barrier);
    }
    if (completes)
      run.wake(run.barriers.complete(*barrier, bytes, by), fragment.time);
    else
      run.barriers.expect(*barrier, bytes, by);
  }
  return ActionEnd::Go;
}

void note_wait(ClusterRun& run, const WarpFragment& fragment, const PtxInstruction& instruction, const Mbarrier& barrier, Time begin) {
  RunEvent* event = run.event(EventKind::Wait, fragment, instruction);
  if (event == nullptr) return;
  event->begin = event->issued = begin;
  event->address = barrier.address;
  event->phase = phase_of(barrier) - 1;
}

/// Whether the phase that a lane asks for is over: by its parity, or by the state of an arrival.
bool over(const PtxInstruction& instruction, const Mbarrier& barrier, std::uint64_t number) {
  if (instruction.has("parity")) return Barriers::over(barrier, (number & 1) != 0);
  return barrier.phase > (number & low_bits(kPendingShift));
}

ActionEnd wait(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes) {
  const int pc = run.pc_of(instruction);
  const Time begin = fragment.awaits.pc == pc ? std::min(fragment.awaits.since, fragment.time) : fragment.time;
  const std::vector<BarrierLanes> groups = barriers_of(run, fragment, instruction, lanes, {"the parity", 0});
  LaneValues result;
  Mbarrier* missing = nullptr;
  const BarrierLanes* missed = nullptr;
  bool any = false;
  for (const BarrierLanes& group : groups) {
    Mbarrier* barrier = barrier_at(run, fragment, instruction, group.address);
    if (barrier == nullptr) return ActionEnd::Go;
    run.barriers.waits(*barrier, run.by(fragment, instruction), run.warp_of(fragment).known);
    if (!over(instruction, *barrier, group.number)) {
      if (missing == nullptr) {
        missing = barrier;
        missed = &group;
      }
      continue;
    }
    any = true;
    KnownClocks& known = run.warp_of(fragment).known;
    if (instruction.has("relaxed"))
      known.tensor.join(barrier->done.tensor);
    else
      known.join(barrier->done);
    for_lanes(group.lanes, [&](int lane) { result.bits[static_cast<std::size_t>(lane)] = 1; });
  }
  if (run.stopped()) return ActionEnd::Go;
  if (any || missing == nullptr) {
    fragment.time += run.costs.wait;
    for (const BarrierLanes& group : groups)
      if ((result.bits[static_cast<std::size_t>(std::countr_zero(group.lanes))] & 1) != 0)
        note_wait(run, fragment, instruction, *barrier_at(run, fragment, instruction, group.address), begin);
    fragment.tried = {};
    fragment.awaits.pc = -1;
    run.assign(fragment, instruction.operands[0], result, lanes);
    return ActionEnd::Go;
  }
  const bool parity = (missed->number & 1) != 0;
  WarpFragment::Tried& tried = fragment.tried;
  const bool again = tried.pc == pc && tried.address == missed->address && tried.parity == parity;
  const int times = again ? tried.times + 1 : 1;
  if (times > (groups.size() > 1 ? kMostTries : 1)) {
    tried = {};
    fragment.awaits = {Awaits::What::Mbarrier, missed->address, parity, 0, pc, fragment.time};
    missing->waiting.push_back(fragment.id);
    return ActionEnd::Again;
  }
  tried = {pc, missed->address, parity, times};
  fragment.time += kMissedTry;
  run.assign(fragment, instruction.operands[0], result, lanes);
  return ActionEnd::Go;
}

ActionEnd pending_count(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes) {
  if (instruction.operands.size() < 2) return ActionEnd::Go;
  LaneValues state = run.value(fragment, instruction.operands[1]);
  for (std::uint64_t& bits : state.bits) bits >>= kPendingShift;
  state.unknown_bits >>= kPendingShift;
  run.assign(fragment, instruction.operands[0], state, lanes);
  return ActionEnd::Go;
}

// --- named barriers

void fill(RunEvent* event, int id, int threads) {
  if (event == nullptr) return;
  event->address = static_cast<std::uint64_t>(id);
  event->amount = threads;
}

/// The predicates of a barrier.red that is complete, to all who came.
void give_reduction(ClusterRun& run, const RunInside::NamedReduction& reduction) {
  for (const RunInside::NamedReduction::Wants& wants : reduction.wants) {
    const PtxInstruction& instruction = run.function.code[static_cast<std::size_t>(wants.pc)];
    std::uint64_t result = static_cast<std::uint64_t>(reduction.ones);
    if (instruction.has("and")) result = reduction.ones == reduction.threads ? 1 : 0;
    if (instruction.has("or")) result = reduction.ones > 0 ? 1 : 0;
    run.assign(run.fragment(wants.fragment), instruction.operands[0],
               reduction.unknown ? LaneValues::unknown_value(reduction.origin, ~0ull) : LaneValues::all(result), wants.lanes);
  }
}

void add_to_reduction(ClusterRun& run, const WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes,
                      std::pair<int, int> key) {
  RunInside::NamedReduction& reduction = run.inside().reductions[key];
  const LaneValues predicate = run.value(fragment, instruction.operands.back());
  for_lanes(lanes, [&](int lane) { reduction.ones += static_cast<std::int64_t>(predicate.bits[static_cast<std::size_t>(lane)] & 1); });
  reduction.threads += std::popcount(lanes);
  if (predicate.unknown_bits != 0 && !predicate.known(lanes)) {
    reduction.unknown = true;
    reduction.origin = predicate.origin;
  }
  reduction.wants.push_back({fragment.id, run.pc_of(instruction), lanes});
}

ActionEnd named(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes) {
  const bool reduces = instruction.opcode == Opcode::BarRed, arrives = instruction.opcode == Opcode::BarArrive;
  if (reduces && instruction.operands.size() < 3) {
    run.stop(instruction, std::string(instruction.mnemonic) + " without its operands");
    return ActionEnd::Go;
  }
  const std::size_t at = reduces ? 1 : 0;
  const std::size_t numbers = instruction.operands.size() - std::min(instruction.operands.size(), at + (reduces ? 1 : 0));
  Warp& warp = run.warp_of(fragment);
  int id = 0, needed = run.warps_per_cta() * kLanes;
  if (numbers > 0) {
    const std::optional<std::uint64_t> said = run.one_value(fragment, instruction.operands[at], lanes, instruction, "the named barrier");
    if (!said) return ActionEnd::Go;
    id = static_cast<int>(std::min<std::uint64_t>(*said, 1 << 20));
  }
  if (numbers > 1) {
    const std::optional<std::uint64_t> said = run.one_value(fragment, instruction.operands[at + 1], lanes, instruction, "the thread count");
    if (!said) return ActionEnd::Go;
    needed = static_cast<int>(std::min<std::uint64_t>(*said, 1 << 20));
  }
  fragment.time += run.costs.turn;
  fill(run.event(arrives ? EventKind::NamedArrive : EventKind::NamedSync, fragment, instruction), id, needed);
  if (reduces) add_to_reduction(run, fragment, instruction, lanes, {warp.cta, id});
  const Barriers::Joined joined =
      run.barriers.join_named({warp.cta, id, numbers < 2, !arrives}, needed, lanes, warp.release(), run.by(fragment, instruction));
  if (!joined.complete) {
    if (arrives) return ActionEnd::Go;
    run.barriers.wait_named(warp.cta, id, fragment.id);
    fragment.awaits = {Awaits::What::Named, static_cast<std::uint64_t>(id), false, needed, run.pc_of(instruction), fragment.time};
    return ActionEnd::Wait;
  }
  // Who only arrives learns nothing of the others.
  if (!arrives) warp.known.join(joined.known);
  end_round(run, warp.cta, id, joined, fragment.time);
  return ActionEnd::Go;
}

// --- the cluster's barrier

ActionEnd cluster_arrive(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes) {
  Warp& warp = run.warp_of(fragment);
  fragment.time += run.costs.arrive;
  const int needed = static_cast<int>(run.warps.size()) * kLanes;
  warp.cluster_phase = run.barriers.cluster_phase();
  warp.in_cluster_phase = true;
  fill(run.event(EventKind::ClusterArrive, fragment, instruction), 0, needed);
  const Barriers::Joined joined =
      run.barriers.arrive_cluster(needed, lanes, run.brought(fragment, instruction), run.by(fragment, instruction));
  if (joined.complete) end_round(run, warp.cta, Barriers::kClusterBarrier, joined, fragment.time + run.costs.turn);
  return ActionEnd::Go;
}

ActionEnd cluster_wait(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask) {
  Warp& warp = run.warp_of(fragment);
  const int pc = run.pc_of(instruction);
  if (warp.in_cluster_phase && run.barriers.cluster_phase() <= warp.cluster_phase) {
    run.barriers.wait_cluster(fragment.id);
    fragment.awaits = {Awaits::What::Cluster, 0, false, run.cluster_size() * run.warps_per_cta() * kLanes, pc, fragment.time};
    return ActionEnd::Again;
  }
  if (fragment.mask == warp.live) {
    if (!warp.in_cluster_phase)
      run.find(CheckRule::NamedBarrierCount, fragment, instruction,
               warp_reference(warp.index) + " waits at the cluster's barrier without having arrived there: it waits for itself");
    warp.in_cluster_phase = false;
  }
  warp.known.join(run.barriers.cluster_known());
  fragment.time += run.costs.wait;
  if (RunEvent* event = run.event(EventKind::ClusterWait, fragment, instruction))
    event->begin = event->issued = fragment.awaits.pc == pc ? fragment.awaits.since : fragment.time;
  fragment.awaits.pc = -1;
  return ActionEnd::Go;
}

// --- registers

ActionEnd set_registers(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes) {
  if (instruction.operands.empty()) return ActionEnd::Go;
  const std::optional<std::uint64_t> said = run.one_value(fragment, instruction.operands[0], lanes, instruction, "the number of registers");
  if (!said) return ActionEnd::Go;
  Warp& warp = run.warp_of(fragment);
  const auto wanted = static_cast<std::int64_t>(*said);
  const auto wrong = [&](std::string sentence) {
    run.find(CheckRule::RegisterPool, fragment, instruction, warp_reference(warp.index) + std::move(sentence));
  };
  if (wanted < 24 || wanted > 256 || wanted % 8 != 0)
    wrong(" asks for " + std::to_string(*said) + " registers: setmaxnreg takes multiples of 8 from 24 to 256");
  if (wanted < 0 || wanted > 256) return ActionEnd::Go;
  const bool fewer = instruction.has("dec");
  // The number that a warp begins with is ptxas's; here the most that all can have. So a step the wrong way is no finding the first time.
  const bool known_before = warp.registers_said;
  if (fewer && wanted > warp.registers && known_before)
    wrong(" gives registers up to have " + std::to_string(wanted) + ", and has " + std::to_string(warp.registers));
  if (!fewer && wanted < warp.registers && known_before)
    wrong(" asks for " + std::to_string(wanted) + " registers, and has " + std::to_string(warp.registers) + " already");
  const std::int64_t more = (wanted - warp.registers) * kLanes;
  if (more > 0 && !fewer && !run.barriers.take_registers(warp.cta, more)) {
    run.barriers.wait_registers(warp.cta, fragment.id);
    fragment.awaits = {Awaits::What::Registers, 0, false, wanted, run.pc_of(instruction), fragment.time};
    return ActionEnd::Again;
  }
  if (RunEvent* event = run.event(EventKind::Registers, fragment, instruction)) event->amount = wanted;
  warp.registers_said = true;
  if (more < 0) run.wake(run.barriers.give_registers(warp.cta, -more), fragment.time);
  if (fewer && more > 0) return ActionEnd::Go;
  warp.registers = wanted;
  return ActionEnd::Go;
}

// --- fences and what takes only time

ActionEnd fence(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask) {
  Warp& warp = run.warp_of(fragment);
  fragment.time += kFence;
  if (RunEvent* event = run.event(EventKind::Fence, fragment, instruction)) event->amount = 0;
  if (instruction.has("proxy")) {
    const bool async = std::ranges::any_of(instruction.words, [](std::string_view word) { return word.starts_with("async"); });
    if (!async || instruction.has("global")) return ActionEnd::Go;
    warp.fence_proxy();
    run.barriers.fence_made(warp.index);
    return ActionEnd::Go;
  }
  if (instruction.has("mbarrier_init")) {
    // Orders only barriers that this warp made; they are known by its own step.
    run.barriers.fence_made(warp.index);
    const KnownClocks given = warp.release();
    warp.fenced.seen.raise(warp.component, given.seen.at(warp.component));
    return ActionEnd::Go;
  }
  if (instruction.has("acquire")) return ActionEnd::Go;
  warp.fenced_memory = true;
  warp.fenced = warp.release();
  return ActionEnd::Go;
}

ActionEnd sleep(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes) {
  if (instruction.operands.empty()) return ActionEnd::Go;
  const std::optional<std::uint64_t> time = run.value(fragment, instruction.operands[0]).uniform(lanes);
  fragment.time += std::min<Time>(static_cast<Time>(time.value_or(100) & 0xFFFFFFFFu) * 1000, kSleepMost);
  return ActionEnd::Go;
}

ActionEnd dependents(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask) {
  run.event(EventKind::Dependents, fragment, instruction);
  return ActionEnd::Go;
}

ActionEnd call(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes) {
  const std::string_view text = instruction.text;
  if (text.find("__assertfail") != std::string_view::npos) {
    run.find(CheckRule::Trap, fragment, instruction, warp_reference(fragment.warp) + " fails an assertion: the launch ends with an error");
    return ActionEnd::Go;
  }
  if (text.find("vprintf") != std::string_view::npos) {
    for (const PtxOperand& operand : instruction.operands)
      if (operand.kind == PtxOperand::Kind::Vector) run.assign(fragment, operand, LaneValues::all(0), lanes);
    return ActionEnd::Go;
  }
  run.stop(instruction, "Heddle does not follow calls: let the compiler inline what " + place_reference(run.pc_of(instruction)) + " calls");
  return ActionEnd::Go;
}

ActionEnd breakpoint(ClusterRun&, WarpFragment&, const PtxInstruction&, LaneMask) { return ActionEnd::Go; }

}  // namespace

void end_round(ClusterRun& run, int cta, int id, const Barriers::Joined& joined, Time time) {
  auto& reductions = run.inside().reductions;
  for (const FragmentId woken : joined.woken) run.warp_of(run.fragment(woken)).known.join(joined.known);
  if (const auto reduction = reductions.find({cta, id}); reduction != reductions.end()) {
    give_reduction(run, reduction->second);
    reductions.erase(reduction);
  }
  run.wake(joined.woken, time);
}

Action barrier_action(const PtxInstruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::MbarrierInit: return make;
    case Opcode::MbarrierInval: return invalidate;
    case Opcode::MbarrierArrive:
    case Opcode::MbarrierArriveDrop: return arrive;
    case Opcode::MbarrierExpectTx:
    case Opcode::MbarrierCompleteTx: return expect;
    case Opcode::MbarrierTryWait:
    case Opcode::MbarrierTestWait: return wait;
    case Opcode::MbarrierPendingCount: return pending_count;
    case Opcode::Bar:
    case Opcode::BarArrive:
    case Opcode::BarRed: return named;
    case Opcode::BarrierClusterArrive: return cluster_arrive;
    case Opcode::BarrierClusterWait: return cluster_wait;
    case Opcode::Setmaxnreg: return set_registers;
    case Opcode::Fence:
    case Opcode::Membar: return fence;
    case Opcode::Nanosleep: return sleep;
    case Opcode::Griddepcontrol: return dependents;
    case Opcode::Call: return call;
    case Opcode::Brkpt: return breakpoint;
    default: return nullptr;
  }
}

Action run_action(const PtxInstruction& instruction) {
  if (const Action action = memory_action(instruction)) return action;
  if (const Action action = warp_action(instruction)) return action;
  return barrier_action(instruction);
}

}  // namespace heddle::ptx

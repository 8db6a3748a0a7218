#include "ptx/run/cluster.h"

#include <algorithm>
#include <cassert>

#include "ptx/judge/hang.h"
#include "ptx/judge/reference.h"
#include "ptx/run/inside.h"
#include "ptx/text/protocol.h"

namespace heddle::ptx {

namespace {

/// A fragment runs on by itself for so long before the others are looked at.
constexpr Time kTurn = 24'000;
/// Fragments that are named where a run is given up.
constexpr std::size_t kMostNamed = 8;

std::array<std::uint32_t, 3> cluster_shape(const Launch& launch, const PtxFunction& function) {
  const bool said = launch.cluster[0] * launch.cluster[1] * launch.cluster[2] > 1;
  if (said || function.cluster[0] == 0)
    return {std::max(1u, launch.cluster[0]), std::max(1u, launch.cluster[1]), std::max(1u, launch.cluster[2])};
  return {function.cluster[0], std::max(1u, function.cluster[1]), std::max(1u, function.cluster[2])};
}

std::array<std::uint32_t, 3> block_shape(const Launch& launch, const PtxFunction& function) {
  if (launch.block[0] != 0) return {launch.block[0], std::max(1u, launch.block[1]), std::max(1u, launch.block[2])};
  return {std::max(1u, function.threads[0]), std::max(1u, function.threads[1]), std::max(1u, function.threads[2])};
}

}  // namespace

ClusterRun::ClusterRun(const PtxModule& module_in, const PtxFunction& function_in, const Launch& launch_in, const Costs& costs_in,
                       ClusterOptions options)
    : module(module_in),
      function(function_in),
      launch(launch_in),
      costs(costs_in),
      barriers(components, findings),
      global(launch_in, module_in),
      inside_(std::make_unique<RunInside>(*this)) {
  RunInside& in = *inside_;
  in.options = std::move(options);
  in.first_cta = in.options.first_cta;
  in.grid = launch.grid;
  in.cluster = cluster_shape(launch, function);
  in.block = block_shape(launch, function);
  cluster_size_ = static_cast<int>(std::min(16u, in.cluster[0] * in.cluster[1] * in.cluster[2]));
  barriers.set_ctas(cluster_size_);
  threads_per_cta_ = static_cast<int>(std::min(1024u, in.block[0] * in.block[1] * in.block[2]));
  warps_per_cta_ = (threads_per_cta_ + kLanes - 1) / kLanes;
  in.lay_out_shared(module, function);
  const std::uint64_t wanted = in.static_shared - kReservedShared + launch.dynamic_shared;
  const std::uint64_t most = std::min<std::uint64_t>(std::max(wanted, costs.shared_bytes), (1u << kCtaShift) - 1 - kReservedShared);
  shared_bytes_ = static_cast<std::uint32_t>(kReservedShared + std::min(wanted, most));
  if (wanted > costs.shared_bytes)
    findings.add({CheckRule::OutOfShared,
                  -1,
                  -1,
                  "the launch asks for " + std::to_string(wanted) + " bytes of shared memory, and a CTA may have " +
                      std::to_string(costs.shared_bytes),
                  {},
                  0,
                  1});
  shadows.reserve(static_cast<std::size_t>(cluster_size_));
  for (int cta = 0; cta < cluster_size_; ++cta) {
    shadows.emplace_back(shared_bytes_, components, findings);
    shared.emplace_back(shared_bytes_);
  }
  in.decode();
  executed.assign(function.code.size(), 0);
  in.start_warps();
}

ClusterRun::~ClusterRun() = default;

void RunInside::start_warps() {
  const int threads = run.threads_per_cta_;
  const std::int64_t even = run.costs.registers_per_cta / std::max(1, run.warps_per_cta_ * kLanes) / 8 * 8;
  const std::int64_t registers = run.function.maxnreg != 0 ? (run.function.maxnreg + 7) / 8 * 8 : std::min<std::int64_t>(255, even);
  quarters.resize(static_cast<std::size_t>(4 * run.cluster_size_));
  const std::size_t count = static_cast<std::size_t>(run.cluster_size_ * run.warps_per_cta_);
  run.warps.resize(count);
  meetings.resize(count);
  fences.assign(count, 1);
  if (has_products) noted_since.assign(count, std::vector<std::uint32_t>(code.size(), 0));
  local.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    Warp& warp = run.warps[i];
    warp.index = static_cast<int>(i);
    warp.cta = warp.index / run.warps_per_cta_;
    warp.in_cta = warp.index % run.warps_per_cta_;
    const int left = std::min(kLanes, threads - warp.in_cta * kLanes);
    warp.lanes = warp.live = static_cast<LaneMask>(low_bits(left));
    run.barriers.exit_lanes(warp.cta, warp.index, ~warp.lanes);
    warp.component = run.components.add(warp_reference(warp.index));
    warp.known.seen.raise(warp.component, warp.epoch);
    warp.registers = registers;
    warp.in_flight.assign(run.function.registers.size(), 0);
    warp.values.assign(static_cast<std::size_t>(slot_count), LaneValues::unknown_value(-1, ~0ull));
    for (const MachineSlot& machine : machine_slots)
      warp.values[static_cast<std::size_t>(machine.slot)] =
          machine.variable >= 0
              ? LaneValues::all(variable_address(run, warp.cta, machine.variable) + static_cast<std::uint64_t>(machine.offset))
              : special_value(run, warp, machine.special, 0);
    WarpFragment root;
    root.id = static_cast<FragmentId>(run.fragments_.size());
    root.warp = warp.index;
    root.mask = warp.live;
    root.stop = static_cast<int>(run.function.code.size());
    run.fragments_.push_back(root);
  }
  for (int cta = 0; cta < run.cluster_size_; ++cta)
    run.barriers.set_pool(cta, run.costs.registers_per_cta - registers * run.warps_per_cta_ * kLanes);
  for (std::size_t i = 0; i < count; ++i) push(run.fragments_[i]);
}

void RunInside::push(WarpFragment& fragment) {
  fragment.state = WarpFragment::State::Ready;
  ready.push({fragment.time, ++sequence, fragment.id});
}

void ClusterRun::at(Time time, std::function<void()> what) {
  std::size_t index = inside_->events.size();
  if (inside_->free_events.empty()) {
    inside_->events.push_back(std::move(what));
  } else {
    index = inside_->free_events.back();
    inside_->free_events.pop_back();
    inside_->events[index] = std::move(what);
  }
  inside_->queue.push({time, ++inside_->sequence, index});
}

void ClusterRun::wake(FragmentId id, Time time) {
  WarpFragment& woken = fragment(id);
  if (woken.state != WarpFragment::State::Waiting) return;
  woken.time = std::max(woken.time, time);
  woken.awaits.what = WarpFragment::Awaits::What::Nothing;
  inside_->push(woken);
}

void ClusterRun::run() {
  RunInside& in = *inside_;
  for (std::int64_t turns = 0; !stopped() && !hit_limit_; ++turns) {
    if ((turns & 1023) == 0 && in.options.stop.stop_requested()) {
      stop_reason_ = "stopped from outside";
      break;
    }
    if (in.ready.empty() && in.queue.empty()) break;
    if (in.ready.empty() || (!in.queue.empty() && in.queue.top().time <= in.ready.top().time)) {
      const ScheduledEvent event = in.queue.top();
      in.queue.pop();
      now_ = std::max(now_, event.time);
      const std::function<void()> what = std::move(in.events[event.what]);
      in.free_events.push_back(event.what);
      what();
      continue;
    }
    const ScheduledFragment next = in.ready.top();
    in.ready.pop();
    Time until = in.ready.empty() ? next.time + 8 * kTurn : in.ready.top().time;
    if (!in.queue.empty()) until = std::min(until, in.queue.top().time);
    in.go(next.fragment, std::max(until, next.time) + kTurn);
  }
  in.finish();
}

void RunInside::go(FragmentId id, Time until) {
  const int size = static_cast<int>(code.size());
  while (true) {
    WarpFragment& fragment = run.fragments_[static_cast<std::size_t>(id)];
    const int pc = fragment.pc;
    if (pc == fragment.stop || pc >= size) return end_fragment(id);
    if (fragment.time > until) return push(fragment);
    if (run.instructions_ >= options.limit) {
      run.hit_limit_ = true;
      return push(fragment);
    }
    run.now_ = std::max(run.now_, fragment.time);
    Warp& warp = run.warps[static_cast<std::size_t>(fragment.warp)];
    if (const int at = run_at[static_cast<std::size_t>(pc)]; at >= 0) {
      UnneededRun& unneeded = runs[static_cast<std::size_t>(at)];
      if (warp.in_flight_count > 0)
        for (int inner = pc; inner < unneeded.end; ++inner) check_in_flight(fragment, inner);
      charge_run(fragment, unneeded);
      note_touched(warp, pc);
      const std::int64_t count = unneeded.end - pc;
      run.instructions_ += count;
      warp.instructions += count;
      fragment.pc = unneeded.end;
      continue;
    }
    const DecodedInstruction& decoded = code[static_cast<std::size_t>(pc)];
    ++run.instructions_;
    ++warp.instructions;
    ++run.executed[static_cast<std::size_t>(pc)];
    if (!step(id, decoded, pc) || run.stopped()) return;
  }
}

/// False where the fragment does not go on now.
bool RunInside::step(FragmentId id, const DecodedInstruction& decoded, int pc) {
  using Kind = DecodedInstruction::Kind;
  WarpFragment& fragment = run.fragments_[static_cast<std::size_t>(id)];
  Warp& warp = run.warps[static_cast<std::size_t>(fragment.warp)];
  const PtxInstruction& instruction = run.function.code[static_cast<std::size_t>(pc)];
  charge(fragment, decoded);
  if (decoded.kind == Kind::Branch) return branch(id, decoded, pc) == Flow::Go;
  if (decoded.kind == Kind::Exit) return exit(id, decoded, pc) == Flow::Go;
  if (decoded.kind == Kind::Table) return table(id, decoded, pc) == Flow::Go;
  LaneMask unsure = 0;
  LaneMask lanes = decoded.guard == -1 ? fragment.mask : guarded(fragment, decoded, unsure);
  if (unsure != 0 && decoded.effect && instruction.opcode != Opcode::St && instruction.opcode != Opcode::Atom &&
      instruction.opcode != Opcode::Red && decide(fragment, pc, source(warp, decoded.guard).origin)) {
    lanes |= unsure;
    unsure = 0;
  } else if (unsure != 0 && decoded.effect && instruction.opcode != Opcode::St && instruction.opcode != Opcode::Atom &&
             instruction.opcode != Opcode::Red) {
    unsure = 0;
  }
  fragment.pc = pc + 1;
  if ((lanes | unsure) == 0) return true;
  if (decoded.kind == Kind::Refused) {
    run.stop(instruction,
             instruction.fault.empty() ? "Heddle does not know the instruction " + std::string(instruction.mnemonic) : instruction.fault);
    return false;
  }
  if (decoded.touches) note_touched(warp, pc);
  if (warp.in_flight_count > 0 && !decoded.of_unit) check_in_flight(fragment, pc);
  if (decoded.kind == Kind::Lanes) {
    if (decoded.clock) refresh_clocks(fragment);
    if (decoded.twin >= 0) run_lanes(fragment, twins[static_cast<std::size_t>(decoded.twin)], pc, lanes | unsure);
    run_lanes(fragment, decoded, pc, lanes | unsure);
    if (unsure != 0) forget_results(warp, decoded, pc, unsure);
    return true;
  }
  if (decoded.converged && fragment.mask != warp.live && !join_lanes(id, pc)) return false;
  if (decoded.converged && lanes != warp.live)
    run.find(CheckRule::NotConverged, fragment, instruction,
             std::string(instruction.mnemonic) + " is executed by only some lanes of " + warp_reference(warp.index));
  if (decoded.effect) fragment.tried = {};
  if (decoded.clock) refresh_clocks(fragment);
  unsure_lanes = unsure;
  const ActionEnd end = decoded.action(run, fragment, instruction, lanes | unsure);
  unsure_lanes = 0;
  if (unsure != 0) forget_results(warp, decoded, pc, unsure);
  if (end == ActionEnd::Go) return true;
  WarpFragment& waits = run.fragments_[static_cast<std::size_t>(id)];
  if (end == ActionEnd::Again) waits.pc = pc;
  waits.state = WarpFragment::State::Waiting;
  waits.awaits.pc = pc;
  waits.awaits.since = waits.time;
  return false;
}

void RunInside::refresh_clocks(const WarpFragment& fragment) {
  Warp& warp = run.warps[static_cast<std::size_t>(fragment.warp)];
  for (const MachineSlot& machine : machine_slots)
    if (machine.special == Special::Clock || machine.special == Special::Clock64 || machine.special == Special::Globaltimer)
      warp.values[static_cast<std::size_t>(machine.slot)] = special_value(run, warp, machine.special, fragment.time);
}

/// Results of lanes whose guard is not known: the old value or the new one.
void RunInside::forget_results(Warp& warp, const DecodedInstruction& decoded, int pc, LaneMask lanes) {
  const Origin origin = source(warp, decoded.guard).origin;
  for (const RegisterId reg : touched[static_cast<std::size_t>(pc)].written) {
    const int slot = register_slot(reg);
    if (slot < 0) continue;
    LaneValues& values = warp.values[static_cast<std::size_t>(slot)];
    values.unknown |= lanes;
    const Scalar type = run.function.registers[reg.index()].type;
    values.unknown_bits |= type == Scalar::Pred ? 1 : low_bits(bits_of(type));
    values.origin = origin >= 0 ? origin : pc;
  }
}

LaneMask RunInside::guarded(const WarpFragment& fragment, const DecodedInstruction& decoded, LaneMask& unknown) const {
  const LaneValues& guard = source(run.warps[static_cast<std::size_t>(fragment.warp)], decoded.guard);
  LaneMask on = 0;
  for (int lane = 0; lane < kLanes; ++lane) on |= static_cast<LaneMask>(guard.bits[static_cast<std::size_t>(lane)] & 1) << lane;
  if (decoded.negated) on = ~on;
  unknown = guard.unknown_bits == 0 ? 0 : guard.unknown & fragment.mask;
  return on & fragment.mask & ~unknown;
}

void RunInside::charge(WarpFragment& fragment, const DecodedInstruction& decoded) {
  if (decoded.cost == 0) return;
  const Warp& warp = run.warps[static_cast<std::size_t>(fragment.warp)];
  Quarter& quarter = quarters[static_cast<std::size_t>(warp.cta * 4 + (warp.in_cta & 3))];
  Time& pipe = quarter.pipes[static_cast<std::size_t>(decoded.pipe)];
  Time start = std::max(fragment.time, pipe);
  pipe = start + decoded.cost;
  start = std::max(start, quarter.issue);
  quarter.issue = start + kCycle;
  fragment.time = start + kCycle;
}

void RunInside::charge_run(WarpFragment& fragment, UnneededRun& unneeded) {
  const Warp& warp = run.warps[static_cast<std::size_t>(fragment.warp)];
  Quarter& quarter = quarters[static_cast<std::size_t>(warp.cta * 4 + (warp.in_cta & 3))];
  const Time begin = fragment.time;
  Time time = begin;
  for (const UnneededRun::Charge& charge : unneeded.charges) {
    Time& pipe = quarter.pipes[static_cast<std::size_t>(charge.pipe)];
    const Time start = std::max(time, pipe);
    pipe = start + charge.cost;
    time = start + std::max<Time>(charge.count * kCycle, charge.cost - charge.first + kCycle);
  }
  fragment.time = time;
  ++unneeded.times;
  if (!options.trace) return;
  if (RunEvent* event = run.event(EventKind::Arithmetic, fragment, run.function.code[static_cast<std::size_t>(unneeded.begin)])) {
    event->begin = event->issued = begin;
    event->amount = unneeded.end - unneeded.begin;
  }
}

void RunInside::check_in_flight(WarpFragment& fragment, int pc) {
  Warp& warp = run.warps[static_cast<std::size_t>(fragment.warp)];
  const TouchedRegisters& here = touched[static_cast<std::size_t>(pc)];
  for (const std::vector<RegisterId>* list : {&here.read, &here.written})
    for (const RegisterId reg : *list) {
      const std::uint32_t flight = warp.in_flight[reg.index()];
      if (flight == 0) continue;
      const bool load = (flight & kLoadInFlight) != 0;
      if (load && flight == warp.said_load) continue;
      const CheckRule rule = load ? CheckRule::LoadNotWaited : CheckRule::RegisterInFlight;
      const PtxInstruction& instruction = run.function.code[static_cast<std::size_t>(pc)];
      if (load) {
        warp.said_load = flight;
        unit_load_used(run, warp, flight & ~kLoadInFlight);
      }
      if (run.findings.again(rule, pc, -1)) return;
      run.find(rule, fragment, instruction,
               register_reference(reg.index()) + (load ? " comes from a tcgen05.ld and is used before tcgen05.wait::ld"
                                                       : " of a product in flight is touched before its wait"));
      return;
    }
}

void RunInside::note_touched(Warp& warp, int pc) {
  if (!has_products) return;
  const auto index = static_cast<std::size_t>(warp.index);
  std::uint32_t& noted = noted_since[index][static_cast<std::size_t>(pc)];
  if (noted == fences[index]) return;
  noted = fences[index];
  warp.touched_since.push_back(pc);
}

void ClusterRun::find(CheckRule rule, const WarpFragment& fragment, const PtxInstruction& instruction, std::string sentence,
                      std::int64_t other) {
  CheckFinding finding;
  finding.rule = rule;
  finding.pc = pc_of(instruction);
  finding.warp = fragment.warp;
  finding.sentence = std::move(sentence);
  finding.cycle = std::max(now_, fragment.time) / kCycle;
  findings.add(std::move(finding), other);
}

void ClusterRun::stop(const PtxInstruction& instruction, std::string sentence) {
  if (stopped()) return;
  stop_pc_ = pc_of(instruction);
  stop_reason_ = std::move(sentence);
}

RunEvent* ClusterRun::event(EventKind kind, const WarpFragment& fragment, const PtxInstruction& instruction) {
  if (!inside_->options.trace) return nullptr;
  if (trace.size() >= kMostEvents) return ++events_left_out, nullptr;
  RunEvent& event = trace.emplace_back();
  event.kind = kind;
  event.warp = static_cast<std::int16_t>(fragment.warp);
  event.pc = pc_of(instruction);
  event.begin = event.end = event.issued = fragment.time;
  return &event;
}

Barriers::By ClusterRun::by(const WarpFragment& fragment, const PtxInstruction& instruction) const {
  const Warp& warp = warps[static_cast<std::size_t>(fragment.warp)];
  return {warp.index, pc_of(instruction), warp.component, std::max(now_, fragment.time) / kCycle};
}

KnownClocks ClusterRun::brought(const WarpFragment& fragment, const PtxInstruction& instruction) {
  if (instruction.has("relaxed")) return warp_of(fragment).fenced;
  return warp_of(fragment).release();
}

std::string ClusterRun::shared_text() const {
  return std::to_string(shared_bytes_) + " bytes of shared memory (" + std::to_string(shared_bytes_ - kReservedShared) +
         " of the kernel's behind " + std::to_string(kReservedShared) + " that are reserved)";
}

std::string ClusterRun::warp_name(int warp) const {
  const std::string name = "w" + std::to_string(warp % std::max(1, warps_per_cta_));
  return cluster_size_ > 1 ? "c" + std::to_string(warp / std::max(1, warps_per_cta_)) + "." + name : name;
}

std::string ClusterRun::place(int pc) const { return place_reference(pc); }

namespace {

HangWait::For wait_of(WarpFragment::Awaits::What what) {
  using What = WarpFragment::Awaits::What;
  switch (what) {
    case What::Named: return HangWait::For::Named;
    case What::Cluster: return HangWait::For::Cluster;
    case What::Registers: return HangWait::For::Registers;
    case What::Product: return HangWait::For::Product;
    case What::TensorColumns: return HangWait::For::TensorColumns;
    default: return HangWait::For::Mbarrier;
  }
}

/// What fragments that are not done do, for a run that was given up.
std::string doings(const ClusterRun& run) {
  std::string text;
  std::size_t named = 0, more = 0;
  for (const WarpFragment& fragment : run.fragments()) {
    const bool waits = fragment.state == WarpFragment::State::Waiting;
    if (!waits && fragment.state != WarpFragment::State::Ready) continue;
    if (named == kMostNamed) {
      ++more;
      continue;
    }
    text += (named++ == 0 ? "" : "; ") + warp_reference(fragment.warp) + (waits ? " waits at " : " is at ") +
            place_reference(waits ? fragment.awaits.pc : fragment.pc);
    if (waits && fragment.awaits.what == WarpFragment::Awaits::What::Mbarrier) text += " for " + barrier_reference(fragment.awaits.address);
  }
  return more == 0 ? text : text + "; and " + std::to_string(more) + " more";
}

}  // namespace

void RunInside::report_hang() {
  std::vector<HangWait> waits;
  for (const WarpFragment& fragment : run.fragments_) {
    if (fragment.state != WarpFragment::State::Waiting) continue;
    const PtxInstruction& instruction = run.function.code[static_cast<std::size_t>(fragment.awaits.pc)];
    if (fragment.awaits.what == WarpFragment::Awaits::What::Lanes) {
      run.find(CheckRule::NotConverged, fragment, instruction,
               warp_reference(fragment.warp) + " waits at " + std::string(instruction.mnemonic) + " for lanes of its own that never come");
      continue;
    }
    HangWait wait;
    wait.what = wait_of(fragment.awaits.what);
    wait.warp = fragment.warp;
    wait.pc = fragment.awaits.pc;
    wait.cta = run.warps[static_cast<std::size_t>(fragment.warp)].cta;
    wait.address = fragment.awaits.address;
    wait.parity = fragment.awaits.parity;
    wait.amount = fragment.awaits.amount;
    wait.cycle = fragment.awaits.since / kCycle;
    waits.push_back(wait);
  }
  if (waits.empty()) return;
  HangScene scene{waits, run.barriers, {}, run.warps_per_cta_};
  for (const Warp& warp : run.warps)
    if (warp.live == 0) scene.exited.push_back(warp.index);
  heddle::ptx::report_hang(scene, run.findings);
}

bool RunInside::stop_for_data() {
  std::vector<const DataBranch*> guesses;
  for (const DataBranch& branch : run.data_branches)
    if (branch.guessed && guards_something(run.function, branch.pc)) guesses.push_back(&branch);
  // One branch goes the same way in all warps. Of two, some data may ask for others than were taken together.
  const auto apart = [](const DataBranch& a, const DataBranch& b) {
    return !std::ranges::includes(a.warps, b.warps) && !std::ranges::includes(b.warps, a.warps);
  };
  for (const DataBranch* one : guesses)
    for (const DataBranch* other : guesses) {
      if (other == one || !apart(*one, *other)) continue;
      std::string text = "the run hangs, and warps branch on data that is not known: " + warp_reference(*one->warps.begin()) + " at " +
                         place_reference(one->pc) + ", " + warp_reference(*other->warps.begin()) + " at " + place_reference(other->pc);
      if (one->origin >= 0) text += ", which hang on " + place_reference(one->origin);
      run.stop(run.function.code[static_cast<std::size_t>(one->pc)], text + "; the launch can say what is there (contents of a buffer)");
      return true;
    }
  return false;
}

void RunInside::finish() {
  for (const UnneededRun& unneeded : runs)
    for (int pc = unneeded.begin; pc < unneeded.end; ++pc)
      run.executed[static_cast<std::size_t>(pc)] += static_cast<std::uint32_t>(unneeded.times);
  if (run.hit_limit_ && !run.stopped()) {
    for (const WarpFragment& fragment : run.fragments_)
      if (fragment.state == WarpFragment::State::Ready && run.stop_pc_ < 0) run.stop_pc_ = fragment.pc;
    run.stop_reason_ = "no end after " + std::to_string(run.instructions_) + " instructions: " + doings(run);
  }
  if (run.stopped()) return;
  const bool over = std::ranges::all_of(run.warps, [](const Warp& warp) { return warp.live == 0; });
  if (!over && stop_for_data()) return;
  if (!over) return report_hang();
  run.barriers.check_end();
  unit_end(run);
}

}  // namespace heddle::ptx

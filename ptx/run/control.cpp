// Branches: lanes of a warp that part, meet again, wait for each other, and exit.
#include <algorithm>

#include "ptx/judge/reference.h"
#include "ptx/run/inside.h"
#include "ptx/run/shared_memory.h"

namespace heddle::ptx {

namespace {

/// A warp that passed so often at a branch on data takes it for once: it may be the way out of a loop.
constexpr int kMostPasses = 64;

}  // namespace

/// Which way a branch on data goes: as the options say, else on behind it, but not into a trap: what it guards against is not assumed.
bool RunInside::decide(WarpFragment& fragment, int pc, Origin origin) {
  auto found = std::ranges::find(run.data_branches, pc, &DataBranch::pc);
  if (found == run.data_branches.end()) found = run.data_branches.insert(found, {pc, origin, 0, 0, false, {}});
  if (found->origin < 0) found->origin = origin;
  ++found->times;
  std::optional<bool> said;
  if (options.branch) said = options.branch(pc);
  const auto behind = static_cast<std::size_t>(pc) + 1;
  const bool trap = behind < run.function.code.size() && run.function.code[behind].opcode == Opcode::Trap;
  found->guessed = found->guessed || (!said && !trap) || options.tries;
  found->warps.insert(fragment.warp);
  bool taken = said.value_or(trap);
  if (!said && !trap) {
    int& passed = passed_since[static_cast<std::int64_t>(fragment.warp) << 32 | pc];
    taken = ++passed > kMostPasses;
    if (taken) passed = 0;
  }
  if (taken) ++found->taken;
  return taken;
}

RunInside::Flow RunInside::branch(FragmentId id, const DecodedInstruction& decoded, int pc) {
  WarpFragment& fragment = run.fragments_[static_cast<std::size_t>(id)];
  const int target = run.function.code[static_cast<std::size_t>(pc)].targets.front();
  LaneMask unsure = 0;
  LaneMask taken = decoded.guard == -1 ? fragment.mask : guarded(fragment, decoded, unsure);
  if (unsure != 0 && decide(fragment, pc, source(run.warps[static_cast<std::size_t>(fragment.warp)], decoded.guard).origin))
    taken |= unsure;
  if (taken == fragment.mask || taken == 0) {
    fragment.pc = taken != 0 ? target : pc + 1;
    return Flow::Go;
  }
  return part(id, pc, {{target, taken}, {pc + 1, fragment.mask & ~taken}});
}

RunInside::Flow RunInside::table(FragmentId id, const DecodedInstruction& decoded, int pc) {
  WarpFragment& fragment = run.fragments_[static_cast<std::size_t>(id)];
  const PtxInstruction& instruction = run.function.code[static_cast<std::size_t>(pc)];
  const Warp& warp = run.warps[static_cast<std::size_t>(fragment.warp)];
  LaneMask unsure = 0;
  const LaneMask lanes = decoded.guard == -1 ? fragment.mask : guarded(fragment, decoded, unsure);
  const LaneValues& index = source(warp, decoded.sources[0]);
  if (unsure != 0 || !index.known(lanes)) {
    const Origin origin = unsure != 0 ? source(warp, decoded.guard).origin : index.origin;
    run.stop(instruction, "the way through the table of " + place_reference(pc) + " is not known" +
                              (origin >= 0 ? ": it hangs on " + place_reference(origin) : ""));
    return Flow::Ended;
  }
  std::vector<std::pair<int, LaneMask>> ways;
  const auto add = [&](int way, LaneMask mask) {
    const auto found = std::ranges::find(ways, way, &std::pair<int, LaneMask>::first);
    if (found == ways.end())
      ways.emplace_back(way, mask);
    else
      found->second |= mask;
  };
  bool beyond = false;
  for_lanes(lanes, [&](int lane) {
    const std::uint64_t way = index.bits[static_cast<std::size_t>(lane)];
    beyond |= way >= instruction.targets.size();
    add(instruction.targets[std::min<std::size_t>(way, instruction.targets.size() - 1)], 1u << lane);
  });
  if (beyond) {
    run.stop(instruction, "the table of " + place_reference(pc) + " has " + std::to_string(instruction.targets.size()) +
                              " ways, and the index is beyond them");
    return Flow::Ended;
  }
  if ((fragment.mask & ~lanes) != 0) add(pc + 1, fragment.mask & ~lanes);
  if (ways.size() == 1) {
    fragment.pc = ways.front().first;
    return Flow::Go;
  }
  return part(id, pc, ways);
}

RunInside::Flow RunInside::exit(FragmentId id, const DecodedInstruction& decoded, int pc) {
  WarpFragment& fragment = run.fragments_[static_cast<std::size_t>(id)];
  const PtxInstruction& instruction = run.function.code[static_cast<std::size_t>(pc)];
  LaneMask unsure = 0;
  LaneMask lanes = decoded.guard == -1 ? fragment.mask : guarded(fragment, decoded, unsure);
  if (unsure != 0 && decide(fragment, pc, source(run.warps[static_cast<std::size_t>(fragment.warp)], decoded.guard).origin))
    lanes |= unsure;
  fragment.pc = pc + 1;
  if (lanes == 0) return Flow::Go;
  if (!instruction.fault.empty()) {
    run.stop(instruction, instruction.fault);
    return Flow::Ended;
  }
  if (instruction.opcode == Opcode::Trap)
    run.find(CheckRule::Trap, fragment, instruction, warp_reference(fragment.warp) + " executes trap: the launch ends with an error");
  if (RunEvent* event = run.event(EventKind::Exit, fragment, instruction)) event->amount = __builtin_popcount(lanes);
  exit_lanes(id, lanes);
  if (run.fragments_[static_cast<std::size_t>(id)].mask != 0) return Flow::Go;
  end_fragment(id);
  return Flow::Ended;
}

RunInside::Flow RunInside::part(FragmentId id, int pc, const std::vector<std::pair<int, LaneMask>>& ways) {
  const int meet = run.function.code[static_cast<std::size_t>(pc)].meet;
  for (const auto& [target, mask] : ways) {
    FragmentId child = static_cast<FragmentId>(run.fragments_.size());
    if (free_fragments.empty()) {
      run.fragments_.emplace_back();
    } else {
      child = free_fragments.back();
      free_fragments.pop_back();
    }
    WarpFragment& parent = run.fragments_[static_cast<std::size_t>(id)];
    WarpFragment& made = run.fragments_[static_cast<std::size_t>(child)];
    made = {};
    made.id = child;
    made.warp = parent.warp;
    made.mask = mask;
    made.pc = target;
    made.stop = meet >= 0 ? meet : static_cast<int>(code.size());
    made.parent = id;
    made.time = parent.time;
    made.tried = parent.tried;
    ++parent.children;
    push(made);
  }
  WarpFragment& parent = run.fragments_[static_cast<std::size_t>(id)];
  parent.state = WarpFragment::State::Parted;
  parent.mask = 0;
  parent.pc = meet >= 0 ? meet : static_cast<int>(code.size());
  return Flow::Parted;
}

void RunInside::end_fragment(FragmentId id) {
  while (true) {
    WarpFragment& fragment = run.fragments_[static_cast<std::size_t>(id)];
    if (fragment.pc >= static_cast<int>(code.size()) && fragment.mask != 0) exit_lanes(id, fragment.mask);
    fragment.state = WarpFragment::State::Done;
    if (fragment.parent < 0) return;
    const FragmentId up = fragment.parent;
    WarpFragment& parent = run.fragments_[static_cast<std::size_t>(up)];
    parent.mask |= fragment.mask;
    parent.time = std::max(parent.time, fragment.time);
    free_fragments.push_back(id);
    if (--parent.children > 0) return;
    if (parent.mask != 0) return push(parent);
    id = up;
  }
}

void RunInside::exit_lanes(FragmentId id, LaneMask lanes) {
  WarpFragment& fragment = run.fragments_[static_cast<std::size_t>(id)];
  Warp& warp = run.warps[static_cast<std::size_t>(fragment.warp)];
  fragment.mask &= ~lanes;
  warp.live &= ~lanes;
  for (LaneMeeting& meeting : meetings[static_cast<std::size_t>(warp.index)]) {
    // The lanes that wait look again, without those that are gone.
    meeting.need &= warp.live;
    if ((meeting.need & ~meeting.have) == 0)
      for (const FragmentId waits : meeting.fragments) run.wake(waits, fragment.time);
  }
  if (warp.live == 0) {
    unit_exit(run, warp);
    if (std::ranges::none_of(run.warps, [&](const Warp& other) { return other.cta == warp.cta && other.live != 0; }))
      judge_exit_of(run, warp.cta);
  }
  for (const auto& [id, joined] : run.barriers.exit_lanes(warp.cta, warp.index, lanes)) end_round(run, warp.cta, id, joined, fragment.time);
}

LaneMask RunInside::meet_lanes(WarpFragment& fragment, const PtxInstruction& instruction, LaneMask members, LaneMask lanes) {
  const Warp& warp = run.warps[static_cast<std::size_t>(fragment.warp)];
  const LaneMask need = members & warp.live;
  if ((need & ~lanes) == 0) return lanes;
  const int pc = run.pc_of(instruction);
  std::vector<LaneMeeting>& here = meetings[static_cast<std::size_t>(warp.index)];
  auto meeting = std::ranges::find_if(here, [&](const LaneMeeting& other) { return other.pc == pc && other.need == need; });
  if (meeting == here.end()) meeting = here.insert(here.end(), {pc, need, 0, 0, {}});
  meeting->have |= fragment.mask;
  meeting->acting |= lanes;
  if ((need & ~meeting->have) != 0) {
    if (std::ranges::find(meeting->fragments, fragment.id) == meeting->fragments.end()) meeting->fragments.push_back(fragment.id);
    fragment.awaits = {WarpFragment::Awaits::What::Lanes, 0, false, 0, pc, fragment.time};
    return 0;
  }
  const LaneMask acting = meeting->acting;
  const std::vector<FragmentId> others = std::move(meeting->fragments);
  here.erase(meeting);
  Time latest = fragment.time;
  for (const FragmentId other : others) latest = std::max(latest, run.fragment(other).time);
  fragment.time = latest;
  for (const FragmentId other : others) {
    if (other == fragment.id) continue;
    run.fragment(other).pc = pc + 1;
    run.wake(other, latest);
  }
  return acting;
}

bool RunInside::join_lanes(FragmentId id, int pc) {
  WarpFragment& fragment = run.fragments_[static_cast<std::size_t>(id)];
  const LaneMask need = run.warps[static_cast<std::size_t>(fragment.warp)].live;
  std::vector<FragmentId> together{id};
  LaneMask have = fragment.mask;
  for (const WarpFragment& other : run.fragments_) {
    const bool waits = other.state == WarpFragment::State::Waiting && other.awaits.what == WarpFragment::Awaits::What::Lanes;
    if (!waits || other.warp != fragment.warp || other.awaits.pc != pc) continue;
    together.push_back(other.id);
    have |= other.mask;
  }
  std::vector<LaneMeeting>& meetings_here = meetings[static_cast<std::size_t>(fragment.warp)];
  std::erase_if(meetings_here, [&](const LaneMeeting& meeting) { return meeting.pc == pc; });
  if ((need & ~have) != 0) {
    meetings_here.push_back({pc, need, have, 0, together});  // so that an exit wakes them
    fragment.pc = pc;
    fragment.state = WarpFragment::State::Waiting;
    fragment.awaits = {WarpFragment::Awaits::What::Lanes, 0, false, 0, pc, fragment.time};
    return false;
  }
  // The one with the fewest parents goes on: where lanes that parted meet again lies behind this instruction for all of them.
  const auto depth = [&](FragmentId of) {
    int parents = 0;
    for (; run.fragment(of).parent >= 0; of = run.fragment(of).parent) ++parents;
    return parents;
  };
  const FragmentId stays = *std::ranges::min_element(together, {}, depth);
  WarpFragment& all = run.fragment(stays);
  all.mask = have;
  all.awaits.what = WarpFragment::Awaits::What::Nothing;
  all.pc = pc;
  for (const FragmentId other : together) all.time = std::max(all.time, run.fragment(other).time);
  push(all);
  for (const FragmentId other : together) {
    if (other == stays) continue;
    run.fragment(other).mask = 0;
    end_fragment(other);
  }
  return false;
}

}  // namespace heddle::ptx

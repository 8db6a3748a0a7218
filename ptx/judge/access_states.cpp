// The states of neighbours repeat, in tiles that a product reads row by row in a pattern: what follows an old state is kept in it for as
// long as the access lasts, and of the last few in a table that a loop over pieces looks into first.
#include "ptx/judge/access_states.h"

#include <algorithm>

namespace heddle::ptx {
namespace {

/// Of one component the last read is enough: who knows it knows the earlier ones. Pending ones have no order yet.
void add_access(std::vector<PastAccess>& list, const PastAccess& access) {
  for (PastAccess& past : list) {
    if (past.by != access.by || past.strong != access.strong) continue;
    const bool pending = past.epoch == kPending || access.epoch == kPending;
    if (pending ? past.epoch != access.epoch || past.pc != access.pc : past.epoch > access.epoch) {
      if (!pending) return;
      continue;
    }
    if (past.epoch < access.epoch) past = access;
    return;
  }
  list.push_back(access);
}

bool holds(const std::vector<PastAccess>& list, const PastAccess& access) {
  return std::any_of(list.begin(), list.end(), [&](const PastAccess& past) {
    if (past.by != access.by || past.strong != access.strong) return false;
    if (past.epoch == kPending || access.epoch == kPending) return past.epoch == access.epoch && past.pc == access.pc;
    return past.epoch >= access.epoch;
  });
}

}  // namespace

StateId AccessStates::add(OneState state) {
  state.made = serial_;
  states_.push_back(std::move(state));
  return static_cast<StateId>(states_.size() - 1);
}

StateId AccessStates::written(const PastAccess& access) {
  if (last_written_state_ != 0 && last_written_ == access && access.epoch != kPending) return last_written_state_;
  OneState state;
  state.writers.push_back(access);
  last_written_ = access;
  return last_written_state_ = add(std::move(state));
}

AccessStates::Parts AccessStates::parts(StateId id) const {
  if (states_[id].split >= 0) return splits_[static_cast<std::size_t>(states_[id].split)];
  Parts parts;
  parts.fill(id);
  return parts;
}

StateId AccessStates::split(const Parts& parts) {
  if (std::all_of(parts.begin(), parts.end(), [&](StateId part) { return part == parts[0]; })) return parts[0];
  OneState state;
  state.split = static_cast<int>(splits_.size());
  splits_.push_back(parts);
  return add(std::move(state));
}

void AccessStates::tidy(std::span<StateId> cells) {
  if (states_.size() < tidy_at_) return;
  constexpr StateId kGone = 0xFFFFFFFFu;
  std::vector<StateId> moved(states_.size(), kGone);
  std::vector<OneState> kept(1);
  std::vector<Parts> kept_splits;
  moved[0] = 0;
  const auto keep = [&](StateId id) {
    if (moved[id] == kGone) {
      moved[id] = static_cast<StateId>(kept.size());
      kept.push_back(std::move(states_[id]));
    }
    return moved[id];
  };
  for (StateId& cell : cells) {
    const bool again = moved[cell] != kGone;
    cell = keep(cell);
    if (again || kept[cell].split < 0) continue;
    Parts parts = splits_[static_cast<std::size_t>(kept[cell].split)];
    for (StateId& part : parts) part = keep(part);
    kept[cell].split = static_cast<int>(kept_splits.size());
    kept_splits.push_back(parts);
  }
  states_ = std::move(kept);
  splits_ = std::move(kept_splits);
  last_written_state_ = 0;
  tidy_at_ = std::max<std::size_t>(1 << 15, 2 * states_.size());
}

AccessStep::AccessStep(AccessStates& states, const ShadowAccess& access, const KnownClocks& known, AccessRules rules)
    : states_(states),
      known_(known),
      access_{access.by, access.proxy, access.strong, access.epoch, access.pc, access.warp},
      rules_(rules),
      serial_(states.next_serial()) {}

bool AccessStep::knows(const PastAccess& past) const {
  return known_.seen.at(past.by) >= past.epoch || (past.strong && access_.strong) || (rules_.own_in_order && past.by == access_.by);
}

bool AccessStep::sees(const PastAccess& past) const {
  if (rules_.fenced) return past.by == access_.by || known_.tensor.at(past.by) >= past.epoch;
  return access_.proxy != Proxy::Async || past.proxy != Proxy::Generic || known_.async.at(past.by) >= past.epoch;
}

/// All who wrote it did so at this instruction, the writer is not among them and has not waited for one of them.
bool AccessStep::shares_value(const AccessStates::OneState& state) const {
  if (!rules_.same_value) return false;
  bool unknown = false;
  for (const PastAccess& past : state.writers) {
    if (past.pc != access_.pc || past.by == access_.by || past.epoch == kPending) return false;
    unknown = unknown || !knows(past);
  }
  return unknown;
}

void AccessStep::clashes_of_write(const AccessStates::OneState& state, Clashing& found) const {
  const bool shares = shares_value(state);
  const auto generic = [](const PastAccess& past) { return past.proxy == Proxy::Generic; };
  const bool read_back = !rules_.fenced && std::any_of(state.readers.begin(), state.readers.end(), generic);
  if (!shares)
    for (const PastAccess& past : state.writers) {
      if (!knows(past))
        found.emplace_back(AccessClash::Kind::NotReady, past);
      else if (!sees(past))
        found.emplace_back(read_back ? AccessClash::Kind::ReadBack : AccessClash::Kind::NotVisible, past);
    }
  for (const PastAccess& past : state.readers) {
    const auto wrote = [&](const PastAccess& writer) { return writer.by == past.by; };
    if (shares && std::any_of(state.writers.begin(), state.writers.end(), wrote)) continue;
    if (!knows(past))
      found.emplace_back(AccessClash::Kind::StillRead, past);
    else if (rules_.fenced && !sees(past))
      found.emplace_back(AccessClash::Kind::NotVisible, past);
  }
}

/// Of several who wrote the same value one is enough for who reads it; of atomics all count.
void AccessStep::clashes_of_read(const AccessStates::OneState& state, Clashing& found) const {
  const PastAccess* unknown = nullptr;
  const PastAccess* unseen = nullptr;
  bool one_seen = false;
  for (const PastAccess& past : state.writers) {
    if (knows(past) && sees(past)) {
      one_seen = true;
    } else if (past.strong) {
      found.emplace_back(knows(past) ? AccessClash::Kind::NotVisible : AccessClash::Kind::NotReady, past);
    } else {
      (knows(past) ? unseen : unknown) = &past;
    }
  }
  if (one_seen) return;
  if (unseen != nullptr)
    found.emplace_back(AccessClash::Kind::NotVisible, *unseen);
  else if (unknown != nullptr)
    found.emplace_back(AccessClash::Kind::NotReady, *unknown);
}

AccessStep::Clashing AccessStep::clashing(StateId old) const {
  Clashing found;
  if (rules_.write)
    clashes_of_write(states_[old], found);
  else
    clashes_of_read(states_[old], found);
  return found;
}

StateId AccessStep::after_read(StateId old) {
  if (holds(states_[old].readers, access_)) return old;
  AccessStates::OneState next;
  next.writers = states_[old].writers;
  next.readers.reserve(states_[old].readers.size() + 1);
  next.readers = states_[old].readers;
  add_access(next.readers, access_);
  return states_.add(std::move(next));
}

StateId AccessStep::after_write(StateId old) {
  const AccessStates::OneState& state = states_[old];
  const bool shares = shares_value(state);
  // What is not ordered with this write is as true as it: other atomics, other warps' writes of the same value.
  const auto stays = [&](const PastAccess& past) {
    return past.by != access_.by && past.strong && access_.strong && known_.seen.at(past.by) < past.epoch;
  };
  AccessStates::OneState next;
  for (const PastAccess& past : state.writers)
    if (shares || stays(past)) next.writers.push_back(past);
  for (const PastAccess& past : state.readers)
    if (shares || stays(past)) next.readers.push_back(past);
  if (next.writers.empty() && next.readers.empty()) return states_.written(access_);
  add_access(next.writers, access_);
  return states_.add(std::move(next));
}

/// The state that follows one that is not split.
StateId AccessStep::follow(StateId old) {
  if (states_[old].made == serial_) return old;  // ranges of one access that overlap
  if (states_[old].serial == serial_) return states_[old].next;
  const bool clashes = !clashing(old).empty();
  const StateId next = rules_.write ? after_write(old) : after_read(old);
  AccessStates::OneState& state = states_[old];
  state.serial = serial_;
  state.next = next;
  state.step = static_cast<std::uint32_t>(taken_.size());
  taken_.push_back({old, clashes, 0});
  return next;
}

void AccessStep::count(StateId old, std::int64_t pieces) {
  const auto add = [&](StateId id, std::int64_t parts) {
    if (states_[id].serial == serial_) taken_[states_[id].step].parts += parts;
  };
  if (states_[old].split < 0) return add(old, pieces * AccessStates::kParts);
  for (const StateId part : states_.parts(old)) add(part, pieces);
}

void AccessStep::meet(Met& met, StateId old) {
  if (met.pieces != 0) count(met.old, met.pieces);
  met.pieces = 0;
  met.old = old;
  if (states_[old].split < 0) {
    met.next = follow(old);
    return;
  }
  AccessStates::Parts parts = states_.parts(old);
  for (StateId& part : parts) part = follow(part);
  met.next = parts == states_.parts(old) ? old : states_.split(parts);
}

void AccessStep::whole(std::span<StateId> cells) {
  for (StateId& cell : cells) {
    Met& met = met_[cell % std::tuple_size_v<decltype(met_)>];
    if (met.old != cell) meet(met, cell);
    ++met.pieces;
    cell = met.next;
  }
}

void AccessStep::part(StateId& cell, unsigned which) {
  const StateId old = cell;
  AccessStates::Parts parts = states_.parts(old);
  const bool same = old == parted_ && which == parted_which_;
  for (int i = 0; i < AccessStates::kParts; ++i) {
    if ((which >> i & 1) == 0) continue;
    StateId& part = parts[static_cast<std::size_t>(i)];
    const StateId next = follow(part);
    if (next != part || states_[part].made != serial_) taken_[states_[part].step].parts += 1;
    part = next;
  }
  cell = same ? parted_next_ : states_.split(parts);
  parted_ = old;
  parted_which_ = which;
  parted_next_ = cell;
}

void AccessStep::add_clashes(const Taken& one, std::int64_t amount, std::vector<AccessClash>& all) const {
  const Clashing found = clashing(one.old);
  for (auto at = found.begin(); at != found.end(); ++at) {
    const auto& [kind, past] = *at;
    // Of one instruction that many warps executed the first is enough.
    if (std::any_of(found.begin(), at, [&](const auto& other) { return other.first == at->first && other.second.pc == at->second.pc; }))
      continue;
    auto clash = std::find_if(all.begin(), all.end(), [&](const AccessClash& c) { return c.kind == at->first; });
    if (clash == all.end()) clash = all.insert(all.end(), {kind, {}, 0});
    if (std::none_of(found.begin(), at, [&](const auto& other) { return other.first == at->first; })) clash->amount += amount;
    const auto with = std::find_if(clash->with.begin(), clash->with.end(), [&](const auto& w) { return w.past.pc == at->second.pc; });
    if (with == clash->with.end())
      clash->with.push_back({past, amount});
    else
      with->amount += amount;
  }
}

AccessStep::Outcome AccessStep::outcome(int amount) {
  for (Met& met : met_) {
    if (met.pieces != 0) count(met.old, met.pieces);
    met.pieces = 0;
  }
  Outcome outcome;
  for (const Taken& one : taken_) {
    const std::int64_t here = one.parts * amount / AccessStates::kParts;
    outcome.amount += here;
    if (states_[one.old].writers.empty()) outcome.never_written += here;
    if (one.clashes && one.parts != 0) add_clashes(one, here, outcome.clashes);
  }
  for (AccessClash& clash : outcome.clashes)
    std::stable_sort(clash.with.begin(), clash.with.end(), [](const auto& a, const auto& b) { return a.amount > b.amount; });
  return outcome;
}

void settle_cells(AccessStates& states, std::span<StateId> cells, Component by, int pc, Epoch epoch) {
  const auto is_meant = [&](const PastAccess& past) { return past.by == by && past.epoch == kPending && past.pc == pc; };
  const auto settled = [&](StateId old) {
    const AccessStates::OneState& state = states[old];
    if (std::none_of(state.writers.begin(), state.writers.end(), is_meant) &&
        std::none_of(state.readers.begin(), state.readers.end(), is_meant))
      return old;
    AccessStates::OneState next;
    next.writers = state.writers;
    next.readers = state.readers;
    for (std::vector<PastAccess>* list : {&next.writers, &next.readers})
      for (PastAccess& past : *list)
        if (is_meant(past)) past.epoch = epoch;
    return states.add(std::move(next));
  };
  const std::uint64_t serial = states.next_serial();
  const auto once = [&](StateId old) {
    if (states[old].serial != serial) {
      const StateId next = settled(old);
      states[old].serial = serial;
      states[old].next = next;
    }
    return states[old].next;
  };
  StateId last = 0, last_next = 0;
  for (StateId& cell : cells) {
    if (cell != last) {
      last = cell;
      if (states[cell].split >= 0) {
        const AccessStates::Parts before = states.parts(cell);
        AccessStates::Parts parts = before;
        for (StateId& part : parts) part = once(part);
        last_next = parts == before ? cell : states.split(parts);
      } else {
        last_next = once(cell);
      }
    }
    cell = last_next;
  }
}

}  // namespace heddle::ptx

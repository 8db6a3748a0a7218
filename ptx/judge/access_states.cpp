// Runs of pieces in one state are found eight at a time and looked up once; the state that follows is kept in the old one for as long as
// the access lasts.
#include "ptx/judge/access_states.h"

#include <algorithm>

namespace heddle::ptx {
namespace {

/// How many of `cells`, from the first on, are equal to it.
std::size_t run_of(std::span<const StateId> cells) {
  const StateId first = cells[0];
  std::size_t length = 1;
  while (length + 8 <= cells.size()) {
    StateId different = 0;
    for (std::size_t i = 0; i < 8; ++i) different |= cells[length + i] ^ first;
    if (different != 0) break;
    length += 8;
  }
  while (length < cells.size() && cells[length] == first) ++length;
  return length;
}

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

StateId AccessStates::split(const std::array<StateId, 4>& parts) {
  if (parts[0] == parts[1] && parts[0] == parts[2] && parts[0] == parts[3]) return parts[0];
  OneState state;
  state.split = true;
  state.parts = parts;
  return add(std::move(state));
}

void AccessStates::tidy(std::span<StateId> cells) {
  if (states_.size() < tidy_at_) return;
  constexpr StateId kGone = 0xFFFFFFFFu;
  std::vector<StateId> moved(states_.size(), kGone);
  std::vector<OneState> kept(1);
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
    if (!again && kept[cell].split)
      for (int i = 0; i < 4; ++i) {
        const StateId part = keep(kept[cell].parts[static_cast<std::size_t>(i)]);
        kept[cell].parts[static_cast<std::size_t>(i)] = part;
      }
  }
  states_ = std::move(kept);
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
  if (rules_.fenced) return past.by == access_.by || known_.async.at(past.by) >= past.epoch;
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
  if (!shares)
    for (const PastAccess& past : state.writers) {
      if (!knows(past))
        found.emplace_back(AccessClash::Kind::NotReady, past);
      else if (!sees(past))
        found.emplace_back(AccessClash::Kind::NotVisible, past);
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

AccessStep::Taken& AccessStep::taken(StateId old) {
  if (states_[old].serial == serial_) return taken_[states_[old].step];
  const bool clashes = !clashing(old).empty();
  const StateId next = rules_.write ? after_write(old) : after_read(old);
  AccessStates::OneState& state = states_[old];
  state.serial = serial_;
  state.next = next;
  state.step = static_cast<std::uint32_t>(taken_.size());
  taken_.push_back({old, clashes, 0});
  return taken_.back();
}

StateId AccessStep::follow(StateId old, std::int64_t amount) {
  if (states_[old].split) {
    std::array<StateId, 4> parts = states_[old].parts;
    for (StateId& part : parts) part = follow(part, amount / 4);
    return states_.split(parts);
  }
  if (states_[old].made == serial_) return old;  // ranges of one access that overlap
  amount_ += amount;
  if (states_[old].writers.empty()) never_written_ += amount;
  taken(old).amount += amount;
  return states_[old].next;
}

void AccessStep::whole(std::span<StateId> cells, int amount) {
  while (!cells.empty()) {
    const std::size_t length = run_of(cells);
    const StateId old = cells[0];
    const StateId next = follow(old, static_cast<std::int64_t>(length) * amount);
    if (next != old) std::fill_n(cells.begin(), length, next);
    cells = cells.subspan(length);
  }
}

void AccessStep::part(StateId& cell, unsigned bytes) {
  std::array<StateId, 4> parts{cell, cell, cell, cell};
  if (states_[cell].split) parts = states_[cell].parts;
  for (unsigned i = 0; i < 4; ++i)
    if ((bytes >> i & 1) != 0) parts[i] = follow(parts[i], 1);
  cell = states_.split(parts);
}

std::vector<AccessClash> AccessStep::clashes() const {
  std::vector<AccessClash> all;
  for (const Taken& one : taken_) {
    if (!one.clashes) continue;
    Clashing found = clashing(one.old);
    // Of one instruction that many warps executed the first is enough.
    for (std::size_t i = 0; i < found.size(); ++i) {
      const auto same_as = [&](const auto& other) { return other.first == found[i].first && other.second.pc == found[i].second.pc; };
      if (std::any_of(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(i), same_as)) continue;
      auto clash = std::find_if(all.begin(), all.end(), [&](const AccessClash& c) { return c.kind == found[i].first; });
      if (clash == all.end()) clash = all.insert(all.end(), {found[i].first, {}, 0});
      const auto of_kind = [&](const auto& other) { return other.first == found[i].first; };
      if (std::none_of(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(i), of_kind)) clash->amount += one.amount;
      const auto with =
          std::find_if(clash->with.begin(), clash->with.end(), [&](const auto& w) { return w.past.pc == found[i].second.pc; });
      if (with == clash->with.end())
        clash->with.push_back({found[i].second, one.amount});
      else
        with->amount += one.amount;
    }
  }
  for (AccessClash& clash : all)
    std::stable_sort(clash.with.begin(), clash.with.end(), [](const auto& a, const auto& b) { return a.amount > b.amount; });
  return all;
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
  while (!cells.empty()) {
    const std::size_t length = run_of(cells);
    const StateId old = cells[0];
    StateId next = 0;
    if (states[old].split) {
      std::array<StateId, 4> parts = states[old].parts;
      for (StateId& part : parts) part = once(part);
      next = parts == states[old].parts ? old : states.split(parts);
    } else {
      next = once(old);
    }
    if (next != old) std::fill_n(cells.begin(), length, next);
    cells = cells.subspan(length);
  }
}

}  // namespace heddle::ptx

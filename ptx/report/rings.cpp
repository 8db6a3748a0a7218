// Each place of the text starts a ring of its own. Rings of one tensor become one where they share a slot (unrolled loops have several
// places for a ring), and where they signal the same barriers (a tile that several copies fill).
#include "ptx/report/rings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "ptx/run/memory.h"

namespace heddle::ptx {
namespace {

struct FilledPart {
  std::uint64_t end = 0, full = 0, empty = 0;
};

struct RawRing {
  int map = -1, cta = 0;
  std::int64_t copies = 0;
  std::set<int> places;
  std::map<std::uint64_t, FilledPart> parts;  ///< by where they begin

  std::set<std::uint64_t> barriers() const {
    std::set<std::uint64_t> all;
    for (const auto& [begin, part] : parts) all.insert(part.full);
    return all;
  }
};

bool together(const RawRing& a, const RawRing& b) {
  if (a.map != b.map || a.cta != b.cta) return false;
  return std::any_of(a.parts.begin(), a.parts.end(), [&](const auto& part) { return b.parts.contains(part.first); }) ||
         a.barriers() == b.barriers();
}

void merge(RawRing& into, const RawRing& from) {
  into.copies += from.copies;
  into.places.insert(from.places.begin(), from.places.end());
  into.parts.insert(from.parts.begin(), from.parts.end());
}

/// An unrolled loop fills each slot at a place of its own: single slots of one tensor, of one size and evenly spaced, are a ring.
void join_unrolled(std::vector<RawRing>& rings) {
  std::map<std::pair<int, int>, std::vector<std::size_t>> single;  // map, CTA
  for (std::size_t i = 0; i < rings.size(); ++i)
    if (rings[i].map >= 0 && rings[i].barriers().size() == 1) single[{rings[i].map, rings[i].cta}].push_back(i);
  std::vector<bool> gone(rings.size());
  for (auto& [of, members] : single) {
    const auto begin = [&](std::size_t i) { return rings[i].parts.begin()->first; };
    const auto bytes = [&](std::size_t i) { return rings[i].parts.rbegin()->second.end - begin(i); };
    std::sort(members.begin(), members.end(), [&](std::size_t a, std::size_t b) { return begin(a) < begin(b); });
    bool even = members.size() > 2;
    for (std::size_t k = 1; k < members.size(); ++k)
      even &= bytes(members[k]) == bytes(members[0]) && begin(members[k]) - begin(members[k - 1]) == begin(members[1]) - begin(members[0]);
    if (!even) continue;
    for (std::size_t k = 1; k < members.size(); ++k) {
      merge(rings[members[0]], rings[members[k]]);
      gone[members[k]] = true;
    }
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < rings.size(); ++i)
    if (!gone[i]) {
      if (kept != i) rings[kept] = std::move(rings[i]);
      ++kept;
    }
  rings.resize(kept);
}

/// Parts of one barrier that lie side by side are one slot.
std::vector<RingSlot> slots_of(const RawRing& raw) {
  std::vector<RingSlot> slots;
  for (const auto& [begin, part] : raw.parts) {
    if (!slots.empty() && slots.back().full == part.full && slots.back().end == begin) {
      slots.back().end = part.end;
      continue;
    }
    slots.push_back({begin, part.end, part.full, part.empty});
  }
  return slots;
}

std::string name_of(const RawRing& raw, const PtxRecord& record) {
  if (raw.map >= 0) {
    const PlacedMap& placed = record.launch->maps[static_cast<std::size_t>(raw.map)];
    if (!placed.map.name.empty()) return placed.map.name;
    return placed.in_parameters ? fmt::format("map at byte {}", placed.at) : fmt::format("map at {:#x}", placed.at);
  }
  return raw.places.empty() ? "copy" : fmt::format("copy of line {}", record.at(*raw.places.begin()).line);
}

/// The places of copies, each with what it fills; a wait just before says which barrier its slot is empty by.
std::map<std::pair<int, int>, RawRing> rings_by_place(const PtxRecord& record) {
  std::map<std::pair<int, int>, RawRing> by_place;               // pc, CTA
  std::map<int, std::uint64_t> waited;                           // warp -> the barrier it waited for last
  std::map<std::pair<int, std::uint64_t>, std::uint64_t> empty;  // warp, FULL -> the wait before its copies
  for (const RunEvent& event : *record.trace) {
    if (event.kind == EventKind::Wait) waited[event.warp] = event.address;
    if (event.kind != EventKind::Load || event.barrier == 0) continue;
    std::uint64_t& before = empty[{event.warp, event.barrier}];
    if (const auto at = waited.find(event.warp); at != waited.end() && at->second != event.barrier) {
      before = at->second;
      waited.erase(at);
    }
    RawRing& ring = by_place[{event.pc, cta_of(event.address)}];
    ring.map = event.map;
    ring.cta = cta_of(event.address);
    ++ring.copies;
    ring.places.insert(event.pc);
    FilledPart& part = ring.parts[event.address];
    part.end = event.address + static_cast<std::uint64_t>(event.amount);
    part.full = event.barrier;
    if (before != 0) part.empty = before;
  }
  return by_place;
}

std::string joined(const std::vector<std::string>& names) {
  std::string all;
  for (std::size_t i = 0; i < names.size(); ++i) all += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  return all;
}

void add_once(std::vector<std::string>& names, const std::string& name) {
  if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

}  // namespace

std::vector<PtxRing> rings_of(const PtxRecord& record) {
  std::vector<RawRing> raw;
  for (auto& [place, ring] : rings_by_place(record)) {
    for (std::size_t i = 0; i < raw.size();) {
      if (!together(raw[i], ring)) {
        ++i;
        continue;
      }
      merge(ring, raw[i]);
      raw.erase(raw.begin() + static_cast<std::ptrdiff_t>(i));
    }
    raw.push_back(std::move(ring));
  }
  join_unrolled(raw);
  std::vector<PtxRing> rings;
  for (const RawRing& ring : raw)
    rings.push_back({name_of(ring, record), ring.map, ring.cta, slots_of(ring), {ring.places.begin(), ring.places.end()}, ring.copies});
  std::sort(rings.begin(), rings.end(), [](const PtxRing& a, const PtxRing& b) {
    return std::pair(a.cta, a.slots.empty() ? 0 : a.slots[0].begin) < std::pair(b.cta, b.slots.empty() ? 0 : b.slots[0].begin);
  });
  std::map<std::pair<int, std::string>, int> used, number;
  for (const PtxRing& ring : rings) ++used[{ring.cta, ring.name}];
  for (PtxRing& ring : rings)
    if (const std::pair<int, std::string> key{ring.cta, ring.name}; used[key] > 1) ring.name += fmt::format(".{}", number[key]++);
  return rings;
}

std::string slot_name(const std::vector<PtxRing>& rings, std::uint64_t address) {
  for (const PtxRing& ring : rings)
    for (std::size_t slot = 0; slot < ring.slots.size(); ++slot)
      if (address >= ring.slots[slot].begin && address < ring.slots[slot].end)
        return ring.slots.size() > 1 ? fmt::format("{}[{}]", ring.name, slot) : ring.name;
  return "";
}

BarrierNames::BarrierNames(const PtxRecord& record, const std::vector<PtxRole>& roles, const std::vector<PtxRing>& rings)
    : ctas_(record.ctas) {
  struct Uses {
    std::vector<std::string> full, empty, arrive, wait;  ///< rings; roles
    std::size_t slot = 0, slots = 0;
  };
  std::map<std::uint64_t, Uses> uses;
  for (const PtxRing& ring : rings)
    for (std::size_t slot = 0; slot < ring.slots.size(); ++slot)
      for (const bool full : {true, false}) {
        const std::uint64_t barrier = full ? ring.slots[slot].full : ring.slots[slot].empty;
        if (barrier == 0) continue;
        Uses& use = uses[barrier];
        add_once(full ? use.full : use.empty, ring.name);
        use.slot = slot;
        use.slots = std::max(use.slots, ring.slots.size());
      }
  std::vector<std::string> role_of(static_cast<std::size_t>(record.warps_per_cta * record.ctas));
  for (const PtxRole& role : roles)
    for (const int warp : role.all() ? std::vector<int>() : role.warps) role_of[static_cast<std::size_t>(warp)] = role.name;
  std::set<std::tuple<std::uint64_t, EventKind, int>> seen;
  if (record.trace != nullptr)
    for (const RunEvent& event : *record.trace) {
      const bool arrives = event.kind == EventKind::Arrive || event.kind == EventKind::ProductCommit;
      const std::uint64_t barrier = event.kind == EventKind::ProductCommit ? event.barrier : event.address;
      if ((!arrives && event.kind != EventKind::Wait) || barrier == 0 || !seen.insert({barrier, event.kind, event.warp}).second) continue;
      add_once(arrives ? uses[barrier].arrive : uses[barrier].wait, role_of[static_cast<std::size_t>(event.warp)]);
    }
  std::map<std::string, int> same;
  for (const auto& [barrier, use] : uses) {
    const std::vector<std::string>& named = !use.full.empty() ? use.full : use.empty;
    std::string name;
    if (!named.empty()) {
      name = (&named == &use.full ? "FULL of " : "EMPTY of ") + joined(named);
      if (use.slots > 1) name += fmt::format("{}[{}]", named.size() > 1 ? " " : "", use.slot);
    } else if (!use.arrive.empty() && !use.wait.empty()) {
      name = joined(use.arrive) + " to " + joined(use.wait);
    } else {
      continue;
    }
    ++same[name];
    names_[barrier] = std::move(name);
  }
  for (auto& [barrier, name] : names_)
    if (same[name] > 1) name += fmt::format(" (at {})", byte_of(barrier));
}

std::string BarrierNames::of(std::uint64_t barrier) const {
  if (const auto at = names_.find(barrier); at != names_.end()) return at->second;
  if (ctas_ > 1) return fmt::format("mbarrier at {} of CTA {}", byte_of(barrier), cta_of(barrier));
  return fmt::format("mbarrier at {}", byte_of(barrier));
}

}  // namespace heddle::ptx

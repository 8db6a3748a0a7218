// Copies of one tensor whose destinations or barriers recur belong together: each place of the text starts a ring of its own, and rings
// that share a slot become one (unrolled loops have several places for a ring).
#include "ptx/report/rings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "ptx/run/memory.h"

namespace heddle::ptx {
namespace {

struct RawRing {
  int map = -1, cta = 0;
  std::int64_t bytes = 0, copies = 0;
  std::set<int> places;
  std::map<std::uint64_t, std::pair<std::uint64_t, std::uint64_t>> slots;  ///< begin -> full, empty
};

bool together(const RawRing& a, const RawRing& b) {
  if (a.map != b.map || a.cta != b.cta) return false;
  return std::any_of(a.slots.begin(), a.slots.end(), [&](const auto& slot) { return b.slots.contains(slot.first); });
}

void merge(RawRing& into, const RawRing& from) {
  into.copies += from.copies;
  into.places.insert(from.places.begin(), from.places.end());
  into.bytes = std::max(into.bytes, from.bytes);
  for (const auto& [begin, barriers] : from.slots) into.slots.emplace(begin, barriers);
}

/// Slots that one barrier covers lie in one slot: a tile that several copies fill.
std::vector<RingSlot> joined_slots(const RawRing& raw) {
  std::vector<RingSlot> slots;
  for (const auto& [begin, barriers] : raw.slots) {
    if (!slots.empty() && slots.back().full == barriers.first) continue;
    slots.push_back({begin, barriers.first, barriers.second});
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

}  // namespace

std::vector<PtxRing> rings_of(const PtxRecord& record) {
  std::map<std::pair<int, int>, RawRing> by_place;               // pc, CTA
  std::map<int, std::uint64_t> waited;                           // warp -> the barrier it waited for last
  std::map<int, std::map<std::uint64_t, std::uint64_t>> before;  // warp -> FULL -> the wait before its copies
  for (const RunEvent& event : *record.trace) {
    if (event.kind == EventKind::Wait) waited[event.warp] = event.address;
    if (event.kind != EventKind::Load || event.barrier == 0) continue;
    const auto [empty, is_new] = before[event.warp].try_emplace(event.barrier, 0);
    if (const auto at = waited.find(event.warp); at != waited.end() && at->second != event.barrier) {
      empty->second = at->second;
      waited.erase(at);
    }
    RawRing& ring = by_place[{event.pc, cta_of(event.address)}];
    ring.map = event.map;
    ring.cta = cta_of(event.address);
    ring.bytes = event.amount;
    ++ring.copies;
    ring.places.insert(event.pc);
    auto& slot = ring.slots[event.address];
    slot.first = event.barrier;
    if (empty->second != 0) slot.second = empty->second;
  }
  std::vector<RawRing> raw;
  for (auto& [place, ring] : by_place) {
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
  std::vector<PtxRing> rings;
  for (const RawRing& ring : raw) {
    PtxRing done{
        name_of(ring, record), ring.map, ring.cta, ring.bytes, joined_slots(ring), {ring.places.begin(), ring.places.end()}, ring.copies};
    if (const auto each = ring.slots.size(); done.slots.size() < each && !done.slots.empty())
      done.slot_bytes *= static_cast<std::int64_t>(each / done.slots.size());
    rings.push_back(std::move(done));
  }
  std::sort(rings.begin(), rings.end(), [](const PtxRing& a, const PtxRing& b) {
    return std::pair(a.cta, a.slots.empty() ? 0 : a.slots[0].begin) < std::pair(b.cta, b.slots.empty() ? 0 : b.slots[0].begin);
  });
  return rings;
}

std::string barrier_name(const std::vector<PtxRing>& rings, std::uint64_t barrier, const PtxRecord& record) {
  for (const bool full : {true, false}) {
    std::vector<std::string> names;
    std::size_t slot_of = 0, slots = 0;
    for (const PtxRing& ring : rings)
      for (std::size_t slot = 0; slot < ring.slots.size(); ++slot) {
        if ((full ? ring.slots[slot].full : ring.slots[slot].empty) != barrier || barrier == 0) continue;
        if (std::find(names.begin(), names.end(), ring.name) == names.end()) names.push_back(ring.name);
        slot_of = slot;
        slots = std::max(slots, ring.slots.size());
      }
    if (names.empty()) continue;
    std::string all = names[0];
    for (std::size_t i = 1; i < names.size(); ++i) all += (i + 1 == names.size() ? " and " : ", ") + names[i];
    if (slots > 1) all += fmt::format("{}[{}]", names.size() > 1 ? " " : "", slot_of);
    return (full ? "FULL of " : "EMPTY of ") + all;
  }
  if (record.ctas > 1) return fmt::format("mbarrier at {} of CTA {}", byte_of(barrier), cta_of(barrier));
  return fmt::format("mbarrier at {}", byte_of(barrier));
}

std::string slot_name(const std::vector<PtxRing>& rings, std::uint64_t address) {
  for (const PtxRing& ring : rings)
    for (std::size_t slot = 0; slot < ring.slots.size(); ++slot) {
      const std::uint64_t begin = ring.slots[slot].begin;
      if (address < begin || address >= begin + static_cast<std::uint64_t>(ring.slot_bytes)) continue;
      return ring.slots.size() > 1 ? fmt::format("{}[{}]", ring.name, slot) : ring.name;
    }
  return "";
}

}  // namespace heddle::ptx

#include "ptx/report/map_uses.h"

#include <algorithm>

namespace heddle::ptx {

std::vector<MapUse> map_uses(const RunNames& names) {
  const PtxRecord& record = names.record;
  std::vector<MapUse> uses;
  const auto use_of = [&](std::int32_t map, bool stored) -> MapUse& {
    const auto known =
        std::ranges::find_if(uses, [&](const MapUse& use) { return use.map == static_cast<std::size_t>(map) && use.stored == stored; });
    if (known != uses.end()) return *known;
    return uses.emplace_back(MapUse{static_cast<std::size_t>(map), stored, 0, 0, 0});
  };
  for (const RunEvent& event : *record.trace)
    if ((event.kind == EventKind::Load || event.kind == EventKind::Store) && event.map >= 0 && record.cta_of_warp(event.warp) == 0)
      ++use_of(event.map, event.kind == EventKind::Store).copies;
  for (const PtxRing& ring : names.rings()) {
    if (ring.map < 0 || ring.cta != 0) continue;
    MapUse& use = use_of(ring.map, false);
    use.slots = std::max(use.slots, static_cast<int>(ring.slots.size()));
    const std::uint64_t box = box_bytes(record.launch->maps[static_cast<std::size_t>(ring.map)].map);
    if (box > 0) use.boxes_of_slot += static_cast<std::int64_t>(ring.slot_bytes() / box);
  }
  return uses;
}

}  // namespace heddle::ptx

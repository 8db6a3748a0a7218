#include "ptx/report/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ptx/report/spell.h"
#include "ptx/run/memory.h"

namespace heddle::ptx {
namespace {

bool is_wait(EventKind kind) {
  switch (kind) {
    case EventKind::Wait:
    case EventKind::NamedSync:
    case EventKind::ClusterWait:
    case EventKind::StoreWait:
    case EventKind::CopyWait:
    case EventKind::ProductWait:
    case EventKind::TensorWait: return true;
    default: return false;
  }
}

/// What a unit does while the warp goes on: its bar lies in a lane of the unit.
bool by_unit(EventKind kind) { return kind == EventKind::Load || kind == EventKind::Store || kind == EventKind::Product; }

LaneBarKind bar_kind(EventKind kind) {
  switch (kind) {
    case EventKind::Load: return LaneBarKind::Load;
    case EventKind::Store: return LaneBarKind::Store;
    case EventKind::Product: return LaneBarKind::Product;
    case EventKind::TensorLoad:
    case EventKind::TensorStore: return LaneBarKind::TensorMove;
    default: return is_wait(kind) ? LaneBarKind::Wait : LaneBarKind::Mark;
  }
}

class Drawing {
 public:
  explicit Drawing(const PtxRecord& record) : record_(record), names_(record) {}

  RunTimeline drawn() {
    for (const RunEvent& event : *record_.trace) timeline_.end = std::max({timeline_.end, event.end, event.begin});
    note_signals();
    for (const PtxRole& role : names_.roles) lanes_of(role);
    unit_lanes();
    memory_rows();
    return std::move(timeline_);
  }

 private:
  const RunEvent& event(int index) const { return (*record_.trace)[static_cast<std::size_t>(index)]; }

  /// Whatever can end a wait: arrivals by barrier, and copies and commits that signal it.
  void note_signals() {
    for (std::size_t i = 0; i < record_.trace->size(); ++i) {
      const RunEvent& e = (*record_.trace)[i];
      if (e.kind == EventKind::Arrive || e.kind == EventKind::Expect) signals_[e.address].emplace_back(e.end, static_cast<int>(i));
      if (e.barrier != 0 && (e.kind == EventKind::Load || e.kind == EventKind::ProductCommit))
        signals_[e.barrier].emplace_back(e.end, static_cast<int>(i));
    }
    for (auto& [barrier, signals] : signals_) std::sort(signals.begin(), signals.end());
  }

  /// The last signal of its barrier before a wait ended.
  int ended_by(const RunEvent& wait) const {
    if (wait.kind != EventKind::Wait) return -1;
    const auto at = signals_.find(wait.address);
    if (at == signals_.end()) return -1;
    const auto after = std::upper_bound(at->second.begin(), at->second.end(), std::pair(wait.end, static_cast<int>(record_.trace->size())));
    return after == at->second.begin() ? -1 : std::prev(after)->second;
  }

  void lanes_of(const PtxRole& role) {
    std::map<int, std::vector<int>> by_group;  // warp group -> its warps
    for (const int warp : role.warps) by_group[warp / 4].push_back(warp);
    for (const auto& [group, warps] : by_group) {
      std::map<int, std::vector<int>> events;
      for (std::size_t i = 0; i < record_.trace->size(); ++i) {
        const RunEvent& e = (*record_.trace)[i];
        if (std::find(warps.begin(), warps.end(), static_cast<int>(e.warp)) != warps.end()) events[e.warp].push_back(static_cast<int>(i));
      }
      if (events.empty()) continue;
      const auto most =
          std::max_element(events.begin(), events.end(), [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
      PtxRole part = role;
      part.warps = warps;
      RunLane lane{to_string(part, record_), role.cta, most->first, {}};
      Time until = 0;
      for (const int index : most->second) {
        const RunEvent& e = event(index);
        if (by_unit(e.kind)) continue;
        const Time begin = std::max(e.begin, until), end = std::max(e.end, begin);
        if (begin > until && !lane.bars.empty())
          lane.bars.push_back({LaneBarKind::Work, until, begin, -1, record_.at(e.pc).line, "", -1, "works"});
        LaneBar bar{bar_kind(e.kind),     begin, end, index, record_.at(e.pc).line, source_of(record_, e.pc), ended_by(e),
                    event_text(e, names_)};
        if (e.kind == EventKind::Wait && e.phase >= 0) bar.text += fmt::format(", phase {}", e.phase);
        lane.bars.push_back(std::move(bar));
        until = end;
      }
      timeline_.lanes.push_back(std::move(lane));
    }
  }

  void unit_lanes() {
    const std::pair<EventKind, const char*> units[] = {
        {EventKind::Load, "loads"}, {EventKind::Product, "products"}, {EventKind::Store, "stores"}};
    for (int cta = 0; cta < record_.ctas; ++cta)
      for (const auto& [kind, name] : units) {
        std::vector<LaneBar> bars;
        for (std::size_t i = 0; i < record_.trace->size(); ++i) {
          const RunEvent& e = (*record_.trace)[i];
          if (e.kind != kind || record_.cta_of_warp(e.warp) != cta) continue;
          bars.push_back({bar_kind(kind), e.begin, e.end, static_cast<int>(i), record_.at(e.pc).line, source_of(record_, e.pc), -1,
                          event_text(e, names_)});
        }
        if (bars.empty()) continue;
        std::stable_sort(bars.begin(), bars.end(), [](const LaneBar& a, const LaneBar& b) { return a.begin < b.begin; });
        // Copies are under way at once: as many lanes as it takes.
        std::vector<std::size_t> lanes;
        for (LaneBar& bar : bars) {
          const auto free = std::find_if(lanes.begin(), lanes.end(),
                                         [&](std::size_t lane) { return timeline_.lanes[lane].bars.back().end <= bar.begin; });
          if (free != lanes.end()) {
            timeline_.lanes[*free].bars.push_back(std::move(bar));
            continue;
          }
          lanes.push_back(timeline_.lanes.size());
          const std::string of_cta = record_.ctas > 1 ? fmt::format(" of CTA {}", cta) : "";
          timeline_.lanes.push_back({name + of_cta + (lanes.size() > 1 ? fmt::format(" ({})", lanes.size()) : ""), cta, -1, {}});
          timeline_.lanes.back().bars.push_back(std::move(bar));
        }
      }
  }

  void memory_rows() {
    for (const PtxRing& ring : names_.rings)
      for (std::size_t slot = 0; slot < ring.slots.size(); ++slot) {
        timeline_.memory.push_back(
            {ring.slots.size() > 1 ? fmt::format("{}[{}]", ring.name, slot) : ring.name, ring.slots[slot].begin, ring.slots[slot].end, {}});
      }
    for (std::size_t i = 0; i < record_.trace->size(); ++i) {
      const RunEvent& e = (*record_.trace)[i];
      if (e.kind == EventKind::Load) touched(e.address, MemoryBar::Kind::Written, static_cast<int>(i));
      if (e.kind == EventKind::Store) touched(e.address, MemoryBar::Kind::Read, static_cast<int>(i));
      if (e.kind == EventKind::Product)
        for (const std::uint64_t descriptor : {e.operand_a, e.operand_b})
          if (descriptor != 0) touched(operand_byte(descriptor, record_.cta_of_warp(e.warp)), MemoryBar::Kind::Read, static_cast<int>(i));
    }
    for (MemoryRow& row : timeline_.memory)
      std::stable_sort(row.bars.begin(), row.bars.end(), [](const MemoryBar& a, const MemoryBar& b) { return a.begin < b.begin; });
  }

  /// Descriptors of products hold the start of an operand in units of 16 bytes (PTX ISA, matrix descriptors).
  static std::uint64_t operand_byte(std::uint64_t descriptor, int cta) {
    return (static_cast<std::uint64_t>(cta) << kCtaShift) | ((descriptor & 0x3FFF) << 4);
  }

  void touched(std::uint64_t address, MemoryBar::Kind kind, int index) {
    const RunEvent& e = event(index);
    for (MemoryRow& row : timeline_.memory) {
      if (address < row.begin || address >= row.end) continue;
      if (!row.bars.empty() && row.bars.back().kind == kind && event(row.bars.back().event).pc == e.pc && row.bars.back().begin == e.begin)
        return;
      row.bars.push_back({kind, e.begin, e.end, index, event_text(e, names_)});
      return;
    }
  }

  const PtxRecord& record_;
  const RunNames names_;
  std::map<std::uint64_t, std::vector<std::pair<Time, int>>> signals_;
  RunTimeline timeline_;
};

}  // namespace

RunTimeline timeline_of(const PtxRecord& record) { return Drawing(record).drawn(); }

void add_hang(RunTimeline& timeline, const PtxRecord& record, const std::vector<HungWait>& waits) {
  const Time begin = timeline.end;
  timeline.end += std::max<Time>(timeline.end / 8, 100 * kCycle);  // to be seen: it has no end
  for (const HungWait& wait : waits) {
    const auto lane = std::find_if(timeline.lanes.begin(), timeline.lanes.end(),
                                   [&](const RunLane& each) { return each.warp >= 0 && each.warp / 4 == wait.warp / 4; });
    if (lane == timeline.lanes.end()) continue;
    const auto index = static_cast<std::size_t>(lane - timeline.lanes.begin());
    if (std::find(timeline.circle.begin(), timeline.circle.end(), index) != timeline.circle.end()) continue;
    timeline.circle.push_back(index);
    const Time since = lane->bars.empty() ? begin : lane->bars.back().end;
    lane->bars.push_back(
        {LaneBarKind::Hangs, since, timeline.end, -1, record.at(std::max(wait.pc, 0)).line, source_of(record, wait.pc), -1, wait.text});
  }
}

}  // namespace heddle::ptx

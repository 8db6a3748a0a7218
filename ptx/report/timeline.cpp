#include "ptx/report/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

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

/// What event_text() looks at, so that a text is made once for all events that have it.
struct TextKey {
  EventKind kind = EventKind::Wait;
  std::uint64_t place = 0;
  std::int64_t amount = 0;
  bool operator==(const TextKey&) const = default;
};
struct TextKeyHash {
  std::size_t operator()(const TextKey& key) const {
    return std::hash<std::uint64_t>()((key.place * 0x9E3779B97F4A7C15u) ^ (static_cast<std::uint64_t>(key.amount) << 6) ^
                                      static_cast<std::uint64_t>(key.kind));
  }
};

TextKey key_of(const RunEvent& e) {
  const auto map = static_cast<std::uint64_t>(e.map);
  switch (e.kind) {
    case EventKind::Wait:
    case EventKind::Arrive: return {e.kind, e.address, 0};
    case EventKind::Expect:
    case EventKind::NamedSync:
    case EventKind::NamedArrive: return {e.kind, e.address, e.amount};
    case EventKind::Copy: return {e.kind, e.address, 0};
    case EventKind::Load: return {e.kind, e.map < 0 ? e.address : ~map, e.amount};
    case EventKind::Store: return {e.kind, map, e.amount};
    case EventKind::ProductCommit: return {e.kind, e.barrier, 0};
    case EventKind::Product: return {e.kind, static_cast<std::uint64_t>(e.rows) << 32 | static_cast<std::uint32_t>(e.columns), e.depth};
    default: return {e.kind, 0, e.amount};
  }
}

class Drawing {
 public:
  Drawing(const RunNames& names, const std::stop_token& stop) : record_(names.record), names_(names), stop_(stop) {}

  RunTimeline drawn() {
    timeline_.texts = {"", "works"};
    for (std::size_t i = 0; i < record_.trace->size() && !stopped(); ++i) {
      const RunEvent& e = (*record_.trace)[i];
      timeline_.end = std::max({timeline_.end, e.end, e.begin});
      note_signal(e, static_cast<int>(i));
    }
    for (auto& [barrier, signals] : signals_) std::sort(signals.begin(), signals.end());
    timeline_.left_out = record_.left_out;
    timeline_.cut = timeline_.end;
    for (const PtxRole& role : names_.roles()) lanes_of(role);
    unit_lanes();
    memory_rows();
    return std::move(timeline_);
  }

 private:
  const RunEvent& event(int index) const { return (*record_.trace)[static_cast<std::size_t>(index)]; }

  bool stopped() { return (++steps_ & 4095) == 0 && stop_.stop_requested(); }

  int add_text(std::string text) {
    timeline_.texts.push_back(std::move(text));
    return static_cast<int>(timeline_.texts.size() - 1);
  }
  int text_of(const RunEvent& e) {
    const auto [at, is_new] = texts_.try_emplace(key_of(e), 0);
    if (is_new) at->second = add_text(event_text(e, names_));
    return at->second;
  }
  int source_at(int pc) {
    const auto [at, is_new] = sources_.try_emplace(pc, 0);
    if (is_new)
      if (std::string source = source_of(record_, pc); !source.empty()) at->second = add_text(std::move(source));
    return at->second;
  }

  /// Whatever can end a wait: arrivals by barrier, and copies and commits that signal it.
  void note_signal(const RunEvent& e, int index) {
    if (e.kind == EventKind::Arrive || e.kind == EventKind::Expect) signals_[e.address].emplace_back(e.end, index);
    if (e.barrier != 0 && (e.kind == EventKind::Load || e.kind == EventKind::ProductCommit)) signals_[e.barrier].emplace_back(e.end, index);
  }

  /// The last signal of its barrier before a wait ended.
  int ended_by(const RunEvent& wait) const {
    if (wait.kind != EventKind::Wait) return -1;
    const auto at = signals_.find(wait.address);
    if (at == signals_.end()) return -1;
    const auto after = std::upper_bound(at->second.begin(), at->second.end(), std::pair(wait.end, static_cast<int>(record_.trace->size())));
    return after == at->second.begin() ? -1 : std::prev(after)->second;
  }

  LaneBar bar_of(int index, Time begin, Time end) {
    const RunEvent& e = event(index);
    return {bar_kind(e.kind), begin,          end, index, record_.at(e.pc).line, ended_by(e), e.kind == EventKind::Wait ? e.phase : -1,
            text_of(e),       source_at(e.pc)};
  }

  void lanes_of(const PtxRole& role) {
    std::map<int, std::vector<int>> by_group;  // warp group -> its warps
    for (const int warp : role.warps) by_group[warp / 4].push_back(warp);
    for (const auto& [group, warps] : by_group) {
      const int most = *std::max_element(warps.begin(), warps.end(),
                                         [&](int a, int b) { return names_.events_of(a).size() < names_.events_of(b).size(); });
      if (names_.events_of(most).empty()) continue;
      PtxRole part = role;
      part.warps = warps;
      RunLane lane{to_string(part, record_), role.cta, most, {}};
      Time until = 0;
      for (const int index : names_.events_of(most)) {
        if (stopped()) break;
        const RunEvent& e = event(index);
        if (by_unit(e.kind)) continue;
        const Time begin = std::max(e.begin, until), end = std::max(e.end, begin);
        if (begin > until && !lane.bars.empty())
          lane.bars.push_back({LaneBarKind::Work, until, begin, -1, record_.at(e.pc).line, -1, -1, 1, 0});
        lane.bars.push_back(bar_of(index, begin, end));
        until = end;
      }
      timeline_.lanes.push_back(std::move(lane));
    }
  }

  /// What units do for a CTA.
  void unit_lanes() {
    const std::pair<EventKind, const char*> units[] = {
        {EventKind::Load, "loads"}, {EventKind::Product, "products"}, {EventKind::Store, "stores"}};
    for (int cta = 0; cta < record_.ctas; ++cta)
      for (const auto& [kind, name] : units) {
        std::vector<LaneBar> bars;
        for (int warp = cta * record_.warps_per_cta; warp < (cta + 1) * record_.warps_per_cta; ++warp)
          for (const int index : names_.events_of(warp))
            if (event(index).kind == kind && !stopped()) bars.push_back(bar_of(index, event(index).begin, event(index).end));
        std::stable_sort(bars.begin(), bars.end(),
                         [](const LaneBar& a, const LaneBar& b) { return std::pair(a.begin, a.event) < std::pair(b.begin, b.event); });
        place_in_lanes(bars, name + (record_.ctas > 1 ? fmt::format(" of CTA {}", cta) : std::string()), cta);
      }
  }

  /// Copies are under way at once: as many lanes as it takes.
  void place_in_lanes(const std::vector<LaneBar>& bars, const std::string& name, int cta) {
    const std::size_t first = timeline_.lanes.size();
    for (const LaneBar& bar : bars) {
      std::size_t lane = first;
      while (lane < timeline_.lanes.size() && timeline_.lanes[lane].bars.back().end > bar.begin) ++lane;
      if (lane == timeline_.lanes.size())
        timeline_.lanes.push_back({lane == first ? name : fmt::format("{} ({})", name, lane - first + 1), cta, -1, {}});
      timeline_.lanes[lane].bars.push_back(bar);
    }
  }

  void memory_rows() {
    for (const PtxRing& ring : names_.rings())
      for (std::size_t slot = 0; slot < ring.slots.size(); ++slot) {
        timeline_.memory.push_back(
            {ring.slots.size() > 1 ? fmt::format("{}[{}]", ring.name, slot) : ring.name, ring.slots[slot].begin, ring.slots[slot].end, {}});
      }
    for (std::size_t i = 0; i < record_.trace->size() && !stopped(); ++i) {
      const RunEvent& e = (*record_.trace)[i];
      if (e.kind == EventKind::Load) touched(e.address, MemoryBar::Kind::Written, static_cast<int>(i));
      if (e.kind == EventKind::Store) touched(e.address, MemoryBar::Kind::Read, static_cast<int>(i));
      if (e.kind == EventKind::Product)
        for (const std::uint64_t descriptor : {e.operand_a, e.operand_b})
          if (descriptor != 0) touched(operand_byte(descriptor, record_.cta_of_warp(e.warp)), MemoryBar::Kind::Read, static_cast<int>(i));
    }
    for (MemoryRow& row : timeline_.memory) {
      std::stable_sort(row.bars.begin(), row.bars.end(), [](const MemoryBar& a, const MemoryBar& b) { return a.begin < b.begin; });
      for (const MemoryBar& bar : row.bars) row.longest = std::max(row.longest, bar.end - bar.begin);
    }
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
      row.bars.push_back({kind, e.begin, e.end, index, text_of(e)});
      return;
    }
  }

  const PtxRecord& record_;
  const RunNames& names_;
  const std::stop_token& stop_;
  std::uint32_t steps_ = 0;
  std::unordered_map<std::uint64_t, std::vector<std::pair<Time, int>>> signals_;
  std::unordered_map<TextKey, int, TextKeyHash> texts_;
  std::unordered_map<int, int> sources_;  ///< by pc
  RunTimeline timeline_;
};

}  // namespace

std::string RunTimeline::text_of(const LaneBar& bar) const {
  return bar.phase < 0 ? text(bar.text) : fmt::format("{}, phase {}", text(bar.text), bar.phase);
}

RunTimeline timeline_of(const RunNames& names, const std::stop_token& stop) { return Drawing(names, stop).drawn(); }

void add_hang(RunTimeline& timeline, const PtxRecord& record, const std::vector<HungWait>& waits) {
  const Time begin = timeline.end;
  const Time room = std::max<Time>(timeline.end / 8, 100 * kCycle);  // to be seen: it has no end
  timeline.end += room;
  const auto add_text = [&](const std::string& text) {
    timeline.texts.push_back(text);
    return static_cast<int>(timeline.texts.size() - 1);
  };
  for (const HungWait& wait : waits) {
    const auto lane = std::find_if(timeline.lanes.begin(), timeline.lanes.end(),
                                   [&](const RunLane& each) { return each.warp >= 0 && each.warp / 4 == wait.warp / 4; });
    if (lane == timeline.lanes.end()) continue;
    const auto index = static_cast<std::size_t>(lane - timeline.lanes.begin());
    if (std::find(timeline.circle.begin(), timeline.circle.end(), index) != timeline.circle.end()) continue;
    timeline.circle.push_back(index);
    const Time since = timeline.left_out > 0 ? begin + room / 2 : lane->bars.empty() ? begin : lane->bars.back().end;
    lane->bars.push_back({LaneBarKind::Hangs, since, timeline.end, -1, record.at(std::max(wait.pc, 0)).line, -1, -1, add_text(wait.text),
                          add_text(source_of(record, wait.pc))});
  }
}

}  // namespace heddle::ptx

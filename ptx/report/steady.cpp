#include "ptx/report/steady.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace heddle::ptx {
namespace {

struct CodeLoop {
  int first = 0, last = 0;
};

/// By back edges of the text: the first instruction, and the last branch back to it.
std::vector<CodeLoop> loops_of(const PtxFunction& function) {
  std::map<int, int> last;
  for (std::size_t pc = 0; pc < function.code.size(); ++pc)
    for (const int target : function.code[pc].targets)
      if (target >= 0 && target <= static_cast<int>(pc)) last[target] = std::max(last[target], static_cast<int>(pc));
  std::vector<CodeLoop> loops;
  for (const auto& [first, end] : last) loops.push_back({first, end});
  return loops;
}

/// What a trip of the pipeline waits for.
bool waits_in_trip(EventKind kind) {
  switch (kind) {
    case EventKind::Wait:
    case EventKind::CopyWait:
    case EventKind::ProductWait:
    case EventKind::StoreWait:
    case EventKind::NamedSync: return true;
    default: return false;
  }
}

/// What a loop of the pipeline has at least one of.
bool is_landmark(EventKind kind) {
  switch (kind) {
    case EventKind::Load:
    case EventKind::Copy:
    case EventKind::Product:
    case EventKind::TensorLoad:
    case EventKind::TensorStore: return true;
    default: return waits_in_trip(kind);
  }
}

/// How often a warp came by each place, and what it did there.
struct PlaceUse {
  std::int64_t times = 0;
  bool waits = false, landmark = false;
};

constexpr std::int64_t kLeastTrips = 3;

/// By issue: a product of a warp group is written down for its first warp, when the last one issues it.
std::vector<const RunEvent*> events_of_busiest(const RunNames& names, const PtxRole& role) {
  const std::vector<int>* busiest = &names.events_of(role.warps.front());
  for (const int warp : role.warps)
    if (names.events_of(warp).size() > busiest->size()) busiest = &names.events_of(warp);
  std::vector<const RunEvent*> events;
  events.reserve(busiest->size());
  for (const int index : *busiest) events.push_back(&(*names.record.trace)[static_cast<std::size_t>(index)]);
  std::stable_sort(events.begin(), events.end(), [](const RunEvent* a, const RunEvent* b) { return a->issued < b->issued; });
  return events;
}

/// Trips times places that nearly every trip comes by: how much of what the role does the loop holds. What an inner loop repeats counts
/// once a trip.
struct LoopScore {
  bool waits = false;
  std::int64_t trips = 0, places = 0;
  std::int64_t score() const { return trips * places; }
};

LoopScore score_of(const CodeLoop& loop, const std::vector<CodeLoop>& loops, const std::vector<PlaceUse>& uses) {
  LoopScore score;
  bool landmark = false;
  const auto repeated = [&](int pc) {
    return std::ranges::any_of(loops, [&](const CodeLoop& inner) {
      return inner.first >= loop.first && inner.last <= loop.last && inner.last - inner.first < loop.last - loop.first &&
             pc >= inner.first && pc <= inner.last;
    });
  };
  std::int64_t all = 0;
  for (int pc = loop.first; pc <= loop.last; ++pc) {
    const PlaceUse& use = uses[static_cast<std::size_t>(pc)];
    if (use.times == 0) continue;
    landmark |= use.landmark;
    score.waits |= use.waits;
    all = std::max(all, use.times);
    if (!repeated(pc)) score.trips = std::max(score.trips, use.times);
  }
  if (!landmark) return {};
  if (score.trips == 0) score.trips = all;
  for (int pc = loop.first; pc <= loop.last; ++pc) score.places += 10 * uses[static_cast<std::size_t>(pc)].times >= 7 * score.trips;
  return score;
}

}  // namespace

std::optional<SteadyLoop> steady_loop(const RunNames& names, const PtxRole& role) {
  const std::vector<const RunEvent*> events = events_of_busiest(names, role);
  if (events.empty()) return std::nullopt;
  std::vector<PlaceUse> uses(names.record.function->code.size());
  for (const RunEvent* event : events) {
    PlaceUse& use = uses[static_cast<std::size_t>(event->pc)];
    ++use.times;
    use.waits |= waits_in_trip(event->kind);
    use.landmark |= is_landmark(event->kind);
  }
  const std::vector<CodeLoop> loops = loops_of(*names.record.function);
  std::optional<SteadyLoop> best;
  LoopScore best_score;
  for (const CodeLoop& loop : loops) {
    const LoopScore score = score_of(loop, loops, uses);
    if (score.trips < kLeastTrips) continue;
    const auto rank = [](const LoopScore& s, const CodeLoop& l) { return std::tuple(s.waits, s.score(), -(l.last - l.first)); };
    if (best && rank(score, loop) <= rank(best_score, {best->first, best->last})) continue;
    best = SteadyLoop{loop.first, loop.last, score.trips, 0, {}};
    best_score = score;
  }
  if (!best) return std::nullopt;

  // A trip begins at the first place that every trip comes by once.
  int anchor = -1;
  for (int pc = best->first; pc <= best->last && anchor < 0; ++pc)
    if (const std::int64_t times = uses[static_cast<std::size_t>(pc)].times; 10 * times >= 9 * best->trips && times <= best->trips)
      anchor = pc;
  std::vector<std::size_t> cuts;
  for (std::size_t i = 0; i < events.size(); ++i)
    if (events[i]->pc == anchor) cuts.push_back(i);
  if (cuts.size() < 2) return std::nullopt;
  std::vector<Time> lengths;
  for (std::size_t i = 1; i < cuts.size(); ++i) lengths.push_back(events[cuts[i]]->issued - events[cuts[i - 1]]->issued);
  std::vector<Time> sorted = lengths;
  std::sort(sorted.begin(), sorted.end());
  best->period = sorted[sorted.size() / 2];
  // In the middle, and one that stays in the loop.
  const std::size_t middle = cuts.size() / 2 == 0 ? 0 : cuts.size() / 2 - 1;
  for (std::size_t i = cuts[middle]; i < cuts[middle + 1]; ++i)
    if (const RunEvent& event = *events[i]; event.pc >= best->first && event.pc <= best->last) best->trip.push_back(event);
  return best;
}

}  // namespace heddle::ptx

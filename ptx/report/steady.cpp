#include "ptx/report/steady.h"

#include <algorithm>
#include <map>

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

/// What a loop of the pipeline has at least one of.
bool is_landmark(EventKind kind) {
  switch (kind) {
    case EventKind::Wait:
    case EventKind::Load:
    case EventKind::Copy:
    case EventKind::CopyWait:
    case EventKind::Product:
    case EventKind::ProductWait:
    case EventKind::NamedSync:
    case EventKind::TensorLoad:
    case EventKind::TensorStore: return true;
    default: return false;
  }
}

constexpr std::int64_t kLeastTrips = 3;

}  // namespace

std::optional<SteadyLoop> steady_loop(const PtxRecord& record, const PtxRole& role) {
  // A product of a warp group is written down for its first warp, when the last one issues it: the warps' own order is by issue.
  std::map<int, std::vector<const RunEvent*>> by_warp;
  for (const RunEvent& event : *record.trace)
    if (std::binary_search(role.warps.begin(), role.warps.end(), static_cast<int>(event.warp))) by_warp[event.warp].push_back(&event);
  for (auto& [warp, own] : by_warp)
    std::stable_sort(own.begin(), own.end(), [](const RunEvent* a, const RunEvent* b) { return a->issued < b->issued; });
  const std::vector<const RunEvent*>* events = nullptr;
  for (const auto& [warp, own] : by_warp)
    if (events == nullptr || own.size() > events->size()) events = &own;
  if (events == nullptr) return std::nullopt;

  std::optional<SteadyLoop> best;
  std::int64_t best_score = 0;
  std::map<int, std::int64_t> best_counts;
  for (const CodeLoop& loop : loops_of(*record.function)) {
    std::map<int, std::int64_t> counts;
    bool landmark = false;
    for (const RunEvent* event : *events) {
      if (event->pc < loop.first || event->pc > loop.last) continue;
      ++counts[event->pc];
      landmark |= is_landmark(event->kind);
    }
    if (!landmark) continue;
    std::int64_t trips = 0, places = 0;
    for (const auto& [pc, count] : counts) trips = std::max(trips, count);
    if (trips < kLeastTrips) continue;
    for (const auto& [pc, count] : counts) places += 10 * count >= 7 * trips;
    const std::int64_t score = trips * places;
    if (best && (score < best_score || (score == best_score && loop.last - loop.first >= best->last - best->first))) continue;
    best = SteadyLoop{loop.first, loop.last, trips, 0, {}};
    best_score = score;
    best_counts = std::move(counts);
  }
  if (!best) return std::nullopt;

  // A trip begins at the first place that every trip comes by.
  int anchor = -1;
  for (const auto& [pc, count] : best_counts)
    if (10 * count >= 9 * best->trips) {
      anchor = pc;
      break;
    }
  std::vector<std::size_t> cuts;
  for (std::size_t i = 0; i < events->size(); ++i)
    if ((*events)[i]->pc == anchor) cuts.push_back(i);
  if (cuts.size() < 2) return std::nullopt;
  std::vector<Time> lengths;
  for (std::size_t i = 1; i < cuts.size(); ++i) lengths.push_back((*events)[cuts[i]]->issued - (*events)[cuts[i - 1]]->issued);
  std::vector<Time> sorted = lengths;
  std::sort(sorted.begin(), sorted.end());
  best->period = sorted[sorted.size() / 2];
  // In the middle, and one that stays in the loop.
  const std::size_t middle = cuts.size() / 2 == 0 ? 0 : cuts.size() / 2 - 1;
  for (std::size_t i = cuts[middle]; i < cuts[middle + 1]; ++i)
    if (const RunEvent& event = *(*events)[i]; event.pc >= best->first && event.pc <= best->last) best->trip.push_back(event);
  return best;
}

}  // namespace heddle::ptx

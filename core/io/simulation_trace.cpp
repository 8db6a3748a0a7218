// Slices of one thread never overlap: where ops of a unit do, there are as many threads as are in flight.
#include "core/io/simulation_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/io/json.h"

namespace heddle {
namespace {

constexpr int kProcess = 1;

struct Slice {
  OpId op;
  std::int64_t iteration = 0;
  Cycle begin = 0, length = 0;
};

/// Group; 0 for issue, 1 + unit for units.
using Track = std::pair<std::size_t, std::size_t>;

double microseconds(Cycle cycles) { return static_cast<double>(cycles) / 1000.0; }

Json name_of_thread(int thread, const std::string& name) {
  return Json::Object{{"ph", "M"}, {"name", "thread_name"}, {"pid", kProcess}, {"tid", thread}, {"args", Json::Object{{"name", name}}}};
}

}  // namespace

std::string simulation_trace(const Problem& problem, const Schedule& schedule, const std::vector<SimulatedOp>& timeline) {
  std::map<Track, std::vector<Slice>> tracks;
  for (const SimulatedOp& run : timeline) {
    const Op& op = problem.op(run.op);
    const std::size_t group = run.group.index();
    if (op.window > 0 || op.uses.empty()) tracks[{group, 0}].push_back({run.op, run.iteration, run.issue, op.window});
    for (const UnitUse& use : op.uses)
      if (use.duration > 0) tracks[{group, 1 + use.unit.index()}].push_back({run.op, run.iteration, run.start + use.offset, use.duration});
  }
  Json::Array events;
  events.push_back(Json::Object{{"ph", "M"},
                                {"name", "process_name"},
                                {"pid", kProcess},
                                {"tid", 0},
                                {"args", Json::Object{{"name", fmt::format("{} on {}, simulated", problem.kernel, problem.machine)}}}});
  int threads = 0;
  for (auto& [track, slices] : tracks) {
    std::stable_sort(slices.begin(), slices.end(), [](const Slice& a, const Slice& b) { return a.begin < b.begin; });
    const std::string& role = schedule.groups[track.first].role;
    const std::string what = track.second == 0 ? "issue" : problem.units[track.second - 1].name;
    std::vector<Cycle> free;
    for (const Slice& slice : slices) {
      auto lane = std::find_if(free.begin(), free.end(), [&](Cycle until) { return until <= slice.begin; });
      if (lane == free.end()) lane = free.insert(free.end(), 0);
      *lane = slice.begin + slice.length;
      events.push_back(Json::Object{{"ph", "X"},
                                    {"name", problem.op(slice.op).name},
                                    {"pid", kProcess},
                                    {"tid", threads + 1 + static_cast<int>(lane - free.begin())},
                                    {"ts", microseconds(slice.begin)},
                                    {"dur", microseconds(slice.length)},
                                    {"cat", track.second == 0 ? "issue" : to_string(problem.units[track.second - 1].role)},
                                    {"args", Json::Object{{"iteration", slice.iteration}, {"start_cycle", slice.begin}, {"cycles", slice.length}}}});
    }
    for (std::size_t lane = 0; lane < free.size(); ++lane)
      events.push_back(name_of_thread(++threads, lane ? fmt::format("{} {} {}", role, what, lane + 1) : fmt::format("{} {}", role, what)));
  }
  Json::Object other{{"kernel", problem.kernel}, {"machine", problem.machine}, {"unit", "1 cycle = 1 ns"}};
  return Json(Json::Object{{"displayTimeUnit", "ns"}, {"otherData", std::move(other)}, {"traceEvents", std::move(events)}}).pretty();
}

}  // namespace heddle

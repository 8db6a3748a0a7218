// Slices of one thread never overlap: where ops of a unit do, there are as many threads as are in flight.
#include "core/chart/simulation_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/base/json.h"
#include "core/chart/trace_event.h"

namespace heddle {
namespace {

struct SimulatedSlice {
  OpId op;
  std::int64_t iteration = 0;
  Cycle begin = 0, length = 0;
};

/// Group; 0 for issue, 1 + unit for units.
using SimulatedTrack = std::pair<std::size_t, std::size_t>;

}  // namespace

std::string simulation_trace(const Problem& problem, const Schedule& schedule, const std::vector<SimulatedOp>& timeline) {
  std::map<SimulatedTrack, std::vector<SimulatedSlice>> tracks;
  for (const SimulatedOp& run : timeline) {
    const Op& op = problem.op(run.op);
    const std::size_t group = run.group.index();
    if (op.window > 0 || op.uses.empty()) tracks[{group, 0}].push_back({run.op, run.iteration, run.issue, op.window});
    for (const UnitUse& use : op.uses)
      if (use.duration > 0) tracks[{group, 1 + use.unit.index()}].push_back({run.op, run.iteration, run.start + use.offset, use.duration});
  }
  Json::Array events;
  events.push_back(trace_name("process_name", kTraceProcess, 0, fmt::format("{} on {}, simulated", problem.kernel, machine_title(problem))));
  int threads = 0;
  for (auto& [track, slices] : tracks) {
    std::stable_sort(slices.begin(), slices.end(), [](const SimulatedSlice& a, const SimulatedSlice& b) { return a.begin < b.begin; });
    const std::string& role = schedule.groups[track.first].role;
    const std::string what = track.second == 0 ? "issue" : problem.units[track.second - 1].name;
    Lanes<Cycle> lanes;
    for (const SimulatedSlice& slice : slices) {
      const int lane = lanes.take(slice.begin, slice.begin + slice.length);
      events.push_back(Json::Object{{"ph", "X"},
                                    {"name", problem.op(slice.op).name},
                                    {"pid", kTraceProcess},
                                    {"tid", threads + 1 + lane},
                                    {"ts", trace_microseconds(slice.begin)},
                                    {"dur", trace_microseconds(slice.length)},
                                    {"cat", track.second == 0 ? "issue" : to_string(problem.units[track.second - 1].role)},
                                    {"args", Json::Object{{"iteration", slice.iteration}, {"start_cycle", slice.begin}, {"cycles", slice.length}}}});
    }
    for (int lane = 0; lane < lanes.count(); ++lane)
      events.push_back(trace_name("thread_name", kTraceProcess, ++threads, lane ? fmt::format("{} {} {}", role, what, lane + 1) : fmt::format("{} {}", role, what)));
  }
  Json::Object other{{"kernel", problem.kernel}, {"machine", machine_title(problem)}, {"unit", "1 cycle = 1 ns"}};
  return Json(Json::Object{{"displayTimeUnit", "ns"}, {"otherData", std::move(other)}, {"traceEvents", std::move(events)}}).pretty();
}

}  // namespace heddle

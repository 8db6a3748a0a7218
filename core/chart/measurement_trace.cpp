// Slices of one thread never overlap.
#include "core/chart/measurement_trace.h"

#include <algorithm>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "core/base/json.h"
#include "core/chart/trace_event.h"

namespace heddle {
namespace {

struct MeasuredSlice {
  std::string op;
  std::int64_t iteration = 0;
  double begin = 0, length = 0;
};

void add_process(Json::Array& events, int process, const std::string& name, std::map<std::string, std::vector<MeasuredSlice>>& groups) {
  events.push_back(trace_name("process_name", process, 0, name));
  int threads = 0;
  for (auto& [group, slices] : groups) {
    std::stable_sort(slices.begin(), slices.end(), [](const MeasuredSlice& a, const MeasuredSlice& b) { return a.begin < b.begin; });
    Lanes<double> lanes;
    for (const MeasuredSlice& slice : slices) {
      const int lane = lanes.take(slice.begin, slice.begin + slice.length);
      events.push_back(Json::Object{{"ph", "X"}, {"name", slice.op}, {"pid", process}, {"tid", threads + 1 + lane},
                                    {"ts", slice.begin / 1000}, {"dur", slice.length / 1000}, {"args", Json::Object{{"iteration", slice.iteration}}}});
    }
    for (int lane = 0; lane < lanes.count(); ++lane)
      events.push_back(trace_name("thread_name", process, ++threads, lane ? fmt::format("{} {}", group, lane + 1) : group));
  }
}

}  // namespace

std::string measurement_trace(const Measurement& m) {
  Json::Array events;
  std::map<std::string, std::vector<MeasuredSlice>> measured, predicted;
  if (m.profile && !m.profile->timeline.empty()) {
    std::int64_t first = std::numeric_limits<std::int64_t>::max(), last = 0;
    for (const TimelineEntry& e : m.profile->timeline) {
      measured[e.group].push_back({e.op, e.iteration, static_cast<double>(e.start), static_cast<double>(e.end - e.start)});
      first = std::min(first, e.iteration);
      last = std::max(last, e.iteration);
    }
    // The first iteration of both begins where its ops did in the mean.
    double zero = 0;
    int count = 0;
    for (const TimelineEntry& e : m.profile->timeline)
      for (const OpTiming& op : m.profile->ops)
        if (e.iteration == first && e.op == op.op && e.group == op.group) zero += static_cast<double>(e.start) - op.start, ++count;
    if (count > 0) zero /= count;
    last = std::min(last, first + 63);
    for (const OpTiming& op : m.profile->ops)
      for (std::int64_t i = first; i <= last; ++i)
        if (const double begin = zero + op.predicted_start + static_cast<double>((i - first) * m.predicted_ii); begin >= 0)
          predicted[op.group].push_back({op.op, i, begin, op.predicted_duration});
  }
  add_process(events, 1, fmt::format("{} on {}, measured", m.kernel, m.device ? m.device->name : m.machine), measured);
  add_process(events, 2, fmt::format("{} on {}, predicted", m.kernel, m.machine), predicted);
  Json::Object other{{"kernel", m.kernel}, {"machine", m.machine}, {"unit", "1 cycle = 1 ns"}};
  return Json(Json::Object{{"displayTimeUnit", "ns"}, {"otherData", std::move(other)}, {"traceEvents", std::move(events)}}).pretty();
}

}  // namespace heddle

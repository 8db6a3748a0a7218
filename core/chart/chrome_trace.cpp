// Threads are numbered so that they sort as the window draws them: groups in order, issue first, then units in machine
// order. Counters and marks come from the Gantt model of the same run.
#include "core/chart/chrome_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "core/base/json.h"
#include "core/chart/gantt_model.h"
#include "core/chart/trace_event.h"

namespace heddle {
namespace {

constexpr std::size_t kMostFlows = 2000;

struct Slice {
  OpId op;
  int iteration = 0;
  Cycle begin = 0, end = 0;
  const UnitUse* use = nullptr;  ///< nullptr: the issue slot
  int lane = 0;
};

/// Group, then 0 for issue and 1 + unit for units.
using Track = std::pair<std::size_t, std::size_t>;

/// Returns the number of lanes.
int assign_lanes(std::vector<Slice>& slices) {
  std::stable_sort(slices.begin(), slices.end(), [](const Slice& a, const Slice& b) {
    return std::tie(a.begin, a.end, a.iteration, a.op) < std::tie(b.begin, b.end, b.iteration, b.op);
  });
  Lanes<Cycle> lanes;
  for (Slice& slice : slices) slice.lane = lanes.take(slice.begin, slice.end);
  return lanes.count();
}

class Trace {
 public:
  Trace(const Problem& problem, const Schedule& schedule, const TraceOptions& options)
      : problem_(problem), schedule_(schedule), iterations_(std::max(1, options.iterations)) {}

  std::string write() {
    metadata("process_name", 0, {{"name", fmt::format("{} on {}", problem_.kernel, machine_title(problem_))}});
    collect_slices();
    for (auto& [track, slices] : tracks_) write_track(track, slices);
    write_spans();
    write_flows();
    write_lanes_and_marks();
    Json::Object other{{"kernel", problem_.kernel}, {"machine", machine_title(problem_)},
                       {"ii_cycles", schedule_.ii}, {"iterations", iterations_},
                       {"unit", "1 cycle = 1 ns"},  {"provenance", schedule_.provenance.kind}};
    if (!problem_.clock_note.empty()) other.push_back({"clock", problem_.clock_note});
    return Json(Json::Object{
                    {"displayTimeUnit", "ns"}, {"otherData", std::move(other)}, {"traceEvents", std::move(events_)}})
        .pretty();
  }

 private:
  Cycle start(std::size_t op, int iteration) const { return schedule_.ops[op].start + iteration * schedule_.ii; }

  static Json event(const char* phase, const std::string& name, int thread, Cycle at) {
    return Json::Object{{"ph", phase}, {"name", name}, {"pid", kTraceProcess}, {"tid", thread}, {"ts", trace_microseconds(at)}};
  }

  void metadata(const char* name, int thread, Json::Object args) {
    events_.push_back(trace_metadata(name, kTraceProcess, thread, std::move(args)));
  }

  void collect_slices() {
    for (int i = 0; i < iterations_; ++i) {
      for (std::size_t v = 0; v < problem_.ops.size(); ++v) {
        const Op& op = problem_.ops[v];
        const std::size_t group = schedule_.ops[v].group.index();
        const Cycle at = start(v, i);
        if (op.window > 0 || op.uses.empty())
          tracks_[{group, 0}].push_back({OpId(v), i, at, at + op.window, nullptr, 0});
        for (const UnitUse& use : op.uses) {
          if (use.duration <= 0) continue;
          tracks_[{group, 1 + use.unit.index()}].push_back(
              {OpId(v), i, at + use.offset, at + use.offset + use.duration, &use, 0});
        }
      }
    }
  }

  void write_track(const Track& track, std::vector<Slice>& slices) {
    const int first = static_cast<int>(threads_) + 1;
    const int lanes = assign_lanes(slices);
    threads_ += static_cast<std::size_t>(lanes);
    const std::string role = schedule_.groups[track.first].role;
    const std::string what = track.second == 0 ? "issue" : problem_.units[track.second - 1].name;
    for (int lane = 0; lane < lanes; ++lane) {
      metadata("thread_name", first + lane,
               {{"name", lane ? fmt::format("{} {} {}", role, what, lane + 1) : fmt::format("{} {}", role, what)}});
      metadata("thread_sort_index", first + lane, {{"sort_index", first + lane}});
    }
    for (const Slice& slice : slices) {
      const Op& op = problem_.op(slice.op);
      Json e = event("X", op.name, first + slice.lane, slice.begin);
      e.set("dur", trace_microseconds(slice.end - slice.begin));
      e.set("cat", slice.use ? to_string(problem_.unit(slice.use->unit).role) : "issue");
      Json::Object args{{"iteration", slice.iteration},
                        {"start_cycle", slice.begin},
                        {"cycles", slice.end - slice.begin},
                        {"stage", schedule_.stage(slice.op)},
                        {"slot", schedule_.slot(slice.op)}};
      if (slice.use) args.push_back({"amount", slice.use->amount});
      e.set("args", std::move(args));
      events_.push_back(std::move(e));
      // Flows start and end on the op's first slice.
      homes_.try_emplace({slice.iteration, slice.op.index()}, first + slice.lane, slice.begin);
    }
  }

  void write_spans() {
    std::uint64_t id = 0;
    for (int i = 0; i < iterations_; ++i) {
      for (std::size_t v = 0; v < problem_.ops.size(); ++v) {
        const Op& op = problem_.ops[v];
        if (!op.asynchronous || op.latency <= 0) continue;
        const std::string name = op.name + " in flight";
        Json::Object args{{"iteration", i}, {"start_cycle", start(v, i)}, {"cycles", op.latency}};
        Json begin = event("b", name, 0, start(v, i)), end = event("e", name, 0, start(v, i) + op.latency);
        begin.set("cat", "async").set("id", ++id).set("args", std::move(args));
        end.set("cat", "async").set("id", id);
        events_.push_back(std::move(begin));
        events_.push_back(std::move(end));
      }
    }
  }

  void write_flows() {
    if (problem_.edges.size() * static_cast<std::size_t>(iterations_) > kMostFlows) return;
    std::uint64_t id = 0;
    for (const Edge& edge : problem_.edges) {
      for (int i = 0; i + edge.distance < iterations_; ++i) {
        const auto from = homes_.find({i, edge.from.index()}), to = homes_.find({i + edge.distance, edge.to.index()});
        if (from == homes_.end() || to == homes_.end()) continue;
        const std::string name = edge.value.valid() ? problem_.value(edge.value).name : "order";
        Json begin = event("s", name, from->second.first, from->second.second);
        Json end = event("f", name, to->second.first, to->second.second);
        begin.set("cat", "dependence").set("id", id);
        end.set("cat", "dependence").set("id", id).set("bp", "e");
        ++id;
        events_.push_back(std::move(begin));
        events_.push_back(std::move(end));
      }
    }
  }

  void write_lanes_and_marks() {
    GanttOptions options;
    options.mode = GanttMode::Pipeline;
    options.iterations = iterations_;
    const GanttModel model = build_gantt(problem_, schedule_, options);
    for (const GanttLane& lane : model.lanes) {
      for (const Step& step : lane.profile) {
        Json e = event("C", lane.label, 0, step.at);
        e.set("args", Json::Object{{"value", step.value}});
        events_.push_back(std::move(e));
      }
    }
    for (const GanttMark& mark : model.marks) {
      Json e = event("i", mark.label.empty() ? "II" : mark.label, 0, mark.at);
      e.set("s", "p");
      events_.push_back(std::move(e));
    }
  }

  const Problem& problem_;
  const Schedule& schedule_;
  const int iterations_;
  Json::Array events_;
  std::map<Track, std::vector<Slice>> tracks_;
  std::map<std::pair<int, std::size_t>, std::pair<int, Cycle>> homes_;  // (iteration, op) -> (thread, cycle)
  std::size_t threads_ = 0;
};

}  // namespace

std::string chrome_trace(const Problem& problem, const Schedule& schedule, const TraceOptions& options) {
  return Trace(problem, schedule, options).write();
}

}  // namespace heddle

// Threads are numbered so that they sort as the window draws them: groups in order, issue first, then units in machine
// order. Counters and marks come from the Gantt model of the same run.
#include "core/chart/chrome_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
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
      : problem_(problem),
        schedule_(schedule),
        iterations_(std::max(1, options.iterations)),
        ends_(options.ends),
        whole_kernel_(options.whole_kernel) {}

  std::string write() {
    metadata("process_name", 0, {{"name", fmt::format("{} on {}", problem_.kernel, machine_title(problem_))}});
    collect_slices();
    for (auto& [track, slices] : tracks_) write_track(track, slices);
    write_ends();
    write_spans();
    write_flows();
    write_lanes_and_marks();
    Json::Object other{{"kernel", problem_.kernel}, {"machine", machine_title(problem_)}, {"ii_cycles", schedule_.ii},
                       {"iterations", iterations_}, {"unit", "1 cycle = 1 ns"},           {"provenance", schedule_.provenance.kind}};
    if (!problem_.clock_note.empty()) other.push_back({"clock", problem_.clock_note});
    if (!problem_.changes.empty()) {
      Json changes = Json::array();
      for (const std::string& change : problem_.changes) changes.push(change);
      other.push_back({"changes", std::move(changes)});
    }
    if (!whole_kernel_.empty()) other.push_back({"whole_kernel", whole_kernel_});
    return Json(Json::Object{{"displayTimeUnit", "ns"}, {"otherData", std::move(other)}, {"traceEvents", std::move(events_)}}).pretty();
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
        if (op.window > 0 || op.uses.empty()) tracks_[{group, 0}].push_back({OpId(v), i, at, at + op.window, nullptr, 0});
        for (const UnitUse& use : op.uses) {
          if (use.duration <= 0) continue;
          tracks_[{group, 1 + use.unit.index()}].push_back({OpId(v), i, at + use.offset, at + use.offset + use.duration, &use, 0});
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

  /// On threads of their own: they are predicted, not scheduled, and may overlap what is.
  void write_ends() {
    if (!ends_) return;
    std::map<Track, std::vector<Slice>> tracks;
    for (const EndOp& end : ends_->ops) {
      const Op& op = ends_->problem.op(end.op);
      const std::size_t group = end.group.index();
      const Cycle at = end.start + (end.section == CtaSection::Epilogue ? (iterations_ - 1) * schedule_.ii : 0);
      const int section = static_cast<int>(end.section);
      if (op.window > 0 || op.uses.empty()) tracks[{group, 0}].push_back({end.op, section, at, at + op.window, nullptr, 0});
      for (const UnitUse& use : op.uses)
        if (use.duration > 0)
          tracks[{group, 1 + use.unit.index()}].push_back({end.op, section, at + use.offset, at + use.offset + use.duration, &use, 0});
    }
    for (auto& [track, slices] : tracks) {
      const int first = static_cast<int>(threads_) + 1;
      const int lanes = assign_lanes(slices);
      threads_ += static_cast<std::size_t>(lanes);
      const std::string what = track.second == 0 ? "issue" : problem_.units[track.second - 1].name;
      const std::string name = fmt::format("{} {}, once per tile (predicted)", ends_->groups[track.first].role, what);
      for (int lane = 0; lane < lanes; ++lane) {
        metadata("thread_name", first + lane, {{"name", lane ? fmt::format("{} {}", name, lane + 1) : name}});
        metadata("thread_sort_index", first + lane, {{"sort_index", first + lane}});
      }
      for (const Slice& slice : slices) {
        Json e = event("X", ends_->problem.op(slice.op).name, first + slice.lane, slice.begin);
        e.set("dur", trace_microseconds(slice.end - slice.begin));
        e.set("cat", slice.use ? to_string(problem_.unit(slice.use->unit).role) : "issue");
        e.set("args", Json::Object{{"section", to_string(static_cast<CtaSection>(slice.iteration))},
                                   {"start_cycle", slice.begin},
                                   {"cycles", slice.end - slice.begin}});
        events_.push_back(std::move(e));
      }
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
    options.ends = ends_;
    const GanttModel model = build_gantt(problem_, schedule_, options);
    for (const GanttLane& lane : model.lanes) {
      for (const UsageStep& step : lane.profile) {
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
  const EndOps* ends_;
  const std::string whole_kernel_;
  Json::Array events_;
  std::map<Track, std::vector<Slice>> tracks_;
  std::map<std::pair<int, std::size_t>, std::pair<int, Cycle>> homes_;  // (iteration, op) -> (thread, cycle)
  std::size_t threads_ = 0;
};

}  // namespace

std::string chrome_trace(const Problem& problem, const Schedule& schedule, const TraceOptions& options) {
  return Trace(problem, schedule, options).write();
}

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
  events.push_back(
      trace_name("process_name", kTraceProcess, 0, fmt::format("{} on {}, simulated", problem.kernel, machine_title(problem))));
  int threads = 0;
  for (auto& [track, slices] : tracks) {
    std::stable_sort(slices.begin(), slices.end(), [](const SimulatedSlice& a, const SimulatedSlice& b) { return a.begin < b.begin; });
    const std::string& role = schedule.groups[track.first].role;
    const std::string what = track.second == 0 ? "issue" : problem.units[track.second - 1].name;
    Lanes<Cycle> lanes;
    for (const SimulatedSlice& slice : slices) {
      const int lane = lanes.take(slice.begin, slice.begin + slice.length);
      events.push_back(
          Json::Object{{"ph", "X"},
                       {"name", problem.op(slice.op).name},
                       {"pid", kTraceProcess},
                       {"tid", threads + 1 + lane},
                       {"ts", trace_microseconds(slice.begin)},
                       {"dur", trace_microseconds(slice.length)},
                       {"cat", track.second == 0 ? "issue" : to_string(problem.units[track.second - 1].role)},
                       {"args", Json::Object{{"iteration", slice.iteration}, {"start_cycle", slice.begin}, {"cycles", slice.length}}}});
    }
    for (int lane = 0; lane < lanes.count(); ++lane)
      events.push_back(trace_name("thread_name", kTraceProcess, ++threads,
                                  lane ? fmt::format("{} {} {}", role, what, lane + 1) : fmt::format("{} {}", role, what)));
  }
  Json::Object other{{"kernel", problem.kernel}, {"machine", machine_title(problem)}, {"unit", "1 cycle = 1 ns"}};
  return Json(Json::Object{{"displayTimeUnit", "ns"}, {"otherData", std::move(other)}, {"traceEvents", std::move(events)}}).pretty();
}

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
      events.push_back(Json::Object{{"ph", "X"},
                                    {"name", slice.op},
                                    {"pid", process},
                                    {"tid", threads + 1 + lane},
                                    {"ts", slice.begin / 1000},
                                    {"dur", slice.length / 1000},
                                    {"args", Json::Object{{"iteration", slice.iteration}}}});
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

#include "core/formats/foreign_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "core/base/atomic_file.h"
#include "core/base/json_reader.h"
#include "core/base/letters.h"
#include "core/base/quantile.h"
#include "core/base/scanner.h"
#include "core/base/suggest.h"
#include "core/base/text_style.h"
#include "core/base/version.h"

namespace heddle {
namespace {

constexpr const char* kMapSchema = "heddle.trace_map/1";
constexpr double kLargestTime = 1e15;  ///< in thousandths; far from where a double loses cycles
constexpr std::size_t kMostEntries = 4096;
constexpr std::int64_t kMostMhz = 100'000;

/// Numbers may be written as text.
std::optional<double> number_of(const Json* json) {
  if (!json) return std::nullopt;
  if (const std::int64_t* integer = json->integer()) return static_cast<double>(*integer);
  if (const double* real = json->number()) return std::isfinite(*real) ? std::optional(*real) : std::nullopt;
  return std::nullopt;
}

/// Processes and threads have numbers or names.
std::string text_of(const Json* json) {
  if (!json) return {};
  if (const std::string* text = json->string()) return *text;
  if (const std::int64_t* integer = json->integer()) return std::to_string(*integer);
  return {};
}

std::string without_line(std::string lane) {
  if (const std::size_t at = lane.rfind(" (line "); at != std::string::npos && lane.ends_with(")")) lane.resize(at);
  return lane;
}

bool is_separator(char c) { return c == '_' || c == '-' || c == ' ' || c == '#' || c == '.'; }

/// "core/attn.exp0_17" is "exp0".
std::string without_path_and_count(const std::string& text) {
  std::string_view name = text;
  std::size_t digits = name.size();
  while (digits > 0 && is_digit(name[digits - 1])) --digits;
  if (digits < name.size() && digits > 1 && is_separator(name[digits - 1])) name = name.substr(0, digits - 1);
  if (const std::size_t at = name.find_last_of("/:."); at != std::string_view::npos && at + 1 < name.size()) name.remove_prefix(at + 1);
  return lower_case(name);
}

/// The same without digits at its end: "exp".
std::string stem(const std::string& text) {
  std::string name = without_path_and_count(text);
  std::size_t end = name.size();
  while (end > 0 && is_digit(name[end - 1])) --end;
  if (end > 0) name.resize(end);
  return name;
}

class TraceReader {
 public:
  TraceReader(const std::string& file) { log_.file = file; }

  Result<ForeignTrace> run(const Json& root) {
    const Json* list = root.is_array() ? &root : root.find("traceEvents");
    const std::string at = root.is_array() ? "" : "/traceEvents";
    if (!list || !list->is_array()) {
      log_.fault("", "expected a list of events, or an object with \"traceEvents\"",
                 "the JSON that Chrome and Perfetto read, as Proton writes it");
      return log_.error();
    }
    const Json::Array& items = *list->items();
    names(items);
    for (std::size_t i = 0; i < items.size(); ++i) event(items[i], pointer_to(at, i));
    for (const auto& [thread, open] : open_) trace_.dropped += static_cast<std::int64_t>(open.size());
    if (log_.faults.empty() && trace_.events.empty()) log_.fault(at, "no event has a duration", "events of \"ph\" X, or B with E");
    if (!log_.faults.empty()) return log_.error();
    return std::move(trace_);
  }

 private:
  /// Processes and threads that are numbers have their names in events of their own.
  void names(const Json::Array& items) {
    for (const Json& item : items) {
      if (text_of(item.find("ph")) != "M") continue;
      const Json* args = item.find("args");
      const std::string name = args ? text_of(args->find("name")) : "", what = text_of(item.find("name"));
      if (name.empty()) continue;
      if (what == "process_name") processes_[text_of(item.find("pid"))] = name;
      if (what == "thread_name") threads_[{text_of(item.find("pid")), text_of(item.find("tid"))}] = name;
    }
  }

  void event(const Json& item, const std::string& at) {
    const std::string ph = text_of(item.find("ph"));
    if (ph != "X" && ph != "B" && ph != "E") return;
    const auto ts = number_of(item.find("ts"));
    if (!ts || std::abs(*ts) > kLargestTime / 1000) return fault(pointer_to(at, "ts"), "expected a time");
    const std::string pid = text_of(item.find("pid")), tid = text_of(item.find("tid"));
    const auto process = processes_.find(pid);
    const auto thread = threads_.find({pid, tid});
    TraceEvent event{text_of(item.find("name")), process == processes_.end() ? pid : process->second,
                     without_line(thread == threads_.end() ? tid : thread->second), 1000 * *ts, 0};
    if (event.block.find(" CTA") != std::string::npos && event.block.find(" Core") != std::string::npos) trace_.proton = true;
    auto& open = open_[{pid, tid}];
    if (ph == "E") {
      if (open.empty()) return void(++trace_.dropped);
      TraceEvent begun = std::move(open.back());
      open.pop_back();
      begun.end = event.begin;
      if (begun.end < begun.begin) return fault(pointer_to(at, "ts"), "the event ends before it begins");
      trace_.events.push_back(std::move(begun));
      return;
    }
    if (event.name.empty()) return fault(pointer_to(at, "name"), "expected a name");
    if (ph == "B") return open.push_back(std::move(event));
    const auto duration = number_of(item.find("dur"));
    if (!duration || *duration < 0 || *duration > kLargestTime / 1000)
      return fault(pointer_to(at, "dur"), "expected a duration, 0 or more");
    event.end = event.begin + 1000 * *duration;
    // Proton's calls, which are no scopes of the kernel.
    if (text_of(item.find("cat")) == "call_path") return;
    trace_.events.push_back(std::move(event));
  }

  void fault(const std::string& at, const char* message) {
    if (log_.faults.size() < kMostFaults) log_.fault(at, message);
  }

  ReadLog log_;
  ForeignTrace trace_;
  std::map<std::string, std::string> processes_;
  std::map<std::pair<std::string, std::string>, std::string> threads_;
  std::map<std::pair<std::string, std::string>, std::vector<TraceEvent>> open_;
};

struct Span {
  double begin = 0, end = 0;
};
/// Of one block: each op's iterations per thread.
using BlockSpans = std::map<std::pair<OpId, std::string>, std::vector<Span>>;

struct Samples {
  std::vector<double> starts, durations;
};

}  // namespace

Result<ForeignTrace> parse_foreign_trace(std::string_view text, const std::string& file) {
  if (!text.empty() && text.find('\0') != std::string_view::npos)
    return Error::in_file(file, "a Perfetto trace that is no JSON", "make it JSON first: traceconv json TRACE TRACE.json");
  const Result<Json> json = parse_json(text, file);
  if (!json) return json.error();
  return TraceReader(file).run(*json);
}

Result<ForeignTrace> read_foreign_trace(const std::string& path) {
  const Result<std::string> text = read_file(path);
  if (!text) return text.error();
  return parse_foreign_trace(*text, path);
}

Result<TraceMap> parse_trace_map(std::string_view text, const std::string& file, std::vector<Fault>* warnings) {
  const Result<Json> json = parse_json(text, file);
  if (!json) return json.error();
  ReadLog log;
  log.file = file;
  TraceMap map;
  const Json* schema = json->find("schema");
  if (!json->is_object() || !schema || !schema->string() || *schema->string() != kMapSchema) {
    log.fault("/schema", fmt::format("expected \"{}\"", kMapSchema));
    return log.error();
  }
  const auto each = [&](const JsonMember& member) {
    const Cursor at(member.value, pointer_to("", member.key), log);
    if (member.key == "ops") {
      if (!member.value.is_object()) return at.fault("expected an object, found " + describe(member.value));
      for (const JsonMember& op : *member.value.members())
        if (const auto name = Cursor(op.value, pointer_to("/ops", op.key), log).name()) map.ops[op.key] = *name;
    } else if (member.key == "counts") {
      const std::string* word = member.value.string();
      if (!word || (*word != "cycles" && *word != "ns")) return at.fault("expected \"cycles\" or \"ns\", found " + describe(member.value));
      map.cycles = *word == "cycles";
    } else if (member.key == "clock_mhz") {
      if (const auto mhz = at.integer(1, kMostMhz)) map.clock_mhz = *mhz;
    } else if (member.key != "schema" && !member.key.starts_with("x-") && warnings) {
      warnings->push_back({file, pointer_to("", member.key), "unknown member", did_you_mean(member.key, {"ops", "counts", "clock_mhz"})});
    }
  };
  for (const JsonMember& member : *json->members()) each(member);
  if (!log.faults.empty()) return log.error();
  return map;
}

Result<TraceMap> read_trace_map(const std::string& path, std::vector<Fault>* warnings) {
  const Result<std::string> text = read_file(path);
  if (!text) return text.error();
  return parse_trace_map(*text, path, warnings);
}

OpId match_op(const Problem& problem, const TraceMap& map, const std::string& name, const std::string& lane) {
  for (const auto& [key, op] : map.ops) {
    const std::size_t at = key.rfind(" @ ");
    if (at != std::string::npos && key.substr(0, at) == name && lane.find(key.substr(at + 3)) != std::string::npos)
      return problem.find_op(op);
  }
  if (const auto found = map.ops.find(name); found != map.ops.end()) return problem.find_op(found->second);
  if (const OpId same = problem.find_op(name); same.valid()) return same;
  const auto only = [&](auto&& key_of) {
    OpId found;
    const std::string wanted = key_of(name);
    for (std::size_t v = 0; v < problem.ops.size(); ++v) {
      if (key_of(problem.ops[v].name) != wanted) continue;
      if (found.valid()) return OpId();  // several: which one is for the map to say
      found = OpId(v);
    }
    return found;
  };
  if (const OpId found = only([](const std::string& text) { return lower_case(text); }); found.valid()) return found;
  if (const OpId found = only(without_path_and_count); found.valid()) return found;
  return only(stem);
}

Result<TraceMeasurement> measure_trace(const ForeignTrace& trace, const TraceMap& map, std::int64_t machine_mhz, const Problem& problem,
                                       const Schedule& schedule) {
  std::vector<Fault> faults;
  for (const auto& [key, op] : map.ops)
    if (!problem.find_op(op).valid())
      faults.push_back(
          {"", pointer_to("/ops", key), fmt::format("the kernel has no op '{}'", op), did_you_mean(op, names_of(problem.ops))});
  if (!faults.empty()) return Error{ErrorKind::Input, std::move(faults)};

  const bool cycles = map.cycles.value_or(trace.proton);
  const std::int64_t mhz = map.clock_mhz > 0 ? map.clock_mhz : std::max<std::int64_t>(1, machine_mhz);
  const double scale = cycles ? 1 : static_cast<double>(mhz) / 1000;

  std::map<std::pair<std::string, std::string>, OpId> known;
  std::map<std::string, UnmatchedName> unmatched;
  std::vector<std::string> order;  // blocks as they come
  std::map<std::string, BlockSpans> blocks;
  std::set<OpId> seen;
  std::int64_t matched = 0;
  for (const TraceEvent& event : trace.events) {
    const auto [found, fresh] = known.try_emplace({event.name, event.lane});
    if (fresh) found->second = match_op(problem, map, event.name, event.lane);
    if (!found->second.valid()) {
      UnmatchedName& name = unmatched[event.name];
      name.name = event.name;
      ++name.events;
      continue;
    }
    if (!blocks.contains(event.block)) order.push_back(event.block);
    blocks[event.block][{found->second, event.lane}].push_back({event.begin * scale, event.end * scale});
    seen.insert(found->second);
    ++matched;
  }

  TraceMeasurement result;
  for (auto& [name, entry] : unmatched) {
    entry.nearest = nearest(name, names_of(problem.ops));
    result.unmatched.push_back(entry);
  }
  std::stable_sort(result.unmatched.begin(), result.unmatched.end(), [](const auto& a, const auto& b) { return a.events > b.events; });
  if (seen.empty()) {
    std::vector<std::string> theirs;
    for (const UnmatchedName& name : result.unmatched) theirs.push_back(printable(name.name));
    return Error::about("names of a trace", fmt::format("no event is of an op of this kernel; the trace names {}", list_of(theirs, 8)),
                        "which op they stand for; the ops are " + list_of(names_of(problem.ops), 8));
  }
  for (std::size_t v = 0; v < problem.ops.size(); ++v)
    if (!seen.contains(OpId(v))) result.missing.push_back(OpId(v));

  // Iterations are laid over the prediction at the first product; without any at the op that the schedule starts first.
  const OpId anchor = *std::min_element(seen.begin(), seen.end(), [&](OpId a, OpId b) {
    const auto rank = [&](OpId op) {
      return std::tuple(problem.op(op).kind != "mma", problem.op(op).variable_latency, schedule.start(op));
    };
    return rank(a) < rank(b);
  });

  KernelProfile profile;
  profile.trusted = true;  // what recording costs is for its own profiler to say
  profile.records = matched;
  profile.dropped = trace.dropped;
  profile.blocks = static_cast<int>(order.size());
  std::map<OpId, Samples> samples;
  std::vector<double> periods;
  for (const std::string& name : order) {
    BlockSpans& spans = blocks[name];
    std::vector<double> origin;  // schedule time 0 of each iteration
    for (auto& [key, list] : spans) {
      std::sort(list.begin(), list.end(), [](const Span& a, const Span& b) { return a.begin < b.begin; });
      if (key.first != anchor) continue;
      for (std::size_t i = 0; i < list.size(); ++i) {
        const double zero = list[i].begin - static_cast<double>(schedule.start(anchor));
        if (i == origin.size()) origin.push_back(zero);
        origin[i] = std::min(origin[i], zero);
      }
      if (list.size() > 1) periods.push_back((list.back().begin - list.front().begin) / static_cast<double>(list.size() - 1));
    }
    profile.iterations = std::max(profile.iterations, static_cast<std::int64_t>(origin.size()));
    for (const auto& [key, list] : spans)
      for (std::size_t i = 0; i < list.size(); ++i) {
        samples[key.first].durations.push_back(list[i].end - list[i].begin);
        if (i < origin.size()) samples[key.first].starts.push_back(list[i].begin - origin[i]);
      }
    if (!profile.timeline.empty() || origin.empty()) continue;
    // One block, and of each op the thread that comes first.
    std::set<OpId> drawn;
    for (const auto& [key, list] : spans) {
      if (!drawn.insert(key.first).second) continue;
      for (std::size_t i = 0; i < std::min(list.size(), kMostEntries); ++i)
        profile.timeline.push_back({problem.op(key.first).name, schedule.groups[schedule.group(key.first).index()].role,
                                    static_cast<std::int64_t>(i), std::llround(list[i].begin), std::llround(list[i].end)});
    }
    std::stable_sort(profile.timeline.begin(), profile.timeline.end(), [](const auto& a, const auto& b) { return a.start < b.start; });
    if (profile.timeline.size() > kMostEntries) profile.timeline.resize(kMostEntries);
    const Cycle zero = profile.timeline.front().start;
    for (TimelineEntry& entry : profile.timeline) entry.start -= zero, entry.end -= zero;
  }
  for (const auto& [op, sample] : samples) {
    OpTiming timing;
    timing.op = problem.op(op).name;
    timing.group = schedule.groups[schedule.group(op).index()].role;
    timing.samples = static_cast<std::int64_t>(sample.durations.size());
    timing.start = median(sample.starts);
    timing.duration = median(sample.durations);
    timing.spread = quantile(sample.durations, 0.9) - quantile(sample.durations, 0.1);
    timing.predicted_start = static_cast<double>(schedule.start(op));
    timing.predicted_duration = static_cast<double>(problem.op(op).latency);
    profile.ops.push_back(std::move(timing));
  }

  result.about = fmt::format(
      "{} of {} in {}; times are {}", count_of(matched, "event"), count_of(static_cast<std::int64_t>(seen.size()), "op"),
      count_of(static_cast<std::int64_t>(order.size()), "block"), cycles ? "cycles" : fmt::format("nanoseconds, at {} MHz", mhz));
  Measurement& m = result.measurement;
  m.kernel = problem.kernel;
  m.machine = problem.machine;
  m.params = problem.params;
  m.schedule = schedule.name;
  m.schedule_hash = schedule_hash(problem, schedule);
  m.predicted_ii = schedule.ii;
  if (!periods.empty()) m.measured_ii = median(periods);
  m.status = RunStatus::Unverified;
  m.sentence = "from a trace of another profiler: " + result.about;
  m.heddle = version();
  m.profile = std::move(profile);
  return result;
}

}  // namespace heddle

#include "core/formats/tuning_json.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/atomic_file.h"
#include "core/base/version.h"
#include "core/formats/members.h"
#include "core/formats/schedule_text_member.h"
#include "core/formats/space_json.h"

namespace heddle {
namespace {

constexpr const char* kTuningSchema = "heddle.tuning/1";
constexpr const char* kSpaceInside = "heddle.space/1";

/// A whole heddle.space/1.
struct SpaceInside {
  void read(const Cursor& at, SearchSpace& space) const {
    ObjectReader object(at);
    if (check_schema(object, kSpaceInside)) space = read_space_from(object);
  }
  Json write(const SearchSpace& space) const { return space_json(space); }
};

struct ConfigOf {
  const SearchSpace& space;
  void read(const Cursor& at, Config& config) const { as::keep(config, read_config(at, space)); }
  Json write(const Config& config) const { return config_json(space, config); }
};

/// {"TILE_N": 2}
struct Factors {
  void read(const Cursor& at, std::vector<Subtile>& subtiles) const {
    Scope factors;
    as::Params{}.read(at, factors);
    for (const auto& [name, factor] : factors) subtiles.push_back({name, factor});
  }
  Json write(const std::vector<Subtile>& subtiles) const {
    Json object = Json::object();
    for (const Subtile& s : subtiles) object.set(s.param, s.factor);
    return object;
  }
};

constexpr auto kReal = as::or_null(as::real);
constexpr auto kCount = as::or_null(as::usual<std::int64_t>());

}  // namespace

template <class Io>
void visit(Io& io, TuneSession& s) {
  std::string unit = unit_of(s.objective), heddle = version();
  io.required("kernel", s.kernel, as::label);
  io.required("machine", s.machine, as::label);
  io.always("params", s.params);
  io.optional("machine_changed", s.machine_changed);
  io.required("objective", s.objective, as::word("objective", TuneObjective::Microseconds));
  io.always("unit", unit, as::left_to_code(as::text));
  io.required("fidelity", s.fidelity, as::word("fidelity", Fidelity::Gpu));
  io.required("method", s.method, as::word("method", TuneMethod::Exhaustive));
  io.always("seed", s.seed, as::seed);
  io.always("budget", s.budget, kCount);
  io.required("space", s.space, SpaceInside{});
  io.always("configurations", s.configurations, kCount);
  io.always("known_feasible", s.known_feasible, kCount);
  io.always("lower_bound", s.lower_bound, kReal);
  io.always("subject", s.subject);
  io.always("solver", s.solver);
  io.always("heddle", heddle, as::left_to_code(as::text));
  io.always("command", s.command);
}

template <class Io>
void visit(Io& io, as::InContext<TuneEvaluation, SearchSpace>& in) {
  TuneEvaluation& e = in.part;
  io.required("number", e.number, as::integer(1, std::int64_t{1} << 40));
  io.always("by", e.by);
  io.required("config", e.config, ConfigOf{in.context});
  io.always("label", e.label, as::left_to_code(as::text));
  io.required("fidelity", e.fidelity, as::word("fidelity", Fidelity::Gpu));
  io.required("status", e.status, as::word("status", TuneStatus::Invalid));
  io.optional("value", e.value, kReal), io.optional("bound", e.bound, kReal), io.optional("ii", e.ii, kCount);
  io.optional("min_ii", e.min_ii, kCount), io.optional("lower_bound_ii", e.lower_bound_ii, kCount), io.optional("period", e.period, kReal);
  io.optional("trips", e.trips, kCount), io.optional("tiles", e.tiles, kCount), io.optional("ctas", e.ctas, kCount);
  io.optional("stages", e.stages, kCount), io.optional("groups", e.groups, kCount), io.optional("warps", e.warps, kCount);
  io.optional("smem", e.smem, kCount), io.optional("registers", e.registers, kCount);
  io.optional("tflops", e.tflops, kReal), io.optional("of_peak", e.of_peak, kReal);
  io.always("why", e.why);
  io.always("seconds", e.seconds, kReal);
  io.optional("cached", e.cached);
  io.optional("best", e.best, kReal);
  io.optional("best_number", e.best_number, kCount);
  io.optional("excluded", e.excluded, kCount);
  io.optional("open", e.open, kCount);
  io.always("params", e.params);
  io.always("subtiles", e.subtiles, Factors{});
  io.always("demands", e.demands, as::list(as::label));
  io.always("solve", e.solve);
  io.optional("problem", e.problem);
  io.optional("schedule", e.schedule, as::or_null(as::ScheduleText{}));
  if (Io::reads && !e.config.empty()) e.label = config_text(in.context, e.config);
}

template <class Io>
void visit(Io& io, TuneEnd& end) {
  bool proved = end.proved && !end.rests_on_file, file_says_proved = end.proved && end.rests_on_file;
  io.always("reason", end.reason);
  io.always("evaluations", end.evaluations, kCount);
  io.optional("best", end.best, kReal);
  io.optional("best_number", end.best_number, kCount);
  io.always("proved", proved);
  io.optional("file_says_proved", file_says_proved);
  io.always("seconds", end.seconds, kReal);
  if (Io::reads) end.proved = proved || file_says_proved, end.rests_on_file = true;
}

namespace {

template <class T>
Json line_json(Json start, T& part) {
  MemberWriter writer;
  writer.json = std::move(start);
  visit(writer, part);
  return std::move(writer.json);
}

bool same_space(const SearchSpace& a, const SearchSpace& b) { return space_json(a).line() == space_json(b).line(); }

void read_line(const Json& json, std::int64_t number, ReadLog& log, TuneHistory& history) {
  ObjectReader root(Cursor(json, {}, log));
  if (!root.good()) return;
  const auto at = root.require("line");
  const std::string kind = at ? at->string().value_or("") : "";
  if (kind == "run") {
    if (!check_schema(root, kTuningSchema)) return;
    TuneSession session;
    read_members(root, session);
    session.line = number;
    if (!history.sessions.empty() && log.faults.empty()) {
      const TuneSession& first = history.sessions.front();
      if (session.subject != first.subject || !same_space(session.space, first.space))
        log.fault("", "this session is about something else than the first one of the file");
    }
    history.sessions.push_back(std::move(session));
    history.end.reset();
  } else if (kind == "evaluation" || kind == "end") {
    if (history.sessions.empty()) {
      root.abandon();
      log.fault("", fmt::format("a line \"{}\" before the first \"run\"", kind));
    } else if (kind == "evaluation") {
      TuneEvaluation e;
      as::InContext<TuneEvaluation, SearchSpace> both{e, history.sessions.front().space};
      read_members(root, both);
      e.line = number;
      if (log.faults.empty()) history.evaluations.push_back(std::move(e));
    } else {
      read_members(root, history.end.emplace());
    }
  } else if (at) {
    root.abandon();
    at->fault(fmt::format("expected \"run\", \"evaluation\" or \"end\", found \"{}\"", kind));
  }
}

}  // namespace

Result<ReadTuning> parse_tuning(std::string_view text, const std::string& file_name, std::vector<Fault>* warnings) {
  ReadTuning result;
  Error error;
  std::vector<Fault> noted;
  std::int64_t number = 0;
  for (std::size_t begin = 0; begin < text.size() && error.faults.size() <= kMostFaults;) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string_view::npos) break;  // cut off
    const std::string_view line = text.substr(begin, end - begin);
    begin = end + 1;
    ++number;
    result.whole_bytes = begin;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    ReadLog log{file_name, {}, {}, {}};
    if (const Result<Json> json = parse_json(line, file_name))
      read_line(*json, number, log, result.history);
    else
      log.faults = json.error().faults;
    for (Fault& fault : log.faults) {
      fault.message = fmt::format("line {}: {}", number, fault.message);
      error.faults.push_back(std::move(fault));
    }
    for (Fault& warning : log.warnings) {
      warning.message = fmt::format("line {}: {}", number, warning.message);
      noted.push_back(std::move(warning));
    }
  }
  if (result.history.sessions.empty() && error.faults.empty())
    error.faults.push_back({file_name, "", "expected a history of heddle tune, found no complete line", ""});
  if (error.faults.empty()) {
    const std::vector<Fault> aside = set_aside_contradictions(result.history, file_name);
    noted.insert(noted.begin(), aside.begin(), aside.end());
  }
  cut_off(noted, "warnings");
  if (warnings) warnings->insert(warnings->end(), noted.begin(), noted.end());
  cut_off(error.faults, "faults");
  if (!error.faults.empty()) return error;
  return result;
}

Result<ReadTuning> read_tuning(const std::string& path, std::vector<Fault>* warnings) {
  const Result<std::string> text = read_file(path, std::uint64_t{1} << 30);
  return text ? parse_tuning(*text, path, warnings) : text.error();
}

Json session_json(const TuneSession& session) {
  TuneSession copy = session;
  return line_json(Json::object().set("line", "run").set("schema", kTuningSchema), copy);
}

Json evaluation_json(const SearchSpace& space, const TuneEvaluation& evaluation) {
  TuneEvaluation copy = evaluation;
  as::InContext<TuneEvaluation, SearchSpace> both{copy, space};
  return line_json(Json::object().set("line", "evaluation"), both);
}

Json end_json(const TuneEnd& end) {
  TuneEnd copy = end;
  return line_json(Json::object().set("line", "end"), copy);
}

Json tuning_json(const TuneHistory& history) {
  Json sessions = Json::array(), evaluations = Json::array();
  for (const TuneSession& s : history.sessions) sessions.push(session_json(s));
  const auto told = [&](const TuneEvaluation& e) {
    Json line = evaluation_json(history.sessions.front().space, e);
    if (e.line > 0) line.set("from_file", true);
    return line;
  };
  for (const TuneEvaluation& e : history.evaluations) evaluations.push(told(e));
  Json root = Json::object();
  root.set("schema", kTuningSchema).set("sessions", std::move(sessions));
  const TuneEvaluation* best = history.best();
  root.set("best", best ? told(*best) : Json());
  root.set("evaluations", std::move(evaluations)).set("end", history.end ? end_json(*history.end) : Json());
  return root;
}

}  // namespace heddle

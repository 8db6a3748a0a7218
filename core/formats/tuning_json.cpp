#include "core/formats/tuning_json.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/atomic_file.h"
#include "core/base/json_reader.h"
#include "core/base/version.h"
#include "core/base/words.h"
#include "core/formats/space_json.h"

namespace heddle {
namespace {

constexpr const char* kTuningSchema = "heddle.tuning/1";
constexpr const char* kSpaceInside = "heddle.space/1";

template <class T>
void set_known(Json& object, const char* key, const std::optional<T>& value) {
  if (value) object.set(key, Json(*value));
}

std::optional<double> number_in(ObjectReader& object, const char* key) {
  const auto at = object.find(key);
  if (!at || at->json().is_null()) return std::nullopt;
  return at->real();
}

std::optional<std::int64_t> count_in(ObjectReader& object, const char* key) {
  const auto at = object.find(key);
  if (!at || at->json().is_null()) return std::nullopt;
  return at->integer(0, std::int64_t{1} << 62);
}

void read_known(ObjectReader& object, const char* key, std::optional<double>& value) { value = number_in(object, key); }
void read_known(ObjectReader& object, const char* key, std::optional<std::int64_t>& value) { value = count_in(object, key); }

/// The figures of an evaluation, each there only where it is known: one list for reading and writing.
template <class Io, class Evaluation>
void visit_figures(Io&& io, Evaluation& e) {
  io("value", e.value), io("bound", e.bound), io("ii", e.ii), io("min_ii", e.min_ii), io("lower_bound_ii", e.lower_bound_ii),
      io("period", e.period);
  io("trips", e.trips), io("tiles", e.tiles), io("ctas", e.ctas), io("stages", e.stages), io("groups", e.groups), io("warps", e.warps);
  io("smem", e.smem), io("registers", e.registers), io("tflops", e.tflops), io("of_peak", e.of_peak);
}

Scope scope_in(ObjectReader& object, const char* key) {
  Scope scope;
  const auto at = object.find(key);
  if (!at) return scope;
  const Json::Object* members = at->json().members();
  if (!members) {
    at->fault("expected an object, found " + describe(at->json()));
    return scope;
  }
  for (const JsonMember& member : *members)
    scope[member.key] =
        Cursor(member.value, pointer_to(at->pointer(), member.key), at->log()).integer(-kLargestNumber, kLargestNumber).value_or(0);
  return scope;
}

Json scope_json(const Scope& scope) {
  Json object = Json::object();
  for (const auto& [name, value] : scope) object.set(name, value);
  return object;
}

template <class E>
E word_in(ObjectReader& object, const char* key, E last, E otherwise) {
  const auto at = object.require(key);
  if (!at) return otherwise;
  return at->word(key, words_up_to(last), [&](std::string_view text) { return parse_word(text, last); }).value_or(otherwise);
}

TuneSession read_session(ObjectReader& root) {
  TuneSession s;
  s.kernel = root.label("kernel");
  s.machine = root.label("machine");
  s.machine_changed = root.boolean("machine_changed", false);
  s.params = scope_in(root, "params");
  s.objective = word_in(root, "objective", TuneObjective::Microseconds, TuneObjective::Cycles);
  root.find("unit");
  s.fidelity = word_in(root, "fidelity", Fidelity::Gpu, Fidelity::Solver);
  s.method = word_in(root, "method", TuneMethod::Exhaustive, TuneMethod::Baco);
  if (const auto seed = root.find("seed")) s.seed = seed->natural64().value_or(0);
  s.budget = count_in(root, "budget").value_or(0);
  if (const auto at = root.require("space")) {
    ObjectReader space(*at);
    if (check_schema(space, kSpaceInside)) s.space = read_space_from(space);
  }
  s.configurations = count_in(root, "configurations");
  s.known_feasible = count_in(root, "known_feasible");
  s.lower_bound = number_in(root, "lower_bound");
  s.subject = root.string("subject");
  s.solver = root.string("solver");
  root.find("heddle");
  s.command = root.string("command");
  return s;
}

TuneEvaluation read_evaluation(ObjectReader& root, const SearchSpace& space) {
  TuneEvaluation e;
  e.number = root.integer("number", 1, std::int64_t{1} << 40);
  e.by = root.string("by");
  if (const auto config = root.require("config")) e.config = read_config(*config, space).value_or(Config{});
  root.find("label");
  e.fidelity = word_in(root, "fidelity", Fidelity::Gpu, Fidelity::Bound);
  e.status = word_in(root, "status", TuneStatus::Invalid, TuneStatus::Invalid);
  visit_figures([&](const char* key, auto& value) { read_known(root, key, value); }, e);
  e.why = root.string("why");
  e.seconds = number_in(root, "seconds").value_or(0);
  e.cached = root.boolean("cached", false);
  e.best = number_in(root, "best");
  e.best_number = count_in(root, "best_number").value_or(0);
  e.excluded = count_in(root, "excluded");
  e.open = count_in(root, "open");
  if (const auto at = root.find("schedule"); at && !at->json().is_null()) e.schedule = at->json().line();
  e.params = scope_in(root, "params");
  for (const auto& [name, factor] : scope_in(root, "subtiles")) e.subtiles.push_back({name, factor});
  e.demands = root.labels("demands");
  e.solve = root.string("solve");
  e.problem = root.string("problem");
  if (!e.config.empty()) e.label = config_text(space, e.config);
  return e;
}

TuneEnd read_end(ObjectReader& root) {
  TuneEnd end;
  end.reason = root.string("reason");
  end.evaluations = count_in(root, "evaluations").value_or(0);
  end.best = number_in(root, "best");
  end.best_number = count_in(root, "best_number").value_or(0);
  end.proved = root.boolean("proved", false) | root.boolean("file_says_proved", false);
  end.rests_on_file = true;
  end.seconds = number_in(root, "seconds").value_or(0);
  return end;
}

bool same_space(const SearchSpace& a, const SearchSpace& b) { return space_json(a).line() == space_json(b).line(); }

void read_line(const Json& json, std::int64_t number, ReadLog& log, TuneHistory& history) {
  ObjectReader root(Cursor(json, {}, log));
  if (!root.good()) return;
  const auto at = root.require("line");
  const std::string kind = at ? at->string().value_or("") : "";
  if (kind == "run") {
    if (!check_schema(root, kTuningSchema)) return;
    TuneSession session = read_session(root);
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
      TuneEvaluation e = read_evaluation(root, history.sessions.front().space);
      e.line = number;
      if (log.faults.empty()) history.evaluations.push_back(std::move(e));
    } else {
      history.end = read_end(root);
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

Json session_json(const TuneSession& s) {
  Json root = Json::object();
  root.set("line", "run")
      .set("schema", kTuningSchema)
      .set("kernel", s.kernel)
      .set("machine", s.machine)
      .set("params", scope_json(s.params));
  if (s.machine_changed) root.set("machine_changed", true);
  root.set("objective", to_string(s.objective))
      .set("unit", unit_of(s.objective))
      .set("fidelity", to_string(s.fidelity))
      .set("method", to_string(s.method));
  root.set("seed", s.seed).set("budget", s.budget).set("space", space_json(s.space));
  root.set("configurations", s.configurations ? Json(*s.configurations) : Json())
      .set("known_feasible", s.known_feasible ? Json(*s.known_feasible) : Json());
  root.set("lower_bound", s.lower_bound ? Json(*s.lower_bound) : Json());
  root.set("subject", s.subject).set("solver", s.solver).set("heddle", version()).set("command", s.command);
  return root;
}

Json evaluation_json(const SearchSpace& space, const TuneEvaluation& e) {
  Json root = Json::object();
  root.set("line", "evaluation").set("number", e.number).set("by", e.by).set("config", config_json(space, e.config)).set("label", e.label);
  root.set("fidelity", to_string(e.fidelity)).set("status", to_string(e.status));
  visit_figures([&](const char* key, const auto& value) { set_known(root, key, value); }, e);
  root.set("why", e.why).set("seconds", e.seconds);
  if (e.cached) root.set("cached", true);
  set_known(root, "best", e.best);
  if (e.best_number > 0) root.set("best_number", e.best_number);
  set_known(root, "excluded", e.excluded);
  set_known(root, "open", e.open);
  root.set("params", scope_json(e.params));
  Json subtiles = Json::object();
  for (const Subtile& s : e.subtiles) subtiles.set(s.param, s.factor);
  root.set("subtiles", std::move(subtiles));
  Json demands = Json::array();
  for (const std::string& demand : e.demands) demands.push(demand);
  root.set("demands", std::move(demands)).set("solve", e.solve);
  if (!e.problem.empty()) root.set("problem", e.problem);
  if (!e.schedule.empty())
    if (Result<Json> schedule = parse_json(e.schedule, {})) root.set("schedule", *std::move(schedule));
  return root;
}

Json end_json(const TuneEnd& end) {
  Json root = Json::object();
  root.set("line", "end").set("reason", end.reason).set("evaluations", end.evaluations);
  set_known(root, "best", end.best);
  if (end.best_number > 0) root.set("best_number", end.best_number);
  root.set("proved", end.proved && !end.rests_on_file);
  if (end.proved && end.rests_on_file) root.set("file_says_proved", true);
  root.set("seconds", end.seconds);
  return root;
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

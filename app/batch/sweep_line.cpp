#include "app/batch/sweep_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/batch/claims.h"
#include "app/batch/journal.h"
#include "core/base/json.h"
#include "core/base/text_style.h"
#include "core/base/words.h"
#include "core/records/tuning.h"

namespace heddle::app {
namespace {

constexpr std::string_view kTuning = "heddle.tuning/";

/// Reads members of one object and remembers what was wrong with them.
class LineReader {
 public:
  LineReader(const Json& json, const std::string& where) : json_(json), where_(where) {}

  const Json* find(const char* key) const {
    const Json* found = json_.find(key);
    return found && !found->is_null() ? found : nullptr;
  }
  std::string text(const char* key) { return text_of(find(key), key); }
  std::string required_text(const char* key) {
    if (!find(key)) fault(key, "expected a text, found nothing");
    return text(key);
  }
  std::optional<double> number(const char* key) { return number_of(find(key), key); }
  std::optional<std::int64_t> integer(const char* key) {
    const Json* found = find(key);
    if (!found) return std::nullopt;
    if (const std::int64_t* value = found->integer()) return *value;
    fault(key, "expected a whole number");
    return std::nullopt;
  }
  bool flag(const char* key) const {
    const Json* found = find(key);
    return found && found->boolean() && *found->boolean();
  }
  std::string text_of(const Json* found, const char* key) {
    if (!found) return {};
    if (const std::string* value = found->string()) return *value;
    fault(key, "expected a text");
    return {};
  }
  std::optional<double> number_of(const Json* found, const char* key) {
    if (!found) return std::nullopt;
    if (const std::int64_t* value = found->integer()) return static_cast<double>(*value);
    if (const double* value = found->number(); value && std::isfinite(*value)) return *value;
    fault(key, "expected a number");
    return std::nullopt;
  }
  void fault(const char* key, std::string message) { faults_.push_back({where_, pointer_to("", key), std::move(message), {}}); }
  bool good() const { return faults_.empty(); }
  Error error() const { return {ErrorKind::Input, faults_}; }

 private:
  const Json& json_;
  const std::string& where_;
  std::vector<Fault> faults_;
};

std::optional<SweepValue> sweep_value_of(const Json& json) {
  if (const std::int64_t* value = json.integer()) return SweepValue(static_cast<double>(*value));
  if (const double* value = json.number()) return std::isfinite(*value) ? std::optional<SweepValue>(*value) : std::nullopt;
  if (const std::string* value = json.string()) return SweepValue(printable(*value));
  if (const bool* value = json.boolean()) return SweepValue(std::string(*value ? "yes" : "no"));
  if (const Json::Array* items = json.items()) {
    std::string text;
    for (const Json& item : *items) {
      const auto one = sweep_value_of(item);
      text += (text.empty() ? "" : ", ") + (one ? sweep_text(*one) : std::string("?"));
    }
    return SweepValue(text);
  }
  return std::nullopt;
}

void add_config(const Json* object, std::vector<std::pair<std::string, SweepValue>>& config) {
  const Json::Object* members = object ? object->members() : nullptr;
  if (!members) return;
  for (const JsonMember& member : *members)
    if (const auto value = sweep_value_of(member.value)) config.emplace_back(printable(member.key), *value);
}

std::vector<SweepParameter> parameters_of(const Json* space) {
  std::vector<SweepParameter> list;
  const Json* found = space ? space->find("parameters") : nullptr;
  const Json::Array* items = found ? found->items() : nullptr;
  if (!items) return list;
  const auto number_in = [](const Json& json, const char* key) -> std::optional<double> {
    const Json* value = json.find(key);
    const auto read = value ? sweep_value_of(*value) : std::nullopt;
    return read && std::holds_alternative<double>(*read) ? std::optional(std::get<double>(*read)) : std::nullopt;
  };
  for (const Json& item : *items) {
    const Json* name = item.find("name");
    if (!name || !name->string()) continue;
    SweepParameter& parameter = list.emplace_back();
    parameter.name = printable(*name->string());
    const Json* log = item.find("log");
    parameter.log = log && log->boolean() && *log->boolean();
    parameter.low = number_in(item, "low");
    parameter.high = number_in(item, "high");
    const Json* values = item.find("values");
    if (const Json::Array* all = values ? values->items() : nullptr)
      for (const Json& value : *all)
        if (const auto read = sweep_value_of(value)) parameter.values.push_back(*read);
  }
  return list;
}

Scope params_in(const Json* object) {
  Scope scope;
  const Json::Object* members = object ? object->members() : nullptr;
  if (!members) return scope;
  for (const JsonMember& member : *members)
    if (const std::int64_t* value = member.value.integer()) scope[member.key] = *value;
  return scope;
}

SweepHead sweep_head_of(LineReader& r) {
  SweepHead head;
  head.kernel = r.required_text("kernel");
  head.machine = r.required_text("machine");
  head.objective = r.text("objective");
  head.unit = r.text("unit");
  head.fidelity = r.text("fidelity");
  head.method = r.text("method");
  head.command = r.text("command");
  head.subject = r.text("subject");
  head.seed = r.integer("seed");
  head.budget = r.integer("budget");
  head.configurations = r.integer("configurations");
  head.known_feasible = r.integer("known_feasible");
  head.lower_bound = r.number("lower_bound");
  head.parameters = parameters_of(r.find("space"));
  head.params = params_in(r.find("params"));
  return head;
}

SweepRow evaluation_of(LineReader& r) {
  SweepRow row;
  const auto number = r.integer("number");
  if (!number) r.fault("number", "expected the evaluation's number, found none");
  row.number = number.value_or(0);
  row.status = r.required_text("status");
  row.by = r.text("by");
  row.fidelity = r.text("fidelity");
  row.why = r.text("why");
  row.value = r.number("value");
  row.bound = r.number("bound");
  row.period = r.number("period");
  row.tflops = r.number("tflops");
  row.seconds = r.number("seconds");
  row.ii = r.integer("ii");
  row.stages = r.integer("stages");
  row.groups = r.integer("groups");
  row.warps = r.integer("warps");
  row.smem = r.integer("smem");
  row.registers = r.integer("registers");
  row.excluded = r.integer("excluded");
  row.open = r.integer("open");
  row.cached = r.flag("cached");
  const Json* schedule = r.find("schedule");
  row.schedule = schedule && schedule->is_object();
  add_config(r.find("config"), row.config);
  return row;
}

std::string contradiction_in(const SweepRow& row, LineReader& r) {
  const auto status = parse_word(row.status, TuneStatus::Invalid);
  if (!status) return {};  // a newer version's
  TuneEvaluation e;
  e.status = *status;
  e.value = row.value;
  e.bound = row.bound;
  e.ii = row.ii;
  e.min_ii = r.integer("min_ii");
  e.lower_bound_ii = r.integer("lower_bound_ii");
  return contradiction_in(e);
}

/// What `heddle solve --json` prints has the members of a schedule among its own.
bool holds_schedule(const Json& result) {
  const Json* ops = result.find("ops");
  return ops && ops->items() && !ops->items()->empty() && result.find("groups") && result.find("ii") && result.find("ii")->integer();
}

void take_solved(const Json& result, SweepPointSource& point) {
  Json schedule = Json::object();
  schedule.set("schema", "heddle.schedule/1");
  for (const char* key : {"kernel", "machine", "params", "ii", "groups", "ops", "channels"})
    if (const Json* member = result.find(key)) schedule.set(key, *member);
  point.schedule = schedule.line();
  const Json *status = result.find("status"), *bound = result.find("lower_bound"), *hash = result.find("problem_hash"),
             *why = result.find("explanation");
  if (!status || !status->string() || *status->string() != "optimal" || !bound || !bound->integer() || !hash || !hash->string()) return;
  point.lower_bound = *bound->integer();
  point.problem_hash = *hash->string();
  if (why && why->string()) point.explanation = *why->string();
}

/// The first of a fault's messages, or what the job's command said.
std::string job_why(const Json& json, LineReader& r) {
  if (const Json* faults = r.find("faults"); faults && faults->items() && !faults->items()->empty())
    if (const Json* message = faults->items()->front().find("message"); message && message->string()) return *message->string();
  if (r.find("message")) return r.text("message");
  const Json* result = json.find("result");
  for (const char* key : {"explanation", "fault", "reason"})
    if (const Json* said = result ? result->find(key) : nullptr; said && said->string()) return *said->string();
  return {};
}

SweepRow job_of(const Json& json, LineReader& r) {
  SweepRow row;
  const auto number = r.integer("job");
  if (!number) r.fault("job", "expected the job's number, found none");
  row.number = number.value_or(0);
  row.of = r.integer("of").value_or(0);
  row.batch = r.text("batch");
  row.status = r.required_text("status");
  row.by = r.text("do");
  row.why = job_why(json, r);
  row.seconds = r.number("seconds");
  for (const char* key : {"kernel", "machine", "schedule", "do"})
    if (const Json* word = r.find(key); word && word->string()) row.config.emplace_back(key, printable(*word->string()));
  add_config(r.find("params"), row.config);
  add_config(r.find("options"), row.config);
  const Json* result = r.find("result");
  if (!result || !result->is_object()) return row;
  const auto whole = [&](const char* key) -> std::optional<std::int64_t> {
    const Json* found = result->find(key);
    return found && found->integer() ? std::optional(*found->integer()) : std::nullopt;
  };
  row.ii = whole("ii");
  row.stages = whole("stages");
  row.warps = whole("warps");
  row.registers = whole("registers");
  row.smem = whole("smem_bytes");
  if (row.ii) row.value = static_cast<double>(*row.ii);
  if (const auto bound = whole("lower_bound")) row.bound = static_cast<double>(*bound);
  row.schedule = holds_schedule(*result);
  return row;
}

bool hexadecimal(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

std::vector<std::string> texts_in(const Json* found) {
  std::vector<std::string> list;
  if (!found) return list;
  if (const std::string* one = found->string()) return {*one};
  if (const Json::Array* items = found->items())
    for (const Json& item : *items)
      if (item.string()) list.push_back(*item.string());
  return list;
}

/// The options of a job that are demands on the schedule.
std::vector<std::string> demands_of(const Json* options) {
  std::vector<std::string> demands = texts_in(options ? options->find("demand") : nullptr);
  if (const Json* stages = options ? options->find("max-stages") : nullptr; stages && stages->integer())
    demands.push_back(fmt::format("at most {}", count_of(*stages->integer(), "stage")));
  return demands;
}

}  // namespace

std::string sweep_text(const SweepValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  const double number = std::get<double>(value);
  return number == std::floor(number) && std::abs(number) < 1e15 ? fmt::format("{}", static_cast<std::int64_t>(number))
                                                                 : fmt::format("{:.6g}", number);
}

std::optional<SweepKind> sweep_kind(std::string_view beginning) {
  std::size_t at = 0;
  // Blank lines in front are of no account.
  while (at < beginning.size() && (beginning[at] == '\n' || beginning[at] == '\r' || beginning[at] == ' ')) ++at;
  const std::string_view line = beginning.substr(at, beginning.find('\n', at) - at);
  const auto has = [&](std::string_view text) { return line.find(text) != std::string_view::npos; };
  if (line.size() > kJournalDigits + 1 && hexadecimal(line.substr(0, kJournalDigits)) && line[kJournalDigits] == ' ' &&
      line[kJournalDigits + 1] == '{')
    return SweepKind::Journal;
  if (!line.starts_with('{')) return std::nullopt;
  if (has(kTuning) && has("\"line\"")) return SweepKind::Tuning;
  if (has("\"job\"") && has("\"batch\"")) return SweepKind::Results;
  return std::nullopt;
}

Result<std::optional<SweepLine>> parse_sweep_line(SweepKind kind, std::string_view line, const std::string& where) {
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
  if (line.find_first_not_of(" \t") == std::string_view::npos) return std::optional<SweepLine>();
  if (kind == SweepKind::Journal) {
    const auto text = journal_text(line);
    if (!text) return std::optional<SweepLine>();
    line = *text;
  }
  const auto json = parse_json(line, where);
  if (!json) return json.error();
  if (!json->is_object()) return Error::in_file(where, "expected a JSON object");
  LineReader r(*json, where);
  std::optional<SweepLine> read;
  if (kind != SweepKind::Tuning) {
    read = job_of(*json, r);
    if (const std::string why = r.good() ? claim_of(*json).against_itself : std::string(); !why.empty())
      r.fault("result", "set aside: " + why);
  } else {
    const std::string what = r.required_text("line");
    if (what == "run") {
      if (const std::string schema = r.text("schema"); !schema.empty() && !schema.starts_with(kTuning))
        r.fault("schema", "expected heddle.tuning/1");
      read = sweep_head_of(r);
    } else if (what == "evaluation") {
      read = evaluation_of(r);
      if (const std::string why = r.good() ? contradiction_in(std::get<SweepRow>(*read), r) : std::string(); !why.empty())
        r.fault("status", "set aside: " + why);
    } else if (what == "end") {
      read = SweepEnd{r.text("reason"), r.flag("proved") || r.flag("file_says_proved")};
    }  // a newer version's
  }
  if (!r.good()) return r.error();
  return read;
}

Result<SweepPointSource> parse_sweep_point(SweepKind kind, std::string_view line, const SweepHead& head, const std::string& where) {
  if (kind == SweepKind::Journal) {
    const auto text = journal_text(line);
    if (!text) return Error::in_file(where, "the line is not whole");
    line = *text;
  }
  const auto json = parse_json(line, where);
  if (!json) return json.error();
  LineReader r(*json, where);
  SweepPointSource point;
  if (kind == SweepKind::Tuning) {
    point.kernel = head.kernel;
    point.machine = head.machine;
    point.name = printable(r.text("label"));
    point.params = head.params;
    for (const auto& [name, value] : params_in(r.find("params"))) point.params[name] = value;
    for (const auto& [name, factor] : params_in(r.find("subtiles")))
      if (factor > 1) point.subtiles.push_back({name, factor});
    point.demands = texts_in(r.find("demands"));
    if (const Json* schedule = r.find("schedule"); schedule && schedule->is_object()) point.schedule = schedule->line();
  } else {
    point.kernel = r.text("kernel");
    point.machine = r.text("machine");
    point.name = fmt::format("job {}", r.integer("job").value_or(0));
    point.params = params_in(r.find("params"));
    const Json* options = r.find("options");
    point.demands = demands_of(options);
    for (const std::string& text : texts_in(options ? options->find("subtile") : nullptr))
      if (const std::size_t equals = text.find('='); equals != std::string::npos)
        if (const long factor = std::strtol(text.c_str() + equals + 1, nullptr, 10); factor > 1)
          point.subtiles.push_back({text.substr(0, equals), factor});
    if (const Json* result = r.find("result"); result && result->is_object() && holds_schedule(*result)) take_solved(*result, point);
  }
  if (!r.good()) return r.error();
  if (point.kernel.empty()) return Error::in_file(where, "it names no kernel");
  return point;
}

}  // namespace heddle::app

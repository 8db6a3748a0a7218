#include "core/formats/published_json.h"

#include <fmt/format.h>

#include <map>

#include "core/base/atomic_file.h"
#include "core/base/json_reader.h"
#include "core/base/suggest.h"
#include "core/formats/measurement_json.h"

namespace heddle {
namespace {

constexpr const char* kPublishedSchema = "heddle.published/1";
constexpr const char* kValidationSchema = "heddle.validation/1";
constexpr std::int64_t kMostWatts = 1'000'000;
constexpr std::size_t kMostRows = 100'000;

/// A number above zero.
double positive(ObjectReader& object, const char* key) {
  const auto at = object.require(key);
  if (!at) return 0;
  const double value = at->real().value_or(1);
  if (value <= 0) at->fault("expected a number above 0, found " + describe(at->json()));
  return value;
}

std::optional<std::int64_t> maybe_count(ObjectReader& object, const char* key, std::int64_t most) {
  const auto at = object.find(key);
  return at ? at->integer(1, most) : std::nullopt;
}

Counterpart read_counterpart(const Cursor& at) {
  ObjectReader object(at);
  Counterpart counterpart;
  counterpart.kernel = object.label("kernel");
  if (const auto schedule = object.find("schedule"); schedule && !schedule->json().is_null()) counterpart.schedule = schedule->label();
  if (const auto params = object.find("params")) {
    ObjectReader members(*params);
    if (const Json::Object* list = params->json().members())
      for (const JsonMember& member : *list)
        counterpart.params.emplace_back(member.key, members.integer(member.key.c_str(), -kLargestNumber, kLargestNumber));
  }
  counterpart.options = object.labels("options");
  return counterpart;
}

OrderingPair read_pair(const Cursor& at) {
  ObjectReader object(at);
  OrderingPair pair;
  pair.than = object.label("than");
  pair.changes = object.label("changes");
  pair.not_yet = object.string("not_yet");
  return pair;
}

/// What the row's speed counts: 2 MNK for GEMM, 4 B H Lq Lk D for attention forward, 2.5 times that for backward, half under a
/// causal mask. 0 where sizes are missing.
double flops_of(const PublishedRow& row, const std::map<std::string, double>& problem) {
  const auto product = [&](std::initializer_list<const char*> sizes) {
    double all = 1;
    for (const char* size : sizes) {
      const auto found = problem.find(size);
      all *= found == problem.end() ? 0 : found->second;
    }
    return all;
  };
  if (row.kernel == "gemm") return 2 * product({"M", "N", "K"});
  const double forward = 4 * product({"batch", "heads", "q_len", "kv_len", "head_dim"}) * (row.causal ? 0.5 : 1);
  if (row.kernel == "attention_forward") return forward;
  return row.kernel == "attention_backward" ? 2.5 * forward : 0;
}

void read_row(ObjectReader& root, PublishedRow& row) {
  row.id = root.label("id");
  row.kind = root.label("kind");
  row.kernel = root.label("kernel");
  row.implementation = root.label("implementation");
  row.machine = root.label("machine");
  row.power_w = maybe_count(root, "power_limit_w", kMostWatts);
  row.zeros = root.string("data") == "zeros";
  row.causal = root.string("mask") == "causal";
  row.tflops = positive(root, "tflops");
  std::map<std::string, double> problem;
  if (const auto at = root.find("problem")) {
    ObjectReader sizes(*at);
    if (const Json::Object* members = at->json().members())
      for (const JsonMember& member : *members)
        problem[member.key] = static_cast<double>(sizes.integer(member.key.c_str(), 1, kLargestNumber));
  }
  row.flops = flops_of(row, problem);
  if (const auto at = root.find("heddle"); at && !at->json().is_null()) row.counterpart = read_counterpart(*at);
  for (const Cursor& pair : root.list("pair")) row.pairs.push_back(read_pair(pair));
  row.fitted = root.string("fitted");
  // For people.
  for (const char* key :
       {"schema", "clock_mhz", "dtype", "tile", "stages", "warp_groups", "cluster", "persistent", "schedule", "time_us", "source", "note"})
    root.find(key);
}

Result<std::vector<PublishedRow>> row_of_measurement(std::string_view text, const std::string& file, std::vector<Fault>* warnings) {
  const Result<Measurement> measured = parse_measurement(text, file, warnings);
  if (!measured) return measured.error();
  if (!measured->timing || measured->timing->kernel.tflops <= 0)
    return Error{ErrorKind::Input, {{file, "/timing", "this measurement has no speed in TFLOP/s to compare with", ""}}};
  PublishedRow row;
  row.id = file;
  row.kind = "measurement";
  row.kernel = measured->kernel;
  row.implementation = "Heddle, " + (measured->schedule.empty() ? "the solver's schedule" : measured->schedule);
  row.machine = measured->machine;
  row.known_machine = true;
  row.tflops = measured->timing->kernel.tflops;
  row.flops = static_cast<double>(measured->timing->flops);
  row.file = file;
  Counterpart counterpart{measured->kernel, {}, {}, {}};
  if (!measured->schedule.empty()) counterpart.schedule = measured->schedule;
  for (const auto& [name, value] : measured->params) counterpart.params.emplace_back(name, value);
  if (measured->device && measured->device->clock_mhz > 0)
    counterpart.options = {"--clock", fmt::format("{:.0f}", measured->device->clock_mhz)};
  row.counterpart = std::move(counterpart);
  return std::vector<PublishedRow>{std::move(row)};
}

/// Ids and pairs, once all rows are known.
void judge(const std::vector<PublishedRow>& rows, std::vector<Fault>& faults) {
  std::map<std::string, const PublishedRow*> known;
  std::vector<std::string> ids;
  for (const PublishedRow& row : rows) {
    if (const auto [it, fresh] = known.emplace(row.id, &row); !fresh && !row.id.empty())
      faults.push_back({row.file, "/id", fmt::format("'{}' is already the id of {}", row.id, it->second->file), ""});
    ids.push_back(row.id);
  }
  for (const PublishedRow& row : rows)
    for (std::size_t i = 0; i < row.pairs.size(); ++i) {
      const std::string& than = row.pairs[i].than;
      const std::string pointer = fmt::format("/pair/{}/than", i);
      if (const auto other = known.find(than); other == known.end())
        faults.push_back({row.file, pointer, fmt::format("no row has the id '{}'", than), did_you_mean(than, ids)});
      else if (other->second->machine != row.machine)
        faults.push_back({row.file, pointer,
                          fmt::format("'{}' was measured on {}, this row on {}", than, other->second->machine, row.machine),
                          "a pair compares on one machine"});
    }
}

/// The text is one object that says it is a measurement of Heddle's.
bool is_measurement(std::string_view text) {
  const Result<Json> json = parse_json(text, {});
  const Json* schema = json ? json->find("schema") : nullptr;
  return schema && schema->string() && schema->string()->starts_with("heddle.measurement/");
}

NamedMachine read_named_machine(const Cursor& at) {
  ObjectReader object(at);
  NamedMachine machine;
  machine.name = object.label("name");
  machine.power_w = maybe_count(object, "power_limit_w", kMostWatts);
  machine.machine = object.label("machine");
  machine.sms = maybe_count(object, "sms", 1 << 20);
  machine.use_power_w = maybe_count(object, "power_w", kMostWatts);
  machine.measured = object.string("measured");
  object.string("source");
  return machine;
}

void read_ground(ObjectReader& root, ValidationGround& ground) {
  root.string("about");
  for (const Cursor& at : root.required_list("machines")) ground.machines.push_back(read_named_machine(at));
  for (const Cursor& at : root.list("bands")) {
    ObjectReader object(at);
    Band band;
    band.kind = object.label("kind");
    band.arch = object.label("arch");
    band.low = positive(object, "low");
    band.high = positive(object, "high");
    if (band.low > band.high) at.fault(fmt::format("low {} is above high {}", band.low, band.high));
    ground.bands.push_back(std::move(band));
  }
}

}  // namespace

Result<std::vector<PublishedRow>> parse_published(std::string_view text, const std::string& file, std::vector<Fault>* warnings) {
  if (is_measurement(text)) return row_of_measurement(text, file, warnings);
  std::vector<PublishedRow> rows;
  std::vector<Fault> faults, doubts;
  std::int64_t number = 0;
  for (std::size_t begin = 0; begin < text.size() && faults.size() <= kMostFaults;) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    begin = end + 1;
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const std::string where = fmt::format("{}:{}", file, number);
    if (rows.size() == kMostRows) {
      faults.push_back({where, "", fmt::format("more than {} rows", kMostRows), ""});
      break;
    }
    const Result<Json> json = parse_json(line, where);
    if (!json) {
      faults.insert(faults.end(), json.error().faults.begin(), json.error().faults.end());
      continue;
    }
    ReadLog log{where, {}, {}, {}};
    PublishedRow row;
    row.file = where;
    {
      ObjectReader root(Cursor(*json, {}, log));
      if (const Json* schema = json->find("schema"); !schema || check_schema(root, kPublishedSchema)) read_row(root, row);
    }
    faults.insert(faults.end(), log.faults.begin(), log.faults.end());
    doubts.insert(doubts.end(), log.warnings.begin(), log.warnings.end());
    rows.push_back(std::move(row));
  }
  if (faults.empty()) judge(rows, faults);
  if (faults.empty() && rows.empty()) faults.push_back({file, "", "expected a measurement on each line, found none", ""});
  cut_off(doubts, "warnings");
  cut_off(faults, "faults");
  if (warnings) warnings->insert(warnings->end(), doubts.begin(), doubts.end());
  if (!faults.empty()) return Error{ErrorKind::Input, std::move(faults)};
  return rows;
}

Result<std::vector<PublishedRow>> read_published(const std::string& path, std::vector<Fault>* warnings) {
  const Result<std::string> text = read_file(path);
  return text ? parse_published(*text, path, warnings) : text.error();
}

Result<ValidationGround> parse_validation_ground(std::string_view text, const std::string& file, std::vector<Fault>* warnings) {
  return read_document<ValidationGround>(text, file, kValidationSchema, warnings, read_ground);
}

Result<ValidationGround> read_validation_ground(const std::string& path, std::vector<Fault>* warnings) {
  const Result<std::string> text = read_file(path);
  return text ? parse_validation_ground(*text, path, warnings) : text.error();
}

}  // namespace heddle

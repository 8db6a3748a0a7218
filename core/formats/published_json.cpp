#include "core/formats/published_json.h"

#include <fmt/format.h>

#include <map>

#include "core/base/atomic_file.h"
#include "core/base/suggest.h"
#include "core/formats/measurement_json.h"
#include "core/formats/members.h"

namespace heddle {
namespace {

constexpr const char* kPublishedSchema = "heddle.published/1";
constexpr const char* kValidationSchema = "heddle.validation/1";
constexpr std::int64_t kMostWatts = 1'000'000;
constexpr std::size_t kMostRows = 100'000;

/// A text of which only one word means something to Heddle.
struct Says {
  const char* word;
  void read(const Cursor& at, bool& value) const { value = at.string() == word; }
  Json schema(bool, Json&) const { return schema::type("string"); }
};

struct Sizes {
  void read(const Cursor& at, std::map<std::string, std::int64_t>& sizes) const {
    ObjectReader object(at);
    if (const Json::Object* members = at.json().members())
      for (const JsonMember& member : *members) sizes[member.key] = object.integer(member.key.c_str(), 1, kLargestNumber);
  }
  Json schema(const std::map<std::string, std::int64_t>&, Json&) const {
    return schema::type("object").set("additionalProperties", schema::integer(1, kLargestNumber));
  }
};

struct NamedNumbers {
  void read(const Cursor& at, std::vector<std::pair<std::string, std::int64_t>>& numbers) const {
    ObjectReader object(at);
    if (const Json::Object* members = at.json().members())
      for (const JsonMember& member : *members)
        numbers.emplace_back(member.key, object.integer(member.key.c_str(), -kLargestNumber, kLargestNumber));
  }
  Json schema(const std::vector<std::pair<std::string, std::int64_t>>&, Json&) const { return schema::params(); }
};

constexpr as::Integer kWatts = as::integer(1, kMostWatts);

}  // namespace

template <class Io>
void visit(Io& io, Counterpart& c) {
  io.required("kernel", c.kernel, as::label);
  io.optional("schedule", c.schedule, as::or_null(as::label), "null: the solver's own");
  io.optional("params", c.params, NamedNumbers{});
  io.optional("options", c.options, as::list(as::label), "words of heddle simulate");
}

template <class Io>
void visit(Io& io, OrderingPair& p) {
  io.required("than", p.than, as::label, "id of a row of the same source and machine that differs in one thing");
  io.required("changes", p.changes, as::label, "what this row has and the other has not");
  io.optional("not_yet", p.not_yet, "why the model is known to say something else; without it the sign has to be right");
}

template <class Io>
void visit(Io& io, PublishedRow& r) {
  io.required("id", r.id, as::label, "no two lines of a file have the same");
  io.required("kind", r.kind, as::label, "what it is for: gemm, attention_forward, ablation, microbenchmark ...");
  io.required("kernel", r.kernel, as::label, "what is computed; gemm, attention_forward and attention_backward are counted by their sizes");
  io.required("implementation", r.implementation, as::label, "whose");
  io.required("machine", r.machine, as::label, "as heddle.validation/1 names it");
  io.optional("power_limit_w", r.power_w, kWatts, "where the source states it");
  io.optional("data", r.zeros, Says{"zeros"}, "zeros: all zeros; random, unknown ...");
  io.optional("problem", r.problem, Sizes{}, "sizes: M, N, K; batch, heads, q_len, kv_len, head_dim");
  io.optional("mask", r.causal, Says{"causal"}, "causal: half of the operations count");
  io.required("tflops", r.tflops, as::positive,
              "2 MNK for GEMM, 4 B H Lq Lk D for attention forward, 2.5 times that for backward, half of either under a causal mask");
  io.optional("heddle", r.counterpart, as::or_null(as::part), "the simulation that comes closest");
  io.optional("pair", r.pairs);
  io.optional("fitted", r.fitted, "which number of Heddle's was made from this row; it is shown and does not count");
  io.optional("source", r.source, "where it was published; heddle fit leaves out the rows of one source together");
  io.for_people("clock_mhz", "integer", "where the source states it");
  for (const char* text : {"dtype", "schedule", "note"}) io.for_people(text, "string");
  for (const char* count : {"stages", "warp_groups", "cluster"}) io.for_people(count, "integer");
  io.for_people("tile", "object"), io.for_people("persistent", "boolean"), io.for_people("time_us", "number");
}

template <class Io>
void visit(Io& io, NamedMachine& m) {
  io.required("name", m.name, as::label, "as rows write it");
  io.optional("power_limit_w", m.power_w, kWatts, "only rows that state this limit");
  io.required("machine", m.machine, as::label, "machine file");
  io.optional("sms", m.sms, as::integer(1, 1 << 20), "where it is not the machine file's number");
  io.optional("power_w", m.use_power_w, kWatts, "limit to simulate with; default: the row's, else the machine file's");
  io.optional("measured", m.measured, "an anchor of the machine file and its speed in TFLOP/s: cublas_8192=795");
  io.for_people("source", "string");
}

template <class Io>
void visit(Io& io, Band& b) {
  io.required("kind", b.kind, as::label);
  io.required("arch", b.arch, as::label);
  io.required("low", b.low, as::positive);
  io.required("high", b.high, as::positive);
  io.optional("median", b.median, as::positive, "of measured over predicted when it was last written down");
  io.optional("spread", b.spread, as::real, "standard deviation of its logarithm then");
  io.optional("rows", b.rows, as::integer(1, 1 << 20), "that it rests on");
  if (b.low > b.high) io.fault(fmt::format("low {} is above high {}", b.low, b.high), "");
}

template <class Io>
void visit(Io& io, ValidationGround& g) {
  io.for_people("about", "string");
  io.required("machines", g.machines);
  io.optional("bands", g.bands, "where the median of measured over predicted has to lie");
}

namespace {

/// What the row's speed counts: 2 MNK for GEMM, 4 B H Lq Lk D for attention forward, 2.5 times that for backward, half under a
/// causal mask. 0 where sizes are missing.
double flops_of(const PublishedRow& row) {
  const auto product = [&](std::initializer_list<const char*> sizes) {
    double all = 1;
    for (const char* size : sizes) {
      const auto found = row.problem.find(size);
      all *= found == row.problem.end() ? 0 : static_cast<double>(found->second);
    }
    return all;
  };
  if (row.kernel == "gemm") return 2 * product({"M", "N", "K"});
  const double forward = 4 * product({"batch", "heads", "q_len", "kv_len", "head_dim"}) * (row.causal ? 0.5 : 1);
  if (row.kernel == "attention_forward") return forward;
  return row.kernel == "attention_backward" ? 2.5 * forward : 0;
}

void read_row(ObjectReader& root, PublishedRow& row) {
  root.find("schema");
  read_members(root, row);
  row.flops = flops_of(row);
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
  // What the GPU keeps up is what the clock under load is about; the clock of the recording build is that of a GPU as hot as it gets.
  const TimedKernel& timed = measured->timing->kernel;
  row.tflops = timed.sustained_tflops > 0 ? timed.sustained_tflops : timed.tflops;
  row.flops = static_cast<double>(measured->timing->flops);
  row.file = file;
  Counterpart counterpart{measured->kernel, {}, {}, {}};
  if (measured->schedule_text.empty() && !measured->schedule.empty()) counterpart.schedule = measured->schedule;
  counterpart.schedule_text = measured->schedule_text;
  for (const auto& [name, value] : measured->params) counterpart.params.emplace_back(name, value);
  counterpart.persistent = true;  // as every kernel is written
  if (timed.sustained_tflops <= 0 && measured->device) counterpart.clock_mhz = measured->device->clock_mhz;
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

void read_ground(ObjectReader& root, ValidationGround& ground) { read_members(root, ground); }

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

Json published_schema() {
  return schema::line(kPublishedSchema, "Heddle published measurement", [](schema::Object& root) {
    MemberSchema says(root);
    PublishedRow fresh;
    visit(says, fresh);
  });
}

Json validation_schema() { return document_schema<ValidationGround>(kValidationSchema, "What measured rows are compared with"); }

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

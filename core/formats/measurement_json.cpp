// Every part lists its members once, in visit(); one visitor writes them and one reads them.
#include "core/formats/measurement_json.h"

#include <cmath>
#include <limits>

#include "core/base/atomic_file.h"
#include "core/base/json_reader.h"
#include "core/base/words.h"
#include "core/formats/schedule_json.h"

namespace heddle {
namespace {

constexpr const char* kMeasurementSchema = "heddle.measurement/1";

template <class Io, class T>
concept Part = requires(Io& io, T& part) {
  visit(io, part);
};

/// A number that the JSON may only have as null: what is not finite.
constexpr double kUnbounded = std::numeric_limits<double>::infinity();

template <class Io>
void visit(Io& io, MeasuredDevice& d) {
  io("name", d.name), io("arch", d.arch), io("sms", d.sms), io("driver", d.driver), io("memory_bytes", d.memory_bytes);
  io("l2_bytes", d.l2_bytes), io("max_clock_mhz", d.max_clock_mhz), io("clock_mhz", d.clock_mhz);
}
template <class Io>
void visit(Io& io, MeasuredBuild& b) {
  io("compiler", b.compiler), io("ptxas", b.ptxas), io("cubin_hash", b.cubin_hash), io("registers", b.registers);
  io("spill_bytes", b.spill_bytes), io("smem_bytes", b.smem_bytes), io("threads", b.threads), io("blocks", b.blocks);
}
template <class Io>
void visit(Io& io, OutputCheck& c) {
  io("tensor", c.tensor), io("input", c.input), io("criterion", c.criterion), io("passed", c.passed), io("worst", c.worst);
  io("bound", c.bound), io("at", c.at), io("wrong", c.wrong), io("elements", c.elements), io("untouched", c.untouched);
}
template <class Io>
void visit(Io& io, Verification& v) {
  io("checks", v.checks), io("repeats", v.repeats), io("repeats_equal", v.repeats_equal), io("reference", v.reference);
}
template <class Io>
void visit(Io& io, TimedKernel& k) {
  io("name", k.name), io("median_us", k.median_us), io("tflops", k.tflops), io("blocks_us", k.blocks_us);
}
template <class Io>
void visit(Io& io, TimedLibrary& l) {
  visit(io, l.times), io("absent", l.absent), io("checks", l.checks);
}
template <class Io>
void visit(Io& io, Timing& t) {
  io("flops", t.flops), io("kernel", t.kernel), io("libraries", t.libraries), io("no_library", t.no_library),
      io.derived("ratio", t.ratio());
  io("launches", t.launches), io("warmups", t.warmups), io("buffer_sets", t.buffer_sets), io("pause_seconds", t.pause_seconds);
  io("cycles_per_iteration", t.cycles_per_iteration);
}
template <class Io>
void visit(Io& io, OpTiming& o) {
  io("op", o.op), io("group", o.group), io("samples", o.samples), io("start", o.start), io("duration", o.duration), io("spread", o.spread);
  io("predicted_start", o.predicted_start), io("predicted_duration", o.predicted_duration), io("observed_end", o.observed_end);
  io.derived("start_residual", o.start_residual()), io.derived("duration_residual", o.duration_residual());
}
template <class Io>
void visit(Io& io, TimelineEntry& e) {
  io("op", e.op), io("group", e.group), io("iteration", e.iteration), io("start", e.start), io("end", e.end);
}
template <class Io>
void visit(Io& io, KernelProfile& p) {
  io("median_us", p.median_us), io("plain_us", p.plain_us), io.derived("cost", p.cost()), io("trusted", p.trusted);
  io("records", p.records), io("dropped", p.dropped), io("blocks", p.blocks), io("first_iteration", p.first_iteration);
  io("iterations", p.iterations), io("ops", p.ops), io("timeline", p.timeline);
}
template <class Io>
void visit(Io& io, Measurement& m) {
  io.name("kernel", m.kernel), io.name("machine", m.machine), io("params", m.params), io("schedule", m.schedule);
  io("schedule_hash", m.schedule_hash), io("predicted_ii", m.predicted_ii), io("measured_ii", m.measured_ii);
  io.derived("ii_residual", m.ii_residual()), io.status("status", m.status), io("sentence", m.sentence), io("command", m.command);
  io("date", m.date), io("heddle", m.heddle), io("device", m.device), io("build", m.build), io("verification", m.verification);
  io("timing", m.timing), io("profile", m.profile);
}

struct MeasurementWriter {
  Json json = Json::object();

  template <class T>
  void operator()(const char* key, T& value) {
    json.set(key, of(value));
  }
  template <class T>
  void operator()(const char* key, std::optional<T>& value) {
    if (value) json.set(key, of(*value));
  }
  void name(const char* key, std::string& value) { json.set(key, value); }
  void status(const char* key, RunStatus& value) { json.set(key, to_string(value)); }
  void derived(const char* key, std::optional<double> value) {
    if (value) json.set(key, *value);
  }

  template <class T>
  static Json of(T& value) {
    if constexpr (Part<MeasurementWriter, T>) {
      MeasurementWriter inside;
      visit(inside, value);
      return std::move(inside.json);
    } else {
      return Json(value);
    }
  }
  static Json of(Scope& scope) { return params_json(scope); }
  template <class T>
  static Json of(std::vector<T>& list) {
    Json items = Json::array();
    for (T& item : list) items.push(of(item));
    return items;
  }
};

struct MeasurementReader {
  ObjectReader& object;

  template <class T>
  void operator()(const char* key, T& value) {
    if (const auto at = object.find(key)) read(*at, value);
  }
  template <class T>
  void operator()(const char* key, std::optional<T>& value) {
    if (const auto at = object.find(key); at && !at->json().is_null()) read(*at, value.emplace());
  }
  void operator()(const char*, Scope& scope) { scope = read_params_from(object); }
  void name(const char* key, std::string& value) { value = object.label(key); }
  void status(const char* key, RunStatus& value) {
    if (const auto at = object.require(key))
      value = at->word("status", words_up_to(RunStatus::NoGpu), [](std::string_view word) {
                  return parse_word(word, RunStatus::NoGpu);
                }).value_or(RunStatus::NoGpu);
  }
  void derived(const char* key, std::optional<double>) { object.find(key); }

  static void read(const Cursor& at, std::string& value) { value = at.string().value_or(""); }
  static void read(const Cursor& at, bool& value) { value = at.boolean().value_or(false); }
  static void read(const Cursor& at, int& value) { value = static_cast<int>(at.integer(0, std::numeric_limits<int>::max()).value_or(0)); }
  static void read(const Cursor& at, std::int64_t& value) { value = at.integer(0, std::int64_t{1} << 62).value_or(0); }
  static void read(const Cursor& at, double& value) {
    if (at.json().is_null())
      value = kUnbounded;
    else if (const std::int64_t* whole = at.json().integer())
      value = static_cast<double>(*whole);
    else if (const double* number = at.json().number(); number && std::isfinite(*number))
      value = *number;
    else
      at.fault("expected a number, or null for one that is not finite, found " + describe(at.json()));
  }
  template <class T>
  static void read(const Cursor& at, std::vector<T>& list) {
    for (const Cursor& item : at.items()) read(item, list.emplace_back());
  }
  template <class T>
  requires Part<MeasurementReader, T>
  static void read(const Cursor& at, T& part) {
    ObjectReader inside(at);
    MeasurementReader reader{inside};
    visit(reader, part);
  }
};

void read_measurement_root(ObjectReader& root, Measurement& measurement) {
  MeasurementReader reader{root};
  visit(reader, measurement);
}

}  // namespace

Json measurement_json(const Measurement& measurement) {
  MeasurementWriter writer;
  writer.json.set("schema", kMeasurementSchema);
  Measurement copy = measurement;  // visit() lists members for reading too
  visit(writer, copy);
  return std::move(writer.json);
}

std::string measurement_text(const Measurement& measurement, std::string_view original) {
  return document_text<Measurement>(measurement_json(measurement), original, kMeasurementSchema, read_measurement_root);
}

Result<Measurement> parse_measurement(std::string_view text, const std::string& file_name, std::vector<Fault>* warnings) {
  return read_document<Measurement>(text, file_name, kMeasurementSchema, warnings, read_measurement_root);
}

Result<Measurement> read_measurement(const std::string& path, std::vector<Fault>* warnings) {
  const Result<std::string> text = read_file(path);
  return text ? parse_measurement(*text, path, warnings) : text.error();
}

}  // namespace heddle

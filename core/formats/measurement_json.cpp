#include "core/formats/measurement_json.h"

#include <fmt/format.h>

#include "core/base/atomic_file.h"
#include "core/formats/members.h"
#include "core/formats/schedule_text_member.h"

namespace heddle {
namespace {
constexpr const char* kMeasurementSchema = "heddle.measurement/1";
}

template <class Io>
void visit(Io& io, MeasuredDevice& d) {
  io.always("name", d.name);
  io.always("arch", d.arch, "sm_90");
  io.always("sms", d.sms);
  io.always("driver", d.driver);
  io.always("memory_bytes", d.memory_bytes);
  io.always("l2_bytes", d.l2_bytes);
  io.always("max_clock_mhz", d.max_clock_mhz);
  io.always("clock_mhz", d.clock_mhz, "SM clock while the kernel ran; 0: not measured");
}

template <class Io>
void visit(Io& io, MeasuredBuild& b) {
  io.always("compiler", b.compiler);
  io.always("ptxas", b.ptxas);
  io.always("cubin_hash", b.cubin_hash);
  io.always("registers", b.registers, "at launch");
  io.always("spill_bytes", b.spill_bytes);
  io.always("smem_bytes", b.smem_bytes);
  io.always("threads", b.threads);
  io.always("blocks", b.blocks);
}

template <class Io>
void visit(Io& io, OutputCheck& c) {
  io.part("check");
  io.always("tensor", c.tensor);
  io.always("input", c.input);
  io.always("criterion", c.criterion);
  io.always("passed", c.passed);
  io.always("worst", c.worst, "difference at the worst element");
  io.always("bound", c.bound, "what is allowed there; 0: bit for bit");
  io.always("at", c.at);
  io.always("wrong", c.wrong, "elements beyond their bound");
  io.always("elements", c.elements);
  io.always("untouched", c.untouched, "still the NaN that was there before the run");
  io.always("pattern", c.pattern, as::word("pattern", ErrorPattern::Scattered), "where the wrong elements lie");
}

template <class Io>
void visit(Io& io, Verification& v) {
  io.always("checks", v.checks);
  io.always("repeats", v.repeats, "runs on the same data");
  io.always("repeats_equal", v.repeats_equal, "bitwise");
  io.always("reference", v.reference, "who computed what the results were compared with");
}

template <class Io>
void visit(Io& io, TimedKernel& k) {
  io.always("name", k.name);
  io.always("median_us", k.median_us, "cold, per launch, median of the blocks; 0: not timed");
  io.always("tflops", k.tflops, "0: the number of operations is not known");
  io.always("blocks_us", k.blocks_us, "cold, per launch, one number per block");
  io.always("sustained_us", k.sustained_us, "per launch, mean of launches without a pause; 0: not measured");
  io.always("sustained_tflops", k.sustained_tflops, "0: not measured, or the number of operations is not known");
}

template <class Io>
void visit(Io& io, TimedLibrary& l) {
  visit(io, l.times);
  io.always("absent", l.absent, "why it was not timed");
  io.always("checks", l.checks, "of its results, by the kernel's criteria; empty: not checked");
}

template <class Io>
void visit(Io& io, Timing& t) {
  io.always("flops", t.flops, "of one launch; 0: unknown");
  io.always("kernel", t.kernel);
  io.always("libraries", t.libraries, "interleaved with the kernel, on the same buffers");
  io.always("no_library", t.no_library, "why there is none");
  io.derived("ratio", t.ratio(), "derived: the kernel's speed as a fraction of the fastest library's");
  io.always("left_out", t.left_out, "what the time does not contain though a caller needs it");
  io.always("launches", t.launches, "per cold block");
  io.always("sustained_launches", t.sustained_launches, "without a pause; 0: not measured");
  io.always("warmups", t.warmups);
  io.always("buffer_sets", t.buffer_sets, "rotated, so that their sum exceeds L2 three times");
  io.always("pause_seconds", t.pause_seconds, "of rest before each cold block");
  io.always("cycles_per_iteration", t.cycles_per_iteration, "of the steady loop, by the SM's counter; 0: not measured");
}

template <class Io>
void visit(Io& io, OpTiming& o) {
  io.always("op", o.op);
  io.always("group", o.group);
  io.always("samples", o.samples);
  io.always("start", o.start, "median, cycles after its iteration's schedule time 0");
  io.always("duration", o.duration, as::real);
  io.always("spread", o.spread, as::real, "90th minus 10th percentile of the duration");
  io.always("predicted_start", o.predicted_start);
  io.always("predicted_duration", o.predicted_duration);
  io.always("observed_end", o.observed_end, "false: the duration is that of issuing it");
  io.derived("start_residual", o.start_residual(), "derived");
  io.derived("duration_residual", o.duration_residual(), "derived");
}

template <class Io>
void visit(Io& io, TimelineEntry& e) {
  io.always("op", e.op);
  io.always("group", e.group);
  io.always("iteration", e.iteration);
  io.always("start", e.start, "cycles from the window's first record");
  io.always("end", e.end);
  if (e.end < e.start) io.fault(fmt::format("'{}' ends at {}, before it begins at {}", e.op, e.end, e.start), "");
}

template <class Io>
void visit(Io& io, KernelProfile& p) {
  io.always("median_us", p.median_us, "per launch of the recording build");
  io.always("plain_us", p.plain_us, "of the plain one, interleaved");
  io.derived("cost", p.cost(), "derived: by how much recording slows the kernel");
  io.always("trusted", p.trusted, "the cost is below 3 %");
  io.always("records", p.records);
  io.always("dropped", p.dropped);
  io.always("blocks", p.blocks);
  io.always("first_iteration", p.first_iteration);
  io.always("iterations", p.iterations);
  io.always("ops", p.ops);
  io.always("timeline", p.timeline);
}

template <class Io>
void visit(Io& io, PredictedRun& p) {
  io.always("cycles_per_iteration", p.cycles_per_iteration, "of the steady loop, as heddle simulate has it");
  io.always("us", p.microseconds, "of the kernel, at the clock that is expected under this load");
  io.always("tflops", p.tflops, "the same; 0 where its operations are not counted");
}

template <class Io>
void visit(Io& io, Measurement& m) {
  constexpr auto part = as::or_null(as::part);
  io.required("kernel", m.kernel, as::label);
  io.required("machine", m.machine, as::label);
  io.always("params", m.params);
  io.always("schedule", m.schedule, "its name");
  io.always("schedule_hash", m.schedule_hash, "of problem, II, groups, starts and depths");
  io.optional("schedule_file", m.schedule_text, as::or_null(as::ScheduleText{}), "the schedule itself (heddle.schedule/1)");
  io.always("predicted_ii", m.predicted_ii, "of the schedule, cycles");
  io.optional("predicted", m.predicted, as::or_null(as::part));
  io.optional("measured_ii", m.measured_ii, as::or_null(as::Number{}),
              "cycles between the same op of successive iterations in the steady loop, median");
  io.derived("ii_residual", m.ii_residual(), "derived: measured over predicted, minus 1");
  io.required("status", m.status, as::word("status", RunStatus::NoGpu));
  io.always("sentence", m.sentence, "what happened, for a person");
  io.always("command", m.command);
  io.always("date", m.date, "ISO 8601, UTC");
  io.always("heddle", m.heddle, "version of the program");
  io.optional("host", m.host, as::text, "other machine that it ran on, as ssh knows it");
  io.optional("device", m.device, part);
  io.optional("build", m.build, part);
  io.optional("verification", m.verification, part);
  io.optional("timing", m.timing, part);
  io.optional("profile", m.profile, part);
}

Json measurement_schema() { return document_schema<Measurement>(kMeasurementSchema, "What running a kernel on a GPU has shown"); }

Json measurement_json(const Measurement& measurement) { return document_json(kMeasurementSchema, measurement); }

std::string measurement_text(const Measurement& measurement, std::string_view original) {
  return document_text<Measurement>(measurement_json(measurement), original, kMeasurementSchema, read_members<Measurement>);
}

Result<Measurement> parse_measurement(std::string_view text, const std::string& file_name, std::vector<Fault>* warnings) {
  return read_document<Measurement>(text, file_name, kMeasurementSchema, warnings, read_members<Measurement>);
}

Result<Measurement> read_measurement(const std::string& path, std::vector<Fault>* warnings) {
  const Result<std::string> text = read_file(path);
  return text ? parse_measurement(*text, path, warnings) : text.error();
}

}  // namespace heddle

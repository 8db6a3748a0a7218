// heddle.simulation/1: simulations and studies as lists of members.
#include "core/answers/answer_members.h"
#include "core/answers/balance.h"
#include "core/answers/bracket.h"
#include "core/answers/simulation.h"
#include "core/base/words.h"
#include "core/simulate/end_ops.h"

namespace heddle {
namespace {

constexpr as::Word<JitterShape> kShape{"shape", JitterShape::Tail};

struct RunAnswer {
  const Machine& machine = blank<Machine>;
  const SimulationAnswer& answer = blank<SimulationAnswer>;
};

struct SimulationDocument {
  const Machine& machine = blank<Machine>;
  const Problem& problem = blank<Problem>;
  const Schedule& schedule = blank<Schedule>;
  const SimulationAnswer& answer = blank<SimulationAnswer>;
};

template <class Study>
struct StudyDocument {
  const Problem& problem = blank<Problem>;
  const Schedule& schedule = blank<Schedule>;
  const Study& study = blank<Study>;
  const StudyOptions& options = blank<StudyOptions>;
};
using JitterPoints = std::vector<JitterPoint>;

struct GroupTimeLine {
  std::size_t id = 0;
  std::string role{};
  GroupTime time{};
};

struct OpTimeLine {
  std::string id{};
  CtaSection section = CtaSection::Loop;
  GroupId group{};
  OpTime time{};
};

std::vector<GroupTimeLine> group_time_lines(const KernelRun& run) {
  std::vector<GroupTimeLine> lines;
  for (const GroupTime& time : run.sm.groups) lines.push_back({lines.size(), run.program.schedule.groups[lines.size()].role, time});
  return lines;
}

std::vector<OpTimeLine> op_time_lines(const KernelRun& run) {
  std::vector<OpTimeLine> lines;
  const CtaProgram& program = run.program;
  for (std::size_t v = 0; v < run.sm.ops.size(); ++v)
    lines.push_back({program.problem.ops[v].name, program.sections[v], program.schedule.ops[v].group, run.sm.ops[v]});
  return lines;
}

template <class Io>
void visit_shape(Io& io, JitterShape shape, bool every_op, std::uint64_t seed) {
  io.written("shape", shape, kShape);
  io.written("ops", every_op ? "all" : "loads");
  io.written("seed", seed, as::seed);
}

template <class Io>
void visit(Io& io, const GroupTimeLine& line) {
  io.part("group", "issuing + stalls + idle = sm_cycles");
  io.written("id", line.id), io.written("role", line.role), io.written("issuing", line.time.busy);
  io.written("stalls", line.time.stalls, as::by_stall_reason), io.written("idle", line.time.idle);
}

template <class Io>
void visit(Io& io, const OpTimeLine& line) {
  io.written("id", line.id);
  io.written("section", line.section, as::word("section", CtaSection::Epilogue));
  io.written("group", line.group, as::group_index), io.written("stalls", line.time.stalls, as::by_stall_reason);
  io.written("held", line.time.held), io.written("queued", line.time.queued);
}

}  // namespace

template <class Io>
void visit(Io& io, const LatencyJitter& jitter) {
  io.written("percent", jitter.percent), io.written("shape", jitter.shape, kShape), io.written("seed", jitter.seed, as::seed);
  io.written("ops", jitter.every_op ? "all" : "loads");
}

template <class Io>
void visit(Io& io, const KernelRunOptions& options) {
  io.written("arbitration", options.loop.arbitration, as::word("arbitration", Arbitration::Contended));
  io.written("jitter", options.loop.jitter), io.written("causal", options.causal), io.written("persistent", options.persistent);
  io.written("longest_first", options.longest_first), io.written("split", options.split), io.written("second_pass", options.second_pass);
}

template <class Io>
void visit(Io& io, const MeasuredPeriod& period) {
  io.part("period", "cycles over iterations, exact where the run repeats itself, else a mean");
  io.written("cycles", period.weight), io.written("iterations", period.tokens), io.written("per_iteration", period.cycles());
  io.written("exact", period.exact), io.written("from", period.from);
}

template <class Io>
void visit(Io& io, const Period& period) {
  io.written("cycles", period.weight), io.written("iterations", period.tokens);
}

template <class Io>
void visit(Io& io, const UsedShare& share) {
  io.written("name", share.name), io.written("part", share.part);
}

template <class Io>
void visit(Io& io, const TimePart& part) {
  io.written("name", part.name), io.written("microseconds", part.microseconds, as::real), io.written("about", part.about);
}

template <class Io>
void visit(Io& io, const as::InContext<Wait, Problem>& in) {
  io.written("op", in.part.at, as::NameIn{in.context});
  io.written("for", in.part.behind, as::or_null(as::NameIn{in.context}), "null: whoever came first");
  io.written("through", in.part.what);
  io.written("reason", in.part.reason, as::word("reason", StallReason::Credit));
  io.written("cycles", in.part.cycles);
}

template <class Io>
void visit(Io& io, const JitterPoint& point) {
  io.written("percent", point.percent), io.written("mean", point.mean), io.written("worst", point.worst), io.written("fault", point.fault);
}

template <class Io>
void visit(Io& io, const NumberSide& side) {
  io.written("period", only_if(side.fault.empty(), side.period)), io.written("same", side.same), io.written("fault", side.fault);
}

template <class Io>
void visit(Io& io, const NumberRow& row) {
  io.written("number", row.number), io.written("now", row.values, as::list(as::any_integer)), io.written("less", row.less);
  io.written("more", row.more), io.written("swing", row.swing);
}

template <class Io>
void visit(Io& io, const DepthRow& row) {
  io.written("ring", only_if(!row.ring.empty(), row.ring)), io.written("depth", only_if(!row.ring.empty(), row.depth));
  io.written("more", row.more, as::any_integer), io.written("smem_bytes", row.bytes), io.written("fits", row.fits);
  io.written("deadlock", row.periods.empty()), io.written("periods", row.periods);
}

namespace {

template <class Io>
void visit(Io& io, const RunAnswer& of) {
  const KernelRun& run = of.answer.kernel;
  io.part("run", "Of the whole kernel; groups, ops and waits are those of the busiest SM's first CTA.");
  io.written("cycles", run.cycles), io.written("microseconds", run.microseconds), io.written("clock_mhz", run.clock.mhz);
  io.written("clock", run.clock.text, "which clock that is");
  io.written("dram_us", run.dram_us, as::real, "what DRAM takes for every element of its tensors once");
  io.written("around_us", run.around_us, as::real, "kernels before and after it in the same call");
  io.written("around", of.answer.options.around, "they are in microseconds and in the rates");
  io.written("trust", of.answer.trust.text, "how far such predictions were from measurements; empty: not known");
  io.written("tflops", run.tflops), io.written("of_peak", run.of_peak), io.written("gbytes_per_second", run.gbytes);
  io.written("tiles", run.tiles), io.written("trips", run.trips), io.written("all_trips", run.all_trips);
  io.written("tile_cycles", run.tile), io.written("sms", of.machine.sm_count), io.written("ctas_per_sm", run.ctas);
  io.written("ctas_that_fit", run.occupancy.ctas), io.written("limited_by", run.occupancy.limited_by);
  io.written("turns", run.turns, "named barriers keep the order of groups on the tensor cores, where units are interleaved");
  io.written("by_chance", run.by_chance, "they should and do not: the mean over some distances between them");
  io.written("sms_busy", run.filled, as::part_of_all), io.written("extrapolated", run.extrapolated);
  io.written("used", run.used, "how busy the loop's units and L2 are, as parts of all SMs' time; busiest first");
  io.written("l2_bytes_per_iteration", run.l2_bytes), io.written("without_cost", run.program.free_ops);
  io.written("sm_cycles", run.sm.cycles);
  io.written("parts", of.answer.parts, "what microseconds is made of; their sum. Empty: it was stopped");
  io.written("groups", group_time_lines(run)), io.written("ops", op_time_lines(run));
  io.written("waits", run.sm.waits, as::list(as::part_in(run.program.problem)));
}

template <class Io>
void visit(Io& io, const SimulationDocument& of) {
  const SimulationAnswer& answer = of.answer;
  visit_subject(io, of.problem, of.schedule);
  io.written("options", answer.options), io.written("deadlock", answer.loop.deadlock || answer.kernel.sm.deadlock);
  io.written("fault", answer.kernel.fault, "why there is no run; empty: there is one");
  io.written("sustainable", only_if(!answer.sustainable.deadlock, answer.sustainable),
             "the event graph's word on the period; null: it deadlocks");
  io.written("period", only_if(answer.loop.fault.empty(), answer.loop.period), "of the loop in steady state");
  const bool first_come = answer.first_come && answer.first_come->fault.empty();
  io.written("first_come", first_come ? std::optional(answer.first_come->period) : std::nullopt,
             "the same where units serve first come; null where that was asked for anyway");
  io.written_if(
      answer.bracket.has_value(), "expected_period", [&] { return bracket_json(of.problem, *answer.bracket); },
      as::described_by(bracket_schema));
  io.written_if(!answer.bracket && latencies_vary(of.problem), "no_bracket", kNoBracket, "why there is none");
  io.written("run", only_if(answer.kernel.fault.empty(), RunAnswer{of.machine, answer}));
}

template <class Io>
void visit(Io& io, const StudyDocument<JitterPoints>& of) {
  visit_subject(io, of.problem, of.schedule);
  io.written("study", "jitter");
  io.written("runs", of.options.runs), io.written("trips", of.options.trips);
  visit_shape(io, of.options.shape, of.options.every_op, of.options.seed);
  io.written("rows", of.study);
}

template <class Io>
void visit(Io& io, const StudyDocument<NumberStudy>& of) {
  visit_subject(io, of.problem, of.schedule);
  io.written("study", "numbers");
  io.written("percent", of.study.percent);
  io.written("period", of.study.period, "cycles per iteration at present");
  io.written("rows", of.study.rows);
}

template <class Io>
void visit(Io& io, const StudyDocument<DepthStudy>& of) {
  visit_subject(io, of.problem, of.schedule);
  io.written("study", "depth");
  io.written("runs", of.options.runs), io.written("trips", of.options.trips);
  visit_shape(io, of.options.shape, of.options.every_op, of.options.seed);
  io.written("percents", of.study.percents), io.written("rows", of.study.rows);
}

template <class Study>
Json study_json(const Problem& problem, const Schedule& schedule, const Study& study, const StudyOptions& options = blank<StudyOptions>) {
  return document_json(kSimulationSchema, StudyDocument<Study>{problem, schedule, study, options});
}

template <class Study>
Json study_schema(const char* name, Json& definitions) {
  return inner_schema<StudyDocument<Study>>(kSimulationSchema, name, definitions);
}

}  // namespace

Json simulation_json(const Machine& machine, const Problem& problem, const Schedule& schedule, const SimulationAnswer& answer) {
  return document_json(kSimulationSchema, SimulationDocument{machine, problem, schedule, answer});
}

Json jitter_json(const Problem& problem, const Schedule& schedule, const std::vector<JitterPoint>& points, const StudyOptions& options) {
  return study_json(problem, schedule, points, options);
}

Json number_json(const Problem& problem, const Schedule& schedule, const NumberStudy& study) {
  return study_json(problem, schedule, study);
}

Json depth_json(const Problem& problem, const Schedule& schedule, const DepthStudy& study, const StudyOptions& options) {
  return study_json(problem, schedule, study, options);
}

Json simulation_schema() {
  return schema::document_of(kSimulationSchema, "Heddle simulation of a schedule, or a study of its robustness",
                             {[](Json& shared) { return inner_schema<SimulationDocument>(kSimulationSchema, "simulation", shared); },
                              [](Json& shared) { return study_schema<JitterPoints>("jitter_study", shared); },
                              [](Json& shared) { return study_schema<NumberStudy>("number_study", shared); },
                              [](Json& shared) { return study_schema<DepthStudy>("ring_study", shared); }, spread_schema, balance_schema});
}

}  // namespace heddle

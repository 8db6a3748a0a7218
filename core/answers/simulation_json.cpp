// heddle.simulation/1: simulations and studies as JSON, and its schema.
#include <fmt/format.h>

#include "core/answers/bracket.h"
#include "core/answers/simulation.h"
#include "core/answers/summary.h"
#include "core/base/words.h"
#include "core/formats/schedule_json.h"
#include "core/formats/schema.h"
#include "core/simulate/end_ops.h"

namespace heddle {
namespace {

constexpr const char* kSimulationSchema = "heddle.simulation/1";

Json document(const Problem& problem, const Schedule& schedule) {
  Json root = Json::object();
  root.set("schema", kSimulationSchema);
  set_problem(root, problem);
  root.set("schedule", schedule.name).set("ii", schedule.ii);
  return root;
}

Json stalls_json(const Stalls& stalls) {
  Json object = Json::object();
  for (std::size_t r = 0; r < kStallReasons; ++r) object.set(to_string(static_cast<StallReason>(r)), stalls[r]);
  return object;
}

Json jitter_options_json(int percent, JitterShape shape, std::uint64_t seed, bool every_op) {
  return Json::object().set("percent", percent).set("shape", to_string(shape)).set("seed", seed).set("ops", every_op ? "all" : "loads");
}

Json period_json(const MeasuredPeriod& period) {
  return Json::object()
      .set("cycles", period.weight)
      .set("iterations", period.tokens)
      .set("per_iteration", period.cycles())
      .set("exact", period.exact)
      .set("from", period.from);
}

Json kernel_json(const Machine& machine, const SimulationAnswer& answer) {
  const KernelRun& run = answer.kernel;
  Json kernel = Json::object();
  kernel.set("cycles", run.cycles).set("microseconds", run.microseconds).set("clock_mhz", run.clock.mhz).set("clock", run.clock.text);
  kernel.set("dram_us", run.dram_us).set("around_us", run.around_us).set("around", answer.options.around).set("trust", answer.trust.text);
  kernel.set("tflops", run.tflops).set("of_peak", run.of_peak).set("gbytes_per_second", run.gbytes);
  kernel.set("tiles", run.tiles).set("trips", run.trips).set("all_trips", run.all_trips).set("tile_cycles", run.tile);
  kernel.set("sms", machine.sm_count).set("ctas_per_sm", run.ctas).set("ctas_that_fit", run.occupancy.ctas);
  kernel.set("limited_by", run.occupancy.limited_by)
      .set("turns", run.turns)
      .set("by_chance", run.by_chance)
      .set("sms_busy", run.filled)
      .set("extrapolated", run.extrapolated);
  Json free = Json::array(), used = Json::array();
  for (const UsedShare& share : run.used) used.push(Json::object().set("name", share.name).set("part", share.part));
  kernel.set("used", std::move(used)).set("l2_bytes_per_iteration", run.l2_bytes);
  for (const std::string& name : run.program.free_ops) free.push(name);
  kernel.set("without_cost", std::move(free)).set("sm_cycles", run.sm.cycles);

  Json groups = Json::array(), ops = Json::array(), waits = Json::array();
  const CtaProgram& program = run.program;
  for (std::size_t g = 0; g < run.sm.groups.size(); ++g) {
    const GroupTime& time = run.sm.groups[g];
    groups.push(Json::object()
                    .set("id", g)
                    .set("role", program.schedule.groups[g].role)
                    .set("issuing", time.busy)
                    .set("stalls", stalls_json(time.stalls))
                    .set("idle", time.idle));
  }
  for (std::size_t v = 0; v < run.sm.ops.size(); ++v) {
    const OpTime& time = run.sm.ops[v];
    ops.push(Json::object()
                 .set("id", program.problem.ops[v].name)
                 .set("section", to_string(program.sections[v]))
                 .set("group", program.schedule.ops[v].group.index())
                 .set("stalls", stalls_json(time.stalls))
                 .set("held", time.held)
                 .set("queued", time.queued));
  }
  for (const Wait& wait : run.sm.waits)
    waits.push(Json::object()
                   .set("op", program.problem.op(wait.at).name)
                   .set("for", wait.behind.valid() ? Json(program.problem.op(wait.behind).name) : Json())
                   .set("through", wait.what)
                   .set("reason", to_string(wait.reason))
                   .set("cycles", wait.cycles));
  Json parts = Json::array();
  for (const TimePart& part : answer.parts)
    parts.push(Json::object().set("name", part.name).set("microseconds", part.microseconds).set("about", part.about));
  kernel.set("parts", std::move(parts));
  return kernel.set("groups", std::move(groups)).set("ops", std::move(ops)).set("waits", std::move(waits));
}

}  // namespace

Json simulation_json(const Machine& machine, const Problem& problem, const Schedule& schedule, const SimulationAnswer& answer) {
  Json root = document(problem, schedule);
  const KernelRunOptions& options = answer.options;
  const LatencyJitter& jitter = options.loop.jitter;
  root.set("options", Json::object()
                          .set("arbitration", to_string(options.loop.arbitration))
                          .set("jitter", jitter_options_json(jitter.percent, jitter.shape, jitter.seed, jitter.every_op))
                          .set("causal", options.causal)
                          .set("persistent", options.persistent)
                          .set("longest_first", options.longest_first)
                          .set("split", options.split)
                          .set("second_pass", options.second_pass));
  root.set("deadlock", answer.loop.deadlock || answer.kernel.sm.deadlock).set("fault", answer.kernel.fault);
  root.set("sustainable", answer.sustainable.deadlock
                              ? Json()
                              : Json::object().set("cycles", answer.sustainable.weight).set("iterations", answer.sustainable.tokens));
  root.set("period", answer.loop.fault.empty() ? period_json(answer.loop.period) : Json());
  const bool first_come = answer.first_come && answer.first_come->fault.empty();
  root.set("first_come", first_come ? period_json(answer.first_come->period) : Json());
  if (answer.bracket) root.set("expected_period", bracket_json(problem, *answer.bracket));
  if (!answer.bracket && latencies_vary(problem)) root.set("no_bracket", kNoBracket);
  root.set("run", answer.kernel.fault.empty() ? kernel_json(machine, answer) : Json());
  return root;
}

Json jitter_json(const Problem& problem, const Schedule& schedule, const std::vector<JitterPoint>& points, const StudyOptions& options) {
  Json root = document(problem, schedule), rows = Json::array();
  for (const JitterPoint& p : points)
    rows.push(Json::object().set("percent", p.percent).set("mean", p.mean).set("worst", p.worst).set("fault", p.fault));
  root.set("study", "jitter").set("runs", options.runs).set("trips", options.trips);
  root.set("shape", to_string(options.shape)).set("ops", options.every_op ? "all" : "loads").set("seed", options.seed);
  return root.set("rows", std::move(rows));
}

Json number_json(const Problem& problem, const Schedule& schedule, const NumberStudy& study) {
  Json root = document(problem, schedule), rows = Json::array();
  const auto side = [](const NumberSide& s) {
    return Json::object().set("period", s.fault.empty() ? Json(s.period) : Json()).set("same", s.same).set("fault", s.fault);
  };
  for (const NumberRow& row : study.rows) {
    Json values = Json::array();
    for (const std::int64_t value : row.values) values.push(value);
    rows.push(Json::object()
                  .set("number", row.number)
                  .set("now", std::move(values))
                  .set("less", side(row.less))
                  .set("more", side(row.more))
                  .set("swing", row.swing));
  }
  return root.set("study", "numbers").set("percent", study.percent).set("period", study.period).set("rows", std::move(rows));
}

Json depth_json(const Problem& problem, const Schedule& schedule, const DepthStudy& study, const StudyOptions& options) {
  Json root = document(problem, schedule), rows = Json::array(), percents = Json::array();
  for (const int percent : study.percents) percents.push(percent);
  for (const DepthRow& row : study.rows) {
    Json periods = Json::array();
    for (const double period : row.periods) periods.push(period);
    rows.push(Json::object()
                  .set("ring", row.ring.empty() ? Json() : Json(row.ring))
                  .set("depth", row.ring.empty() ? Json() : Json(row.depth))
                  .set("more", row.more)
                  .set("smem_bytes", row.bytes)
                  .set("fits", row.fits)
                  .set("deadlock", row.periods.empty())
                  .set("periods", std::move(periods)));
  }
  root.set("study", "depth").set("runs", options.runs).set("trips", options.trips);
  root.set("shape", to_string(options.shape)).set("ops", options.every_op ? "all" : "loads").set("seed", options.seed);
  return root.set("percents", std::move(percents)).set("rows", std::move(rows));
}

Json spread_json(const Problem& problem, const Schedule& schedule, const SpreadStudy& study, const StudyOptions& options) {
  Json root = document(problem, schedule);
  set_spread_study(root, problem, study, options);
  return root;
}

namespace {

Json stalls_schema(Json& shared) {
  using namespace schema;
  Object stalls(shared);
  stalls.called("stalls");
  for (std::size_t r = 0; r < kStallReasons; ++r) stalls.required(to_string(static_cast<StallReason>(r)), count());
  return stalls.finish();
}

Json period_schema(Json& shared) {
  using namespace schema;
  Object period(shared);
  period.called("period", "cycles over iterations, exact where the run repeats itself, else a mean");
  period.optional("cycles", count()).optional("iterations", count()).optional("per_iteration", type("number"));
  return period.optional("exact", type("boolean")).optional("from", count()).finish();
}

Json options_schema(Json& shared) {
  using namespace schema;
  Object jitter(shared), options(shared);
  jitter.optional("percent", count()).optional("shape", words(words_up_to(JitterShape::Tail)));
  jitter.optional("seed", count()).optional("ops", words({"loads", "all"}));
  options.optional("arbitration", words(words_up_to(Arbitration::Interleaved))).optional("jitter", jitter.finish());
  return options.optional("causal", type("boolean"))
      .optional("persistent", type("boolean"))
      .optional("longest_first", type("boolean"))
      .optional("split", count())
      .optional("second_pass", type("boolean"))
      .finish();
}

Json run_schema(Json& shared) {
  using namespace schema;
  Object group(shared), op(shared), wait(shared), used(shared), part(shared), run(shared);
  group.called("group", "issuing + stalls + idle = sm_cycles").optional("id", count()).optional("role", type("string"));
  group.optional("issuing", count()).optional("stalls", stalls_schema(shared)).optional("idle", count());
  op.optional("id", name(shared)).optional("section", words({"prologue", "loop", "epilogue"})).optional("group", count());
  op.optional("stalls", stalls_schema(shared)).optional("held", count()).optional("queued", count());
  wait.optional("op", name(shared)).optional("for", or_null(type("string")), "null: whoever came first");
  wait.optional("through", type("string")).optional("reason", words(words_up_to(StallReason::Credit))).optional("cycles", count());

  run.called("run", "Of the whole kernel; groups, ops and waits are those of the busiest SM's first CTA.");
  used.optional("name", name(shared)).optional("part", type("number"));
  run.required("cycles", count()).optional("microseconds", type("number")).optional("clock_mhz", type("number"));
  run.optional("clock", type("string"), "which clock that is").optional("l2_bytes_per_iteration", count());
  run.optional("used", list(used.finish()), "how busy the loop's units and L2 are, as parts of all SMs' time; busiest first");
  run.optional("dram_us", real(), "what DRAM takes for every element of its tensors once")
      .optional("around_us", real(), "kernels before and after it in the same call")
      .optional("around", type("boolean"), "they are in microseconds and in the rates")
      .optional("trust", type("string"), "how far such predictions were from measurements; empty: not known");
  run.optional("tflops", type("number")).optional("of_peak", type("number")).optional("gbytes_per_second", type("number"));
  run.required("tiles", count()).required("trips", count()).optional("all_trips", count()).optional("tile_cycles", count());
  run.optional("sms", count()).optional("ctas_per_sm", count()).optional("ctas_that_fit", count()).optional("limited_by", type("string"));
  run.optional("turns", type("boolean"), "groups take turns on the tensor cores, where units are interleaved")
      .optional("by_chance", type("boolean"), "they should and do not: the mean over some distances between them");
  run.optional("sms_busy", real().set("maximum", 1)).optional("extrapolated", type("boolean"));
  part.required("name", type("string")).required("microseconds", real()).optional("about", type("string"));
  run.optional("parts", list(part.finish()), "what microseconds is made of; their sum. Empty: it was stopped");
  run.optional("without_cost", list(type("string"))).optional("sm_cycles", count());
  run.required("groups", list(group.finish())).required("ops", list(op.finish())).required("waits", list(wait.finish()));
  return run.finish();
}

}  // namespace

Json simulation_schema() {
  using namespace schema;
  return schema::document(kSimulationSchema, "Heddle simulation of a schedule, or a study of its robustness", [](schema::Object& root) {
    Json& shared = root.definitions();
    root.choose("oneOf", {{"options", "deadlock", "period", "run"}, {"study", "rows"}});
    root.required("kernel", name(shared)).required("machine", name(shared)).optional("params", params());
    root.optional("changes", list(type("string"))).required("problem_hash", type("string"));
    root.optional("schedule", type("string"), "its name").required("ii", count());
    root.optional("options", options_schema(shared)).optional("deadlock", type("boolean"));
    root.optional("fault", type("string"), "why there is no run; empty: there is one");
    Object sustainable(shared);
    sustainable.optional("cycles", count()).optional("iterations", count());
    root.optional("sustainable", or_null(sustainable.finish()), "the event graph's word on the period; null: it deadlocks");
    Json cycles = Json::array().push(period_schema(shared)).push(or_null(type("number")));
    root.optional("period", Json::object().set("oneOf", std::move(cycles)),
                  "of the loop in steady state; in a study of numbers: cycles per iteration at present");
    root.optional("first_come", or_null(period_schema(shared)),
                  "the same where units serve first come; null where that was asked for anyway");
    root.optional("expected_period", type("object"), "where latencies are not always the same: both ends of its bracket");
    root.optional("no_bracket", type("string"), "why there is none; empty: there is one");
    root.optional("run", or_null(run_schema(shared)));
    root.optional("rings", list(type("string")), "of a study of depths: whose depths the rows have").optional("cut", type("boolean"));
    root.optional("study", words({"jitter", "numbers", "depth", "balance"})).optional("runs", count()).optional("trips", count());
    root.optional("shape", words(words_up_to(JitterShape::Tail))).optional("ops", words({"loads", "all"}));
    for (const char* key : {"tiles", "all_trips", "places", "shortest", "median", "longest"}) root.optional(key, count());
    root.optional("best", type("number"), "of a study of balance: iterations of each place if all had the same");
    root.optional("seed", count()).optional("percent", count()).optional("percents", list(count())).optional("rows", list(type("object")));
  });
}

}  // namespace heddle

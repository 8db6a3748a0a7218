// Key by key.
#include "core/answers/simulation_json.h"

#include "core/answers/outcome_json.h"
#include "core/formats/schedule_json.h"

namespace heddle {
namespace {

Json document(const Problem& problem, const Schedule& schedule) {
  Json root = Json::object();
  root.set("schema", "heddle.simulation/1");
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

const char* section_name(Section section) {
  return section == Section::Loop ? "loop" : section == Section::Prologue ? "prologue" : "epilogue";
}

Json kernel_json(const Machine& machine, const SimulationAnswer& answer) {
  const KernelRun& run = answer.kernel;
  Json kernel = Json::object();
  kernel.set("cycles", run.cycles).set("microseconds", run.microseconds).set("clock_mhz", machine.clock_mhz);
  kernel.set("tflops", run.tflops).set("of_peak", run.of_peak).set("gbytes_per_second", run.gbytes);
  kernel.set("tiles", run.tiles).set("trips", run.trips).set("all_trips", run.all_trips).set("tile_cycles", run.tile);
  kernel.set("sms", machine.sm_count).set("ctas_per_sm", run.ctas).set("ctas_that_fit", run.occupancy.ctas);
  kernel.set("limited_by", run.occupancy.limited_by).set("sms_busy", run.filled).set("extrapolated", run.extrapolated);
  Json free = Json::array();
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
                 .set("section", section_name(program.sections[v]))
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
                          .set("longest_first", options.longest_first));
  root.set("deadlock", answer.loop.deadlock || answer.kernel.sm.deadlock).set("fault", answer.kernel.fault);
  root.set("sustainable", answer.sustainable.deadlock
                              ? Json()
                              : Json::object().set("cycles", answer.sustainable.weight).set("iterations", answer.sustainable.tokens));
  root.set("period", answer.loop.fault.empty() ? period_json(answer.loop.period) : Json());
  const bool first_come = answer.first_come && answer.first_come->fault.empty();
  root.set("first_come", first_come ? period_json(answer.first_come->period) : Json());
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
    rows.push(Json::object().set("number", row.number).set("now", std::move(values)).set("less", side(row.less)).set("more", side(row.more)).set("swing", row.swing));
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

}  // namespace heddle

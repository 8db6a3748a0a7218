// Solve reports, verdicts and bounds as JSON, key by key.
#include "core/answers/outcome_json.h"

#include <cmath>

#include "core/analysis/period.h"
#include "core/formats/cost_json.h"
#include "core/formats/schedule_json.h"

namespace heddle {
namespace {

Json op_names(const Problem& problem, const std::vector<OpId>& ops) {
  Json list = Json::array();
  for (const OpId op : ops) list.push(problem.op(op).name);
  return list;
}

void set_period(Json& root, const Problem& problem, const Schedule& schedule) {
  const Period period = sustainable_period(problem, schedule);
  root.set("period", period.deadlock ? Json() : Json(period.cycles()));
  root.set("deadlock", period.deadlock).set("period_limit", period.sentence);
}

}  // namespace

Json seconds_json(double seconds) { return std::round(seconds * 1e6) / 1e6; }

Json finite_ii_json(Cycle ii) { return ii >= kNoFiniteII ? Json() : Json(ii); }

Json faults_json(const std::vector<Fault>& faults) {
  Json list = Json::array();
  for (const Fault& f : faults)
    list.push(Json::object().set("file", f.file).set("pointer", f.pointer).set("message", f.message).set("hint", f.hint));
  return list;
}

void set_problem(Json& root, const Problem& problem) {
  root.set("kernel", problem.kernel).set("machine", problem.machine).set("params", params_json(problem.params));
  root.set("changes", names_json(problem.changes)).set("problem_hash", problem_hash(problem));
}

Json outcome_json(const Problem& problem, const SolveOutcome& outcome, const Constraints& constraints) {
  Json root = Json::object();
  const Schedule* schedule = outcome.schedule ? &*outcome.schedule : nullptr;
  root.set("status", to_string(outcome.status));
  root.set("ii", schedule ? Json(schedule->ii) : Json()).set("lower_bound", outcome.lower_bound);
  root.set("reason", to_string(outcome.reason)).set("explanation", outcome.explanation);
  root.set("res_mii", outcome.res_mii).set("rec_mii", outcome.rec_mii).set("issue_mii", outcome.issue_mii);
  if (schedule) {
    root.set("length", schedule_length(problem, *schedule)).set("stages", stage_count(*schedule));
    set_period(root, problem, *schedule);
  } else {
    for (const char* key : {"length", "stages", "period", "deadlock", "period_limit"}) root.set(key, Json());
  }
  set_problem(root, problem);
  root.set("groups", schedule ? groups_json(problem, *schedule) : Json::array());
  root.set("ops", schedule ? placements_json(problem, *schedule) : Json::array());
  root.set("channels", schedule ? channels_json(problem, *schedule) : Json::array());
  root.set("objectives", objectives_json(outcome.objectives));
  root.set("seconds", Json::object()
                          .set("encode", seconds_json(outcome.seconds.encode))
                          .set("first", seconds_json(outcome.seconds.first))
                          .set("proof", seconds_json(outcome.seconds.proof))
                          .set("total", seconds_json(outcome.seconds.total)));
  root.set("checker", schedule ? verdict_json(problem, check(problem, *schedule, constraints)) : Json());
  root.set("solver", outcome.solver).set("seed", outcome.seed);
  root.set("queries", outcome.queries).set("conflicts", outcome.conflicts);
  root.set("cancelled", outcome.cancelled).set("timed_out", outcome.timed_out).set("cut_off", outcome.cut_off).set("serial", outcome.serial);
  return root;
}

std::string outcome_text(const Problem& problem, const SolveOutcome& outcome, const Constraints& constraints) {
  return outcome_json(problem, outcome, constraints).pretty();
}

Json verdict_json(const Problem& problem, const Verdict& verdict) {
  Json violations = Json::array();
  for (const Violation& v : verdict.violations) {
    Json item = Json::object();
    item.set("family", v.family).set("message", v.message).set("ops", op_names(problem, v.ops));
    item.set("slot", v.slot >= 0 ? Json(v.slot) : Json()).set("amount", v.amount).set("limit", v.limit);
    violations.push(std::move(item));
  }
  return Json::object().set("valid", verdict.valid()).set("violations", std::move(violations));
}

Json standing_json(const Schedule& schedule) {
  const auto& said = schedule.certificate ? schedule.certificate : schedule.claim;
  if (!said) return {};
  return Json::object().set("by", schedule.certificate ? "heddle" : "file").set("status", to_string(said->status)).set("lower_bound", said->lower_bound);
}

std::string verdict_text(const Problem& problem, const Schedule& schedule, const Verdict& verdict) {
  Json root = verdict_json(problem, verdict);
  root.set("ii", schedule.ii).set("length", schedule_length(problem, schedule)).set("stages", stage_count(schedule));
  set_period(root, problem, schedule);
  root.set("schedule", schedule.name).set("certificate", standing_json(schedule));
  set_problem(root, problem);
  return root.pretty();
}

std::string bounds_text(const Problem& problem, const Bounds& bounds) {
  Json root = Json::object();
  root.set("min_ii", bounds.min_ii()).set("res_mii", bounds.res_mii).set("rec_mii", bounds.rec_mii);
  root.set("credit_mii", bounds.credit_mii).set("issue_mii", bounds.issue_mii).set("explanation", bounds.sentence);
  root.set("binding_unit", bounds.binding_unit.valid() ? Json(problem.unit(bounds.binding_unit).name) : Json());
  Json units = Json::array();
  for (const UnitLoad& load : bounds.units) {
    const Unit& unit = problem.unit(load.unit);
    units.push(Json::object()
                   .set("name", unit.name)
                   .set("role", to_string(unit.role))
                   .set("capacity", unit.capacity)
                   .set("work", load.work)
                   .set("bound", load.bound));
  }
  root.set("units", std::move(units));
  const Recurrence& critical = bounds.critical;
  Json recurrence;
  if (!critical.edges.empty()) {
    std::vector<OpId> ops;
    for (const EdgeId edge : critical.edges) ops.push_back(problem.edge(edge).from);
    recurrence = Json::object();
    recurrence.set("ops", op_names(problem, ops)).set("latency", critical.latency);
    recurrence.set("distance", critical.distance).set("bound", critical.bound);
  }
  root.set("recurrence", std::move(recurrence));
  root.set("ops", problem.ops.size()).set("edges", problem.edges.size()).set("channels", problem.channels.size());
  set_problem(root, problem);
  return root.pretty();
}

}  // namespace heddle

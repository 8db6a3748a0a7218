// Alternatives, key by key.
#include "core/answers/alternatives_json.h"

#include "core/analysis/slack.h"
#include "core/analysis/turns.h"
#include "core/formats/schedule_json.h"

namespace heddle {
namespace {

Json delay_json(Cycle delay) { return delay == kUnlimited ? Json() : Json(delay); }

Json alternative_json(const Problem& problem, const Alternative& alternative, std::size_t number) {
  const Schedule& schedule = alternative.schedule;
  Json differences = Json::array();
  for (const std::string& sentence : alternative.differences) differences.push(sentence);
  Json turns = Json::array();
  for (const Turns& t : turns_of(problem, schedule)) {
    Json ops = Json::array();
    for (const OpId v : t.ops) ops.push(problem.op(v).name);
    turns.push(Json::object().set("unit", problem.unit(t.unit).name).set("ops", std::move(ops)));
  }
  const Robustness& robustness = alternative.robustness;
  Json item = Json::object();
  item.set("number", number).set("distance", alternative.distance).set("nearest", alternative.nearest);
  item.set("differences", std::move(differences)).set("turns", std::move(turns));
  item.set("ii", schedule.ii).set("period", alternative.period).set("length", schedule_length(problem, schedule));
  item.set("stages", stage_count(schedule));
  item.set("robustness", Json::object()
                             .set("least_delay", delay_json(robustness.least))
                             .set("median_delay", delay_json(robustness.median))
                             .set("critical_ops", robustness.critical));
  item.set("groups", groups_json(problem, schedule)).set("ops", placements_json(problem, schedule));
  return item.set("channels", channels_json(problem, schedule));
}

}  // namespace

Json alternatives_json(const Problem& problem, const Alternatives& answer) {
  const SolveOutcome& first = answer.first;
  Json root = Json::object();
  root.set("status", to_string(first.status)).set("ii", first.schedule ? Json(first.schedule->ii) : Json());
  root.set("lower_bound", first.lower_bound).set("explanation", first.explanation);
  root.set("objectives", objectives_json(first.objectives));
  root.set("differ", to_string(answer.aspect)).set("equal", answer.ii_only ? "ii" : "all");
  root.set("stages_limit", answer.stages).set("most_distance", answer.most_distance);
  root.set("count", answer.found.size()).set("exact", answer.exact).set("more", answer.more);
  Json list = Json::array();
  for (std::size_t i = 0; i < answer.found.size(); ++i) list.push(alternative_json(problem, answer.found[i], i + 1));
  root.set("alternatives", std::move(list));
  root.set("cancelled", answer.cancelled).set("timed_out", answer.timed_out).set("fault", answer.fault);
  root.set("queries", answer.queries).set("seconds", answer.seconds);
  root.set("solver", first.solver).set("seed", first.seed);
  root.set("kernel", problem.kernel).set("machine", problem.machine).set("params", params_json(problem.params));
  return root.set("problem_hash", problem_hash(problem));
}

}  // namespace heddle

// A scoreboard, key by key.
#include "core/answers/scoreboard_json.h"

#include "core/answers/outcome_json.h"
#include "core/answers/scoreboard_rows.h"
#include "core/formats/schedule_json.h"

namespace heddle {
namespace {

Json simulated_json(const SimulatedFigures& f) {
  if (!f.fault.empty()) return Json::object().set("fault", f.fault);
  Json stalls = Json::object();
  for (std::size_t r = 0; r < kStallReasons; ++r) stalls.set(to_string(static_cast<StallReason>(r)), f.stalls[r]);
  Json item = Json::object().set("cycles", f.cycles).set("period", f.period).set("microseconds", f.microseconds);
  return item.set("tflops", f.tflops > 0 ? Json(f.tflops) : Json()).set("stalls", std::move(stalls));
}

Json contender_json(const Problem& problem, const Scoreboard& board, const ScoreRow& row) {
  const Contender& c = board.contenders[row.contender];
  Json log = Json::array();
  for (const std::string& line : c.log) log.push(line);
  Json item = Json::object();
  item.set("name", c.name).set("kind", to_string(c.kind)).set("about", c.about).set("place", row.place > 0 ? Json(row.place) : Json());
  item.set("log", std::move(log)).set("reason", score_reason(c));
  if (!c.schedule) return item.set("schedule", Json());
  const auto gap = gap_percent(board, c);
  item.set("status", to_string(c.status)).set("ii", c.schedule->ii).set("deadlock", c.period.deadlock);
  item.set("period", c.period.deadlock ? Json() : Json(c.period.cycles())).set("gap_percent", gap ? Json(*gap) : Json());
  item.set("stages", c.stages).set("warps", c.usage.warps).set("smem_bytes", c.usage.smem_bytes).set("tmem_columns", c.usage.tmem_columns);
  Json registers = Json::array();
  for (const int budget : c.usage.register_budget) registers.push(budget);
  item.set("registers", std::move(registers)).set("barriers", c.barriers).set("waits", c.waits);
  item.set("simulated", c.simulated ? simulated_json(*c.simulated) : Json());
  item.set("checker", verdict_json(problem, c.verdict)).set("schedule", schedule_json(problem, *c.schedule));
  return item;
}

}  // namespace

Json scoreboard_json(const Problem& problem, const Constraints& constraints, const Scoreboard& board) {
  Json root = Json::object();
  root.set("lower_bound", board.lower_bound).set("why", board.why);
  root.set("cancelled", board.cancelled).set("timed_out", board.timed_out).set("seconds", seconds_json(board.seconds)).set("solver", board.solver);
  Json contenders = Json::array(), faults = Json::array(), demands = Json::array();
  for (const ScoreRow& row : score_rows(board, ungrouped)) contenders.push(contender_json(problem, board, row));
  for (const std::string& name : beyond_bound(board)) faults.push(name);
  for (const UserConstraint& c : constraints)
    if (c.enabled) demands.push(c.name);
  root.set("contenders", std::move(contenders)).set("beyond_bound", std::move(faults)).set("constraints", std::move(demands));
  set_problem(root, problem);
  return root;
}

}  // namespace heddle

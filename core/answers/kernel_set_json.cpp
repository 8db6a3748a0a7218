// Members, then what is best.
#include "core/answers/kernel_set_json.h"

#include <numeric>

#include "core/analysis/bounds.h"
#include "core/answers/outcome_json.h"
#include "core/formats/schedule_json.h"

namespace heddle {
namespace {

Json ratio_json(Cycle cycles, std::int64_t work) {
  const std::int64_t common = std::gcd(cycles, work);
  return Json::object().set("cycles", cycles / common).set("work", work / common);
}

Json member_json(const FamilyMember& m) {
  Json choices = Json::object(), cuts = Json::array();
  for (const auto& [name, value] : m.choices) choices.set(name, value);
  for (const Subtile& s : m.subtiles) cuts.push(Json::object().set("param", s.param).set("factor", s.factor));
  Json root = Json::object();
  root.set("label", m.label).set("kernel", m.kernel).set("choices", std::move(choices)).set("subtiles", std::move(cuts));
  root.set("max_groups", m.groups).set("status", to_string(m.outcome.status)).set("pruned", m.pruned).set("why", m.why);
  root.set("faults", faults_json(m.faults));
  if (m.invalid()) return root;
  const SolveOutcome& o = m.outcome;
  const Schedule* schedule = o.schedule ? &*o.schedule : nullptr;
  root.set("params", params_json(m.problem.params)).set("problem_hash", problem_hash(m.problem)).set("ops", m.problem.ops.size());
  root.set("work", m.work.amount).set("bytes", m.work.bytes).set("cycles_at_tensor_peak", m.work.at_peak > 0 ? Json(m.work.at_peak) : Json());
  const bool finite = m.min_ii < kNoFiniteII;
  root.set("min_ii", finite ? Json(m.min_ii) : Json()).set("ii", schedule ? Json(schedule->ii) : Json()).set("lower_bound", finite ? Json(o.lower_bound) : Json());
  root.set("reason", to_string(o.reason)).set("explanation", o.explanation);
  root.set("cycles_per_work", schedule ? ratio_json(schedule->ii, m.work.amount) : Json());
  root.set("cycles_per_work_at_least", finite ? ratio_json(o.lower_bound, m.work.amount) : Json());
  root.set("groups", schedule ? Json(schedule->groups.size()) : Json());
  root.set("objectives", objectives_json(o.objectives)).set("seconds", seconds_json(o.seconds.total));
  root.set("queries", o.queries).set("conflicts", o.conflicts);
  return root;
}

}  // namespace

Json family_json(const FamilyAnswer& family) {
  Json root = Json::object(), members = Json::array(), best = Json::array();
  for (const FamilyMember& m : family.members) members.push(member_json(m));
  for (const FamilyBest& b : family.best)
    best.push(Json::object()
                  .set("objective", b.objective)
                  .set("member", b.member)
                  .set("label", family.members[b.member].label)
                  .set("value", b.value)
                  .set("proved", b.proved));
  root.set("machine", family.machine).set("work_unit", to_string(family.work));
  root.set("best", std::move(best)).set("ties_settled", family.ties_settled);
  root.set("complete", family.complete).set("cancelled", family.cancelled).set("timed_out", family.timed_out);
  root.set("members", std::move(members));
  if (family.best.empty()) {
    root.set("solution", Json());
  } else {
    const FamilyMember& winner = family.members[family.best.front().member];
    root.set("solution", outcome_json(winner.problem, winner.outcome));
  }
  root.set("seconds", seconds_json(family.seconds)).set("solver", family.solver).set("seed", family.seed);
  return root;
}

}  // namespace heddle

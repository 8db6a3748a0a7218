// Key by key.
#include "core/answers/explanation_json.h"

#include "core/answers/outcome_json.h"
#include "core/formats/schedule_json.h"

namespace heddle {
namespace {

Json strings(const std::vector<std::string>& texts) {
  Json list = Json::array();
  for (const std::string& text : texts) list.push(text);
  return list;
}

Json member_json(const Problem& problem, const ExplanationMember& member) {
  Json ops = Json::array();
  for (const OpId op : member.ops) ops.push(problem.op(op).name);
  Json numbers = Json::object();
  for (const auto& [name, value] : member.numbers) numbers.set(name, value);
  return Json::object()
      .set("family", member.family)
      .set("what", member.what)
      .set("ops", std::move(ops))
      .set("numbers", std::move(numbers))
      .set("parts", strings(member.parts))
      .set("needed", member.needed)
      .set("without", member.without)
      .set("slot", member.slot >= 0 ? Json(member.slot) : Json());
}

Json relaxation_json(const Relaxation& r) {
  const bool known = r.status == Status::Optimal || r.status == Status::Feasible;
  return Json::object()
      .set("member", r.member)
      .set("what", r.what)
      .set("from", r.from)
      .set("to", r.to)
      .set("status", to_string(r.status))
      .set("ii", known ? Json(r.ii) : Json())
      .set("then", r.then)
      .set("seconds", seconds_json(r.seconds));
}

}  // namespace

Json explanation_json(const Problem& problem, const Explanation& e) {
  Json members = Json::array(), relaxations = Json::array();
  for (const ExplanationMember& member : e.members) members.push(member_json(problem, member));
  for (const Relaxation& r : e.relaxations) relaxations.push(relaxation_json(r));
  Json root = Json::object();
  root.set("status", to_string(e.status)).set("ii", e.ii ? Json(*e.ii) : Json());
  root.set("refuted", e.refuted ? Json(*e.refuted) : Json()).set("reason", to_string(e.reason));
  root.set("sentence", e.sentence).set("together", e.together).set("core", std::move(members));
  root.set("verified", e.verified).set("assumptions", strings(e.assumptions)).set("remarks", strings(e.remarks));
  root.set("relaxations", std::move(relaxations)).set("relaxations_left", e.relaxations_left);
  root.set("kernel", problem.kernel).set("machine", problem.machine).set("params", params_json(problem.params));
  root.set("problem_hash", problem_hash(problem)).set("solver", e.solver);
  root.set("seconds", seconds_json(e.seconds)).set("queries", e.queries).set("conflicts", e.conflicts);
  root.set("cancelled", e.cancelled).set("timed_out", e.timed_out);
  return root;
}

}  // namespace heddle

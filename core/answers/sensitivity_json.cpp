// Key by key.
#include "core/answers/sensitivity_json.h"

#include "core/answers/outcome_json.h"
#include "core/formats/cost_json.h"

namespace heddle {
namespace {

Json integers(const std::vector<std::int64_t>& numbers) {
  Json list = Json::array();
  for (const std::int64_t number : numbers) list.push(number);
  return list;
}

const char* word_for(SensitivityEffect effect) {
  switch (effect) {
    case SensitivityEffect::II: return "ii";
    case SensitivityEffect::Order: return "order";
    case SensitivityEffect::TooSmall: return "too_small";
    case SensitivityEffect::None: return "none";
    case SensitivityEffect::Undecided: break;
  }
  return "undecided";
}

Json side_json(const SensitivitySide& side) {
  Json item = Json::object();
  item.set("values", integers(side.values)).set("same_problem", side.same_problem);
  if (side.same_problem) return item;
  item.set("status", to_string(side.status())).set("ii", finite_ii_json(side.ii)).set("lower_bound", finite_ii_json(side.lower_bound));
  item.set("ii_in_order", side.in_order ? Json(*side.in_order) : Json()).set("order_bound", finite_ii_json(side.order_bound));
  item.set("order_stays", side.order_stays()).set("order_goes", side.order_goes());
  item.set("fault", side.fault.empty() ? Json() : Json(side.fault));
  return item;
}

}  // namespace

Json sensitivity_json(const Problem& problem, const Sensitivity& answer) {
  Json root = Json::object();
  root.set("status", to_string(answer.status)).set("complete", answer.complete()).set("percent", answer.percent);
  root.set("ii", answer.schedule ? Json(answer.ii) : Json()).set("lower_bound", answer.lower_bound);
  root.set("explanation", answer.explanation);
  Json rows = Json::array();
  for (const SensitivityRow& row : answer.rows) {
    Json item = Json::object();
    item.set("number", row.number).set("effect", word_for(answer.effect(row))).set("values", integers(row.values));
    item.set("ops", names_json(row.ops)).set("less", side_json(row.less)).set("more", side_json(row.more));
    rows.push(std::move(item));
  }
  root.set("rows", std::move(rows));
  set_problem(root, problem);
  root.set("queries", answer.queries).set("seconds", seconds_json(answer.seconds));
  root.set("cancelled", answer.cancelled).set("timed_out", answer.timed_out);
  return root;
}

}  // namespace heddle

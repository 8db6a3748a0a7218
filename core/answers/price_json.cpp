// Key by key.
#include "core/answers/price_json.h"

#include "core/answers/outcome_json.h"
#include "core/formats/schedule_json.h"

namespace heddle {
namespace {

Json optimum_json(const PricedOptimum& optimum) {
  return Json::object()
      .set("status", to_string(optimum.status))
      .set("ii", optimum.ii ? Json(*optimum.ii) : Json())
      .set("lower_bound", optimum.lower_bound)
      .set("objectives", objectives_json(optimum.objectives))
      .set("explanation", optimum.explanation);
}

Json cycles_json(const PricedOptimum& cheap, const PricedOptimum& dear) {
  const auto range = price_in_cycles(cheap, dear);
  if (!range) return {};
  return Json::object().set("least", range->least).set("most", range->most).set("proved", range->proved());
}

}  // namespace

Json price_json(const Problem& problem, const Prices& prices) {
  Json constraints = Json::array();
  for (const ConstraintPrice& price : prices.constraints)
    constraints.push(Json::object()
                         .set("name", price.name)
                         .set("demand", price.demand)
                         .set("cycles", cycles_json(price.without, prices.all))
                         .set("without", optimum_json(price.without)));
  Json root = Json::object();
  root.set("all", optimum_json(prices.all)).set("none", optimum_json(prices.none));
  root.set("together", cycles_json(prices.none, prices.all)).set("constraints", std::move(constraints));
  Json give_up = Json::array();
  for (const std::size_t i : prices.give_up) give_up.push(prices.constraints[i].name);
  root.set("give_up", std::move(give_up));
  root.set("without_those", prices.give_up.empty() ? Json() : optimum_json(prices.without_those));
  root.set("complete", prices.complete());
  root.set("kernel", problem.kernel).set("machine", problem.machine).set("params", params_json(problem.params));
  root.set("problem_hash", problem_hash(problem)).set("solver", prices.solver);
  root.set("seconds", seconds_json(prices.seconds)).set("queries", prices.queries);
  root.set("conflicts", prices.conflicts).set("cancelled", prices.cancelled).set("timed_out", prices.timed_out);
  return root;
}

}  // namespace heddle

#include "core/answers/price.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/answers/layout_choice.h"
#include "core/answers/summary.h"
#include "core/base/text_style.h"
#include "core/formats/choices_json.h"
#include "core/formats/schedule_json.h"

namespace heddle {

namespace {

bool proved(const PricedOptimum& optimum) {
  return optimum.settled() &&
         std::all_of(optimum.objectives.begin(), optimum.objectives.end(), [](const ObjectiveValue& o) { return o.proved; });
}

}  // namespace

bool Prices::complete() const {
  return proved(all) && proved(none) &&
         std::all_of(constraints.begin(), constraints.end(), [](const ConstraintPrice& price) { return proved(price.without); });
}

std::optional<PriceRange> price_in_cycles(const PricedOptimum& cheap, const PricedOptimum& dear) {
  if (!cheap.ii || !dear.ii) return {};
  // Fewer constraints never make II larger.
  return PriceRange{std::max<Cycle>(0, dear.lower_bound - *cheap.ii), std::max<Cycle>(0, *dear.ii - cheap.lower_bound)};
}

namespace {

std::string optimum_text(const PricedOptimum& optimum) {
  switch (optimum.status) {
    case Status::Optimal: return fmt::format("II {} (proved{})", *optimum.ii, stages_text(optimum.bound_stages));
    case Status::Feasible: return fmt::format("at most II {} (not decided, bound {})", *optimum.ii, optimum.lower_bound);
    case Status::Infeasible: return "no schedule (proved)";
    case Status::Invalid: return optimum.explanation;
    case Status::Unknown: break;
  }
  return "not decided in time";
}

/// "stages +1, smem -1024": what differs besides II; a number that is not proved on both sides says so.
std::string other_differences(const PricedOptimum& without, const PricedOptimum& all) {
  std::string text;
  for (const ObjectiveValue& with : all.objectives) {
    const ObjectiveValue* cheaper = without.objective(with.name);
    if (with.name == "ii" || !cheaper || cheaper->value == with.value) continue;
    text += fmt::format(", {} {:+}{}", with.name, with.value - cheaper->value, with.proved && cheaper->proved ? "" : " (not proved)");
  }
  return text;
}

/// What lies otherwise than with all demands: "dqs0 panels 32".
std::string other_layouts(const LayoutChoices& without, const LayoutChoices& all) {
  LayoutChoices changed;
  for (const auto& choice : without.layouts)
    if (const auto with = all.layouts.find(choice.first); with == all.layouts.end() || with->second != choice.second)
      changed.layouts.insert(choice);
  for (const auto& choice : without.instructions)
    if (const auto with = all.instructions.find(choice.first); with == all.instructions.end() || !(with->second == choice.second))
      changed.instructions.insert(choice);
  return choices_in_words(changed);
}

}  // namespace

std::string price_text(const PricedOptimum& without, const PricedOptimum& all) {
  if (without.status == Status::Unknown || all.status == Status::Unknown) return "not decided in time";
  if (all.status == Status::Infeasible)
    return without.status == Status::Infeasible ? "no schedule without it either"
                                                : fmt::format("without it there is a schedule, {}", optimum_text(without));
  const auto range = price_in_cycles(without, all);
  if (!range) return "not decided in time";
  std::string text;
  if (range->proved())
    text = range->most == 0 ? "0 cycles"
                            : fmt::format("{} cycle{} ({} -> {})", range->most, range->most == 1 ? "" : "s", *without.ii, *all.ii);
  else
    text = fmt::format("{} to {} cycles (not proved)", range->least, range->most);
  const std::string others = other_differences(without, all);
  return range->proved() && range->most == 0 && others.empty() ? "nothing" : text + others;
}

std::string price_summary(const Problem& problem, const Prices& prices) {
  std::string text = problem_title(problem) + "\n";
  const std::size_t count = prices.constraints.size();
  if (prices.cancelled || prices.timed_out)
    text += prices.cancelled ? "interrupted: the answer is partial\n" : "time is up: the answer is partial\n";
  text += printable(fmt::format("with {}: {}", count == 1 ? "the constraint" : fmt::format("all {} constraints", count),
                                optimum_text(prices.all))) +
          "\n";
  text += printable(fmt::format("without {}: {}", count == 1 ? "it" : "any of them", optimum_text(prices.none))) + "\n";
  const auto together = price_in_cycles(prices.none, prices.all);
  if (together && count > 1) text += fmt::format("together they cost {}\n", price_text(prices.none, prices.all));
  if (!prices.layouts_open.empty()) text += printable(fmt::format("open: {}", prices.layouts_open)) + "\n";
  const auto helps = [&](const ConstraintPrice& price) { return price.without.ii.has_value(); };
  const bool infeasible = prices.all.status == Status::Infeasible;
  if (infeasible && !prices.all.explanation.empty()) text += printable(prices.all.explanation) + "\n";
  std::vector<std::vector<std::string>> rows;
  for (const ConstraintPrice& price : prices.constraints) {
    std::vector<std::string> row{printable(price.name), price.name == price.demand ? "" : printable(price.demand),
                                 price_text(price.without, prices.all), optimum_text(price.without)};
    if (infeasible)
      row[2] = helps(price) ? "in the way" : price.without.status == Status::Infeasible ? "none without it either" : "not decided";
    for (const char* name : {"stages", "warps", "smem", "tmem", "registers"}) {
      const ObjectiveValue* value = price.without.objective(name);
      row.push_back(value ? fmt::format("{}{}", value->value, value->proved ? "" : "?") : "");
    }
    if (!prices.layouts_open.empty()) row.push_back(printable(other_layouts(price.without.layouts, prices.all.layouts)));
    rows.push_back(std::move(row));
  }
  std::vector<TextColumn> columns{{"constraint"}, {"demand"},       {infeasible ? "in the way?" : "costs"},
                                  {"without it"}, {"stages", true}, {"warps", true},
                                  {"smem", true}, {"tmem", true},   {"registers", true}};
  if (!prices.layouts_open.empty()) columns.push_back({"then"});
  text += "\n" + text_table(columns, rows);
  const bool any_unproved = std::any_of(prices.constraints.begin(), prices.constraints.end(), [](const ConstraintPrice& price) {
    return std::any_of(price.without.objectives.begin(), price.without.objectives.end(), [](const ObjectiveValue& o) { return !o.proved; });
  });
  if (any_unproved) text += "\n?: not proved\n";
  const auto all_decided =
      std::all_of(prices.constraints.begin(), prices.constraints.end(), [](const ConstraintPrice& p) { return p.without.settled(); });
  if (infeasible && all_decided && std::none_of(prices.constraints.begin(), prices.constraints.end(), helps)) {
    text +=
        prices.none.ii ? "\nno single constraint is to blame: several have to go\n" : "\nthere is no schedule without constraints either\n";
    std::string names;
    for (const std::size_t i : prices.give_up) names += (names.empty() ? "" : ", ") + prices.constraints[i].name;
    if (!names.empty())
      text += printable(
                  fmt::format("without these {} there is one, {}: {}", prices.give_up.size(), optimum_text(prices.without_those), names)) +
              "\n";
  }
  if (together && together->proved() && together->most > 0 && count > 1 &&
      std::all_of(prices.constraints.begin(), prices.constraints.end(), [&](const ConstraintPrice& p) {
        const auto range = price_in_cycles(p.without, prices.all);
        return range && range->proved() && range->most == 0;
      }))
    text += "\nno single one of them lowers II when it goes: they cost it only together, in more than one way\n";
  return text;
}

namespace {

Json optimum_json(const PricedOptimum& optimum) {
  Json json = Json::object();
  json.set("status", to_string(optimum.status))
      .set("ii", optimum.ii ? Json(*optimum.ii) : Json())
      .set("lower_bound", optimum.lower_bound)
      .set("objectives", objectives_json(optimum.objectives))
      .set("explanation", optimum.explanation);
  set_choices(json, optimum.layouts);
  return json;
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
  if (!prices.layouts_open.empty()) root.set("layouts_open", prices.layouts_open);
  root.set("kernel", problem.kernel).set("machine", problem.machine).set("params", params_json(problem.params));
  root.set("problem_hash", problem_hash(problem)).set("solver", prices.solver);
  root.set("seconds", seconds_json(prices.seconds)).set("queries", prices.queries);
  root.set("conflicts", prices.conflicts).set("cancelled", prices.cancelled).set("timed_out", prices.timed_out);
  return root;
}

}  // namespace heddle

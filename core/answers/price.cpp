#include "core/answers/price.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/answers/answer_members.h"
#include "core/answers/layout_choice.h"
#include "core/answers/summary.h"
#include "core/base/text_style.h"

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

std::optional<double> price_in_period(const PricedOptimum& cheap, const PricedOptimum& dear) {
  if (!cheap.period || !dear.period) return std::nullopt;
  return period_difference(*cheap.period, *dear.period);
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
    text = range->most == 0 ? "0 cycles" : fmt::format("{} ({} -> {})", count_of(range->most, "cycle"), *without.ii, *all.ii);
  else
    text = fmt::format("{} to {} cycles (not proved)", range->least, range->most);
  const std::string others = other_differences(without, all);
  return range->proved() && range->most == 0 && others.empty() ? "nothing" : text + others;
}

std::string period_price_text(const PricedOptimum& without, const PricedOptimum& all) {
  const auto price = price_in_period(without, all);
  if (!price) return {};
  return *price == 0 ? "nothing" : fmt::format("{:.1f} cycles ({:.1f} -> {:.1f})", *price, without.period->cycles(), all.period->cycles());
}

namespace {

/// The same once more of the period, in a table of its own: how each is known wants its words.
std::string period_table(const Prices& prices) {
  const auto found = [](const PricedOptimum& optimum) {
    if (optimum.period) return period_text(*optimum.period);
    return std::string(optimum.status == Status::Infeasible ? "no schedule" : "none found in time");
  };
  std::vector<std::vector<std::string>> rows;
  const auto add = [&](const std::string& name, const std::string& cost, const PricedOptimum& optimum) {
    rows.push_back({printable(name), cost, found(optimum), optimum.period ? printable(optimum.period->from) : ""});
  };
  add(prices.constraints.size() == 1 ? "with it" : "with all constraints", "", prices.all);
  for (const ConstraintPrice& price : prices.constraints)
    add("without " + price.name, period_price_text(price.without, prices.all), price.without);
  if (prices.constraints.size() > 1) add("without any of them", period_price_text(prices.none, prices.all), prices.none);
  return "\nthe least period, where warp groups take time from each other\n" +
         text_table({{"constraints"}, {"costs"}, {"period"}, {"the order of"}}, rows);
}

}  // namespace

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
  return prices.periods ? text + period_table(prices) : text;
}

namespace {

struct PriceAnswer {
  const Problem& problem = blank<Problem>;
  const Prices& prices = blank<Prices>;
};

std::vector<std::string> names_to_give_up(const Prices& prices) {
  std::vector<std::string> names;
  for (const std::size_t i : prices.give_up) names.push_back(prices.constraints[i].name);
  return names;
}

}  // namespace

template <class Io>
void visit(Io& io, const PricedOptimum& optimum) {
  io.part("optimum");
  io.written("status", optimum.status, as::status), io.written("ii", optimum.ii), io.written("lower_bound", optimum.lower_bound);
  visit_objectives(io, optimum.objectives);
  io.written("explanation", optimum.explanation);
  io.written_if(optimum.period.has_value(), "period", optimum.period, "under the same constraints");
  visit_choices(io, optimum.layouts);
}

template <class Io>
void visit(Io& io, const PriceRange& range) {
  io.part("cycles");
  io.written("least", range.least), io.written("most", range.most), io.written("proved", range.proved());
}

template <class Io>
void visit(Io& io, const as::InContext<ConstraintPrice, Prices>& in) {
  io.written("name", in.part.name), io.written("demand", in.part.demand);
  io.written("cycles", price_in_cycles(in.part.without, in.context.all), "that it costs; null where one side has no schedule");
  const auto period = price_in_period(in.part.without, in.context.all);
  io.written_if(period.has_value(), "period_cycles", period, "that it costs of the least period");
  io.written("without", in.part.without, "the optimum under all constraints but this one");
}

namespace {

template <class Io>
void visit(Io& io, const PriceAnswer& of) {
  const Prices& prices = of.prices;
  io.written("all", prices.all), io.written("none", prices.none), io.written("together", price_in_cycles(prices.none, prices.all));
  io.written("constraints", prices.constraints, as::list(as::part_in(prices)));
  io.written("give_up", names_to_give_up(prices), "where no schedule keeps all: without these there is one");
  io.written("without_those", only_if(!prices.give_up.empty(), prices.without_those));
  io.written("complete", prices.complete(), "every number is proved");
  io.optional("layouts_open", prices.layouts_open);
  visit_problem(io, of.problem, false);
  io.written("solver", prices.solver), io.written("seconds", prices.seconds, as::seconds), io.written("queries", prices.queries);
  io.written("conflicts", prices.conflicts), io.written("cancelled", prices.cancelled), io.written("timed_out", prices.timed_out);
}

}  // namespace

Json price_json(const Problem& problem, const Prices& prices) { return as::part.write(PriceAnswer{problem, prices}); }

Json price_schema() { return nameless_schema<PriceAnswer>("heddle.price/1", "What heddle price answers"); }

}  // namespace heddle

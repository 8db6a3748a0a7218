// heddle price: what each user constraint costs.
#include <fmt/format.h>

#include <algorithm>

#include "app/cli/solving.h"
#include "app/command/commands.h"
#include "app/command/exit_code.h"
#include "app/command/interrupt.h"
#include "app/command/progress_line.h"
#include "core/answers/price.h"
#include "core/answers/summary.h"
#include "solver/questions/price.h"

namespace heddle::app {
namespace {

int exit_code_of(const Prices& prices) {
  if (prices.cancelled) return kInterrupted;
  if (prices.all.status == Status::Invalid) return kInvalidInput;
  if (!prices.complete()) return kNoProof;
  return prices.all.status == Status::Infeasible ? kNegative : kDone;
}

}  // namespace

int run_price(const Arguments& arguments, const Terminal& terminal) {
  const bool json = arguments.has("--json");
  if (arguments.has("--ii")) return refuse(terminal, "--ii fixes what a constraint may cost; leave it out", json);
  const Result<Inputs> inputs = load_inputs(arguments, terminal);
  if (!inputs) return report(terminal, inputs.error(), json);
  // What is said of layouts is a demand too.
  const solver::LayoutsLeftOpen layouts{inputs->choices(), [&](const LayoutChoices& said) { return open_again(*inputs, said); },
                                        [&](const LayoutChoices& choices) { return problem_with(*inputs, choices); }};
  const bool about_layouts = inputs->open || (!inputs->choices().empty() && !inputs->triton());
  if (inputs->choices().empty() &&
      std::none_of(inputs->constraints.begin(), inputs->constraints.end(), [](const UserConstraint& c) { return c.enabled; }))
    return report(terminal,
                  Error::input("no constraint is enabled, so there is nothing to price",
                               "give some with --demand, --constraints, --layout, --max-stages or --groups"),
                  json);
  const InterruptScope interrupt;
  Prices prices;
  {
    ProgressLine progress(terminal);
    solver::PriceListener listener;
    listener.solve = listener_for(progress);
    listener.asking = [&](const std::string& doing) { progress.say(doing); };
    listener.priced = [&](const ConstraintPrice& price) {
      progress.say(fmt::format(
          "without {}: {}", price.demand,
          price.without.ii ? fmt::format("II {}", *price.without.ii) : std::string(status_word(to_string(price.without.status)))));
    };
    prices = solver::price_constraints(solve_request(*inputs, arguments), interrupt.token(), listener, about_layouts ? &layouts : nullptr);
  }
  if (json)
    terminal.out << price_json(inputs->problem(), prices).pretty();
  else
    terminal.out << price_summary(inputs->problem(), prices);
  return exit_code_of(prices);
}

}  // namespace heddle::app

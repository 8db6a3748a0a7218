#include "app/ask/price.h"

#include <fmt/format.h>

#include "app/ask/listener.h"
#include "app/ask/subject.h"
#include "core/answers/summary.h"
#include "solver/questions/price.h"

namespace heddle::app {

Prices ask_price(const Subject& subject, std::stop_token stop, const Listener<Prices>& listener) {
  solver::PriceListener hears;
  hears.solve = listener.solve;
  hears.asking = [&](const std::string& doing) { listener.tell({.doing = doing, .line = doing}); };
  hears.priced = [&](const ConstraintPrice& price) {
    const std::string without = "without " + price.demand;
    listener.tell({.doing = without,
                   .line = fmt::format("{}: {}", without,
                                       price.without.ii ? fmt::format("II {}", *price.without.ii)
                                                        : std::string(status_word(to_string(price.without.status))))});
  };
  const LayoutChoices& said = subject.instance.choices();
  const solver::LayoutsLeftOpen layouts{said, [&](const LayoutChoices& other) { return open_again(subject, other); },
                                        [&](const LayoutChoices& choices) { return problem_with(subject, choices); }};
  const bool about_layouts =
      !subject.left_open.empty() || (!said.empty() && subject.problem().layouts && subject.allows(SourceUse::Layouts));
  return solver::price_constraints(solve_request(subject), std::move(stop), hears, about_layouts ? &layouts : nullptr);
}

Ended ended(const Prices& prices) {
  if (prices.cancelled) return Ending::Interrupted;
  if (prices.all.status == Status::Invalid) return Ending::InvalidInput;
  if (!prices.complete()) return Ending::NoProof;
  return prices.all.status == Status::Infeasible ? Ending::Negative : Ending::Done;
}

std::string told(const Subject& subject, const Prices& prices, const Telling& how) {
  return how.json() ? price_json(subject.problem(), prices).pretty() : price_summary(subject.problem(), prices);
}

}  // namespace heddle::app

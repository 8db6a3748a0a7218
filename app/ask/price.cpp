#include "app/ask/price.h"

#include <fmt/format.h>

#include "app/ask/known_programs.h"
#include "app/ask/listener.h"
#include "app/ask/subject.h"
#include "core/answers/summary.h"
#include "solver/questions/price.h"

namespace heddle::app {
namespace {

/// Of the time limit, for the orders of heuristics that searches for a period begin with.
constexpr double kForKnownOrders = 0.05;

}  // namespace

Prices ask_price(const Subject& subject, std::stop_token stop, const Listener<Prices>& listener) {
  solver::PriceListener hears;
  hears.solve = listener.solve;
  hears.asking = [&](const std::string& doing) { listener.tell({.doing = doing, .line = doing}); };
  hears.priced = [&](const ConstraintPrice& price) {
    const std::string without = "without " + price.demand;
    const std::string ii =
        price.without.ii ? fmt::format("II {}", *price.without.ii) : std::string(status_word(to_string(price.without.status)));
    listener.tell({.doing = without,
                   .line = fmt::format("{}: {}", without, price.without.period ? "period " + period_text(*price.without.period) : ii)});
  };
  hears.programs = [&](const programs::EnumerationProgress& progress) { listener.tell(news_of(progress)); };
  const LayoutChoices& said = subject.instance.choices();
  const solver::LayoutsLeftOpen layouts{said, [&](const LayoutChoices& other) { return open_again(subject, other); },
                                        [&](const LayoutChoices& choices) { return problem_with(subject, choices); }};
  const bool about_layouts =
      !subject.left_open.empty() || (!said.empty() && subject.problem().layouts && subject.allows(SourceUse::Layouts));
  solver::KnownPrograms known;
  if (asks_for_period(subject))
    known = [&](const std::stop_token& stopped) {
      return known_programs(subject.problem(), kForKnownOrders * subject.limits.timeout_seconds, stopped,
                            [&](const std::string& doing) { listener.tell({.doing = doing}); });
    };
  return solver::price_constraints(solve_request(subject), std::move(stop), hears, about_layouts ? &layouts : nullptr, known);
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

#include "solver/questions/period_front.h"

#include <fmt/format.h>

#include <utility>

#include "core/base/assert.h"
#include "core/base/deadline.h"
#include "solver/questions/pareto.h"

namespace heddle::solver {

void add_period_front(LeastOrderRequest request, Pareto& front, const std::stop_token& stop, const programs::ProgressListener& listener) {
  HEDDLE_ASSERT(front.against.size() == 1, "a period is laid against one resource");
  const Resource resource = front.against.front();
  const Deadline deadline(request.seconds);
  for (const ParetoStep& step : front.steps)
    if (step.schedule) request.known.push_back({step.schedule->name, *step.schedule});
  Constraints within = request.constraints;
  while (true) {
    front.by_period_cut = stop.stop_requested() || deadline.passed();
    if (front.by_period_cut) return;
    std::optional<LeastUnder> least = least_under({request.problem, within, request.known, deadline.left(), request.seed}, stop, listener);
    if (!least) {
      front.by_period_cut = stop.stop_requested();
      return;
    }
    const std::int64_t amount = resource_value(request.problem, least->schedule, resource);
    if (!front.by_period.empty() && period_difference(front.by_period.back().period, least->period) == 0) front.by_period.pop_back();
    if (least->period.from.empty())
      request.known.push_back({fmt::format("the least period with {}", amount_text(amount, resource)), least->schedule});
    front.by_period.push_back({amount, std::move(least->period), std::move(least->schedule)});
    const std::int64_t less = next_below(request.problem, amount, resource);
    if (less < 0) return;
    within = request.constraints;
    within.push_back(at_most(less, resource));
  }
}

}  // namespace heddle::solver

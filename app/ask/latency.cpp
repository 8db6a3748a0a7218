#include "app/ask/latency.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/ask/listener.h"
#include "app/ask/subject.h"
#include "solver/questions/latency.h"

namespace heddle::app {
namespace {

constexpr Cycle kLeastReach = 16;  ///< above the present latency: twice nothing would be nothing

}  // namespace

LatencySpan latency_span(const Problem& problem, const LatencyOptions& options) {
  const Cycle present = problem.op(options.op).latency;
  const Cycle from = options.from.value_or((present + 1) / 2);
  return {from, options.to.value_or(std::clamp(2 * present, std::min(from, present) + kLeastReach, kAbsurd))};
}

LatencyRange ask_latency(const Subject& subject, const LatencyOptions& options, std::stop_token stop,
                         const Listener<LatencyRange>& listener) {
  const LatencySpan span = latency_span(subject.problem(), options);
  solver::LatencyRequest request;
  request.solve = solve_request(subject);
  request.op = options.op;
  request.schedule = subject.schedule;
  request.from = span.from;
  request.to = span.to;
  request.problem_at = [&](Cycle latency) {
    Change change;
    change.op = subject.problem().op(options.op).name;
    change.value = latency;
    return problem_with(subject, Changes{change});
  };
  listener.tell({.facts = {"solving at the present latency"}});
  return solver::latency_range(request, std::move(stop), [&](const LatencyRange& partial) {
    listener.tell({.doing = fmt::format("{} latencies settled", partial.latencies_settled),
                   .facts = {fmt::format("{} latencies", partial.latencies_settled), fmt::format("{} queries", partial.queries),
                             fmt::format("{} steps", partial.steps.size())}},
                  &partial);
  });
}

Ended ended(const LatencyRange& answer) {
  if (answer.cancelled) return Ending::Interrupted;
  if (!answer.complete()) return Ending::NoProof;
  return answer.steps.back().status() == Status::Infeasible && answer.steps.size() == 1 ? Ending::Negative : Ending::Done;
}

std::string told(const Subject& subject, const LatencyRange& answer, const Telling& how) {
  if (how.json()) return latency_json(subject.problem(), answer).pretty();
  return how.brief() ? latency_headline(answer, how.style) + "\n" : latency_summary(subject.problem(), answer, how.style);
}

}  // namespace heddle::app

// Longest paths cost next to nothing: they are told while the exact ends are looked for.
#include "app/ask/slack.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/ask/listener.h"
#include "app/ask/subject.h"
#include "solver/questions/slack.h"

namespace heddle::app {

SlackRanges ask_slack(const Subject& subject, const SlackOptions& options, std::stop_token stop, const Listener<SlackRanges>& listener) {
  solver::SlackRequest request;
  request.problem = subject.problem();
  request.constraints = subject.constraints;
  request.schedule = *subject.schedule;
  request.anchor = options.anchor;
  request.ops = options.ops;
  request.max_stages = subject.limits.max_stages;
  request.timeout_seconds = subject.limits.timeout_seconds;
  request.seed = subject.limits.seed;
  SlackRanges so_far = solver::slack_ranges(request, stop);
  if (!options.exact) return so_far;
  listener.tell({.doing = "longest paths are known"}, &so_far);
  request.exact = true;
  return solver::slack_ranges(request, stop, [&](const OpRange& range, std::size_t done, std::size_t count) {
    const auto row = std::find_if(so_far.ops.begin(), so_far.ops.end(), [&](const OpRange& r) { return r.op == range.op; });
    if (row != so_far.ops.end()) *row = range;
    const std::string& name = request.problem.op(range.op).name;
    const std::string settled = fmt::format("{} of {} ops", done, count);
    listener.tell({.doing = "exact ranges, " + settled,
                   .facts = {"exact ranges", settled, name},
                   .line = fmt::format("{}: from {} to {}, {}", name, range.earliest.seen.value_or(range.earliest.bound),
                                       range.latest.seen.value_or(range.latest.bound), range.settled() ? "proved" : "not proved")},
                  &so_far);
  });
}

Ended ended(const SlackRanges& ranges) {
  if (ranges.cancelled) return Ending::Interrupted;
  return ranges.exact && !ranges.complete() ? Ending::NoProof : Ending::Done;
}

std::string told(const Subject& subject, const SlackRanges& ranges, const Telling& how) {
  if (how.json()) return slack_json(subject.problem(), *subject.schedule, ranges).pretty();
  return slack_summary(subject.problem(), *subject.schedule, ranges, how.style);
}

}  // namespace heddle::app

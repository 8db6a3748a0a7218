// Longest paths cost next to nothing: they are told while the exact ends are looked for.
#include "app/ask/slack.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/ask/known_programs.h"
#include "app/ask/listener.h"
#include "app/ask/subject.h"
#include "core/motion/period_slack.h"
#include "core/simulate/forecast.h"
#include "solver/questions/slack.h"

namespace heddle::app {
namespace {

/// How much longer ops may take before the period does.
class Growth {
 public:
  Growth(const Subject& subject, const std::vector<OpRange>& ops, const std::stop_token& stop) {
    if (asks_for_period(subject)) period_ = deciding_period(subject.problem(), *subject.schedule, stop);
    if (!period_) return;
    std::vector<OpId> asked;
    for (const OpRange& range : ops) asked.push_back(range.op);
    rows_ = motion::period_slack(subject.problem(), *subject.schedule, asked, stop);
  }

  void add_to(SlackRanges& ranges) const {
    ranges.period = period_;
    for (OpRange& range : ranges.ops) add_to(range);
  }
  void add_to(OpRange& range) const {
    for (const motion::OpGrowth& row : rows_)
      if (row.op == range.op) range.growth = row.cycles.value_or(kUnlimited);
  }

 private:
  std::optional<double> period_;
  std::vector<motion::OpGrowth> rows_;
};

}  // namespace

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
  const Growth growth(subject, so_far.ops, stop);
  growth.add_to(so_far);
  if (!options.exact) return so_far;
  listener.tell({.doing = "longest paths are known"}, &so_far);
  request.exact = true;
  SlackRanges exact = solver::slack_ranges(request, stop, [&](const OpRange& range, std::size_t done, std::size_t count) {
    const auto row = std::find_if(so_far.ops.begin(), so_far.ops.end(), [&](const OpRange& r) { return r.op == range.op; });
    if (row != so_far.ops.end()) {
      *row = range;
      growth.add_to(*row);
    }
    const std::string& name = request.problem.op(range.op).name;
    const std::string settled = fmt::format("{} of {} ops", done, count);
    listener.tell({.doing = "exact ranges, " + settled,
                   .facts = {"exact ranges", settled, name},
                   .line = fmt::format("{}: from {} to {}, {}", name, range.earliest.seen.value_or(range.earliest.bound),
                                       range.latest.seen.value_or(range.latest.bound), range.settled() ? "proved" : "not proved")},
                  &so_far);
  });
  growth.add_to(exact);
  return exact;
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

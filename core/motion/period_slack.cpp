#include "core/motion/period_slack.h"

#include <algorithm>
#include <cmath>

#include "core/base/integer_division.h"
#include "core/motion/as_compiled.h"

namespace heddle::motion {
namespace {

void lengthen(GroupCircles& circles, OpId op, std::int64_t cycles) {
  for (std::vector<CircleStep>& circle : circles.groups)
    for (CircleStep& step : circle) {
      if (step.op != op) continue;
      switch (step.kind) {
        case CircleStepKind::Arithmetic:
          if (step.last) step.work.alone += cycles * kCycle;  // it may be run in two steps
          break;
        case CircleStepKind::Issue: step.each += ceil_div(cycles * kCycle, std::max(1, step.count)); break;
        case CircleStepKind::Copy: step.latency += cycles * kCycle; break;
        case CircleStepKind::Await:
        case CircleStepKind::Take:
        case CircleStepKind::Pass: break;
      }
    }
}

class Growth {
 public:
  Growth(const Problem& problem, const Schedule& schedule, const std::stop_token& stop)
      : problem_(problem), circles_(as_compiled(problem, circles_of(problem, program_of(problem, schedule)))), stop_(stop) {
    period_ = period_with({}, 0).value_or(0);
  }

  bool runs() const { return period_ > 0; }

  std::optional<std::int64_t> of(OpId op) const {
    const auto most = static_cast<std::int64_t>(std::ceil(period_));
    std::int64_t good = 0, bad = 1;
    while (!longer(op, bad)) {
      if (bad >= most) return std::nullopt;
      good = bad;
      bad = std::min(2 * bad, most);
    }
    while (bad - good > 1) {
      const std::int64_t middle = good + (bad - good) / 2;
      (longer(op, middle) ? bad : good) = middle;
    }
    return good;
  }

 private:
  std::optional<double> period_with(OpId op, std::int64_t cycles) const {
    GroupCircles circles = circles_;
    if (cycles > 0) lengthen(circles, op, cycles);
    const Motion motion = run_motion(problem_, circles, {.stop = stop_});
    return motion.stuck || motion.period.iterations == 0 ? std::nullopt : std::optional(motion.period.cycles());
  }
  bool longer(OpId op, std::int64_t cycles) const {
    const std::optional<double> period = period_with(op, cycles);
    return !period || *period > period_ * (1 + kPeriodGrowth);
  }

  const Problem& problem_;
  const GroupCircles circles_;
  const std::stop_token& stop_;
  double period_ = 0;
};

}  // namespace

std::vector<OpGrowth> period_slack(const Problem& problem, const Schedule& schedule, const std::vector<OpId>& ops,
                                   const std::stop_token& stop) {
  std::vector<OpGrowth> slack;
  if (!problem.contention.known) return slack;
  const Growth growth(problem, schedule, stop);
  if (!growth.runs()) return slack;
  for (const OpId op : ops) {
    OpGrowth row{op, growth.of(op)};
    if (stop.stop_requested()) break;
    slack.push_back(row);
  }
  return slack;
}

}  // namespace heddle::motion

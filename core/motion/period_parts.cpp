#include "core/motion/period_parts.h"

#include <algorithm>
#include <cmath>

#include "core/motion/as_compiled.h"

namespace heddle::motion {
namespace {

/// Everything that can be set to nothing in it.
struct Trial {
  Problem problem;
  GroupCircles circles;
};

void without_turns(Trial& trial) { trial.problem.contention.turn.value = 0; }

void without_reads(Trial& trial) {
  Contention& c = trial.problem.contention;
  for (RangedNumber* number : {&c.late_per_read.shared, &c.late_per_read.registers, &c.late_per_special, &c.product_per_read.shared,
                               &c.product_per_read.registers})
    number->value = 0;
}

void without_holds(Trial& trial) {
  Contention& c = trial.problem.contention;
  for (RangedNumber* number : {&c.in_flight, &c.fence, &c.register_fence, &c.issue_step}) number->value = 0;
  for (std::vector<CircleStep>& circle : trial.circles.groups)
    for (CircleStep& step : circle)
      if (step.kind == CircleStepKind::Issue) step.held = 0;
}

struct Easing {
  const char *name, *what;
  void (*apply)(Trial&);
};
constexpr Easing kEasings[] = {
    {"turns", "passing a turn on the tensor core", without_turns},
    {"register reads", "arithmetic and mmas delay each other at the register file", without_reads},
    {"holds", "issuing mmas holds a group while the queue is full", without_holds},
};

/// An iteration of all groups.
double tensor_work(const GroupCircles& circles) {
  Ticks work = 0;
  for (const std::vector<CircleStep>& circle : circles.groups)
    for (const CircleStep& step : circle)
      if (step.kind == CircleStepKind::Issue) work += step.count * step.each;
  return static_cast<double>(work) / kCycle;
}

}  // namespace

std::optional<PeriodParts> period_parts(const Problem& problem, const timing::LoopProgram& program, std::stop_token stop) {
  if (!problem.contention.known) return std::nullopt;
  const Trial whole{problem, as_compiled(problem, circles_of(problem, program))};
  const auto period_of = [&](const Trial& trial) -> std::optional<double> {
    const Motion motion = run_motion(trial.problem, trial.circles, {.stop = stop});
    return motion.stuck || motion.period.iterations == 0 ? std::nullopt : std::optional(motion.period.cycles());
  };
  const std::optional<double> period = period_of(whole);
  if (!period) return std::nullopt;
  PeriodParts answer{*period, {}};
  Trial eased = whole;
  double left = *period;
  for (const Easing& easing : kEasings) {
    Trial alone = whole;
    easing.apply(alone);
    easing.apply(eased);
    const std::optional<double> with_all_before = period_of(eased), without = period_of(alone);
    if (!with_all_before || !without) return std::nullopt;
    const double then = std::min(left, *with_all_before);
    answer.parts.push_back({easing.name, easing.what, left - then, without});
    left = then;
  }
  const double tensor = std::min(left, tensor_work(whole.circles));
  answer.parts.push_back({"chain", "arithmetic, latencies and waits that no mma hides", left - tensor, {}});
  answer.parts.push_back({"tensor work", "mmas of all groups on the tensor core", tensor, {}});
  std::reverse(answer.parts.begin(), answer.parts.end());
  return answer;
}

std::optional<PeriodParts> period_parts(const Problem& problem, const Schedule& schedule, std::stop_token stop) {
  return period_parts(problem, program_of(problem, schedule), std::move(stop));
}

std::vector<PeriodAtEnds> period_at_ends(const Problem& problem, const Schedule& schedule, std::stop_token stop) {
  std::vector<PeriodAtEnds> rows;
  if (!problem.contention.known) return rows;
  const timing::LoopProgram program = program_of(problem, schedule);
  Problem varied = problem;
  each_number(varied.contention, [&](const std::string& name, RangedNumber& number) {
    if (number.least == number.most || name == "special_interval" || stop.stop_requested()) return;
    PeriodAtEnds row{name, number.value, number.least, number.most};
    for (const auto& [end, period] : {std::pair(number.least, &row.at_least), std::pair(number.most, &row.at_most)}) {
      number.value = end;
      *period = motion_of(varied, program, {.stop = stop}).period.cycles();
    }
    number.value = row.value;
    rows.push_back(std::move(row));
  });
  const auto swing = [](const PeriodAtEnds& row) { return std::abs(row.at_most - row.at_least); };
  std::stable_sort(rows.begin(), rows.end(), [&](const PeriodAtEnds& a, const PeriodAtEnds& b) { return swing(a) > swing(b); });
  return rows;
}

}  // namespace heddle::motion

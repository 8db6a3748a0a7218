#include "solver/programs/period_sentence.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/chart/chart_layout.h"

namespace heddle::programs {
namespace {

std::string cycles(const motion::MotionPeriod& period) { return fmt::format("{:.0f}", period.cycles()); }

std::int64_t register_limit(const Problem& problem, const Rules& rules) {
  const Limits& limits = problem.limits;
  if (rules.registers) return *rules.registers;
  std::int64_t most = limits.registers_per_thread / std::max<std::int64_t>(1, limits.register_granule) * limits.register_granule;
  for (const UserConstraint& demand : rules.constraints)
    if (demand.enabled && demand.kind == ConstraintKind::MaxRegisters) most = std::min(most, demand.high);
  return most;
}

}  // namespace

std::string period_sentence(const Problem& problem, const LeastProgram& answer, const Rules& rules) {
  if (answer.standing == ProgramStanding::ByPrediction)
    return fmt::format("no period is claimed: {}; the schedule was chosen by its predicted time", answer.why);
  std::string text = fmt::format("period {} cycles in the machine's model with contention", cycles(answer.period));
  const std::int64_t bound = answer.bound.ticks / motion::kCycle;
  if (answer.standing == ProgramStanding::LeastOfAll) {
    const motion::MotionPeriod& least = answer.top.front().period;
    text +=
        cycles(least) == cycles(answer.period)
            ? ": the least"
            : fmt::format(
                  ": of {} programs within {} % of the least, {}, the one that stands the ranges of the numbers best; that is the least",
                  answer.tied, kTiePercent, cycles(least));
    text += fmt::format(" of all {} programs of {} group{} that keep the dependences in {} stages{} and fit {} registers",
                        grouped(answer.programs), answer.counts.size(), answer.counts.size() == 1 ? "" : "s", rules.stages,
                        rules.more_lag ? "" : ", the fewest of their order,", register_limit(problem, rules));
    if (bound > 0) text += fmt::format("; no program at all is below {}", grouped(bound));
  } else if (bound > 0) {
    text += fmt::format("; no program is below {} (proved), not all were compared: {}", grouped(bound), answer.why);
  } else {
    text += fmt::format("; not all programs were compared: {}", answer.why);
  }
  if (answer.schedule) text += fmt::format(". II {} where nothing contends", answer.schedule->ii);
  return text;
}

}  // namespace heddle::programs

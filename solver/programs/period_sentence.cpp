#include "solver/programs/period_sentence.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/chart/chart_layout.h"

namespace heddle::programs {
namespace {

std::string cycles(const motion::MotionPeriod& period) { return fmt::format("{:.0f}", period.cycles()); }

std::int64_t capped(std::int64_t most, const Rules& rules, ConstraintKind cap) {
  for (const UserConstraint& demand : rules.constraints)
    if (demand.enabled && demand.kind == cap) most = std::min(most, demand.high);
  return most;
}

std::int64_t register_limit(const Problem& problem, const Rules& rules) {
  const Limits& limits = problem.limits;
  const std::int64_t granule = std::max<std::int64_t>(1, limits.register_granule);
  return capped(rules.registers.value_or(limits.registers_per_thread / granule * granule), rules, ConstraintKind::MaxRegisters);
}

/// "all 75 082 programs of 2 groups that keep the dependences in 3 stages, the fewest of their order, and fit 240 registers"
std::string space_text(const Problem& problem, const LeastProgram& answer, const Rules& rules) {
  const bool one = answer.programs == 1;
  return fmt::format("{} of {} group{} that keep{} the dependences in {} stages{} and fit{} {} registers",
                     one ? "the only program" : fmt::format("all {} programs", grouped(answer.programs)), answer.counts.size(),
                     answer.counts.size() == 1 ? "" : "s", one ? "s" : "", capped(rules.stages, rules, ConstraintKind::MaxStages),
                     rules.more_lag ? ""
                     : one          ? ", the fewest of its order,"
                                    : ", the fewest of their order,",
                     one ? "s" : "", register_limit(problem, rules));
}

}  // namespace

std::string period_sentence(const Problem& problem, const LeastProgram& answer, const Rules& rules) {
  if (answer.standing == ProgramStanding::ByPrediction)
    return fmt::format("no period is claimed: {}; the schedule was chosen by its predicted time", answer.why);
  std::string text = fmt::format("period {} cycles in the machine's model with contention", cycles(answer.period));
  const std::int64_t bound = answer.bound.ticks / motion::kCycle;
  if (answer.standing == ProgramStanding::LeastOfAll) {
    const std::string least = cycles(answer.top.front().period);
    if (answer.programs == 1)
      text += ": that of " + space_text(problem, answer, rules);
    else
      text += least == cycles(answer.period)
                  ? fmt::format(": the least of {}", space_text(problem, answer, rules))
                  : fmt::format(": within {} % of {}, the least of {}; of the {} so near it stands the ranges of the numbers best",
                                kTiePercent, least, space_text(problem, answer, rules), answer.tied);
    if (bound > 0) text += fmt::format("; no program at all is below {}", grouped(bound));
  } else if (bound > 0) {
    text += fmt::format("; no program is below {} (proved), not all were compared: {}", grouped(bound), answer.why);
  } else {
    text += fmt::format("; not all programs were compared: {}", answer.why);
  }
  if (answer.schedule) text += fmt::format(". II {} where nothing contends", answer.schedule->ii);
  return text;
}

PeriodProof period_proof(const Problem& problem, const LeastProgram& answer, const Rules& rules, const motion::MotionPeriod& period) {
  PeriodProof proof;
  proof.period = period.ticks;
  proof.iterations = period.iterations;
  proof.bound = answer.bound.ticks;
  if (proof.bound > 0) proof.standing = PeriodStanding::WithinBound;
  if (answer.standing != ProgramStanding::LeastOfAll || !same_period(period, answer.top.front().period)) return proof;
  proof.standing = PeriodStanding::LeastOfAll;
  proof.groups = static_cast<int>(answer.counts.size());
  proof.stages = static_cast<int>(capped(rules.stages, rules, ConstraintKind::MaxStages));
  proof.registers = register_limit(problem, rules);
  proof.programs = answer.programs;
  proof.digest = answer.digest;
  for (const OrderCounts& counts : answer.counts) {
    proof.orders += counts.fit;
    if (answer.copies) break;
  }
  return proof;
}

}  // namespace heddle::programs

// From the cheap to the dear: the claim against itself, sums, the period of its own program, the count of all programs.
#include "core/check/period_claim.h"

#include <fmt/format.h>

#include "core/check/period_bound.h"
#include "core/check/period_rule.h"
#include "core/check/program_count.h"

namespace heddle {
namespace {

double in_cycles(std::int64_t ticks, std::int64_t iterations) {
  return static_cast<double>(ticks) / check_period::kTicks / static_cast<double>(iterations);
}

std::optional<std::string> why_it_contradicts_itself(const Problem& problem, const PeriodProof& proof) {
  if (!problem.contention.known) return "says a period with contention, and the machine's file knows no contention";
  if (proof.numbers != motion_hash(problem)) return "says a period for other numbers of contention, or other costs of ops";
  if (proof.period <= 0 || proof.iterations <= 0) return "says a period of no cycles, or of no iterations";
  const double period = in_cycles(proof.period, proof.iterations), bound = in_cycles(proof.bound, 1);
  if (bound > period)
    return fmt::format("says that no program's period is below {:.1f} cycles, and its own program's is {:.1f}", bound, period);
  if (proof.standing == PeriodStanding::WithinBound && proof.bound <= 0) return "says that a period is within a bound, and no bound";
  return std::nullopt;
}

std::optional<std::string> why_not_the_least(const Problem& problem, const PeriodProof& proof, const check_period::JudgedProgram& own) {
  const check_period::ProgramCount count = check_period::count_programs(problem, {proof.stages, proof.registers});
  if (!count.refused.empty()) return fmt::format("says \"{}\", which the checker cannot count: {}", standing_text(proof), count.refused);
  const auto differs = [&](const char* what, std::int64_t claimed, std::int64_t counted) {
    return fmt::format(
        "says that {} {} were compared, and the checker counts {} that keep the dependences in {} stages and fit {} registers", claimed,
        what, counted, proof.stages, proof.registers);
  };
  if (count.orders != proof.orders) return differs("orders", proof.orders, count.orders);
  if (count.programs != proof.programs) return differs("programs", proof.programs, count.programs);
  if (count.digest != proof.digest) return "has another digest of the programs compared than the checker: they were other programs";
  if (static_cast<int>(count.groups) != proof.groups)
    return fmt::format("says programs of {} groups, and the checker finds {}", proof.groups, count.groups);
  if (!is_counted(problem, count, own)) return "speaks of the least of all programs, and its own program is none of them";
  return std::nullopt;
}

}  // namespace

std::optional<std::string> why_period_is_void(const Problem& problem, const Schedule& schedule, const PeriodProof& proof) {
  if (auto why = why_it_contradicts_itself(problem, proof)) return why;
  const check_period::PeriodSums sums = check_period::period_sums(problem);
  if (proof.bound - proof.bound / check_period::kTolerance > sums.ticks)
    return fmt::format("says that no program's period is below {:.1f} cycles, and the checker's sums are less: {}",
                       in_cycles(proof.bound, 1), sums.sentence);
  const check_period::JudgedProgram program = check_period::loop_of(problem, schedule);
  const check_period::RuledPeriod period = check_period::period_by_rule(problem, program);
  if (period.iterations == 0)
    return fmt::format("says period {:.1f}, and by the checker's rule its program cannot run: {}",
                       in_cycles(proof.period, proof.iterations), period.stuck);
  if (!agrees(period, proof.period, proof.iterations))
    return fmt::format("says period {:.1f}, and by the checker's rule it is {:.1f}", in_cycles(proof.period, proof.iterations),
                       period.cycles());
  return proof.standing == PeriodStanding::LeastOfAll ? why_not_the_least(problem, proof, program) : std::nullopt;
}

}  // namespace heddle

#include "core/schedule/period_proof.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/hash.h"
#include "core/base/text_style.h"
#include "core/problem/problem.h"

namespace heddle {
namespace {

constexpr std::int64_t kTicksOfCycle = 256;

std::int64_t cycles_of(std::int64_t ticks, std::int64_t iterations) {
  const std::int64_t whole = kTicksOfCycle * std::max<std::int64_t>(1, iterations);
  return ticks / whole + (ticks % whole >= whole - whole / 2);
}

/// "2405", "75 082"
std::string in_thousands(std::int64_t number) {
  std::string digits = fmt::format("{}", number);
  if (digits.size() < 5) return digits;
  for (std::size_t place = digits.size(); place > 3; place -= 3) digits.insert(place - 3, " ");
  return digits;
}

std::string groups_in_words(int groups) {
  return groups == 1 ? "one group" : groups == 2 ? "two groups" : fmt::format("{} groups", groups);
}

/// How far above the bound, in tenths of a percent, rounded up.
std::int64_t gap(const PeriodProof& proof) {
  const __int128 bound = static_cast<__int128>(proof.bound) * std::max<std::int64_t>(1, proof.iterations);
  return bound > 0 && proof.period > bound ? static_cast<std::int64_t>(((proof.period - bound) * 1000 + bound - 1) / bound) : 0;
}

}  // namespace

Cycle period_cycles(const PeriodProof& proof) { return cycles_of(proof.period, proof.iterations); }

const char* to_string(PeriodStanding standing) {
  switch (standing) {
    case PeriodStanding::LeastOfAll: return "least_of_all";
    case PeriodStanding::WithinBound: return "within_bound";
    case PeriodStanding::ByPrediction: return "by_prediction";
  }
  return "by_prediction";
}

std::string motion_hash(const Problem& problem) {
  const Contention& c = problem.contention;
  Hash hash;
  hash.add(c.known).add(c.reordered).add(problem.barrier_wait);
  for (const ByOperand* pair : {&c.late_per_read, &c.product_per_read}) hash.add(pair->shared.value).add(pair->registers.value);
  for (const RangedNumber* number : {&c.in_flight, &c.late_per_special, &c.product_done, &c.turn, &c.special_interval, &c.fence,
                                     &c.register_fence, &c.issue_step, &c.first_loads, &c.hidden})
    hash.add(number->value);
  for (const Op& op : problem.ops)
    hash.add(op.work.alone)
        .add(op.work.exposed)
        .add(op.work.reads)
        .add(op.work.specials)
        .add(op.work.issue)
        .add(op.instructions)
        .add(op.from_registers);
  return hash.hex();
}

std::string standing_text(const PeriodProof& proof) {
  switch (proof.standing) {
    case PeriodStanding::LeastOfAll:
      return proof.programs == 1 ? "only program" : fmt::format("least of all {} programs", in_thousands(proof.programs));
    case PeriodStanding::WithinBound:
      if (gap(proof) == 0) return "least, by a bound";
      return fmt::format("within {}.{} % of a bound", gap(proof) / 10, gap(proof) % 10);
    case PeriodStanding::ByPrediction: break;
  }
  return "by prediction";
}

std::string period_sentence(const PeriodProof& proof, Cycle ii) {
  std::string text =
      fmt::format("period {} cycles in the machine's model with contention (numbers: see file)", cycles_of(proof.period, proof.iterations));
  const std::int64_t bound = cycles_of(proof.bound, 1);
  switch (proof.standing) {
    case PeriodStanding::LeastOfAll:
      text += fmt::format(": the {} of {} that keep the dependences in {}, the fewest of their order, and fit {} registers",
                          standing_text(proof), groups_in_words(proof.groups), count_of(proof.stages, "stage"), proof.registers);
      if (bound > 0) text += fmt::format("; no program at all is below {}", bound);
      break;
    case PeriodStanding::WithinBound:
      text += fmt::format(", {}; no program is below {} (proved)", standing_text(proof), bound);
      if (gap(proof) > 0) text += ", not all were compared";
      break;
    case PeriodStanding::ByPrediction: text += ", by prediction: other programs were not compared"; break;
  }
  return text + fmt::format(". II {} where nothing contends.", ii);
}

}  // namespace heddle

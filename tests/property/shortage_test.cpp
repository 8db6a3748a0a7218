// A shortage is a proof: exhaustive search finds no schedule of such a problem, at any II and with any number of stages it looks at.
#include "core/analysis/shortage.h"

#include <catch2/catch.hpp>
#include <random>

#include "core/analysis/channels.h"
#include "tests/support/brute_force.h"
#include "tests/support/random_constraint.h"
#include "tests/support/random_problem.h"

using namespace heddle;

namespace {

constexpr int kStages = 3;
constexpr Cycle kHighest = 14;

/// Limits near what is needed, so that some problems fit and some do not.
void tighten(Problem& problem, Constraints& constraints, std::mt19937& random) {
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(std::max<std::int64_t>(1, n)));
  };
  std::int64_t smem = problem.resident_smem, columns = problem.resident_columns,
               registers = problem.resident_registers + problem.limits.register_overhead;
  for (const Channel& c : problem.channels) (c.space == Space::Tmem ? columns : smem) += c.only_if_crossing ? 0 : c.size;
  for (const Value& v : problem.values) registers += v.registers;
  switch (random() % 7) {
    case 0: problem.limits.smem_bytes = smem * 2 / 3 + below(smem); break;
    case 1: problem.limits.tmem_columns = rounded_columns(columns) / 2 + below(columns + 1); break;
    case 2:
      problem.limits.registers_per_thread = 1 + below(registers + 4);
      problem.limits.register_granule = 1 + below(4);
      break;
    case 3: problem.limits.registers_per_sm = 32 * (1 + below(2 * registers + 8)); break;
    case 4: problem.limits.warps_per_cta = 1 + below(8); break;
    case 5:
      for (Channel& c : problem.channels) c.max_depth = 1 + static_cast<int>(below(3));
      break;
    default: problem.max_groups = 1; break;
  }
  if (random() % 2)
    if (const auto c = test::random_constraint(problem, 4, random)) constraints.push_back(*c);
}

}  // namespace

TEST_CASE("what arithmetic says does not fit has no schedule by exhaustive search", "[property]") {
  test::RandomProblemOptions shape;
  shape.max_ops = 4;
  int short_of = 0, fit = 0;
  std::map<Shortage::Kind, int> kinds;
  for (std::uint32_t seed = 1; seed <= 1500; ++seed) {
    Problem problem = test::random_problem(seed, shape);
    std::mt19937 random(seed);
    Constraints constraints;
    tighten(problem, constraints, random);
    const std::vector<Shortage> shortages = find_shortages(problem, constraints);
    const test::BruteForceMinimum truth = test::brute_force_minimum(problem, kStages, kHighest, constraints, 60'000);
    CAPTURE(seed, shortages.empty() ? std::string() : sentence_of(shortages));
    if (truth.ii > 0) CHECK(shortages.empty());
    if (truth.schedule) {
      const std::vector<std::int64_t> least = least_depths(problem);
      for (std::size_t c = 0; c < least.size(); ++c) CHECK(least[c] <= truth.schedule->depths[c]);
    }
    short_of += !shortages.empty();
    fit += truth.ii > 0;
    for (const Shortage& s : shortages) ++kinds[s.kind];
  }
  CAPTURE(short_of, fit);
  CHECK(short_of > 100);
  CHECK(fit > 400);
  CHECK(kinds.size() >= 5);
}

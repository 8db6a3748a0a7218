// A family solved together says the same as its members solved one by one, however much it leaves out.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <random>

#include "core/check/checker.h"
#include "solver/questions/kernel_set.h"
#include "tests/support/random_problem.h"

using namespace heddle;

namespace {

/// Two random kernels that do different amounts of work, each with up to 1, 2 and 3 warp groups.
std::vector<KernelSetMember> random_family(std::uint32_t seed) {
  std::mt19937 random(seed);
  test::RandomProblemOptions shape;
  shape.max_ops = 5;
  std::vector<KernelSetMember> members;
  for (std::size_t series = 0; series < 2; ++series) {
    Problem problem = test::random_problem(2 * seed + series, shape);
    const auto work = static_cast<std::int64_t>(1 + random() % 6);
    for (int groups = 1; groups <= 3; ++groups) {
      KernelSetMember m;
      m.label = fmt::format("kernel {} groups<={}", series, groups);
      m.series = series;
      m.groups = problem.max_groups = groups;
      m.problem = problem;
      m.work = {WorkKind::MultiplyAdds, work, 0, 0};
      members.push_back(std::move(m));
    }
  }
  return members;
}

solver::KernelSetRequest request_for(std::vector<KernelSetMember> members) {
  solver::KernelSetRequest request;
  request.members = std::move(members);
  return request;
}

SolveOutcome alone(const KernelSetMember& m) {
  solver::SolveRequest request;
  request.problem = m.problem;
  return solver::solve(request);
}

}  // namespace

TEST_CASE("the best of a family is the best of its members solved one by one, and pruned members cannot win", "[property]") {
  int pruned = 0, optimal = 0, infeasible = 0, settled = 0;
  for (std::uint32_t seed = 1; seed <= 24; ++seed) {
    const std::vector<KernelSetMember> members = random_family(seed);
    std::vector<SolveOutcome> truth;
    for (const KernelSetMember& m : members) truth.push_back(alone(m));
    const KernelSetAnswer family = solver::solve_kernel_set(request_for(members));
    REQUIRE(family.complete);
    REQUIRE(family.members.size() == members.size());

    std::size_t best = members.size();
    for (std::size_t i = 0; i < members.size(); ++i)
      if (truth[i].schedule && (best == members.size() || compare_ratios(truth[i].schedule->ii, members[i].work.amount,
                                                                         truth[best].schedule->ii, members[best].work.amount) < 0))
        best = i;
    CAPTURE(seed, best);
    REQUIRE(family.best.empty() == (best == members.size()));
    if (best == members.size()) {
      for (const KernelSetMember& m : family.members) CHECK(m.outcome.status == Status::Infeasible);
      infeasible += static_cast<int>(members.size());
      continue;
    }
    const KernelSetBest& throughput = family.best.front();
    CHECK(throughput.proved);
    CHECK(compare_ratios(throughput.value, members[throughput.member].work.amount, truth[best].schedule->ii, members[best].work.amount) ==
          0);

    std::vector<std::int64_t> winner;
    for (const ObjectiveValue& o : family.members[throughput.member].outcome.objectives) winner.push_back(o.value);
    for (std::size_t i = 0; i < members.size(); ++i) {
      const KernelSetMember& m = family.members[i];
      CAPTURE(m.label, truth[i].explanation);
      if (truth[i].status == Status::Infeasible) {
        CHECK((m.outcome.status == Status::Infeasible || m.pruned));
        infeasible += m.outcome.status == Status::Infeasible;
        continue;
      }
      REQUIRE(truth[i].status == Status::Optimal);
      CHECK(m.outcome.lower_bound <= truth[i].schedule->ii);
      const int order = compare_ratios(truth[i].schedule->ii, m.work.amount, throughput.value, members[throughput.member].work.amount);
      CHECK(order >= 0);
      if (m.pruned) {
        CHECK(order > 0);
        ++pruned;
        continue;
      }
      REQUIRE(m.outcome.status == Status::Optimal);
      CHECK(m.outcome.schedule->ii == truth[i].schedule->ii);
      CHECK(check(m.problem, *m.outcome.schedule).valid());
      CHECK(m.outcome.schedule->certificate->problem_hash == problem_hash(m.problem));
      ++optimal;
      // Proved objectives are the ones of a solve of its own, and no member that ties has better ones.
      if (!family.ties_settled) continue;
      ++settled;
      std::vector<std::int64_t> mine, theirs;
      for (const ObjectiveValue& o : m.outcome.objectives) mine.push_back(o.value);
      for (const ObjectiveValue& o : truth[i].objectives) theirs.push_back(o.value);
      CHECK(mine == theirs);
      if (order == 0) CHECK(std::vector(mine.begin() + 1, mine.end()) >= std::vector(winner.begin() + 1, winner.end()));
    }
  }
  CAPTURE(pruned, optimal, infeasible, settled);
  CHECK(pruned > 12);
  CHECK(optimal > 36);
  CHECK(infeasible > 0);
  CHECK(settled > 24);
}

TEST_CASE("solving every member to the end, or two at a time, changes nothing about the best", "[property]") {
  for (std::uint32_t seed = 101; seed <= 110; ++seed) {
    const std::vector<KernelSetMember> members = random_family(seed);
    const KernelSetAnswer plain = solver::solve_kernel_set(request_for(members));
    solver::KernelSetRequest all = request_for(members);
    all.prune = false;
    const KernelSetAnswer exhaustive = solver::solve_kernel_set(all);
    solver::KernelSetRequest two = request_for(members);
    two.jobs = 2;
    const KernelSetAnswer parallel = solver::solve_kernel_set(two);
    CAPTURE(seed);
    for (const KernelSetAnswer* other : {&exhaustive, &parallel}) {
      REQUIRE(other->complete);
      REQUIRE(other->best.empty() == plain.best.empty());
      if (plain.best.empty()) continue;
      const KernelSetBest &a = plain.best.front(), &b = other->best.front();
      CHECK(compare_ratios(a.value, members[a.member].work.amount, b.value, members[b.member].work.amount) == 0);
      CHECK(b.proved);
    }
    for (const KernelSetMember& m : exhaustive.members) CHECK_FALSE(m.pruned);
    const KernelSetAnswer again = solver::solve_kernel_set(request_for(members));
    for (std::size_t i = 0; i < members.size(); ++i) {
      CHECK(again.members[i].outcome.lower_bound == plain.members[i].outcome.lower_bound);
      CHECK(again.members[i].pruned == plain.members[i].pruned);
    }
  }
}

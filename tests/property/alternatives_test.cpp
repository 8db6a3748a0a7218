// Alternatives against the truth: on small random problems there are as many as exhaustive enumeration finds signatures.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <random>
#include <set>

#include "core/analysis/signature.h"
#include "core/check/checker.h"
#include "solver/questions/alternatives.h"
#include "solver/search/objectives.h"
#include "tests/support/brute_force.h"
#include "tests/support/random_problem.h"

using namespace heddle;
using namespace heddle::solver;

namespace {

constexpr int kStages = 3;

Problem small_problem(std::uint64_t seed) {
  test::RandomProblemOptions shape;
  shape.min_ops = 2;
  shape.max_ops = 4;
  shape.max_cost = 3;
  return test::random_problem(seed, shape);
}

Constraints at_most_three_stages() {
  UserConstraint cap;
  cap.name = "stages";
  cap.kind = ConstraintKind::MaxStages;
  cap.high = kStages;
  return {cap};
}

}  // namespace

TEST_CASE("there are exactly as many alternatives as exhaustive enumeration finds signatures", "[property]") {
  int compared = 0, several = 0;
  for (std::uint64_t seed = 1; seed <= 220; ++seed) {
    const Problem problem = small_problem(seed);
    AlternativesRequest request;
    request.solve.problem = problem;
    request.solve.constraints = at_most_three_stages();
    request.aspect = static_cast<Aspect>(seed % 4);
    request.ii_only = seed % 8 >= 4;
    request.count = 400;
    const Alternatives answer = find_alternatives(request);
    CAPTURE(seed, to_string(request.aspect), request.ii_only, answer.fault, answer.first.explanation);
    REQUIRE(answer.fault.empty());
    if (!answer.first.schedule || answer.first.schedule->ii > 9) continue;
    REQUIRE(answer.first.status == Status::Optimal);
    const Schedule& first = *answer.first.schedule;
    std::set<Signature> truth;
    const auto visit = [&](const Schedule& schedule) {
      bool equal = true;
      for (const Objective o : request.solve.objectives)
        equal &= request.ii_only || objective_value(problem, schedule, o) == objective_value(problem, first, o);
      if (equal) truth.insert(signature_of(problem, schedule, request.aspect));
    };
    if (!test::brute_force_all(problem, first.ii, kStages, visit, {}, 400'000)) continue;
    std::set<Signature> found;
    for (const Alternative& a : answer.found) {
      found.insert(signature_of(problem, a.schedule, request.aspect));
      CHECK(check(problem, a.schedule, request.solve.constraints).valid());
    }
    CHECK(found.size() == answer.found.size());
    if (answer.exact)
      CHECK(found == truth);
    else
      CHECK((answer.more && found.size() == 400 && truth.size() > 400));
    ++compared;
    several += found.size() > 1;
  }
  CAPTURE(compared, several);
  CHECK(compared > 120);
  CHECK(several > 60);
}

TEST_CASE("a signature does not change when all starts shift, groups are renamed, or an op uses its idle time", "[property]") {
  int shifted = 0;
  std::mt19937 random(7);
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    const Problem problem = small_problem(seed);
    std::vector<Schedule> schedules;
    const auto visit = [&](const Schedule& schedule) {
      if (schedules.size() < 20) schedules.push_back(schedule);
    };
    test::brute_force_all(problem, 3 + static_cast<Cycle>(seed % 5), kStages, visit, {}, 20'000);
    for (const Schedule& schedule : schedules) {
      Schedule other = schedule;
      const auto by = static_cast<Cycle>(random() % 20);
      for (Placement& p : other.ops) p.start += by;
      const std::size_t count = other.groups.size(), first = problem.has_producer_group() ? 1 : 0;
      if (count > first + 1)
        for (Placement& p : other.ops)
          if (p.group.index() >= first) p.group = GroupId(first + count - 1 - p.group.index());
      CAPTURE(seed, by);
      for (const Aspect aspect : {Aspect::Groups, Aspect::Order, Aspect::Stages, Aspect::Any})
        CHECK(signature_of(problem, other, aspect) == signature_of(problem, schedule, aspect));
      CHECK(signature_distance(problem, other, schedule) == 0);
      align_groups(problem, schedule, other);
      for (std::size_t v = 0; v < problem.ops.size(); ++v) CHECK(other.ops[v].group == schedule.ops[v].group);
      CHECK(differences(problem, schedule, other).empty());
      ++shifted;
    }
    for (std::size_t i = 0; i + 1 < schedules.size(); ++i) {
      // Different signatures are a distance apart and have words; equal ones have none.
      Schedule other = schedules[i + 1];
      align_groups(problem, schedules[i], other);
      const bool same = signature_of(problem, schedules[i], Aspect::Any) == signature_of(problem, other, Aspect::Any);
      CAPTURE(seed, i);
      CHECK(same == (signature_distance(problem, schedules[i], other) == 0));
      CHECK(same == differences(problem, schedules[i], other).empty());
    }
  }
  CHECK(shifted > 500);
}

// Explanations against the truth. A core is held against every schedule there is of a small problem, judged by the checker
// rule by rule: each must break a rule of the core, or something unnamed helped to refute. What a change would buy is held
// against exhaustive search on the changed problem.
#include <catch2/catch.hpp>

#include <functional>
#include <set>

#include "core/check/checker.h"
#include "solver/encoding/finish_schedule.h"
#include "solver/encoding/user.h"
#include "solver/questions/explain.h"
#include "solver/questions/relax.h"
#include "solver/search/core.h"
#include "solver/search/stage_range.h"
#include "tests/support/brute_force.h"
#include "tests/support/random_problem.h"

using namespace heddle;
using namespace heddle::solver;

namespace {

constexpr int kStages = 2;

ConstraintFamily family_of(const Violation& v) {
  const auto says = [&](const char* word) { return v.message.find(word) != std::string::npos; };
  if (v.family == "unit") return ConstraintFamily::Unit;
  if (v.family == "issue") return ConstraintFamily::Issue;
  if (v.family == "blocking") return ConstraintFamily::Blocking;
  if (v.family == "warps") return ConstraintFamily::Warps;
  if (v.family == "memory") return says("shared memory") ? ConstraintFamily::Smem : ConstraintFamily::Tmem;
  if (v.family == "credit" || v.family == "depth") return ConstraintFamily::Credit;
  if (v.family == "registers") return says("together") ? ConstraintFamily::RegisterFile : ConstraintFamily::Registers;
  if (v.family == "user") return ConstraintFamily::User;
  FAIL("a family without a rule: " << v.family << ": " << v.message);
  return ConstraintFamily::User;
}

/// Now and then a demand, so that cores hold some of the user's.
Constraints random_demands(const Problem& problem, std::uint64_t seed) {
  const auto name = [&](std::uint64_t n) { return problem.ops[n % problem.ops.size()].name; };
  const auto small = static_cast<std::int64_t>(seed / 7 % 4);
  Constraints demands;
  switch (seed % 8) {
    case 0: demands.push_back({"early", true, ConstraintKind::Range, {name(seed / 3)}, "", 0, small}); break;
    case 1: demands.push_back({"late", true, ConstraintKind::Before, {name(seed / 3), name(seed / 3 + 1)}, "", 2 + small, 0}); break;
    case 2: demands.push_back({"few", true, ConstraintKind::MaxRegisters, {}, "", 0, 4 + 4 * small}); break;
    case 3: demands.push_back({"tight", true, ConstraintKind::MaxSmem, {}, "", 0, 32 * small}); break;
    case 4: demands.push_back({"apart", true, ConstraintKind::DifferentGroup, {name(seed / 3), name(seed / 3 + 1)}, "", 0, 0}); break;
    default: break;
  }
  std::erase_if(demands, [](const UserConstraint& c) { return c.ops.size() == 2 && c.ops[0] == c.ops[1]; });
  if (!demands.empty()) demands.push_back({"idle", true, ConstraintKind::MaxStages, {}, "", 0, kStages});
  return demands;
}

/// Calls `visit` with every schedule whose starts lie in [0, stages * II); true as soon as one of the calls is.
bool any_schedule(const Problem& problem, Cycle ii, int groups, const std::function<bool(Schedule&)>& visit) {
  const std::size_t n = problem.ops.size();
  const Cycle span = ii * kStages;
  Schedule schedule;
  schedule.ii = ii;
  schedule.ops.assign(n, {0, GroupId(0)});
  const std::function<bool(std::size_t)> place = [&](std::size_t v) {
    if (v == n) return visit(schedule);
    const bool load = problem.ops[v].variable_latency;
    const int first = load || !problem.has_producer_group() ? 0 : 1, last = load ? 0 : groups - 1;
    for (int g = first; g <= last; ++g)
      for (Cycle s = 0; s < span; ++s) {
        schedule.ops[v] = {s, GroupId(static_cast<std::size_t>(g))};
        if (place(v + 1)) return true;
      }
    return false;
  };
  return place(0);
}

test::RandomProblemOptions tiny() {
  test::RandomProblemOptions shape;
  shape.max_ops = 3;
  shape.max_cost = 3;
  return shape;
}

}  // namespace

TEST_CASE("every schedule breaks a rule of the core, so nothing unnamed helped to refute", "[property]") {
  int refuted = 0, verified = 0;
  std::set<ConstraintFamily> seen;
  for (std::uint64_t seed = 70'001; seed <= 70'600; ++seed) {
    const Problem problem = test::random_problem(seed, tiny());
    const Cycle ii = 1 + static_cast<Cycle>(seed % 4);
    ModelOptions options;
    options.ii = ii;
    options.stages = kStages;
    options.anchored = false;
    const Constraints demands = random_demands(problem, seed);
    const Core core = find_core(problem, demands, options);
    CAPTURE(seed, ii);
    REQUIRE(core.schedulable != Answer::Unknown);
    const test::BruteForce truth = test::brute_force(problem, ii, kStages, demands, 150'000);
    if (!truth.gave_up) REQUIRE((core.schedulable == Answer::Yes) == truth.schedule.has_value());
    if (core.schedulable != Answer::No) continue;
    ++refuted;
    verified += core.verified();
    CHECK(core.rechecked);
    std::set<ConstraintFamily> rules;
    std::set<std::size_t> units;
    std::set<std::string> demanded;
    for (const CoreMember& member : core.members) {
      rules.insert(member.family);
      if (member.family == ConstraintFamily::Unit) units.insert(member.index);
      if (member.family == ConstraintFamily::User) demanded.insert(demands[member.index].name);
      if (member.family == ConstraintFamily::Registers && core.register_constraint)
        demanded.insert(demands[*core.register_constraint].name);
    }
    seen.insert(rules.begin(), rules.end());
    Problem roomy = problem;
    roomy.max_groups = rules.contains(ConstraintFamily::Groups) ? problem.max_groups : problem.max_groups + 1;
    const bool counts_slots = rules.contains(ConstraintFamily::Smem) || rules.contains(ConstraintFamily::Tmem);
    const auto escapes = [&](Schedule& schedule) {
      finish_schedule(roomy, demands, schedule);
      if (counts_slots && !rules.contains(ConstraintFamily::Credit))
        for (std::size_t c = 0; c < roomy.channels.size(); ++c) schedule.depths[c] = roomy.channels[c].only_if_crossing ? 0 : 1;
      for (const Edge& e : roomy.edges) {
        const Cycle apart = schedule.start(e.to) + e.distance * ii - schedule.start(e.from);
        if (rules.contains(ConstraintFamily::Dependence) && apart < e.latency) return false;
        if (rules.contains(ConstraintFamily::HandOff) && apart < e.latency + e.handoff && schedule.group(e.from) != schedule.group(e.to))
          return false;
      }
      for (const Violation& v : check(roomy, schedule, demands).violations) {
        if (v.family == "dependence") continue;
        const ConstraintFamily family = family_of(v);
        if (family == ConstraintFamily::Unit) {
          for (const std::size_t u : units)
            if (v.message.find(roomy.units[u].name) == 0) return false;
        } else if (family == ConstraintFamily::User) {
          for (const std::string& demand : demanded)
            if (v.message.find(demand + ":") == 0) return false;
        } else if (rules.contains(family)) {
          return false;
        }
      }
      return true;
    };
    std::string names;
    for (const CoreMember& member : core.members) names += std::to_string(static_cast<int>(member.family)) + " ";
    CAPTURE(names);
    REQUIRE_FALSE(any_schedule(roomy, ii, roomy.max_groups, [&](Schedule& s) {
      Schedule copy = s;
      return escapes(copy);
    }));
  }
  CAPTURE(refuted, verified, seen.size());
  CHECK(refuted > 100);
  CHECK(verified > refuted * 95 / 100);
  CHECK(seen.size() >= 8);
}

TEST_CASE("what a change buys is what exhaustive search finds on the changed problem", "[property]") {
  int compared = 0, equal = 0, gains = 0;
  for (std::uint64_t seed = 80'001; seed <= 80'120; ++seed) {
    test::RandomProblemOptions shape = tiny();
    shape.max_ops = 4;
    const Problem problem = test::random_problem(seed, shape);
    ExplainRequest request;
    request.solve.problem = problem;
    const Explanation answer = explain(request);
    CAPTURE(seed, answer.sentence);
    if (answer.status != Status::Optimal || answer.members.empty()) continue;
    CHECK(answer.verified);
    CHECK(answer.ways_out_left == 0);
    std::vector<Easing> easings;
    if (answer.together) {
      const StageRange range = stage_range(problem, {}, request.solve.max_stages, *answer.refuted);
      ModelOptions options;
      options.ii = *answer.refuted;
      options.stages = range.stages + 1;
      easings = easings_of(problem, {}, find_core(problem, {}, options));
    } else {
      std::vector<BoundFact> facts;
      for (const BoundFact& fact : compute_bounds(problem).facts)
        if (fact.bound >= *answer.ii) facts.push_back(fact);
      easings = easings_of(problem, {}, facts);
    }
    REQUIRE(easings.size() == answer.ways_out.size());
    for (const Easing& easing : easings) {
      const auto r = std::find_if(answer.ways_out.begin(), answer.ways_out.end(),
                                  [&](const WayOut& x) { return x.what == easing.what && x.from == easing.from && x.to == easing.to; });
      REQUIRE(r != answer.ways_out.end());
      CAPTURE(easing.what, easing.from, easing.to);
      const test::BruteForceMinimum truth = test::brute_force_minimum(easing.problem, 3, *answer.ii, easing.constraints, 150'000);
      if (truth.gave_up || truth.ii == 0) continue;
      REQUIRE(r->status == Status::Optimal);
      CHECK(r->ii <= truth.ii);  // the solver looks at more stages
      if (easing.keeps_schedules) CHECK(r->ii <= *answer.ii);
      equal += r->ii == truth.ii;
      gains += r->ii < *answer.ii;
      ++compared;
    }
  }
  CAPTURE(compared, equal, gains);
  CHECK(compared > 60);
  CHECK(equal > compared * 95 / 100);
  CHECK(gains > 20);
}

// The argument behind the stage bound, step by step: every shift it makes must leave a schedule that the checker accepts, and
// what cannot be shifted further must fit the bound. And its consequence: more stages than the bound never help.
#include <catch2/catch.hpp>

#include <algorithm>
#include <random>
#include <vector>

#include "core/analysis/stage_bound.h"
#include "core/check/checker.h"
#include "solver/encoding/finish_schedule.h"
#include "solver/search/decide.h"
#include "tests/support/random_problem.h"

using namespace heddle;
using namespace heddle::solver;

namespace {

Answer ask(const Problem& problem, Cycle ii, int stages, Schedule& schedule) {
  ModelOptions options;
  options.ii = ii;
  options.stages = stages;
  options.anchored = false;
  return LiveModel(problem, {}, options).check({}, schedule);
}

bool tight(const Schedule& schedule, const Edge& e) {
  const bool crosses = schedule.group(e.from) != schedule.group(e.to);
  const Cycle least = schedule.start(e.from) + e.latency + (crosses ? e.handoff : 0) - e.distance * schedule.ii;
  return schedule.start(e.to) - least < schedule.ii;
}

/// Ops reached from `from`: forward along tight dependences (or all), backward along every dependence.
std::vector<bool> reached(const Problem& problem, const Schedule& schedule, std::size_t from, bool all) {
  std::vector<bool> seen(problem.ops.size(), false);
  seen[from] = true;
  for (bool more = true; more;) {
    more = false;
    for (const Edge& e : problem.edges) {
      const bool forward = seen[e.from.index()] && !seen[e.to.index()] && (all || tight(schedule, e));
      const bool backward = seen[e.to.index()] && !seen[e.from.index()];
      if (!forward && !backward) continue;
      seen[e.from.index()] = seen[e.to.index()] = true;
      more = true;
    }
  }
  return seen;
}

void shift(const Problem& problem, Schedule& schedule, const std::vector<bool>& ops, Cycle by) {
  for (std::size_t v = 0; v < ops.size(); ++v)
    if (ops[v]) schedule.ops[v].start += by;
  const Cycle earliest = std::min_element(schedule.ops.begin(), schedule.ops.end(), [](const Placement& a, const Placement& b) {
                           return a.start < b.start;
                         })->start;
  const Cycle whole = (earliest - (earliest % schedule.ii + schedule.ii) % schedule.ii) / schedule.ii;
  for (Placement& p : schedule.ops) p.start -= whole * schedule.ii;
  finish_schedule(problem, {}, schedule);
}

/// One step of the argument; false when nothing can be shifted.
bool shift_something(const Problem& problem, Schedule& schedule) {
  for (std::size_t v = 0; v < problem.ops.size(); ++v) {
    const std::vector<bool> component = reached(problem, schedule, v, true);
    std::vector<bool> rest = reached(problem, schedule, v, false);
    bool any = false;
    for (std::size_t u = 0; u < rest.size(); ++u) {
      rest[u] = component[u] && !rest[u];
      any |= rest[u];
    }
    if (!any) continue;
    shift(problem, schedule, rest, -schedule.ii);
    return true;
  }
  return false;
}

/// Every part that nothing connects to the others starts in the first stage.
void align_components(const Problem& problem, Schedule& schedule) {
  std::vector<bool> done(problem.ops.size(), false);
  for (std::size_t v = 0; v < done.size(); ++v) {
    if (done[v]) continue;
    const std::vector<bool> component = reached(problem, schedule, v, true);
    Cycle earliest = schedule.ops[v].start;
    for (std::size_t u = 0; u < done.size(); ++u)
      if (component[u]) earliest = std::min(earliest, schedule.ops[u].start);
    for (std::size_t u = 0; u < done.size(); ++u)
      if (component[u]) {
        schedule.ops[u].start -= earliest / schedule.ii * schedule.ii;
        done[u] = true;
      }
  }
  finish_schedule(problem, {}, schedule);
}

}  // namespace

TEST_CASE("every shift of the stage bound's argument keeps a schedule legal, and the last one fits the bound", "[property]") {
  int shifts = 0, schedules = 0;
  for (std::uint64_t seed = 1; seed <= 250; ++seed) {
    test::RandomProblemOptions options;
    options.max_ops = 8;
    Problem problem = test::random_problem(seed, options);
    for (Channel& c : problem.channels) c.max_depth = 8;
    const Cycle ii = 4 + static_cast<Cycle>(seed % 9);
    const auto bound = stage_bound(problem, {}, ii);
    if (!bound) continue;
    Schedule schedule;
    if (ask(problem, ii, 8, schedule) != Answer::Yes) continue;
    CAPTURE(seed, ii, *bound);
    ++schedules;
    // Stretch it: later consumers are legal as long as the checker says so.
    std::mt19937 random(static_cast<unsigned>(seed));
    for (int i = 0; i < 30; ++i) {
      Schedule stretched = schedule;
      std::vector<bool> later(problem.ops.size(), false);
      later[random() % problem.ops.size()] = true;
      for (bool more = true; more;) {
        more = false;
        for (const Edge& e : problem.edges)
          if (later[e.from.index()] && !later[e.to.index()]) later[e.to.index()] = more = true;
      }
      shift(problem, stretched, later, ii);
      if (check(problem, stretched).valid()) schedule = stretched;
    }
    while (shift_something(problem, schedule)) {
      ++shifts;
      REQUIRE(check(problem, schedule).valid());
    }
    align_components(problem, schedule);
    REQUIRE(check(problem, schedule).valid());
    CHECK(stage_count(schedule) <= *bound);
  }
  CAPTURE(schedules, shifts);
  CHECK(schedules > 60);
  CHECK(shifts > 60);
}

TEST_CASE("more stages than the stage bound never help", "[property]") {
  int compared = 0;
  for (std::uint64_t seed = 1; seed <= 250; ++seed) {
    const Problem problem = test::random_problem(seed);
    const Cycle ii = 2 + static_cast<Cycle>(seed % 9);
    const auto bound = stage_bound(problem, {}, ii);
    if (!bound || *bound > 40) continue;
    Schedule ignored;
    CAPTURE(seed, ii, *bound);
    CHECK(ask(problem, ii, *bound, ignored) == ask(problem, ii, *bound + 3, ignored));
    ++compared;
  }
  CHECK(compared > 100);
}

// Fronts against the truth: on small random problems the front is the one that exhaustive enumeration finds, in one run or
// in two.
#include <catch2/catch.hpp>
#include <set>

#include "core/answers/pareto.h"
#include "core/check/checker.h"
#include "solver/questions/pareto.h"
#include "tests/support/brute_force.h"
#include "tests/support/random_problem.h"

using namespace heddle;
using namespace heddle::solver;

namespace {

constexpr int kStages = 3;
using Point = std::vector<std::int64_t>;  ///< II, then the resources

Problem small_problem(std::uint64_t seed) {
  test::RandomProblemOptions shape;
  shape.min_ops = 2;
  shape.max_ops = 4;
  shape.max_cost = 3;
  return test::random_problem(seed, shape);
}

ParetoRequest request_for(const Problem& problem, std::vector<Resource> against) {
  ParetoRequest request;
  request.solve.problem = problem;
  UserConstraint cap;
  cap.name = "stages";
  cap.kind = ConstraintKind::MaxStages;
  cap.high = kStages;
  request.solve.constraints = {cap};
  request.against = std::move(against);
  request.max_ii_factor = 3;
  return request;
}

std::set<Point> points_of(const Pareto& front) {
  std::set<Point> points;
  for (const std::size_t i : front_points(front)) {
    Point point{front.steps[i].schedule->ii};
    point.insert(point.end(), front.steps[i].values.begin(), front.steps[i].values.end());
    points.insert(point);
  }
  return points;
}

bool beats(const Point& a, const Point& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i] > b[i]) return false;
  return a != b;
}

/// Nothing when the enumeration gave up.
std::optional<std::set<Point>> truth_for(const Problem& problem, const std::vector<Resource>& against, Cycle highest) {
  std::set<Point> all, front;
  for (Cycle ii = 1; ii <= highest; ++ii) {
    const auto visit = [&](const Schedule& schedule) {
      Point point{schedule.ii};
      for (const Resource r : against) point.push_back(resource_value(problem, schedule, r));
      all.insert(std::move(point));
    };
    if (!test::brute_force_all(problem, ii, kStages, visit, {}, 50'000)) return std::nullopt;
  }
  for (const Point& p : all)
    if (std::none_of(all.begin(), all.end(), [&](const Point& q) { return beats(q, p); })) front.insert(p);
  return front;
}

}  // namespace

TEST_CASE("the front is the one that exhaustive enumeration finds", "[property]") {
  const std::vector<std::vector<Resource>> choices{{Resource::Smem},
                                                   {Resource::Registers},
                                                   {Resource::Warps},
                                                   {Resource::Stages},
                                                   {Resource::Tmem},
                                                   {Resource::Warps, Resource::Smem},
                                                   {Resource::Registers, Resource::Stages},
                                                   {Resource::Registers, Resource::Smem, Resource::Tmem}};
  int compared = 0, several = 0;
  for (std::uint64_t seed = 1; seed <= 110; ++seed) {
    const Problem problem = small_problem(seed);
    const std::vector<Resource>& against = choices[seed % choices.size()];
    const ParetoRequest request = request_for(problem, against);
    const Pareto front = find_pareto(request);
    CAPTURE(seed, front.fault, front.steps.empty() ? "" : front.steps[0].explanation);
    REQUIRE(front.fault.empty());
    const Cycle limit = ii_limit(front);
    if (limit == 0 || limit > 13) continue;
    REQUIRE(front.complete);
    const auto truth = truth_for(problem, against, limit);
    if (!truth) continue;
    CHECK(points_of(front) == *truth);
    for (const std::size_t i : front_points(front)) {
      CHECK(front.steps[i].status == Status::Optimal);
      CHECK(check(problem, *front.steps[i].schedule, request.solve.constraints).valid());
    }
    ++compared;
    several += truth->size() > 1;
  }
  CAPTURE(compared, several);
  CHECK(compared > 30);
  CHECK(several > 8);
}

TEST_CASE("a front that was cut off and read back is completed to the same one", "[property]") {
  int resumed = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const Problem problem = small_problem(seed);
    ParetoRequest request = request_for(problem, {Resource::Registers, Resource::Smem});
    const Pareto whole = find_pareto(request);
    if (!whole.complete || whole.steps.size() < 3) continue;
    for (std::size_t cut = 1; cut < std::min<std::size_t>(whole.steps.size(), 4); ++cut) {
      std::stop_source stop;
      std::size_t steps = 0;
      const Pareto part = find_pareto(request, stop.get_token(), [&](const Pareto&) {
        if (++steps == cut) stop.request_stop();
      });
      CAPTURE(seed, cut);
      if (part.complete) continue;
      CHECK(part.cancelled);
      const std::string file = pareto_json(problem, request.solve.constraints, part).pretty();
      const Result<Pareto> read = parse_pareto(file, "front.json", problem, request.solve.constraints);
      REQUIRE(read);
      ParetoRequest rest = request;
      rest.against = read->against;
      rest.known = read->steps;
      const Pareto completed = find_pareto(rest);
      CHECK(completed.complete);
      CHECK(points_of(completed) == points_of(whole));
      ++resumed;
    }
  }
  CHECK(resumed > 8);
}

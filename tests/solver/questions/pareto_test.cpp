// Fronts: points that can be known by hand, honest partial answers, and a search that goes on.
#include "solver/questions/pareto.h"

#include <catch2/catch.hpp>

#include "core/check/checker.h"
#include "tests/support/problem_builder.h"

using namespace heddle;
using namespace heddle::solver;
using heddle::test::ProblemBuilder;

namespace {

/// A ring of 1000-byte slots between a load of 350 cycles and a product of 110: 460 cycles over the slots there are.
Problem ring() {
  ProblemBuilder b({"TMA", "TC"});
  const OpId load = b.load("load", "TMA", 10, 350);
  b.ring(load, 1000, {{b.async_op("mma", "TC", 100, 110), 0}});
  return b.problem;
}

ParetoRequest ask(std::vector<Resource> against) {
  ParetoRequest request;
  request.solve.problem = ring();
  request.against = std::move(against);
  return request;
}

std::vector<std::pair<Cycle, std::int64_t>> points_of(const Pareto& front) {
  std::vector<std::pair<Cycle, std::int64_t>> points;
  for (const std::size_t i : front_points(front)) points.emplace_back(front.steps[i].schedule->ii, front.steps[i].values[0]);
  return points;
}

}  // namespace

TEST_CASE("every slot that a ring has less costs what the latency divided by the slots says", "[solver]") {
  const ParetoRequest request = ask({Resource::Smem});
  std::size_t calls = 0;
  const Pareto front = find_pareto(request, {}, [&](const Pareto& so_far) { calls += so_far.steps.size() > calls; });
  CHECK(front.fault.empty());
  CHECK(front.complete);
  CHECK(points_of(front) == std::vector<std::pair<Cycle, std::int64_t>>{{100, 5000}, {115, 4000}, {154, 3000}, {230, 2000}});
  CHECK(calls >= 4);
  for (const std::size_t i : front_points(front)) {
    CHECK(front.steps[i].status == Status::Optimal);
    CHECK(check(request.solve.problem, *front.steps[i].schedule).valid());
    // A certificate is about the problem, which knows no caps.
    REQUIRE(front.steps[i].schedule->certificate);
    CHECK(front.steps[i].schedule->certificate->lower_bound == 100);
  }
}

TEST_CASE("II may grow as far as it is told to", "[solver]") {
  ParetoRequest request = ask({Resource::Smem});
  request.max_ii_factor = 5;
  CHECK(points_of(find_pareto(request)).back() == std::pair<Cycle, std::int64_t>{460, 1000});
  request.max_ii_factor = 1;
  const Pareto narrow = find_pareto(request);
  CHECK(narrow.complete);
  CHECK(points_of(narrow).size() == 1);
  CHECK(narrow.steps.back().lower_bound > 100);
}

TEST_CASE("several resources make one front", "[solver]") {
  const Pareto front = find_pareto(ask({Resource::Smem, Resource::Stages}));
  CHECK(front.complete);
  CHECK(front.against == std::vector<Resource>{Resource::Smem, Resource::Stages});
  const std::vector<std::size_t> points = front_points(front);
  REQUIRE(points.size() > 2);
  for (const std::size_t a : points)
    for (const std::size_t b : points) {
      const ParetoStep &x = front.steps[a], &y = front.steps[b];
      if (a != b) CHECK_FALSE((x.schedule->ii <= y.schedule->ii && x.values[0] <= y.values[0] && x.values[1] <= y.values[1]));
    }
}

TEST_CASE("no time, a stop and an infeasible problem are told apart", "[solver]") {
  ParetoRequest hasty = ask({Resource::Smem});
  hasty.solve.timeout_seconds = 0;
  const Pareto none = find_pareto(hasty);
  CHECK(none.timed_out);
  CHECK_FALSE(none.complete);
  std::stop_source stop;
  const Pareto cut = find_pareto(ask({Resource::Smem}), stop.get_token(), [&](const Pareto&) { stop.request_stop(); });
  CHECK(cut.cancelled);
  CHECK_FALSE(cut.complete);
  CHECK(points_of(cut).size() == 1);
  ParetoRequest rest = ask({Resource::Smem});
  rest.known = cut.steps;
  CHECK(points_of(find_pareto(rest)).size() == 4);
  ParetoRequest tight = ask({Resource::Smem});
  tight.solve.problem.limits.smem_bytes = 999;
  const Pareto impossible = find_pareto(tight);
  CHECK(impossible.complete);
  CHECK(front_points(impossible).empty());
}

// The least II by latency against exhaustive search, and the range of validity against the checker, on small random problems.
#include <catch2/catch.hpp>

#include "core/check/checker.h"
#include "solver/questions/latency.h"
#include "tests/support/brute_force.h"
#include "tests/support/random_problem.h"

using namespace heddle;

namespace {

constexpr int kStages = 3;
constexpr Cycle kLimit = 14;

/// What resolve() would derive from another latency of this op.
Problem with_latency(Problem problem, OpId op, Cycle latency) {
  const bool asynchronous = problem.op(op).asynchronous;
  problem.ops[op.index()].latency = latency;
  for (Edge& e : problem.edges) {
    if (e.from == op) e.latency = latency;
    if (e.to == op && e.hold > 0) e.hold = latency;
  }
  for (Channel& channel : problem.channels)
    for (Reader& reader : channel.readers)
      if (reader.op == op && asynchronous) reader.release = latency;
  return problem;
}

}  // namespace

TEST_CASE("the steps of II by latency are those of exhaustive search", "[property]") {
  test::RandomProblemOptions shape;
  shape.max_ops = 4;
  int compared = 0, rising = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const Problem base = test::random_problem(seed, shape);
    const OpId op(seed % base.ops.size());
    solver::LatencyRequest request;
    request.problem_at = [&](Cycle latency) -> Result<Problem> { return with_latency(base, op, latency); };
    request.solve.problem = with_latency(base, op, base.op(op).latency);
    request.solve.objectives = {};
    request.op = op;
    request.from = 0;
    request.to = 7;
    const LatencyRange answer = solver::latency_range(request);
    CAPTURE(seed, answer.fault);
    REQUIRE(answer.fault.empty());
    REQUIRE(answer.complete());
    REQUIRE(answer.steps.front().low == 0);
    REQUIRE(answer.steps.back().high == 7);
    for (const LatencyStep& step : answer.steps)
      for (Cycle latency = step.low; latency <= step.high; ++latency) {
        const Problem problem = with_latency(base, op, latency);
        const auto truth = test::brute_force_minimum(problem, kStages, kLimit, {}, 60'000);
        const Cycle ii = step.ii_at(latency);
        CAPTURE(latency, ii, truth.ii);
        if (truth.gave_up) continue;
        ++compared;
        // The solver looks at more stages than the exhaustive search, so it may do better, never worse.
        if (truth.ii == 0) {
          CHECK((ii > kLimit || test::brute_force(problem, ii, kStages, {}, 60'000).gave_up ||
                 !test::brute_force(problem, ii, kStages, {}, 60'000).schedule));
        } else if (ii != truth.ii) {
          CHECK(ii < truth.ii);
          CHECK(!test::brute_force(problem, ii, kStages, {}, 60'000).schedule);
        }
      }
    rising += answer.steps.size() > 1;
    if (!answer.schedule) continue;
    REQUIRE(answer.valid_to);
    const Cycle last = std::min<Cycle>(*answer.valid_to, 40);
    for (Cycle latency = 0; latency <= last; ++latency) CHECK(check(with_latency(base, op, latency), *answer.schedule).valid());
    if (*answer.valid_to < kUnlimited) CHECK_FALSE(check(with_latency(base, op, *answer.valid_to + 1), *answer.schedule).valid());
  }
  CAPTURE(compared, rising);
  CHECK(compared > 1500);
  CHECK(rising > 80);
}

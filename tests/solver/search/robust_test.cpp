// Schedules of least II whose order stands uncertain numbers: never worse than the first, always legal, and only II is claimed.
#include "solver/search/robust.h"

#include <catch2/catch.hpp>

#include "core/check/checker.h"
#include "core/library/library.h"
#include "core/problem/resolve.h"
#include "tests/support/paths.h"
#include "tests/support/random_problem.h"

using namespace heddle;
using namespace heddle::solver;

namespace {

struct Subject {
  Kernel kernel = *load_kernel(test::repository_path("kernels/attention_forward_hopper.json"));
  Machine machine = *load_machine(test::repository_path("assets/machines/h100.json"));
  SolveRequest request;

  explicit Subject(int samples) {
    request.problem = *resolve(kernel, machine, {});
    request.uncertain = std::make_shared<UncertainNumbers>(uncertain_numbers(request.problem, machine, samples));
  }
};

}  // namespace

TEST_CASE("uncertain numbers are the same problem with other cycles, the hardest arithmetic first", "[solver]") {
  const Subject s(8);
  const UncertainNumbers& numbers = *s.request.uncertain;
  REQUIRE(numbers.samples.size() == 8);
  CHECK(numbers.streams.turn == 40);
  const OpId exp = s.request.problem.find_op("exp0"), load = s.request.problem.find_op("load_k");
  CHECK(numbers.samples.front().op(exp).window == 512 * 150 / 100);
  CHECK(numbers.samples.back().op(exp).window == 512 * 115 / 100 + 1);
  for (const Problem& sample : numbers.samples) {
    CHECK(sample.op(exp).uses[0].duration == 512);
    CHECK(sample.op(load).latency >= s.request.problem.op(load).latency * 90 / 100);
    CHECK(sample.op(load).latency <= s.request.problem.op(load).latency * 110 / 100);
  }
  const UncertainNumbers again = uncertain_numbers(s.request.problem, s.machine, 8);
  for (std::size_t k = 0; k < 8; ++k) CHECK(again.samples[k].op(load).latency == numbers.samples[k].op(load).latency);
}

TEST_CASE("a robust schedule of attention keeps the proved II and loses less when arithmetic is slower", "[solver]") {
  Subject s(24);  // as `heddle solve --robust`
  const SolveOutcome robust = solve(s.request);
  REQUIRE(robust.schedule);
  REQUIRE(robust.robust);
  CHECK(robust.status == Status::Optimal);
  CHECK(robust.schedule->ii == 2048);
  CHECK(robust.robust->least_ii == 2048);
  CHECK(check(s.request.problem, *robust.schedule).valid());
  CHECK(robust.robust->orders > 1);
  for (const ScheduleGroup& group : robust.schedule->groups) CHECK(group.registers > 0);
  CHECK(robust.robust->chosen.mean < 0.98 * robust.robust->shortest.mean);
  CHECK(robust.robust->chosen.high <= robust.robust->shortest.high);
  const PeriodSpread again = period_spread(*s.request.uncertain, *robust.schedule);
  CHECK(again.mean == Approx(robust.robust->chosen.mean));
  REQUIRE(!robust.objectives.empty());
  CHECK(robust.objectives.front().proved);
  for (std::size_t k = 1; k < robust.objectives.size(); ++k) CHECK_FALSE(robust.objectives[k].proved);
  REQUIRE(robust.schedule->certificate);
  CHECK(robust.schedule->certificate->ii == 2048);
  CHECK(robust.schedule->certificate->lower_bound == 2048);
}

TEST_CASE("a robust schedule is never worse than the first one, and its II never above what is allowed", "[solver]") {
  Machine machine;
  machine.streams = {.arithmetic_percent = 200, .turn = 5, .source = ""};
  machine.fitted = {{"streams.arithmetic_percent", 150, 250, ""}};
  int others = 0;
  for (std::uint32_t seed = 1; seed <= 60; ++seed) {
    INFO("seed " << seed);
    SolveRequest request;
    request.problem = test::random_problem(seed, {.max_ops = 6, .max_cost = 20});
    for (Unit& unit : request.problem.units) unit.role = UnitRole::Float;
    const SolveOutcome plain = solve(request);
    request.uncertain = std::make_shared<UncertainNumbers>(uncertain_numbers(request.problem, machine, 6, seed));
    request.within_percent = seed % 2 ? 0 : 10;
    const SolveOutcome robust = solve(request);
    REQUIRE(robust.schedule.has_value() == plain.schedule.has_value());
    if (!robust.schedule) continue;
    CHECK(check(request.problem, *robust.schedule).valid());
    CHECK(robust.lower_bound == plain.lower_bound);
    CHECK(robust.schedule->ii <= plain.schedule->ii + plain.schedule->ii * request.within_percent / 100);
    CHECK((robust.status == Status::Optimal) == (robust.schedule->ii == robust.lower_bound));
    REQUIRE(robust.robust);
    if (robust.robust->shortest.mean > 0)
      CHECK(robust.robust->chosen.mean + robust.robust->chosen.high <= robust.robust->shortest.mean + robust.robust->shortest.high + 1e-9);
    others += !same_program(*robust.schedule, *plain.schedule);
  }
  CHECK(others > 5);
}

// The least shared memory within some percent of the least II: the ring of tests/kernels, whose depths are known one by one.
#include "solver/questions/within.h"

#include <catch2/catch.hpp>

#include "core/check/checker.h"
#include "core/formats/kernel_json.h"
#include "core/formats/machine_json.h"
#include "core/problem/resolve.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::test;

namespace {

struct Ring {
  Kernel kernel = read_kernel(repository_path("tests/kernels/ring.json")).value();
  Machine machine = read_machine(repository_path("tests/kernels/ring_machine.json")).value();

  solver::WithinRequest request(int percent, const Constraints& constraints = {}) const {
    solver::WithinRequest request;
    request.solve.problem = resolve(kernel, machine, {}).value();
    request.solve.constraints = constraints;
    request.percent = percent;
    request.problem_at = [this](const Changes& changes) { return resolve(kernel, machine, {}, changes); };
    return request;
  }
};

}  // namespace

TEST_CASE("the least memory within a percentage is found and proved, and one slot less is not enough", "[solver]") {
  const Ring ring;
  struct Known {
    int percent, depth;
  };
  for (const Known& known : {Known{1, 23}, {20, 13}, {100, 7}}) {
    INFO(known.percent << " percent");
    const WithinAnswer answer = solver::within(ring.request(known.percent));
    CHECK(answer.least_ii == 64);
    CHECK(answer.ended);
    REQUIRE(answer.steps.size() == 3);
    REQUIRE(answer.best);
    const Schedule& schedule = *answer.outcome.schedule;
    CHECK(answer.outcome.status == Status::Optimal);
    CHECK(schedule.ii == 64);
    REQUIRE(schedule.depths.size() == 1);
    CHECK(schedule.depths[0] == known.depth);
    CHECK(check(answer.problem, schedule).valid());
    CHECK_FALSE(less(answer.limit, period_bracket(answer.problem, schedule).high));
    Schedule shallower = schedule;
    --shallower.depths[0];
    CHECK(less(answer.limit, period_bracket(answer.problem, shallower).high));
    CHECK(within_summary(answer, {}).find("Proved too") != std::string::npos);
  }
}

TEST_CASE("orders that need deeper rings to be legal at all keep them", "[solver]") {
  const Ring ring;
  const WithinAnswer answer = solver::within(ring.request(100));
  // Scheduled for 1400 cycles, 64 apart, 23 items are under way.
  CHECK(answer.steps[0].least.depths[0] == 7);
  CHECK(answer.steps[2].least.depths[0] == 23);
  CHECK(answer.best == std::size_t{0});
}

TEST_CASE("where the memory is not there, that is proved and said", "[solver]") {
  const Ring ring;
  UserConstraint small;
  small.name = "small";
  small.kind = ConstraintKind::MaxSmem;
  small.high = 20 * 256;
  const WithinAnswer answer = solver::within(ring.request(1, {small}));
  CHECK_FALSE(answer.best);
  CHECK(answer.ended);
  CHECK(answer.steps[0].least.end == LeastDepths::End::None);
  CHECK(answer.steps[0].least.bracket.high == period_bracket(answer.problem,
                                                             [&] {
                                                               Schedule schedule = *answer.outcome.schedule;
                                                               schedule.depths[0] = 20;
                                                               return schedule;
                                                             }())
                                                  .high);
  CHECK(within_summary(answer, {}).find("proved: with none of these orders") != std::string::npos);

  UserConstraint shallow;
  shallow.name = "shallow";
  shallow.kind = ConstraintKind::MaxDepth;
  shallow.channel = "item";
  shallow.high = 12;
  CHECK_FALSE(solver::within(ring.request(1, {shallow})).best);
  CHECK(solver::within(ring.request(25, {shallow})).outcome.schedule->depths[0] == 12);
}

TEST_CASE("without time nothing is claimed", "[solver]") {
  const Ring ring;
  std::stop_source stopped;
  stopped.request_stop();
  const WithinAnswer answer = solver::within(ring.request(1), stopped.get_token());
  CHECK_FALSE(answer.best);
  CHECK_FALSE(answer.ended);
  CHECK(within_summary(answer, {}).find("nothing is claimed") != std::string::npos);
}

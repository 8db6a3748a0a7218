// Latency ranges and steps where the arithmetic is done by hand.
#include "solver/questions/latency.h"

#include <catch2/catch.hpp>

#include "core/check/checker.h"
#include "core/library/library.h"
#include "core/problem/resolve.h"

using namespace heddle;
using namespace heddle::solver;

namespace {

LatencyRequest shipped(const Kernel& kernel, const Machine& machine, const std::string& op, Cycle from, Cycle to) {
  LatencyRequest request;
  request.solve.problem = resolve(kernel, machine).value();
  request.op = request.solve.problem.find_op(op);
  request.from = from;
  request.to = to;
  request.problem_at = [&kernel, &machine, op](Cycle latency) {
    Change change;
    change.op = op;
    change.value = latency;
    return resolve(kernel, machine, {}, {change});
  };
  return request;
}

}  // namespace

TEST_CASE("II stays at the resource bound until the recurrence takes over, cycle for cycle", "[solver]") {
  // O feeds itself an iteration later, so its latency is a recurrence; two products keep the tensor core busy for 2 cycles.
  const Kernel kernel = load_kernel("toy_fig1").value();
  const Machine machine = load_machine("toy").value();
  const LatencyRange answer = latency_range(shipped(kernel, machine, "O", 0, 12));
  REQUIRE(answer.complete());
  const auto segments = segments_of(answer.steps);
  REQUIRE(segments.size() == 2);
  CHECK(segments[0].step.low == 0);
  CHECK(segments[0].step.high == 2);
  CHECK(segments[0].step.ii == 2);
  CHECK(segments[1].step.high == 12);
  CHECK(segments[1].rise == 1);
  CHECK(segments[1].every == 1);
  CHECK(segments[1].last_ii() == 12);
  CHECK(answer.valid_to == 2);
  CHECK(answer.breaks.find("O starts at") != std::string::npos);
}

TEST_CASE("the range of a schedule ends where the checker says, and with fitted rings not before", "[solver]") {
  const Kernel kernel = load_kernel("gemm_hopper").value();
  const Machine machine = load_machine("h100").value();
  for (const char* op : {"load_a0", "MMA0"}) {
    auto request = shipped(kernel, machine, op, 0, 10);
    if (!request.op.valid()) request = shipped(kernel, machine, request.solve.problem.ops.front().name, 0, 10);
    const LatencyRange answer = latency_range(request);
    REQUIRE(answer.schedule);
    REQUIRE(answer.valid_to);
    const auto accepted = [&](Cycle latency) { return check(request.problem_at(latency).value(), *answer.schedule).valid(); };
    CHECK(accepted(*answer.valid_to));
    CHECK(accepted(0));
    if (*answer.valid_to < kUnlimited) CHECK_FALSE(accepted(*answer.valid_to + 1));
    CHECK(*answer.refitted_to >= *answer.valid_to);
    CHECK(*answer.retimed_to >= *answer.refitted_to);
  }
}

TEST_CASE("a given schedule is asked about instead of the optimum", "[solver]") {
  const Kernel kernel = load_kernel("toy_fig1").value();
  const Machine machine = load_machine("toy").value();
  auto request = shipped(kernel, machine, "S", 0, 4);
  Schedule wide;
  wide.ii = 9;
  wide.ops = {{0, GroupId(0)}, {5, GroupId(0)}, {7, GroupId(0)}};
  wide.groups = {{"consumer A", 1, 24}};
  wide.depths.assign(request.solve.problem.channels.size(), 0);
  REQUIRE(check(request.solve.problem, wide).valid());
  request.schedule = wide;
  const LatencyRange answer = latency_range(request);
  CHECK(answer.given);
  CHECK(answer.ii == 9);
  CHECK(answer.valid_to == 5);
  CHECK(answer.lower_bound == 2);
}

TEST_CASE("without time, or when stopped, the answer is partial and says so", "[solver]") {
  const Kernel kernel = load_kernel("attention_forward_hopper").value();
  const Machine machine = load_machine("h100").value();
  auto request = shipped(kernel, machine, "exp0", 0, 2000);
  request.solve.timeout_seconds = 0;
  const LatencyRange late = latency_range(request);
  CHECK_FALSE(late.complete());
  CHECK(late.timed_out);
  request.solve.timeout_seconds = 60;
  std::stop_source stop;
  stop.request_stop();
  const LatencyRange stopped = latency_range(request, stop.get_token());
  CHECK(stopped.cancelled);
  CHECK_FALSE(stopped.complete());
}

TEST_CASE("a problem that cannot be had at some latency ends the question with its fault", "[solver]") {
  const Kernel kernel = load_kernel("toy_fig1").value();
  const Machine machine = load_machine("toy").value();
  auto request = shipped(kernel, machine, "O", 0, 12);
  request.problem_at = [](Cycle) -> Result<Problem> { return Error::input("no such thing"); };
  CHECK(latency_range(request).fault.find("no such thing") != std::string::npos);
}

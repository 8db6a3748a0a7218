// Sensitivity where the arithmetic is done by hand.
#include "solver/questions/sensitivity.h"

#include <catch2/catch.hpp>

#include "core/library/library.h"
#include "core/problem/changes.h"
#include "core/problem/resolve.h"

using namespace heddle;
using namespace heddle::solver;

namespace {

SensitivityRequest shipped(const Kernel& kernel, const Machine& machine, int percent) {
  SensitivityRequest request;
  request.solve.problem = resolve(kernel, machine).value();
  request.numbers = numbers_of(kernel, machine, request.solve.problem);
  request.percent = percent;
  request.problem_with = [&kernel, &machine](const Changes& changes) { return resolve(kernel, machine, {}, changes); };
  return request;
}

const SensitivityRow& row_of(const Sensitivity& answer, const std::string& number) {
  for (const SensitivityRow& row : answer.rows)
    if (row.number == number) return row;
  FAIL("no row " << number);
  return answer.rows.front();
}

}  // namespace

TEST_CASE("a unit that is full moves II with every cycle, one with room does not", "[solver]") {
  const Kernel kernel = load_kernel("gemm_hopper").value();
  const Machine machine = load_machine("h100").value();
  const Sensitivity answer = sensitivity(shipped(kernel, machine, 10));
  REQUIRE(answer.complete());
  CHECK(answer.ii == 1024);  // two products of 512 cycles each
  const SensitivityRow& product = row_of(answer, "mma.ss.TC.duration");
  CHECK(&product == &answer.rows.front());
  CHECK(product.values == std::vector<std::int64_t>{512});
  CHECK(product.less.ii == 922);   // 461 each
  CHECK(product.more.ii == 1126);  // 563 each
  CHECK(product.more.proved());
  CHECK(answer.effect(product) == SensitivityEffect::II);
  const SensitivityRow& load = row_of(answer, "tma_load.latency");
  CHECK(answer.swing(load) == 0);
  CHECK(answer.effect(row_of(answer, "TC.capacity")) == SensitivityEffect::TooSmall);
}

TEST_CASE("a number that nothing can be without says so", "[solver]") {
  const Kernel kernel = load_kernel("gemm_hopper").value();
  const Machine machine = load_machine("h100").value();
  auto request = shipped(kernel, machine, 99);
  request.numbers = {parse_change("limits.smem_bytes=0", kernel, machine).value()};
  const Sensitivity answer = sensitivity(request);
  REQUIRE(answer.rows.size() == 1);
  CHECK(answer.rows.front().less.fault.find("shared memory") != std::string::npos);
  CHECK(answer.effect(answer.rows.front()) == SensitivityEffect::II);
}

TEST_CASE("sensitivity without time, or stopped, is partial and says so", "[solver]") {
  const Kernel kernel = load_kernel("attention_forward_blackwell").value();
  const Machine machine = load_machine("b200").value();
  auto request = shipped(kernel, machine, 10);
  request.solve.timeout_seconds = 0;
  const Sensitivity late = sensitivity(request);
  CHECK(late.timed_out);
  CHECK_FALSE(late.complete());
  request.solve.timeout_seconds = 60;
  std::stop_source stop;
  stop.request_stop();
  const Sensitivity stopped = sensitivity(request, stop.get_token());
  CHECK(stopped.cancelled);
  CHECK_FALSE(stopped.complete());
}

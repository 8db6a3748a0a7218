// Every shipped kernel on its machine: the proven II, and for attention forward the pipeline that hand schedules use too.
#include <catch2/catch.hpp>

#include "core/analysis/period.h"
#include "core/check/checker.h"
#include "core/library/library.h"
#include "core/problem/resolve.h"
#include "solver/search/solve.h"
#include "tests/support/paths.h"
#include "tests/support/solver/cross_check.h"

using namespace heddle;

namespace {

Problem shipped(const std::string& kernel, const std::string& machine, const Scope& params = {}) {
  const auto k = load_kernel(test::repository_path("kernels/" + kernel + ".json"));
  const auto m = load_machine(test::repository_path("assets/machines/" + machine + ".json"));
  REQUIRE(k);
  REQUIRE(m);
  auto problem = resolve(*k, *m, params);
  REQUIRE(problem);
  return *problem;
}

SolveOutcome proved(const Problem& problem, bool all_objectives = false) {
  solver::SolveRequest request;
  request.problem = problem;
  if (!all_objectives) request.objectives = {};
  return solver::solve(request);
}

struct Row {
  const char *kernel, *machine;
  Scope params;
  Cycle ii;
};

/// Cycles of [begin, begin + length) modulo II in which some op of `ops` holds the tensor core.
Cycle covered(const Problem& problem, const Schedule& schedule, OpId window, const std::vector<OpId>& ops) {
  Cycle count = 0;
  for (Cycle t = 0; t < problem.op(window).window; ++t)
    for (OpId op : ops) {
      const Cycle age = ((schedule.start(window) + t - schedule.start(op)) % schedule.ii + schedule.ii) % schedule.ii;
      if (age < problem.op(op).uses.front().duration) {
        ++count;
        break;
      }
    }
  return count;
}

}  // namespace

TEST_CASE("shipped kernels are proved at the II that their machine allows", "[solver]") {
  const std::vector<Row> rows{
      {"toy_fig1", "toy", {}, 2},
      {"gemm_hopper", "h100", {}, 1024},                          // tensor core
      {"attention_forward_hopper", "h100", {}, 2048},             // tensor core
      {"attention_forward_hopper", "h100", {{"KV", 176}}, 2816},  // tensor core
      {"attention_backward_hopper", "h100", {}, 2688},            // shared memory port
      {"attention_backward_causal_hopper", "h100", {}, 2688},     // shared memory port
      {"swiglu_dual_gemm_hopper", "h100", {}, 1024},              // tensor core
      {"gemm_w4a16_hopper", "h100", {}, 528},                     // issue of products beside arithmetic
      {"gemm_w4a16_hopper", "h100", {{"TILE_T", 16}}, 336},       // the same
      {"gemm_w4a16_prepacked_hopper", "h100", {}, 512},           // tensor core
      {"gemm_fp8_hopper", "h100", {}, 602},                       // copies
      {"attention_forward_fp8_hopper", "h100", {}, 1380},         // issue of shuffles and products
      {"gemm_blackwell", "b200", {}, 512},                        // tensor core
      {"attention_forward_blackwell", "b200", {}, 3265},          // the life of a score tile, and issue order
      {"attention_backward_blackwell", "b200", {}, 3584},         // shared memory port
      {"attention_backward_causal_blackwell", "b200", {}, 3584},  // shared memory port
      {"attention_forward_causal_blackwell", "b200", {}, 3275},   // as without a mask, which lengthens a score's life
      {"swiglu_dual_gemm_blackwell", "b200", {}, 512}};           // tensor core and shared memory port
  for (const Row& row : rows) {
    const Problem problem = shipped(row.kernel, row.machine, row.params);
    const SolveOutcome outcome = proved(problem);
    CAPTURE(row.kernel, row.machine, outcome.explanation);
    REQUIRE(outcome.schedule);
    CHECK(outcome.status == Status::Optimal);
    CHECK(outcome.schedule->ii == row.ii);
    CHECK(check(problem, *outcome.schedule).valid());
    CHECK(sustainable_period(problem, *outcome.schedule).cycles() <= row.ii);
  }
}

TEST_CASE("attention forward on h100 hides the exponentials of one group under the mmas of the other", "[solver]") {
  const Problem problem = shipped("attention_forward_hopper", "h100");
  const SolveOutcome outcome = proved(problem, true);
  REQUIRE(outcome.schedule);
  const Schedule& s = *outcome.schedule;
  REQUIRE(s.groups.size() == 3);
  const auto op = [&](const char* name) { return problem.find_op(name); };
  for (const auto& [mine, other] : {std::pair("0", "1"), std::pair("1", "0")}) {
    const auto named = [&](const char* stem, const char* half) { return op((std::string(stem) + half).c_str()); };
    CHECK(s.group(named("QK", mine)) == s.group(named("exp", mine)));
    CHECK(s.group(named("PV", mine)) == s.group(named("exp", mine)));
    CHECK(s.group(named("exp", mine)) != s.group(named("exp", other)));
    const Cycle hidden = covered(problem, s, named("exp", mine), {named("QK", other), named("PV", other)});
    CHECK(hidden >= problem.op(named("exp", mine)).window * 3 / 4);
  }
}

TEST_CASE("the second encoder refutes the same II where no arithmetic bound does", "[.slow][solver]") {
  struct Refuted {
    const char *kernel, *machine;
    Cycle ii;
    int stages;
  };
  for (const Refuted& row : {Refuted{"attention_forward_blackwell", "b200", 3264, 4}, Refuted{"layernorm", "h100", 455, 8}}) {
    const Problem problem = shipped(row.kernel, row.machine);
    CAPTURE(row.kernel, row.ii);
    CHECK(solver::cross_check(problem, {}, row.ii, row.stages, 300).answer == solver::Answer::No);
  }
}

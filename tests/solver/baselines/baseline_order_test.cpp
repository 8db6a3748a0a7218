// Who is ahead of whom, as published measurements of these systems suggest; and nobody ahead of the proved optimum.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <map>

#include "core/analysis/period.h"
#include "core/check/checker.h"
#include "core/formats/schedule_json.h"
#include "core/library/library.h"
#include "core/problem/resolve.h"
#include "solver/baselines/baselines.h"
#include "solver/search/solve.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::solver;

namespace {

struct Standing {
  Cycle ii = 0, period = 0;
  bool legal = false;
};

struct Board {
  std::map<std::string, Standing> rows;
  std::string text;

  void add(const Problem& problem, const std::string& name, const Schedule& schedule) {
    const Period period = sustainable_period(problem, schedule);
    const Standing row{schedule.ii, period.deadlock ? -1 : period.cycles(), check(problem, schedule).valid()};
    rows[name] = row;
    text += fmt::format("{:<28} II {:>6}  period {:>6}  {}\n", name, row.ii, row.period, row.legal ? "legal" : "breaks a rule");
  }
  Cycle ii(const std::string& name) const { return rows.at(name).ii; }
};

Problem shipped(const std::string& kernel, const std::string& machine, const Scope& params = {}) {
  const auto k = load_kernel(test::repository_path("kernels/" + kernel + ".json"));
  const auto m = load_machine(test::repository_path("assets/machines/" + machine + ".json"));
  REQUIRE(k);
  REQUIRE(m);
  auto problem = resolve(*k, *m, params);
  REQUIRE(problem);
  return *problem;
}

/// All that apply, the hand schedules, and the optimum.
Board board_of(const Problem& problem, const std::vector<std::string>& hand) {
  Board board;
  for (const Baseline& baseline : baselines()) {
    if (baseline.why_not(problem)) continue;
    const auto outcome = run_baseline(problem, baseline, {}, 600);  // an answer, not an answer in time
    INFO(baseline.name);
    REQUIRE(outcome);
    board.add(problem, baseline.name, outcome->schedule);
  }
  for (const std::string& name : hand) {
    const auto schedule = read_schedule(test::repository_path("kernels/schedules/" + problem.kernel + "/" + name + ".json"), problem);
    INFO(name);
    REQUIRE(schedule);
    board.add(problem, name, *schedule);
  }
  SolveRequest request;
  request.problem = problem;
  request.objectives = {};
  const SolveOutcome outcome = solve(request);
  REQUIRE(outcome.status == Status::Optimal);
  board.add(problem, "optimum", *outcome.schedule);
  for (const auto& [name, row] : board.rows) {
    INFO(board.text << name);
    if (row.legal) CHECK(row.ii >= board.ii("optimum"));
    CHECK(row.period <= row.ii);
  }
  return board;
}

}  // namespace

TEST_CASE("attention forward on Hopper: serial, Triton, Tawa and FA3's variants stand in the order that is known of them",
          "[solver][baselines]") {
  // Behind means slower or, where the tensor core is busy all the time already, as fast: with KV = 128 the overlap
  // inside a group hides everything, and neither the barriers of ping-pong nor a better order has anything left to win.
  for (const std::int64_t kv : {128, 176}) {
    const std::string suffix = kv == 128 ? "" : "-kv176";
    const Board board = board_of(shipped("attention_forward_hopper", "h100", {{"KV", kv}}),
                                 {"fa3-neither" + suffix, "fa3-pingpong" + suffix, "fa3-overlap" + suffix, "fa3" + suffix});
    INFO(board.text);
    CHECK(board.ii("serial") > board.ii("triton"));
    CHECK(board.ii("triton") > board.ii("tawa"));
    CHECK(board.ii("triton") > board.ii("fa3-overlap" + suffix));
    CHECK(board.ii("tawa") >= board.ii("fa3" + suffix));
    CHECK(board.ii("fa3-overlap" + suffix) >= board.ii("fa3" + suffix));
    CHECK(board.ii("fa3-neither" + suffix) >= board.ii("fa3-pingpong" + suffix));
    CHECK(board.ii("fa3-pingpong" + suffix) >= board.ii("fa3" + suffix));
  }
}

TEST_CASE(
    "attention forward on Blackwell: serial, Triton, schedule-then-partition and FA4 stand in the order that is known "
    "of them",
    "[solver][baselines]") {
  // Triton's warp specialization is not compared with schedule-then-partition: Rau's heights put alpha behind both
  // exponentials, and an order found without warp groups keeps that.
  const Board board = board_of(shipped("attention_forward_blackwell", "b200"), {"fa4-noemu-nosplit", "fa4-noemu-nosplit-late-sum"});
  INFO(board.text);
  CHECK(board.ii("serial") > board.ii("triton"));
  CHECK(board.ii("triton") > board.ii("triton-autows"));
  CHECK(board.ii("triton-autows") > board.ii("fa4-noemu-nosplit"));
  CHECK(board.ii("triton") > board.ii("greedy-partition"));
  CHECK(board.ii("greedy-partition") > board.ii("fa4-noemu-nosplit"));
  CHECK(board.ii("fa4-noemu-nosplit") > board.ii("fa4-noemu-nosplit-late-sum"));
  CHECK(board.rows.at("fa4-noemu-nosplit").legal);
  CHECK_FALSE(board.rows.at("fa4-noemu-nosplit-late-sum").legal);
}

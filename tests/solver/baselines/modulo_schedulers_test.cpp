// The classical modulo schedulers on their own: valid modulo schedules, the least II on the textbook's loop, and the
// partitions made of them.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "core/analysis/bounds.h"
#include "core/check/checker.h"
#include "core/library/library.h"
#include "core/problem/resolve.h"
#include "solver/baselines/agents.h"
#include "solver/baselines/baselines.h"
#include "solver/baselines/rau.h"
#include "tests/support/paths.h"
#include "tests/support/problem_builder.h"
#include "tests/support/random_problem.h"

using namespace heddle;
using namespace heddle::solver;

namespace {

Problem shipped(const std::string& kernel, const std::string& machine) {
  const auto k = load_kernel(test::repository_path("kernels/" + kernel + ".json"));
  const auto m = load_machine(test::repository_path("assets/machines/" + machine + ".json"));
  REQUIRE(k);
  REQUIRE(m);
  auto problem = resolve(*k, *m, {});
  REQUIRE(problem);
  return *problem;
}

BaselineOutcome run(const Problem& problem, const std::string& text) {
  const auto choice = parse_baseline(text);
  REQUIRE(choice);
  auto outcome = run_baseline(problem, *choice->baseline, choice->settings, 600);
  REQUIRE(outcome);
  return *outcome;
}

int lines_with(const BaselineOutcome& outcome, const std::string& words) {
  return static_cast<int>(std::count_if(outcome.log.begin(), outcome.log.end(),
                                        [&](const std::string& line) { return line.find(words) != std::string::npos; }));
}

}  // namespace

TEST_CASE("Rau's schedules keep dependences and units", "[solver]") {
  int found = 0, at_bound = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const Problem problem = test::random_problem(seed);
    const auto least = modulo_min_ii(problem);
    if (!least) continue;
    std::vector<std::string> log;
    const std::vector<int> group(problem.ops.size(), 0);
    const auto schedule = rau_schedule(problem, {}, group, {}, log);
    INFO("seed " << seed);
    if (!schedule) continue;
    ++found;
    at_bound += schedule->ii == *least;
    CHECK(schedule->ii >= *least);
    Schedule judged;
    judged.ii = schedule->ii;
    judged.groups.resize(1);
    for (const Cycle start : schedule->starts) judged.ops.push_back({start, GroupId(0)});
    normalize_starts(judged);
    judged.depths.assign(problem.channels.size(), 1);
    for (const Violation& v : check(problem, judged).violations) {
      INFO(v.message);
      CHECK((v.family != "dependence" && v.family != "unit" && v.family != "form"));
    }
  }
  CHECK(found > 200);
  CHECK(at_bound > found / 2);  // the rest mostly waits for memory
}

TEST_CASE("on the loop of Figure 1 both schedulers overlap two iterations", "[solver]") {
  const Problem problem = test::toy_problem();
  for (const char* name : {"rau", "rau:window=1", "swing", "swing:scc=0"}) {
    const BaselineOutcome outcome = run(problem, name);
    INFO(name);
    CHECK(outcome.schedule.ii == 2);
    CHECK(stage_count(outcome.schedule) == 2);
  }
}

TEST_CASE("Triton's merge rules give attention its known partitions", "[solver][baselines]") {
  const Problem problem = shipped("attention_forward_blackwell", "b200");
  const BaselineOutcome outcome = run(problem, "triton-autows");
  std::set<std::set<std::string>> groups;
  for (std::size_t g = 0; g < outcome.schedule.groups.size(); ++g) {
    std::set<std::string> names;
    for (std::size_t v = 0; v < problem.ops.size(); ++v)
      if (outcome.schedule.ops[v].group == GroupId(g)) names.insert(problem.ops[v].name);
    groups.insert(names);
  }
  const auto softmax = [](const std::string& t) {
    return std::set<std::string>{"read_s" + t, "max" + t, "alpha" + t, "sub" + t, "exp" + t, "sum" + t, "cvt" + t, "write_p" + t};
  };
  CHECK(groups == std::set<std::set<std::string>>{{"load_k", "load_v"},
                                                  {"QK0", "PV0", "QK1", "PV1"},
                                                  softmax("0"),
                                                  softmax("1"),
                                                  {"read_o0", "rescale0", "write_o0", "read_o1", "rescale1", "write_o1"}});
  CHECK(lines_with(outcome, "SFU with consumer") == 4);
  CHECK(lines_with(outcome, "default partition") == 1);
  // Before the rules: loads, products, and the rest.
  CHECK(run(problem, "triton-autows:version=1").schedule.groups.size() == 4);
  CHECK(run(shipped("gemm_blackwell", "b200"), "triton-autows").schedule.groups.size() == 2);
}

TEST_CASE("Triton's stages follow num_stages, and shared memory bounds them", "[solver][baselines]") {
  const Problem problem = shipped("gemm_hopper", "h100");
  for (int n = 1; n <= 7; ++n) {
    const BaselineOutcome outcome = run(problem, "triton:N=" + std::to_string(n));
    INFO("N = " << n);
    const int expected = std::min(n, 4);                                                       // 48 KB a stage
    for (const int depth : outcome.schedule.depths) CHECK((depth == expected || depth == 0));  // 0: accumulators that stay where they are
    CHECK(lines_with(outcome, "do not fit") == n - expected);
    CHECK(check(problem, outcome.schedule).valid());
  }
}

TEST_CASE("row blocks are the tiles that a kernel names twice", "[solver][baselines]") {
  const auto blocks = [&](const std::string& kernel, const std::string& machine) { return row_blocks(shipped(kernel, machine), 8).count; };
  CHECK(blocks("attention_forward_hopper", "h100") == 2);
  CHECK(blocks("attention_forward_blackwell", "b200") == 2);
  CHECK(blocks("attention_backward_hopper", "h100") == 2);
  CHECK(blocks("attention_backward_blackwell", "b200") == 1);
  CHECK(blocks("attention_forward_tile_hopper", "h100") == 1);
  CHECK(blocks("gemm_hopper", "h100") == 2);
  CHECK(blocks("layernorm", "h100") == 1);
}

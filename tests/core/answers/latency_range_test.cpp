// Steps of II by latency: staircases in one segment, in words, in JSON.
#include <catch2/catch.hpp>

#include "core/answers/latency.h"
#include "core/problem/problem.h"
#include "tests/support/json_schema.h"
#include "tests/support/problem_builder.h"
#include "tests/support/random_problem.h"

using namespace heddle;

namespace {

std::vector<LatencyStep> stairs(std::vector<std::pair<Cycle, Cycle>> widths_and_iis, Cycle low = 0) {
  std::vector<LatencyStep> steps;
  for (const auto& [width, ii] : widths_and_iis) {
    steps.push_back({low, low + width - 1, ii, ii, 0, "because"});
    low += width;
  }
  return steps;
}

std::string words(const std::vector<LatencyStep>& steps) {
  std::string text;
  for (const LatencySegment& s : segments_of(steps)) {
    text += std::to_string(s.step.low) + "-" + std::to_string(s.step.high) + ":" + std::to_string(s.step.ii);
    if (s.rise) text += "+" + std::to_string(s.rise) + "/" + std::to_string(s.every) + "=" + std::to_string(s.last_ii());
    text += " ";
  }
  return text;
}

}  // namespace

TEST_CASE("a staircase is one segment, whatever stands before and after it", "[core]") {
  CHECK(words(stairs({{100, 8}})) == "0-99:8 ");
  CHECK(words(stairs({{100, 8}, {1, 9}, {1, 10}, {1, 11}, {50, 12}})) == "0-99:8 100-102:9+1/1=11 103-152:12 ");
  CHECK(words(stairs({{10, 8}, {2, 9}, {2, 10}, {2, 11}, {1, 12}})) == "0-9:8 10-16:9+1/2=12 ");  // cut short at the end
  CHECK(words(stairs({{2, 9}, {2, 10}, {2, 11}, {1, 12}, {7, 13}})) == "0-5:9+1/2=11 6-6:12 7-13:13 ");
  CHECK(words(stairs({{1, 9}, {1, 10}})) == "0-0:9 1-1:10 ");
  CHECK(words(stairs({{1, 9}, {1, 10}, {1, 12}, {1, 14}, {1, 16}})) == "0-0:9 1-4:10+2/1=16 ");
}

TEST_CASE("a segment says of every latency what its step says", "[core]") {
  const auto steps = stairs({{3, 5}, {2, 6}, {2, 7}, {2, 8}, {1, 9}, {1, 10}, {1, 11}, {1, 12}, {9, 20}}, 4);
  for (const LatencySegment& s : segments_of(steps))
    for (Cycle latency = s.step.low; latency <= s.step.high; ++latency) {
      const Cycle ii = s.rise == 0 ? s.step.ii : s.step.ii + s.rise * ((latency - s.step.low) / s.every);
      for (const LatencyStep& step : steps)
        if (latency >= step.low && latency <= step.high) CHECK(ii == step.ii);
    }
}

TEST_CASE("what is not proved never becomes part of a staircase", "[core]") {
  auto steps = stairs({{1, 8}, {1, 9}, {1, 10}, {1, 11}});
  steps[1].lower_bound = 8;
  CHECK(words(steps) == "0-0:8 1-1:9 2-2:10 3-3:11 ");
}

TEST_CASE("an answer about a latency says in words and in JSON what is proved and what is not", "[core]") {
  const Problem problem = test::toy_problem();
  LatencyRange answer;
  answer.op = "S";
  answer.latency = 3;
  answer.status = Status::Infeasible;
  answer.from = 0;
  answer.to = 9;
  answer.steps = {
      {0, 2, 4, 4, 0, "full"}, {3, 5, 4, 6, 0, "full"}, {6, 8, 5, kNoFiniteII, 0, "hard"}, {9, 9, kNoFiniteII, kNoFiniteII, 0, "never"}};
  const std::string text = latency_summary(problem, answer, {});
  for (const char* part : {"0-2", "3-5", "4-6", "not proved", "at least 5", "no schedule", "partial"}) {
    CAPTURE(text, part);
    CHECK(text.find(part) != std::string::npos);
  }
  CHECK_FALSE(answer.complete());
  const Json json = latency_json(problem, answer);
  CHECK(test::schema_fault(latency_schema(), json) == "");
  const Json::Array& steps = *json.find("steps")->items();
  REQUIRE(steps.size() == 4);
  CHECK(*steps[1].find("status")->string() == "feasible");
  CHECK(*steps[2].find("status")->string() == "unknown");
  CHECK(steps[2].find("ii")->is_null());
  CHECK(*steps[3].find("status")->string() == "infeasible");
  CHECK(json.find("valid")->is_null());
}

TEST_CASE("a problem is as strict as itself, and stricter with any cost raised or any limit lowered", "[core]") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    const Problem problem = test::random_problem(seed);
    CHECK(at_least_as_strict(problem, problem));
    Problem harder = problem;
    harder.ops.back().window += 1;
    harder.limits.smem_bytes -= 1;
    for (Edge& e : harder.edges) e.latency += 2;
    CHECK(at_least_as_strict(harder, problem));
    CHECK_FALSE(at_least_as_strict(problem, harder));
    harder.units.front().capacity += 1;
    CHECK_FALSE(at_least_as_strict(harder, problem));
  }
}

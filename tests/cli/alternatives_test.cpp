// heddle alternatives, from words to files.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "app/command/exit_code.h"
#include "tests/app/cli_support.h"

using namespace heddle::app;
using heddle::test::contains;
using heddle::test::run_heddle;
using heddle::test::ScratchFolder;
using nlohmann::json;

#ifdef HEDDLE_HAS_SOLVER

TEST_CASE("alternatives have every promised key, and a proved count", "[app]") {
  const auto run = run_heddle({"alternatives", "gemm_blackwell", "b200", "--json"});
  INFO(run.err);
  CHECK(run.code == kDone);
  CHECK(run.err.empty());
  const json answer = json::parse(run.out);
  for (const char* key : {"status", "ii", "lower_bound", "objectives", "differ", "equal", "stages_limit", "most_distance", "more",
                          "cancelled", "timed_out", "queries", "seconds", "solver", "seed", "problem_hash"})
    CHECK(answer.contains(key));
  CHECK(answer.at("exact") == true);
  CHECK(answer.at("count") == answer.at("alternatives").size());
  const json& second = answer.at("alternatives").at(1);
  for (const char* key :
       {"number", "distance", "nearest", "differences", "turns", "period", "stages", "robustness", "groups", "ops", "channels"})
    CHECK(second.contains(key));
  for (const char* key : {"least_delay", "median_delay", "critical_ops"}) CHECK(second.at("robustness").contains(key));
}

TEST_CASE("each alternative is saved as a schedule that check accepts", "[app]") {
  ScratchFolder folder;
  const std::string dir = std::filesystem::path(folder.path("x")).parent_path().string();
  const auto run = run_heddle({"alternatives", "gemm_blackwell", "b200", "--out-dir", dir});
  INFO(run.err);
  CHECK(run.code == kDone);
  CHECK(contains(run.out, "exactly"));
  for (const char* name : {"gemm_blackwell-1.json", "gemm_blackwell-2.json"})
    CHECK(run_heddle({"check", "gemm_blackwell", "b200", folder.path(name)}).code == kDone);
  CHECK(run_heddle({"alternatives", "toy_fig1", "toy", "--out-dir", folder.path("missing")}).code == kEnvironment);
}

TEST_CASE("alternatives say when they are partial, infeasible or asked wrongly", "[app]") {
  auto run = run_heddle({"alternatives", "toy_fig1", "toy", "--ii", "1"});
  CHECK(run.code == kNegative);
  CHECK(contains(run.out, "no schedule at this II"));
  run = run_heddle({"alternatives", "toy_fig1", "toy", "--equal", "ii", "--count", "3"});
  CHECK(run.code == kDone);
  CHECK(contains(run.out, "at least 3 schedules; there are more"));
  run = run_heddle({"alternatives", "toy_fig1", "toy", "-q"});
  CHECK(run.out == "exactly 2 schedules, proved\n");
  for (const std::vector<std::string>& wrong : std::vector<std::vector<std::string>>{
           {"--count", "0"}, {"--count", "x"}, {"--differ", "colour"}, {"--equal", "some"}, {"--out-dir", ""}}) {
    std::vector<std::string> words{"alternatives", "toy_fig1", "toy"};
    words.insert(words.end(), wrong.begin(), wrong.end());
    CHECK(run_heddle(words).code == kUsage);
  }
}

#endif

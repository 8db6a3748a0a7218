// heddle pareto, from words to files and back.
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

TEST_CASE("a front has every promised key, and points with their schedules", "[app]") {
  const auto run = run_heddle({"pareto", "gemm_blackwell", "b200", "--against", "smem", "--json"});
  INFO(run.err);
  CHECK(run.code == kDone);
  CHECK(contains(run.err, "II 512 with 147456 bytes of shared memory, proved"));
  const json answer = json::parse(run.out);
  for (const char* key : {"schema", "problem_hash", "constraints", "against", "max_ii_factor", "complete", "cancelled", "timed_out",
                          "points", "steps", "queries", "seconds", "solver", "seed"})
    CHECK(answer.contains(key));
  CHECK(answer.at("complete") == true);
  REQUIRE(answer.at("points").size() > 3);
  for (const json& point : answer.at("points")) {
    CHECK(point.at("proved") == true);
    CHECK(answer.at("steps").at(point.at("step").get<std::size_t>()).at("schedule").at("schema") == "heddle.schedule/1");
  }
}

TEST_CASE("a front is kept in a file, goes on from it, and saves a schedule per point", "[app]") {
  ScratchFolder folder;
  const std::string file = folder.path("front.json");
  const std::string dir = std::filesystem::path(file).parent_path().string();
  const auto first = run_heddle({"pareto", "gemm_hopper", "h100", "--out", file, "--out-dir", dir});
  INFO(first.err);
  CHECK(first.code == kDone);
  CHECK(run_heddle({"check", "gemm_hopper", "h100", folder.path("gemm_hopper-2.json")}).code == kDone);
  // Without its last steps the file is what an interrupted run leaves.
  json front = json::parse(heddle::test::read_text(file));
  const json points = front.at("points");
  while (front.at("steps").size() > 2) front.at("steps").erase(2);
  folder.write("front.json", front.dump());
  const auto again = run_heddle({"pareto", "gemm_hopper", "h100", "--out", file, "--resume"});
  INFO(again.err);
  CHECK(again.code == kDone);
  CHECK_FALSE(contains(again.err, "II 1024"));  // that one was known
  const json completed = json::parse(heddle::test::read_text(file));
  REQUIRE(completed.at("points").size() == points.size());
  for (std::size_t i = 0; i < points.size(); ++i) CHECK(completed.at("points").at(i).at("values") == points.at(i).at("values"));
  // Another problem, other resources.
  const auto other = run_heddle({"pareto", "gemm_hopper", "h100", "--param", "TILE_N=128", "--out", file, "--resume"});
  CHECK(other.code == kInvalidInput);
  CHECK(contains(other.err, "another problem"));
  CHECK(run_heddle({"pareto", "gemm_hopper", "h100", "--against", "warps", "--out", file, "--resume"}).code == kInvalidInput);
  CHECK(run_heddle({"pareto", "gemm_hopper", "h100", "--max-stages", "1", "--out", file, "--resume"}).code == kInvalidInput);
}

TEST_CASE("a front that cannot be asked for or kept is refused before the search", "[app]") {
  ScratchFolder folder;
  CHECK(run_heddle({"pareto", "toy_fig1", "toy", "--resume"}).code == kUsage);
  CHECK(run_heddle({"pareto", "toy_fig1", "toy", "--out", "-"}).code == kUsage);
  CHECK(run_heddle({"pareto", "toy_fig1", "toy", "--ii", "3"}).code == kUsage);
  CHECK(run_heddle({"pareto", "toy_fig1", "toy", "--against", "money"}).code == kUsage);
  CHECK(run_heddle({"pareto", "toy_fig1", "toy", "--max-ii-factor", "0"}).code == kUsage);
  CHECK(run_heddle({"pareto", "toy_fig1", "toy", "--out", folder.path("missing.json"), "--resume"}).code == kInvalidInput);
  CHECK(run_heddle({"pareto", "toy_fig1", "toy", "--out", folder.path("no/such/folder.json")}).code == kEnvironment);
  CHECK(run_heddle({"pareto", "toy_fig1", "toy", "--against", "stages", "-q"}).out ==
        "front of II against stages: 2 points, complete and proved\n");
}

#endif

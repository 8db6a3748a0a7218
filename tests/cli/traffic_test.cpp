// heddle traffic, from words to tables.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "app/command/exit_code.h"
#include "tests/app/cli_support.h"
#include "tests/support/paths.h"

using namespace heddle::app;
using heddle::test::contains;
using heddle::test::repository_path;
using heddle::test::run_heddle;
using heddle::test::ScratchFolder;
using nlohmann::json;

namespace {

const std::string kSchedule = repository_path("tests/schedules/gemm_hopper_h100.json");

}  // namespace

TEST_CASE("traffic prints what passes, how full rings are, bytes on their way, a line per ring, the balance and the verdict", "[app]") {
  const auto text = run_heddle({"traffic", "gemm_hopper", "h100", kSchedule});
  CHECK(text.code == kDone);
  for (const char* word : {"what passes between warp groups", "producer", "full arrivals", "40 960", "starving", "bytes on their way",
                           "queue b", "filled", "balance", "one slot less", "predicted", "validated for gemm"})
    CHECK(contains(text.out, word));
  const auto brief = run_heddle({"traffic", "gemm_hopper", "h100", kSchedule, "-q"});
  CHECK(std::count(brief.out.begin(), brief.out.end(), '\n') == 1);
  CHECK(contains(brief.out, "predicted"));
  const json answer = json::parse(run_heddle({"traffic", "gemm_hopper", "h100", kSchedule, "--json"}).out);
  CHECK(answer.at("schema") == "heddle.traffic/1");
  const json& one = answer.at("schedules").at(0);
  CHECK(one.at("rings").size() == 3);
  for (const json& ring : one.at("rings"))
    for (const json& step : ring.at("occupancy").at("taken")) {
      CHECK(step.at(1) >= 0);
      CHECK(step.at(1) <= ring.at("slots"));
    }
  CHECK(one.at("verdict").at("predicted") == true);
  CHECK(one.at("verdict").at("best_us") <= one.at("verdict").at("allowed_us"));
  CHECK(contains(run_heddle({"traffic", "gemm_hopper", "h100", kSchedule, "--csv"}).out, "schedule,ring,space,from,to,slots"));
}

TEST_CASE("several schedules have a row each in the balance; --schedule alone is the first", "[app]") {
  ScratchFolder folder;
  std::string shallow = heddle::test::read_text(kSchedule);
  const std::size_t name = shallow.find("\"name\": \"");
  REQUIRE(name != std::string::npos);
  shallow.insert(name + 9, "another ");
  const std::string other = folder.write("other.json", shallow);
  const auto text = run_heddle({"traffic", "gemm_hopper", "h100", kSchedule, "--schedule", other});
  CHECK(text.code == kDone);
  CHECK(contains(text.out, "another "));
  CHECK_FALSE(contains(text.out, "one slot less"));
  const json two = json::parse(run_heddle({"traffic", "gemm_hopper", "h100", "--schedule", other, "--schedule", kSchedule, "--json"}).out);
  REQUIRE(two.at("schedules").size() == 2);
  CHECK(contains(two.at("schedules").at(0).at("schedule").get<std::string>(), "another "));
  CHECK_FALSE(contains(two.at("schedules").at(1).at("schedule").get<std::string>(), "another "));
}

TEST_CASE("traffic of a kernel without rings, and of what cannot run or be read", "[app]") {
  ScratchFolder folder;
  const std::string path = folder.write("toy.json", heddle::test::toy_schedule());
  const auto toy = run_heddle({"traffic", "toy_fig1", "toy", path});
  CHECK(toy.code == kDone);
  CHECK(contains(toy.out, "no ring"));
  const std::string stuck = folder.write("stuck.json", heddle::test::toy_schedule("\"start\": 0", "\"start\": 7"));
  const auto run = run_heddle({"traffic", "toy_fig1", "toy", stuck});
  CHECK(run.code == kNegative);
  CHECK(contains(run.out, "deadlock: "));
  const auto missing =
      run_heddle({"traffic", "toy_fig1", "toy", path, "--schedule", folder.path("gone.json"), "--schedule", folder.path("lost.json")});
  CHECK(missing.code == kInvalidInput);
  CHECK(contains(missing.err, "gone.json"));
  CHECK(contains(missing.err, "lost.json"));
  CHECK(run_heddle({"traffic", "toy_fig1", "toy", path, "--csv", "--json"}).code == kUsage);
  CHECK(run_heddle({"traffic", "toy_fig1", "toy", path, "--trips", "0"}).code == kUsage);
}

TEST_CASE("show draws rings as queues where it is asked to", "[app]") {
  const auto with = run_heddle({"show", "gemm_hopper", "h100", kSchedule, "--queues", "--mode", "pipeline"});
  CHECK(with.code == kDone);
  CHECK(contains(with.out, "queue a0"));
  CHECK(contains(with.out, "s starving"));
  CHECK_FALSE(contains(run_heddle({"show", "gemm_hopper", "h100", kSchedule}).out, "queue a0"));
}

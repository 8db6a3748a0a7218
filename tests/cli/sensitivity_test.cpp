// heddle sensitivity on the command line.
#include <catch2/catch.hpp>

#include "app/command/exit_code.h"
#include "core/base/json.h"
#include "tests/app/cli_support.h"

using namespace heddle;
using test::contains;
using test::run_heddle;

#ifdef HEDDLE_HAS_SOLVER

TEST_CASE("sensitivity lists what moves II and counts the rest", "[app]") {
  const auto run = run_heddle({"sensitivity", "gemm_hopper", "h100"});
  CHECK(run.code == app::kDone);
  for (const char* part : {"1 change II", "mma.ss.TC.duration", "922 (-102)", "1126 (+102)", "more numbers change neither"}) {
    CAPTURE(run.out, part);
    CHECK(contains(run.out, part));
  }
  CHECK_FALSE(contains(run.out, "tma_load.latency"));
  CHECK(contains(run_heddle({"sensitivity", "gemm_hopper", "h100", "--all"}).out, "tma_load.latency"));
}

TEST_CASE("sensitivity prints one JSON object", "[app]") {
  const auto run = run_heddle({"sensitivity", "gemm_hopper", "h100", "--percent", "20", "--set", "mma.ss.TC.duration=600", "--json"});
  CHECK(run.code == app::kDone);
  const auto json = parse_json(run.out, "out");
  REQUIRE(json.ok());
  CHECK(*json->find("ii")->integer() == 1200);
  CHECK(*json->find("percent")->integer() == 20);
  const Json& first = json->find("rows")->items()->front();
  CHECK(*first.find("number")->string() == "mma.ss.TC.duration");
  CHECK(*first.find("more")->find("ii")->integer() == 1440);
}

TEST_CASE("without any schedule sensitivity says why there is nothing to compare", "[app]") {
  const test::ScratchFolder folder;
  const auto file = folder.write("c.json", R"({"schema": "heddle.constraints/1", "constraints": [
    {"kind": "same_group", "ops": ["S", "P"]}, {"kind": "different_group", "ops": ["S", "P"]}]})");
  const auto run = run_heddle({"sensitivity", "toy_fig1", "toy", "--constraints", file});
  CHECK(run.code == app::kNegative);
  CHECK(contains(run.out, "no schedule exists at present"));
  CHECK(contains(run.out, "S and P in different groups"));
  CHECK(contains(run.out, "heddle explain tells what would help"));
  const auto latency = run_heddle({"latency", "toy_fig1", "toy", "S", "--constraints", file});
  CHECK(contains(latency.out, "nor is there one for latencies 1 to 17"));
  CHECK_FALSE(contains(latency.out, "the same II"));
}

TEST_CASE("sensitivity refuses what makes no question", "[app]") {
  for (const char* percent : {"0", "100", "-1", "ten"})
    CHECK(run_heddle({"sensitivity", "gemm_hopper", "h100", "--percent", percent}).code == app::kUsage);
  CHECK(run_heddle({"sensitivity", "gemm_hopper", "h100", "--ii", "4"}).code == app::kUsage);
  const auto late = run_heddle({"sensitivity", "attention_forward_blackwell", "b200", "--timeout", "0.01"});
  CHECK(late.code == app::kNoProof);
  CHECK(contains(late.out, "partial"));
}

#endif

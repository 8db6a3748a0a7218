// heddle latency on the command line.
#include <catch2/catch.hpp>

#include "app/command/exit_code.h"
#include "core/base/json.h"
#include "tests/app/cli_support.h"

using namespace heddle;
using test::contains;
using test::run_heddle;

#ifdef HEDDLE_HAS_SOLVER

TEST_CASE("latency says how far an op may slip and where II begins to rise", "[app]") {
  const auto run = run_heddle({"latency", "toy_fig1", "toy", "O", "--from", "0", "--to", "12"});
  CHECK(run.code == app::kDone);
  for (const char* part : {"stays valid, start for start, for latencies 0 to 2", "0-2", "3-12", "+1 per cycle", "proved"}) {
    CAPTURE(run.out, part);
    CHECK(contains(run.out, part));
  }
  const auto quiet = run_heddle({"latency", "toy_fig1", "toy", "O", "--quiet"});
  CHECK(std::count(quiet.out.begin(), quiet.out.end(), '\n') == 1);
}

TEST_CASE("latency prints one JSON object, with the changes that were in force", "[app]") {
  const auto run = run_heddle({"latency", "toy_fig1", "toy", "O", "--set", "O.latency=5", "--to", "9", "--json"});
  CHECK(run.code == app::kDone);
  const auto json = parse_json(run.out, "out");
  REQUIRE(json.ok());
  CHECK(*json->find("latency")->integer() == 5);
  CHECK(*json->find("ii")->integer() == 5);
  CHECK(*json->find("complete")->boolean());
  CHECK(*json->find("changes")->items()->front().string() == "O.latency=5");
  const Json& last = json->find("steps")->items()->back();
  CHECK(*last.find("last_ii")->integer() == 9);
  CHECK(*last.find("status")->string() == "optimal");
}

TEST_CASE("a latency of many II: no proof speaks of fewer stages than the schedule has", "[app]") {
  const auto asked = run_heddle({"solve", "toy_fig1", "toy", "--set", "S.latency=500", "--ii", "8", "--max-stages", "64"});
  CHECK(asked.code == app::kDone);
  const auto least = run_heddle({"solve", "toy_fig1", "toy", "--set", "S.latency=500", "--json"});
  const auto json = parse_json(least.out, "out");
  REQUIRE(json.ok());
  CHECK(*json->find("ii")->integer() <= 8);
}

TEST_CASE("latency refuses what makes no question", "[app]") {
  const auto unknown = run_heddle({"latency", "toy_fig1", "toy", "Q"});
  CHECK(unknown.code == app::kInvalidInput);
  CHECK(contains(unknown.err, "its ops: S, P or O"));
  CHECK(run_heddle({"latency", "toy_fig1", "toy"}).code == app::kUsage);
  CHECK(run_heddle({"latency", "toy_fig1", "toy", "S", "--from", "5", "--to", "4"}).code == app::kUsage);
  CHECK(run_heddle({"latency", "toy_fig1", "toy", "S", "--from", "-5"}).code == app::kUsage);
  CHECK(run_heddle({"latency", "toy_fig1", "toy", "S", "--ii", "4"}).code == app::kUsage);
  const test::ScratchFolder folder;
  const auto broken = folder.write("s.json", test::toy_schedule("\"start\": 3", "\"start\": 1"));
  CHECK(run_heddle({"latency", "toy_fig1", "toy", "S", broken}).code == app::kNegative);
  CHECK(parse_json(run_heddle({"latency", "toy_fig1", "toy", "S", broken, "--json"}).out, "out").ok());
  const auto good = run_heddle({"latency", "toy_fig1", "toy", "S", folder.write("t.json", test::toy_schedule())});
  CHECK(good.code == app::kDone);
  CHECK(contains(good.out, "the given schedule stays valid"));
}

TEST_CASE("a latency question out of time says that it is partial", "[app]") {
  const auto run = run_heddle({"latency", "attention_forward_blackwell", "b200", "exp0", "--timeout", "0.01"});
  CHECK(run.code == app::kNoProof);
  CHECK(contains(run.out, "partial"));
}

#endif

// heddle explain on the command line.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "app/command/exit_code.h"
#include "tests/app/cli_support.h"

#ifdef HEDDLE_HAS_SOLVER
using namespace heddle::app;
using heddle::test::contains;
using heddle::test::run_heddle;

TEST_CASE("explain names the binding unit and what a second one would buy", "[app]") {
  const auto run = run_heddle({"explain", "toy_fig1", "toy"});
  CHECK(run.code == kDone);
  CHECK(contains(run.out, "II 2 is the least"));
  CHECK(contains(run.out, "TC: S + O need 2 cycles"));
  CHECK(contains(run.out, "II 1 (proved)"));
}

TEST_CASE("explain as JSON has every key", "[app]") {
  const auto run = run_heddle({"explain", "toy_fig1", "toy", "--ii", "1", "--json"});
  CHECK(run.code == kDone);
  const auto root = nlohmann::json::parse(run.out);
  for (const char* key : {"status",      "ii",      "refuted",     "reason",           "sentence",  "together", "core",   "verified",
                          "assumptions", "remarks", "relaxations", "relaxations_left", "kernel",    "machine",  "params", "problem_hash",
                          "solver",      "seconds", "queries",     "conflicts",        "cancelled", "timed_out"}) {
    CAPTURE(key);
    CHECK(root.contains(key));
  }
  CHECK(root.at("status") == "infeasible");
  CHECK(root.at("refuted") == 1);
  CHECK(root.at("core").at(0).at("ops") == nlohmann::json::parse(R"(["S", "O"])"));
  CHECK(root.at("relaxations").at(0).at("what") == "capacity of TC");
}

TEST_CASE("explain ends with 5 where ways out were not tried in time, and says so first", "[app]") {
  const auto run = run_heddle({"explain", "gemm_hopper", "h100", "--relax-seconds", "0.000001"});
  CHECK(run.code == kNoProof);
  CHECK(contains(run.out, "time is up"));
  CHECK(run.out.find("time is up") < run.out.find("because"));
}

TEST_CASE("explain can leave the ways out alone", "[app]") {
  const auto run = run_heddle({"explain", "toy_fig1", "toy", "--no-relax", "--json"});
  CHECK(run.code == kDone);
  CHECK(nlohmann::json::parse(run.out).at("relaxations").empty());
}

TEST_CASE("explain says when there is nothing to explain", "[app]") {
  const auto run = run_heddle({"explain", "toy_fig1", "toy", "--ii", "9"});
  CHECK(run.code == kDone);
  CHECK(contains(run.out, "9 has a schedule"));
}

TEST_CASE("explain refuses what it cannot read", "[app]") {
  CHECK(run_heddle({"explain", "toy_fig1", "no_such_machine"}).code == kInvalidInput);
  CHECK(run_heddle({"explain", "toy_fig1", "toy", "--ii", "0"}).code == kUsage);
  CHECK(run_heddle({"explain", "toy_fig1"}).code == kUsage);
}
#endif

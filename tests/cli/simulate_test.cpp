// heddle simulate, from words to tables.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "app/command/exit_code.h"
#include "tests/app/cli_support.h"

using namespace heddle::app;
using heddle::test::contains;
using heddle::test::read_text;
using heddle::test::run_heddle;
using heddle::test::ScratchFolder;
using nlohmann::json;

TEST_CASE("simulate prints period, kernel and stalls of a schedule in a file", "[app]") {
  ScratchFolder folder;
  const std::string path = folder.write("toy.json", heddle::test::toy_schedule());
  const auto text = run_heddle({"simulate", "toy_fig1", "toy", path});
  CHECK(text.code == kDone);
  for (const char* word :
       {"simulated period 2 cycles", "II 2", "sustainable 2", "1 tile of 8 iterations", "who waits for whom", "no cost known"})
    CHECK(contains(text.out, word));
  const auto brief = run_heddle({"simulate", "toy_fig1", "toy", path, "-q"});
  CHECK(std::count(brief.out.begin(), brief.out.end(), '\n') == 1);
  const json answer = json::parse(run_heddle({"simulate", "toy_fig1", "toy", path, "--trips", "100", "--json"}).out);
  CHECK(answer.at("schema") == "heddle.simulation/1");
  CHECK(answer.at("period").at("exact") == true);
  CHECK(answer.at("run").at("trips") == 100);
  CHECK(answer.at("run").at("cycles").get<int>() >= 200);
  CHECK(contains(run_heddle({"simulate", "toy_fig1", "toy", path, "--csv"}).out, "op,section,group,role"));
}

TEST_CASE("simulate takes its switches, and refuses what makes no sense", "[app]") {
  ScratchFolder folder;
  const std::string path = folder.write("toy.json", heddle::test::toy_schedule());
  const auto first = run_heddle({"simulate", "toy_fig1", "toy", path, "--arbitration", "first-come", "--jitter", "30", "--jitter-all",
                                 "--jitter-shape", "tail", "--seed", "5", "--persistent", "--causal", "--longest-first", "--ctas", "3"});
  CHECK(first.code == kDone);
  for (const char* word : {"first come, first served", "tail by 30 %, seed 5", "persistent", "3 CTAs per SM (as asked"})
    CHECK(contains(first.out, word));
  const auto contended = run_heddle({"simulate", "toy_fig1", "toy", path, "--arbitration", "contended", "--ctas", "1"});
  CHECK(contended.code == kDone);
  CHECK(contains(contended.out, "units: groups take time from each other"));
  CHECK(run_heddle({"simulate", "toy_fig1", "toy", path, "--arbitration", "random"}).code == kUsage);
  CHECK(run_heddle({"simulate", "toy_fig1", "toy", path, "--trips", "0"}).code == kUsage);
  CHECK(run_heddle({"simulate", "toy_fig1", "toy", path, "--ctas", "0"}).code == kUsage);
  CHECK(run_heddle({"simulate", "toy_fig1", "toy", path, "--jitter", "-1"}).code == kUsage);
  CHECK(run_heddle({"simulate", "toy_fig1", "toy", path, "--study", "weather"}).code == kUsage);
  CHECK(run_heddle({"simulate", "toy_fig1", "toy", folder.path("missing.json")}).code == kInvalidInput);
  CHECK(run_heddle({"simulate", "toy_fig1", "toy", path, "--svg", folder.path("no/such/folder.svg")}).code == kEnvironment);
}

TEST_CASE("the simulated timeline can be written as a picture and as a trace", "[app]") {
  ScratchFolder folder;
  const std::string path = folder.write("toy.json", heddle::test::toy_schedule());
  const auto run = run_heddle(
      {"simulate", "toy_fig1", "toy", path, "--svg", folder.path("run.svg"), "--trace", folder.path("run.json"), "--iterations", "3"});
  CHECK(run.code == kDone);
  CHECK(contains(read_text(folder.path("run.svg")), "iteration 2"));
  CHECK_FALSE(contains(read_text(folder.path("run.svg")), "iteration 3"));
  CHECK(json::parse(read_text(folder.path("run.json"))).at("traceEvents").size() > 9);
}

TEST_CASE("studies answer as text, CSV and JSON", "[app]") {
  ScratchFolder folder;
  const std::string path = folder.write("toy.json", heddle::test::toy_schedule());
  for (const char* study : {"jitter", "numbers", "depth"}) {
    const auto text = run_heddle({"simulate", "toy_fig1", "toy", path, "--study", study});
    CHECK(text.code == kDone);
    CHECK(contains(text.out, "period"));
    CHECK(contains(run_heddle({"simulate", "toy_fig1", "toy", path, "--study", study, "--csv"}).out, ","));
    CHECK(json::parse(run_heddle({"simulate", "toy_fig1", "toy", path, "--study", study, "--json"}).out).at("study") == study);
  }
}

TEST_CASE("a schedule that deadlocks is answered in one sentence, and exits with 4", "[app]") {
  ScratchFolder folder;
  const std::string stuck = heddle::test::toy_schedule("\"start\": 0", "\"start\": 7");
  const std::string path = folder.write("stuck.json", stuck);
  const auto run = run_heddle({"simulate", "toy_fig1", "toy", path});
  INFO(run.out << run.err);
  CHECK(run.code == kNegative);
  CHECK(contains(run.out, "deadlock: "));
  const auto answer = run_heddle({"simulate", "toy_fig1", "toy", path, "--json"});
  CHECK(answer.code == kNegative);
  CHECK(json::parse(answer.out).at("deadlock") == true);
  CHECK(run_heddle({"simulate", "toy_fig1", "toy", path, "--study", "jitter"}).code == kNegative);
}

TEST_CASE("a table and an object are not both printed, nor one in place of the other", "[app]") {
  const auto run = run_heddle({"simulate", "toy_fig1", "toy", "--csv", "--json"});
  CHECK(run.code == kUsage);
  CHECK(run.err.find("both want standard output") != std::string::npos);
}

TEST_CASE("a schedule of far too many stages is refused by every simulation, at once", "[app]") {
  const heddle::test::ScratchFolder folder;
  const std::string far = folder.write("far.json", R"({
  "schema": "heddle.schedule/1", "name": "far", "kernel": "toy_fig1", "machine": "toy", "ii": 3,
  "groups": [{"warps": 1, "registers": 24}],
  "ops": [{"id": "S", "start": 0, "group": 0}, {"id": "P", "start": 206158430208, "group": 0}, {"id": "O", "start": 206158430209, "group": 0}]})");
  for (const char* rule : {"scheduled", "first-come"}) {
    const auto run = run_heddle({"simulate", "toy_fig1", "toy", far, "--arbitration", rule});
    CAPTURE(rule, run.out, run.err);
    CHECK(contains(run.out + run.err, "too many to simulate"));
  }
  const auto compared = run_heddle({"compare", "toy_fig1", "toy", far, "--no-solve"});
  CAPTURE(compared.out, compared.err);
  CHECK(contains(compared.out, "far"));
}

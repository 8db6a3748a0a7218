// heddle slack and heddle price on the command line.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "app/command/exit_code.h"
#include "tests/app/cli_support.h"
#include "tests/support/paths.h"

#ifdef HEDDLE_HAS_SOLVER

using namespace heddle::app;
using heddle::test::contains;
using heddle::test::repository_path;
using heddle::test::run_heddle;
using heddle::test::ScratchFolder;
using nlohmann::json;

TEST_CASE("slack shows every op, and its JSON has every promised field", "[app]") {
  const auto text = run_heddle({"slack", "toy_fig1", "toy"});
  CHECK(text.code == kDone);
  for (const char* word : {"S", "P", "O", "alone", "held at cycle 0", "--exact"}) CHECK(contains(text.out, word));
  const auto run = run_heddle({"slack", "toy_fig1", "toy", "--exact", "--json"});
  CHECK(run.code == kDone);
  const json answer = json::parse(run.out);
  for (const char* key : {"ii", "anchor", "stages", "absolute", "legal", "exact", "complete", "ops", "cancelled", "timed_out"})
    CHECK(answer.contains(key));
  CHECK(answer.at("complete") == true);
  REQUIRE(answer.at("ops").size() == 3);
  for (const char* key : {"id", "group", "start", "alone", "path", "earliest", "latest"}) CHECK(answer.at("ops").at(0).contains(key));
  CHECK(answer.at("ops").at(1).at("earliest").at("proved") == true);
}

TEST_CASE("slack takes ops and an anchor by name, and says which do not exist", "[app]") {
  const json one =
      json::parse(run_heddle({"slack", "toy_fig1", "toy", "--op", "P", "--op", "P", "--anchor", "O", "--exact", "--json"}).out);
  CHECK(one.at("ops").size() == 1);
  CHECK(one.at("anchor").at("op") == "O");
  const auto wrong = run_heddle({"slack", "toy_fig1", "toy", "--op", "Q", "--op", "R"});
  CHECK(wrong.code == kInvalidInput);
  CHECK(contains(wrong.err, "'Q'"));
  CHECK(contains(wrong.err, "'R'"));
  CHECK(run_heddle({"slack", "toy_fig1", "toy", "--anchor", "Q"}).code == kInvalidInput);
}

TEST_CASE("slack judges the schedule of a file, and an II must not contradict it", "[app]") {
  ScratchFolder folder;
  const std::string path = folder.write("toy.json", heddle::test::toy_schedule());
  const json answer = json::parse(run_heddle({"slack", "toy_fig1", "toy", path, "--json"}).out);
  CHECK(answer.at("ii") == 2);
  CHECK(answer.at("legal") == true);
  CHECK(run_heddle({"slack", "toy_fig1", "toy", path, "--ii", "3"}).code == kUsage);
  const auto none = run_heddle({"slack", "toy_fig1", "toy", "--ii", "1", "--json"});
  CHECK(none.code == kNegative);
  CHECK(json::parse(none.out).at("status") == "infeasible");
}

TEST_CASE("exact ranges out of time are partial, and exit with 5", "[app]") {
  const std::string schedule = repository_path("tests/schedules/attention_backward_blackwell_b200.json");
  const auto run = run_heddle({"slack", "attention_backward_blackwell", "b200", schedule, "--exact", "--timeout", "2", "--json"});
  INFO(run.err);
  CHECK((run.code == kNoProof || run.code == kDone));
  CHECK(json::parse(run.out).at("complete") == (run.code == kDone));
}

TEST_CASE("price says what each constraint costs, and its JSON has every promised field", "[app]") {
  ScratchFolder folder;
  const std::string demands = folder.write(
      "demands.json",
      R"({"schema": "heddle.constraints/1", "constraints": [{"kind": "max_stages", "limit": 1}, {"kind": "max_warps", "limit": 8}]})");
  const auto text = run_heddle({"price", "toy_fig1", "toy", "--constraints", demands});
  CHECK(text.code == kDone);
  CHECK(contains(text.out, "1 cycle (2 -> 3)"));
  CHECK(contains(text.out, "nothing"));
  const json answer = json::parse(run_heddle({"price", "toy_fig1", "toy", "--constraints", demands, "--json"}).out);
  for (const char* key : {"all", "none", "together", "constraints", "give_up", "complete", "cancelled", "timed_out"})
    CHECK(answer.contains(key));
  CHECK(answer.at("constraints").at(0).at("cycles").at("most") == 1);
  CHECK(answer.at("constraints").at(0).at("without").at("ii") == 2);
  CHECK(answer.at("complete") == true);
}

TEST_CASE("price refuses questions without meaning, and names what is in the way", "[app]") {
  CHECK(run_heddle({"price", "toy_fig1", "toy"}).code == kInvalidInput);
  CHECK(run_heddle({"price", "toy_fig1", "toy", "--max-stages", "1", "--ii", "3"}).code == kUsage);
  ScratchFolder folder;
  const std::string clash = folder.write(
      "clash.json",
      R"({"schema": "heddle.constraints/1", "constraints": [{"kind": "pin", "ops": ["S"], "at": 5}, {"kind": "range", "ops": ["P"], "low": 0, "high": 4}]})");
  const auto run = run_heddle({"price", "toy_fig1", "toy", "--constraints", clash});
  CHECK(run.code == kNegative);
  CHECK(contains(run.out, "in the way"));
}

#endif

// heddle compare on the command line.
#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

#include "app/command/exit_code.h"
#include "core/base/json.h"
#include "tests/app/cli_support.h"
#include "tests/support/paths.h"

using namespace heddle;
using test::contains;
using test::run_heddle;

#ifdef HEDDLE_HAS_SOLVER

namespace {

std::string ping_pong() { return test::repository_path("tests/schedules/attention_ping_pong.json"); }

}  // namespace

TEST_CASE("compare ranks hand schedules, heuristics, files and the optimum by predicted time, and nothing beats the optimum's II",
          "[app]") {
  const auto run = run_heddle({"compare", "attention_forward_hopper", "h100", ping_pong(), "--json"});
  CAPTURE(run.err);
  CHECK(run.code == app::kDone);
  const auto json = parse_json(run.out, "out");
  REQUIRE(json.ok());
  CHECK(json->find("beyond_bound")->items()->empty());
  CHECK(*json->find("lower_bound")->integer() == 2048);
  bool hand = false, heuristic = false, file = false, optimum = false;
  std::pair<double, std::int64_t> before;  // period, time
  for (const Json& c : *json->find("contenders")->items()) {
    const std::string name = *c.find("name")->string(), kind = *c.find("kind")->string();
    hand = hand || name == "fa3";
    heuristic = heuristic || kind == "baseline";
    file = file || contains(name, "attention_ping_pong");
    optimum = optimum || kind == "solver";
    if (c.find("place")->is_null()) continue;
    const std::int64_t cycles = *c.find("simulated")->find("cycles")->integer();
    CAPTURE(name);
    const std::pair now(*c.find("simulated")->find("period")->number(), cycles);
    CHECK(now >= before);
    before = now;
    CHECK(*c.find("period")->integer() >= 2048);
  }
  CHECK(hand);
  CHECK(heuristic);
  CHECK(file);
  CHECK(optimum);
}

TEST_CASE("a schedule that breaks a rule takes part with its violations named", "[app]") {
  const test::ScratchFolder folder;
  std::string text = test::read_text(ping_pong());
  const std::string right = "\"PV0\", \"start\": 3650", wrong = "\"PV0\", \"start\": 3000";
  REQUIRE(contains(text, right));
  text.replace(text.find(right), right.size(), wrong);
  const auto path = folder.write("bad.json", text);
  const auto run = run_heddle({"compare", "attention_forward_hopper", "h100", path, "--no-solve", "--no-baselines", "--no-hand"});
  CHECK(run.code == app::kDone);
  CAPTURE(run.out);
  CHECK(contains(run.out, "violation"));
  CHECK(contains(run.out, "1 invalid"));
  CHECK(contains(run.out, "PV0"));
}

TEST_CASE("compare sorts by any column that is asked for, best first", "[app]") {
  const auto values = [](const std::string& column, auto of) {
    const auto run = run_heddle({"compare", "attention_forward_hopper", "h100", "--no-solve", "--sort", column, "--json"});
    REQUIRE(run.code == app::kDone);
    std::vector<double> found;
    const auto json = parse_json(run.out, "out");
    REQUIRE(json.ok());
    for (const Json& c : *json->find("contenders")->items())
      if (!c.find("place")->is_null()) found.push_back(of(c));
    return found;
  };
  const auto memory = values("smem", [](const Json& c) { return static_cast<double>(*c.find("smem_bytes")->integer()); });
  CHECK(memory.size() > 4);
  CHECK(std::is_sorted(memory.begin(), memory.end()));
  const auto speed = values("speed", [](const Json& c) {
    const Json& tflops = *c.find("simulated")->find("tflops");
    return tflops.number() ? *tflops.number() : static_cast<double>(*tflops.integer());
  });
  CHECK(std::is_sorted(speed.rbegin(), speed.rend()));
  CHECK(speed.front() > speed.back());
  const auto period = values("period", [](const Json& c) {
    const Json& cycles = *c.find("simulated")->find("period");
    return cycles.number() ? *cycles.number() : static_cast<double>(*cycles.integer());
  });
  CHECK(std::is_sorted(period.begin(), period.end()));
  CHECK(period.front() < period.back());
  CHECK(run_heddle({"compare", "toy_fig1", "toy", "--sort", "spede"}).code == app::kUsage);
}

TEST_CASE("compare writes every format, by name or by the ending of the file", "[app]") {
  const test::ScratchFolder folder;
  const std::vector<std::pair<std::string, std::string>> wanted{{"b.html", "<!DOCTYPE html>"},
                                                                {"b.csv", "place,schedule"},
                                                                {"b.md", "| schedule |"},
                                                                {"b.json", "\"contenders\""},
                                                                {"b.txt", "schedule"}};
  for (const auto& [name, part] : wanted) {
    const std::string path = folder.path(name);
    const auto run = run_heddle({"compare", "toy_fig1", "toy", "--out", path});
    CAPTURE(name, run.err);
    CHECK(run.code == app::kDone);
    CHECK(contains(test::read_text(path), part));
  }
  CHECK(contains(run_heddle({"compare", "toy_fig1", "toy", "--format", "markdown"}).out, "|---"));
}

TEST_CASE("heuristics are chosen by name and options, and mistakes are named all at once", "[app]") {
  const auto run =
      run_heddle({"compare", "gemm_hopper", "h100", "--baseline", "tawa:D=4,P=1", "--baseline", "serial", "--no-solve", "--all"});
  CAPTURE(run.out, run.err);
  CHECK(run.code == app::kDone);
  CHECK(contains(run.out, "tawa:D=4,P=1"));
  CHECK_FALSE(contains(run.out, "triton  "));
  const auto bad = run_heddle({"compare", "gemm_hopper", "h100", "--baseline", "tawaa", "--baseline", "triton:N=x"});
  CHECK(bad.code == app::kInvalidInput);
  CHECK(contains(bad.err, "did you mean 'tawa'"));
  CHECK(contains(bad.err, "NAME=NUMBER"));
  CHECK(run_heddle({"compare", "gemm_hopper", "h100", "nosuch.json"}).code == app::kInvalidInput);
}

#endif

TEST_CASE("with --json the object is on standard output, whatever is written to a file", "[app]") {
  const test::ScratchFolder folder;
  const std::string file = folder.path("board.csv");
  const auto run = run_heddle({"compare", "toy_fig1", "toy", "--json", "--out", file});
  CHECK(run.code == app::kDone);
  CHECK(parse_json(run.out, "")->find("contenders") != nullptr);
  CHECK(test::read_text(file).find("{") == std::string::npos);
  CHECK(run_heddle({"compare", "toy_fig1", "toy", "--json", "--format", "csv"}).code == app::kUsage);
}

TEST_CASE("a bound from a unit's sum is no contradiction to a period that the evaluator finds", "[app]") {
  const auto run = run_heddle({"compare", test::repository_path("tests/dumps/scores.ddg.json") + "#issue-slots"});
  CAPTURE(run.out, run.err);
  CHECK(run.code == app::kDone);
  CHECK_FALSE(contains(run.err, "internal error"));
}

TEST_CASE("a bound from a unit that takes several uses at once is no contradiction to a period that the evaluator finds", "[app]") {
  // Three uses of 3 cycles on a unit that bears two: II >= 5; of two at a time the evaluator only knows that each follows itself.
  const test::ScratchFolder folder;
  std::string machine = test::read_text(test::repository_path("assets/machines/toy.json"));
  const auto replace_all = [&](const std::string& from, const std::string& to) {
    for (std::size_t at = 0; (at = machine.find(from, at)) != std::string::npos; at += to.size()) machine.replace(at, from.size(), to);
  };
  replace_all("\"role\": \"tensor\", \"capacity\": 1", "\"role\": \"tensor\", \"capacity\": 2");
  replace_all("\"duration\": 1", "\"duration\": 3");
  replace_all("{\"unit\": \"EXP\"", "{\"unit\": \"TC\"");
  const auto run = run_heddle({"compare", "toy_fig1", folder.write("two.json", machine), "--json"});
  CAPTURE(run.out, run.err);
  CHECK(contains(run.out, "\"lower_bound\": 5"));
  CHECK(run.code == app::kDone);
  CHECK_FALSE(contains(run.err, "internal error"));
}

TEST_CASE("a bound for so many stages is no contradiction to a schedule of more", "[app]") {
  const test::ScratchFolder folder;
  // S is demanded in cycle 41: with at most 6 stages that takes II 8, with more it does not.
  const std::string many = folder.write("many.json", R"({
  "schema": "heddle.schedule/1", "name": "many stages", "kernel": "toy_fig1", "machine": "toy", "ii": 3,
  "groups": [{"warps": 1, "registers": 24}],
  "ops": [{"id": "S", "start": 41, "group": 0}, {"id": "P", "start": 42, "group": 0}, {"id": "O", "start": 43, "group": 0}]})");
  const auto run = run_heddle({"compare", "toy_fig1", "toy", many, "--demand", "pin S at 41", "--json"});
  CAPTURE(run.out, run.err);
  CHECK(run.code == app::kDone);
  CHECK(contains(run.out, "at most 6 stages"));
  const auto solved = run_heddle({"solve", "toy_fig1", "toy", "--demand", "pin S at 41", "--out", folder.path("few.json")});
  CHECK(contains(solved.out, "II 8 · bound 8 · proved for at most 6 stages"));
  CHECK(contains(run_heddle({"show", "toy_fig1", "toy", folder.path("few.json"), "--demand", "pin S at 41"}).out,
                 "the file says proved for at most 6 stages"));
  CHECK(contains(run_heddle({"solve", "toy_fig1", "toy", "--json", "--demand", "pin S at 41"}).out, "\"bound_stages\": 6"));
  CHECK_FALSE(contains(run_heddle({"solve", "toy_fig1", "toy"}).out, "for at most"));
}

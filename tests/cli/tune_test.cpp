// heddle tune on the command line: answers, histories that go on, and everything that may be mistyped.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <fstream>
#include <functional>
#include <sstream>

#include "app/command/exit_code.h"
#include "tests/app/cli_support.h"

using namespace heddle::app;
using heddle::test::contains;
using heddle::test::read_text;
using heddle::test::run_heddle;
using heddle::test::ScratchFolder;
using nlohmann::json;

#ifdef HEDDLE_HAS_SOLVER

namespace {

void refused_by_tune(std::vector<std::string> words, const std::string& because, int code = kInvalidInput) {
  words.insert(words.begin(), "tune");
  const auto run = run_heddle(words);
  INFO(run.err);
  CHECK(run.code == code);
  CHECK(contains(run.err, because));
}

/// Each evaluation's configuration and value, in order.
std::string path_in(const json& answer) {
  std::string path;
  for (const json& e : answer.at("evaluations"))
    path += e.at("label").get<std::string>() + "=" + (e.contains("value") ? e.at("value").dump() : "-") + "\n";
  return path;
}

}  // namespace

TEST_CASE("tune finds and proves the best configuration", "[app]") {
  const auto run = run_heddle(
      {"tune", "gemm_blackwell", "b200", "-p", "TILE_K=64", "-p", "TILE_N=256", "--budget", "60", "--fidelity", "simulator", "--json"});
  REQUIRE(run.code == kDone);
  const json answer = json::parse(run.out);
  CHECK(answer.at("schema") == "heddle.tuning/1");
  CHECK(answer.at("end").at("proved") == true);
  CHECK(answer.at("best").at("value") == answer.at("end").at("best"));
  for (const json& e : answer.at("evaluations"))
    if (e.contains("value")) CHECK(e.at("value").get<double>() >= e.at("bound").get<double>());
  const auto all = run_heddle({"tune", "gemm_blackwell", "b200", "-p", "TILE_K=64", "-p", "TILE_N=256", "--method", "exhaustive",
                               "--no-prune", "--fidelity", "simulator", "--json"});
  CHECK(json::parse(all.out).at("best").at("value") == answer.at("best").at("value"));
  CHECK(answer.at("evaluations").size() <= 48);
  CHECK(json::parse(all.out).at("evaluations").size() == 48);
}

TEST_CASE("a history is continued as if it had never been interrupted", "[app]") {
  const ScratchFolder folder;
  const std::vector<std::string> words{"tune",     "attention_forward_hopper", "h100", "--fidelity", "heuristic", "--seed", "3", "--json",
                                       "--history"};
  const auto session = [&](const std::string& file, const char* budget) {
    auto all = words;
    all.insert(all.end(), {file, "--budget", budget});
    return run_heddle(all);
  };
  const std::string whole = folder.path("whole.jsonl"), parts = folder.path("parts.jsonl");
  const json once = json::parse(session(whole, "9").out);
  REQUIRE(session(parts, "4").code == kDone);
  // Killed while writing: half a line at the end.
  std::ofstream(parts, std::ios::app) << R"({"line": "evaluation", "number": 5, "by": "mod)";
  const auto resumed = session(parts, "5");
  CHECK(contains(resumed.err, "going on after 4 evaluations"));
  CHECK(path_in(json::parse(resumed.out)) == path_in(once));
  CHECK(json::parse(resumed.out).at("sessions").size() == 2);
  const auto shown = run_heddle({"tune", "--show", parts, "--json"});
  REQUIRE(shown.code == kDone);
  CHECK(path_in(json::parse(shown.out)) == path_in(once));
  CHECK(contains(run_heddle({"tune", "--show", parts}).out, "best cycles after evaluation"));
  // Other numbers, another space, another fidelity: another history.
  auto other = words;
  other.insert(other.end(), {parts, "--set", "TC.capacity=2"});
  CHECK(run_heddle(other).code == kInvalidInput);
  CHECK(contains(run_heddle({"tune", "gemm_hopper", "h100", "--history", parts}).err, "name another file"));
}

TEST_CASE("what a history claims is doubted before a search goes on from it", "[app]") {
  const ScratchFolder folder;
  const std::string path = folder.path("h.jsonl");
  const auto tune = [&](const char* budget) {
    return run_heddle({"tune", "toy_fig1", "toy", "--space", folder.path("space.json"), "--history", path, "--budget", budget});
  };
  folder.write(
      "space.json",
      R"({"schema": "heddle.space/1", "name": "s", "parameters": [{"name": "stages", "kind": "integer", "low": 1, "high": 4, "default": 4}], "constraints": []})");
  REQUIRE(tune("2").code == kDone);
  const std::string good = read_text(path);
  // As it was written it is believed, but as what a file says.
  const auto again = run_heddle({"tune", "--show", path, "--json"});
  const json shown = json::parse(again.out);
  for (const json& e : shown.at("evaluations")) CHECK(e.at("from_file") == true);
  const auto forged = [&](const std::function<void(json&)>& forge) {
    std::string text;
    std::istringstream lines(good);
    for (std::string line; std::getline(lines, line);) {
      json j = json::parse(line);
      if (j.at("line") == "evaluation" && j.at("number") == 1) forge(j);
      if (j.at("line") != "end") text += j.dump() + "\n";
    }
    folder.write("h.jsonl", text);
    return tune("1");
  };
  for (const auto& [forge, why] : std::vector<std::pair<std::function<void(json&)>, std::string>>{
           {[](json& j) {
              j["value"] = 1.0;
              j["bound"] = 0.5;
            },
            "below"},
           {[](json& j) { j["problem"] = "0123456789abcdef"; }, "it is about another problem"},
           {[](json& j) {
              j["schedule"]["ops"][0]["start"] = 1;
              j["schedule"]["ops"][0].erase("stage");
              j["schedule"]["ops"][0].erase("slot");
              j["schedule"].erase("certificate");
            },
            "its schedule breaks a rule"},
           {[](json& j) { j.erase("schedule"); }, "it has a value, and no schedule"}}) {
    const auto run = forged(forge);
    INFO(why << ": " << run.err);
    CHECK(run.code == kDone);
    CHECK(contains(run.err, "evaluation 1 is set aside"));
    CHECK(contains(run.err, why));
    CHECK(contains(run.err, "line 2"));
  }
}

TEST_CASE("the best that a history tells of is simulated again before it is believed", "[app]") {
  const ScratchFolder folder;
  const std::string path = folder.path("h.jsonl");
  const std::vector<std::string> words{
      "tune", "attention_forward_hopper", "h100", "--fidelity", "heuristic", "--seed", "3", "--budget", "2", "--history", path};
  REQUIRE(run_heddle(words).code == kDone);
  std::string text;
  std::istringstream lines(read_text(path));
  for (std::string line; std::getline(lines, line);) {
    json j = json::parse(line);
    if (j.at("line") == "evaluation" && j.at("number") == 2) j["value"] = j["bound"];
    if (j.at("line") != "end") text += j.dump() + "\n";
  }
  folder.write("h.jsonl", text);
  const auto run = run_heddle(words);
  INFO(run.err);
  CHECK(contains(run.err, "line 3: evaluation 2 is set aside: its schedule takes "));
  CHECK(contains(run.err, "going on after 1 evaluation"));
}

TEST_CASE("a space file says what varies, and the best schedule can be saved", "[app]") {
  const ScratchFolder folder;
  const auto printed = run_heddle({"tune", "gemm_hopper", "h100", "--print-space"});
  REQUIRE(printed.code == kDone);
  const std::string space = folder.write("space.json", R"({"schema": "heddle.space/1", "parameters": [
    {"name": "TILE_N", "kind": "ordinal", "values": [128, 256], "default": 256},
    {"name": "stages", "kind": "integer", "low": 1, "high": 2, "default": 2}], "constraints": ["TILE_N * stages <= 256"]})");
  const std::string best = folder.path("best.json");
  const auto run = run_heddle({"tune", "gemm_hopper", "h100", "--space", space, "--objective", "steady", "--out", best, "--json"});
  REQUIRE(run.code == kDone);
  const json answer = json::parse(run.out);
  CHECK(answer.at("sessions")[0].at("configurations") == 3);
  CHECK(run_heddle(
            {"tune", "gemm_hopper", "h100", "--space", folder.write("again.json", printed.out), "--budget", "1", "--fidelity", "bound"})
            .code == kDone);
  CHECK(run_heddle({"check", "gemm_hopper", "h100", best}).code == kDone);
}

TEST_CASE("tune names every fault of its question", "[app]") {
  const ScratchFolder folder;
  refused_by_tune({}, "tune needs KERNEL and MACHINE", kUsage);
  refused_by_tune({"gemm_hopper", "h100", "--show", "x.jsonl"}, "leave out KERNEL", kUsage);
  refused_by_tune({"gemm_hoper", "h100"}, "did you mean 'gemm_hopper'?");
  refused_by_tune({"gemm_hopper", "h100", "-p", "TILE_M=3"}, "no parameter 'TILE_M'");
  refused_by_tune({"toy_fig1", "toy", "--fidelity", "gpu", "--objective", "cycles"}, "what a GPU measures");
  refused_by_tune({"gemm_hopper", "h100", "--fidelity", "simulator", "--require", "compiled"}, "--require needs");
  refused_by_tune({"gemm_hopper", "h100", "--show"}, "--show", kUsage);
  refused_by_tune({"--show", folder.path("none.jsonl")}, "none.jsonl");
  const std::string bad = folder.write("bad.json", R"({"schema": "heddle.space/1", "parameters": [
    {"name": "TILE_Q", "kind": "ordinal", "values": [1, 2]}, {"name": "grid", "kind": "integer", "low": 0, "high": 1}]})");
  refused_by_tune({"gemm_hopper", "h100", "--space", bad}, "/parameters/0: 'TILE_Q' means nothing");
  refused_by_tune({"gemm_hopper", "h100", "--space", bad}, "/parameters/1: 'grid' is one of");
  const std::string nothing = folder.write(
      "none.json",
      R"({"schema": "heddle.space/1", "parameters": [{"name": "stages", "kind": "integer", "low": 1, "high": 2}], "constraints": ["stages > 5"]})");
  refused_by_tune({"gemm_hopper", "h100", "--space", nothing}, "/constraints/0: no combination satisfies");
}

TEST_CASE("configurations that are all impossible end the search at once", "[app]") {
  const ScratchFolder folder;
  const std::string space =
      folder.write("s.json", R"({"schema": "heddle.space/1", "parameters": [{"name": "KV", "kind": "ordinal", "values": [520, 1040]}]})");
  const auto run = run_heddle({"tune", "attention_forward_hopper", "h100", "--space", space});
  CHECK(run.code == kNegative);
  CHECK(contains(run.out, "no configuration has a value"));
}

#endif

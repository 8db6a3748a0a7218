// heddle paper on the command line.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "app/command/exit_code.h"
#include "tests/app/cli_support.h"

using namespace heddle::app;
using heddle::test::contains;
using heddle::test::run_heddle;
using nlohmann::json;

#ifdef HEDDLE_HAS_SOLVER

TEST_CASE("paper mode's JSON has every promised field", "[app]") {
  const auto run = run_heddle({"paper", "toy_fig1", "toy", "--json"});
  INFO(run.err);
  CHECK(run.code == kDone);
  const json answer = json::parse(run.out);
  CHECK(answer.at("status") == "optimal");
  CHECK(answer.at("i") == 2);
  CHECK(answer.at("l") == 4);
  CHECK(answer.at("copies") == 2);
  CHECK(answer.at("worth").at("period") == 2);
  CHECK(answer.at("worth").at("native_ii") == 2);
  CHECK(answer.at("worth").at("native_proved") == true);
  CHECK(answer.at("worth").at("checker").at("valid") == true);
  for (const char* key : {"explanation", "modulo_i", "modulo_l", "normalization", "ops", "groups", "windows", "ablations", "remarks",
                          "seconds", "switches", "solver", "cancelled", "timed_out", "problem_hash", "params"})
    CHECK(answer.contains(key));
  for (const char* key : {"u", "entries", "zeros", "f", "sum", "largest", "largest_normalized"})
    CHECK(answer.at("normalization").contains(key));
  for (const char* key : {"normalize", "modulo", "joint", "native", "total"}) CHECK(answer.at("seconds").contains(key));
  CHECK(answer.at("switches").at("u") == "300");
}

TEST_CASE("paper mode in words: I and L, what became zero, what it is worth", "[app]") {
  const auto run = run_heddle({"paper", "gemm_hopper", "h100", "--switch", "secondary=fewest-groups"});
  CHECK(run.code == kDone);
  for (const char* part : {"as the Twill paper schedules it", "positive costs became zero", "native optimum 1024", "sustain 1024 cycles",
                           "switches: secondary=fewest-groups", "variable latency"})
    CHECK(contains(run.out, part));
  CHECK(contains(run_heddle({"paper", "toy_fig1", "toy", "--quiet"}).out, "I 2"));
  const auto ablated = run_heddle({"paper", "toy_fig1", "toy", "--ablation", "no-subtiling", "--ablation", "no-cross-warp"});
  CHECK(contains(ablated.out, "nothing to merge"));
  CHECK(contains(ablated.out, "no register value may be read on another warp"));
}

TEST_CASE("the switches are listed with their defaults", "[app]") {
  const auto run = run_heddle({"paper", "--list-switches"});
  CHECK(run.code == kDone);
  CHECK(contains(run.out, "same-cycle-guard"));
  CHECK(contains(run.out, "(default)"));
  const json list = json::parse(run_heddle({"paper", "--list-switches", "--json"}).out).at("switches");
  CHECK(list.size() > 20);
  for (const json& item : list) CHECK((item.contains("about") && item.contains("default")));
}

TEST_CASE("paper mode says what is wrong with its arguments", "[app]") {
  CHECK(run_heddle({"paper"}).code == kUsage);
  CHECK(run_heddle({"paper", "toy_fig1"}).code == kUsage);
  CHECK(run_heddle({"paper", "toy_fig1", "toy", "--u", "0"}).code == kUsage);
  CHECK(run_heddle({"paper", "toy_fig1", "toy", "--ablation", "nothing"}).code == kUsage);
  const auto unknown = run_heddle({"paper", "toy_fig1", "toy", "--switch", "flor=one", "--switch", "u=many"});
  CHECK(unknown.code == kInvalidInput);
  CHECK(contains(unknown.err, "floor"));
  CHECK(contains(unknown.err, "'u'"));
  CHECK(run_heddle({"paper", "toy_fig2", "toy"}).code == kInvalidInput);
  const auto tight = run_heddle({"paper", "attention_forward_hopper", "h100", "--u", "3", "--switch", "floor=one"});
  CHECK(tight.code == kNoProof);
  CHECK(contains(tight.out, "U = 3 is too small"));
}

#endif

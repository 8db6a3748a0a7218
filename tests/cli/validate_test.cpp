// heddle validate, from files of measurements to exit codes.
#include <fmt/format.h>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "app/command/exit_code.h"
#include "tests/app/cli_support.h"
#include "tests/support/paths.h"

using namespace heddle::app;
using heddle::test::contains;
using heddle::test::run_heddle;
using heddle::test::ScratchFolder;
using nlohmann::json;

namespace {

/// The toy takes some 20 cycles; what it counts is made up.
json row(const std::string& id, const std::string& schedule, double tflops, int trips) {
  return {{"id", id},
          {"kind", "ablation"},
          {"kernel", "gemm"},
          {"implementation", "toy"},
          {"machine", "toybox"},
          {"tflops", tflops},
          {"problem", {{"M", 100}, {"N", 100}, {"K", 100}}},
          {"heddle", {{"kernel", "toy_fig1"}, {"schedule", schedule}, {"params", {{"T", trips}}}}}};
}

std::string ground(const std::string& bands = "[]") {
  return R"({"schema": "heddle.validation/1", "machines": [{"name": "toybox", "machine": "toy"}], "bands": )" + bands + "}";
}

}  // namespace

TEST_CASE("validate predicts what names its counterpart, lists the rest and judges pairs", "[app]") {
  ScratchFolder folder;
  const std::string schedule = folder.write("toy.json", heddle::test::toy_schedule());
  json fast = row("fast", schedule, 50, 8), slow = row("slow", schedule, 20, 80), closed = row("closed", schedule, 1, 1);
  json elsewhere = row("elsewhere", schedule, 1, 1);
  fast["pair"] = {{{"than", "slow"}, {"changes", "fewer trips"}}};
  closed.erase("heddle");
  elsewhere["machine"] = "h2o";
  const std::string rows =
      folder.write("rows.jsonl", fast.dump() + "\n" + slow.dump() + "\n\n" + closed.dump() + "\n" + elsewhere.dump() + "\n");
  const std::string list = folder.write("ground.json", ground());
  const auto run = run_heddle({"validate", rows, "--ground", list});
  INFO(run.out << run.err);
  CHECK(run.code == kDone);
  for (const char* part : {"2 of 4 rows predicted", "fast > slow", "sign right", "no machine here stands for 'h2o'"})
    CHECK(contains(run.out, part));
  const json answer = json::parse(run_heddle({"validate", rows, "--ground", list, "--json"}).out);
  CHECK(answer.at("rows").size() == 4);
  CHECK(answer.at("rows")[0].at("predicted").get<double>() > answer.at("rows")[1].at("predicted").get<double>());
  CHECK(answer.at("pairs")[0].at("sign_right") == true);
  CHECK(answer.at("kinds")[0].at("rows") == 2);
  CHECK(contains(run_heddle({"validate", rows, "--ground", list, "--markdown"}).out, "| fast | gemm |"));
  const auto brief = run_heddle({"validate", rows, "--ground", list, "-q"});
  CHECK(std::count(brief.out.begin(), brief.out.end(), '\n') == 1);
}

TEST_CASE("validate exits with 4 when a median leaves its band or a pair changes sign", "[app]") {
  ScratchFolder folder;
  const std::string schedule = folder.write("toy.json", heddle::test::toy_schedule());
  json fast = row("fast", schedule, 50, 80), slow = row("slow", schedule, 20, 8);
  const std::string calm = folder.write("calm.jsonl", fast.dump() + "\n" + slow.dump());
  const json kinds = json::parse(run_heddle({"validate", calm, "--ground", folder.write("g.json", ground()), "--json"}).out).at("kinds");
  const std::string arch = kinds[0].at("arch");
  const auto band = [&](double low) {
    return folder.write("band.json", ground(fmt::format(R"([{{"kind": "gemm", "arch": "{}x", "low": {}, "high": 1e9}}])", arch, low)));
  };
  CHECK(run_heddle({"validate", calm, "--ground", band(1e8)}).code == kDone);  // another architecture's
  fast["pair"] = {{{"than", "slow"}, {"changes", "more trips"}}};
  const std::string turned = folder.write("turned.jsonl", fast.dump() + "\n" + slow.dump());
  const auto run = run_heddle({"validate", turned, "--ground", folder.path("g.json")});
  CHECK(run.code == kNegative);
  CHECK(contains(run.out, "1 pair changed sign"));
  fast["pair"][0]["not_yet"] = "known";
  CHECK(run_heddle({"validate", folder.write("known.jsonl", fast.dump() + "\n" + slow.dump()), "--ground", folder.path("g.json")}).code ==
        kDone);
}

TEST_CASE("validate says at which line a counterpart is wrong, and all faults at once", "[app]") {
  ScratchFolder folder;
  const std::string list = folder.write("ground.json", ground());
  json wrong = row("a", "no/such", 1, 1), option = row("b", "no/such", 1, 1);
  option["heddle"]["options"] = {"--persistant"};
  const auto run = run_heddle({"validate", folder.write("rows.jsonl", wrong.dump() + "\n" + option.dump()), "--ground", list});
  CHECK(run.code == kInvalidInput);
  CHECK(contains(run.err, "rows.jsonl:1: /heddle"));
  CHECK(contains(run.err, "rows.jsonl:2: /heddle"));
  CHECK(contains(run.err, "--persistent"));
  CHECK(run_heddle({"validate", folder.path("missing.jsonl")}).code == kInvalidInput);
  CHECK(run_heddle({"validate", "--ground", folder.path("missing.json")}).code == kInvalidInput);
  CHECK(run_heddle({"validate", "--json", "--markdown"}).code == kUsage);
}

TEST_CASE("validate stops when its time is up, and says what it did not reach", "[app]") {
  const auto run = run_heddle({"validate", "--timeout", "0.001", "--json"});
  CHECK(run.code == kNoProof);
  const json answer = json::parse(run.out);
  CHECK(answer.at("complete") == false);
  CHECK(answer.at("rows").size() > 200);
}

TEST_CASE("a measurement of one's own is a row like any other", "[app]") {
  ScratchFolder folder;
  const std::string schedule = folder.write("toy.json", heddle::test::toy_schedule());
  const json measurement{{"schema", "heddle.measurement/1"},
                         {"kernel", "toy_fig1"},
                         {"machine", "toy"},
                         {"schedule", schedule},
                         {"status", "verified"},
                         {"timing", {{"flops", 1000000}, {"kernel", {{"name", "heddle"}, {"median_us", 1.0}, {"tflops", 1.0}}}}}};
  const auto run = run_heddle({"validate", folder.write("m.json", measurement.dump(2)), "--json"});
  INFO(run.err);
  CHECK(run.code == kDone);
  const json answer = json::parse(run.out);
  CHECK(answer.at("rows")[0].at("kind") == "measurement");
  CHECK(answer.at("rows")[0].at("predicted").get<double>() > 0);
  json own = measurement;  // as heddle run writes it: the schedule's name, and the schedule
  own["schedule"] = "solver II 2";
  own["schedule_file"] = json::parse(heddle::test::toy_schedule());
  const auto with_schedule = run_heddle({"validate", folder.write("own.json", own.dump()), "--json"});
  INFO(with_schedule.err);
  REQUIRE(with_schedule.code == kDone);
  CHECK(json::parse(with_schedule.out).at("rows")[0].at("predicted") == answer.at("rows")[0].at("predicted"));
  own["schedule_file"].erase("ops");
  CHECK(json::parse(run_heddle({"validate", folder.write("damaged.json", own.dump()), "--json"}).out).at("rows")[0].contains("why_not"));
  json untimed = measurement;
  untimed.erase("timing");
  CHECK(run_heddle({"validate", folder.write("untimed.json", untimed.dump())}).code == kInvalidInput);
}

TEST_CASE("a measurement is predicted with the layouts of its schedule", "[app]") {
  const auto predicted = [](const char* name) {
    const auto run = run_heddle({"validate", heddle::test::repository_path(std::string("assets/measured/2026-11-26/") + name), "--json"});
    INFO(run.err);
    REQUIRE(run.code == kDone);
    return json::parse(run.out).at("rows")[0].at("predicted").get<double>();
  };
  CHECK(predicted("attention-fp8-8k.json") > 1.02 * predicted("attention-fp8-8k-shuffled.json"));  // without shuffles
}

TEST_CASE("what ships was validated as it says: medians, spreads and signs", "[app]") {
  const auto run = run_heddle({"validate", "--json"});
  INFO(run.err);
  CHECK(run.code == kDone);
  const json answer = json::parse(run.out);
  const json ground = json::parse(heddle::test::read_text(heddle::test::repository_path("assets/published/validation.json")));
  int compared = 0;
  for (const json& band : ground.at("bands"))
    for (const json& kind : answer.at("kinds")) {
      if (kind.at("kind") != band.at("kind") || kind.at("arch") != band.at("arch")) continue;
      INFO(kind.dump());
      CHECK(kind.at("rows") == band.at("rows"));
      CHECK(kind.at("median").get<double>() == Approx(band.at("median").get<double>()).margin(0.006));
      CHECK(kind.at("spread").get<double>() == Approx(band.at("spread").get<double>()).margin(0.006));
      ++compared;
    }
  CHECK(compared == static_cast<int>(ground.at("bands").size()));
  CHECK(contains(run_heddle({"simulate", "gemm_hopper", "h100"}).out, "validated for gemm on sm_90a"));
}

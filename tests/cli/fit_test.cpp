// heddle fit, from a machine file that marks numbers as fitted to one with others.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>

#include "app/command/exit_code.h"
#include "core/formats/race_json.h"
#include "core/library/library.h"
#include "core/library/raced_problems.h"
#include "tests/app/cli_support.h"
#include "tests/support/measured_race.h"
#include "tests/support/paths.h"

using namespace heddle::app;
using heddle::test::contains;
using heddle::test::run_heddle;
using heddle::test::ScratchFolder;
using nlohmann::json;

namespace {

/// The toy machine with a launch that may be fitted.
std::string toybox(const std::string& fitted) {
  std::string text = heddle::test::read_text(heddle::test::repository_path("assets/machines/toy.json"));
  const std::size_t at = text.find("\"units\"");
  return text.insert(at, "\"shared\": {\"launch_ns\": 100},   \"fitted\": " + fitted + ",\n  ");
}

const char* const kLaunch = R"([{"number": "shared.launch_ns", "least": 0, "most": 1000, "source": "made up"}])";

json row(const std::string& id, const std::string& schedule, const std::string& machine, double microseconds) {
  return {{"id", id},
          {"kind", "ablation"},
          {"kernel", "gemm"},
          {"implementation", "toy"},
          {"machine", machine},
          {"tflops", 2.0 / microseconds},
          {"problem", {{"M", 100}, {"N", 100}, {"K", 100}}},
          {"source", id},
          {"heddle", {{"kernel", "toy_fig1"}, {"schedule", schedule}}}};
}

struct Files {
  ScratchFolder folder;
  std::string schedule = folder.write("toy.json", heddle::test::toy_schedule());
  std::string machine = folder.write("toybox.json", toybox(kLaunch));
  std::string ground = folder.write(
      "ground.json", R"({"schema": "heddle.validation/1", "machines": [{"name": "toybox", "machine": ")" + machine + R"("}]})");
  /// Measured as if the launch took 0.6 us.
  std::string rows =
      folder.write("rows.jsonl", row("one", schedule, "toybox", 0.616).dump() + "\n" + row("two", schedule, "toybox", 0.616).dump());
};

}  // namespace

TEST_CASE("fit finds the launch that measurements were made with, and writes it into the file as it stands", "[app]") {
  const Files files;
  const std::string output = files.folder.path("fitted.json");
  const auto run = run_heddle({"fit", files.machine, files.rows, "--ground", files.ground, "--out", output});
  INFO(run.out << run.err);
  REQUIRE(run.code == kDone);
  CHECK(contains(run.out, "shared.launch_ns"));
  CHECK(contains(run.out, "2 rows of 2 sources"));
  const json answer = json::parse(run_heddle({"fit", files.machine, files.rows, "--ground", files.ground, "--json"}).out);
  std::string expected = heddle::test::read_text(files.machine);
  expected.replace(expected.find("\"launch_ns\": 100"), 16, "\"launch_ns\": " + answer.at("numbers")[0].at("fitted").dump());
  CHECK(heddle::test::read_text(output) == expected);
  CHECK(answer.at("numbers")[0].at("fitted").get<int>() == Approx(600).margin(10));
  CHECK(answer.at("left_out").size() == 2);
  CHECK(answer.at("error_fitted").get<double>() < 0.02);
}

TEST_CASE("fit refuses a machine without fitted numbers, kinds that no row has, and rows for other machines", "[app]") {
  const Files files;
  const auto none = run_heddle({"fit", "toy", files.rows, "--ground", files.ground});
  CHECK(none.code == kInvalidInput);
  CHECK(contains(none.err, "marks no number as fitted"));
  const auto kind = run_heddle({"fit", files.machine, files.rows, "--ground", files.ground, "--kind", "gem"});
  CHECK(kind.code == kInvalidInput);
  CHECK(contains(kind.err, "gemm"));
  const auto other = run_heddle({"fit", "h100", files.rows, "--ground", files.ground});
  CHECK(other.code == kInvalidInput);
  CHECK(contains(other.err, "stands for machine h100"));
}

TEST_CASE("what a machine file says of fitted numbers is judged", "[app]") {
  const Files files;
  for (const auto& [fitted, fault] : std::initializer_list<std::pair<const char*, const char*>>{
           {R"([{"number": "shared.launch_ms", "least": 0, "most": 1, "source": ""}])", "shared.launch_ns"},
           {R"([{"number": "shared.launch_ns", "least": 0, "most": 99, "source": ""}])", "not between 0 and 99"},
           {R"([{"number": "shared.launch_ns", "least": 0, "most": 100, "source": ""},
                {"number": "shared.launch_ns", "least": 0, "most": 100, "source": ""}])",
            "already is /fitted/0"}}) {
    const auto run = run_heddle({"fit", files.folder.write("bad.json", toybox(fitted)), files.rows, "--ground", files.ground});
    INFO(run.err);
    CHECK(run.code == kInvalidInput);
    CHECK(contains(run.err, fault));
  }
}

TEST_CASE("fit learns contention from a race, and writes number and source into the file as it stands", "[app]") {
  const heddle::Machine machine = *heddle::load_machine("h100");
  heddle::Race race = heddle::test::race_of_attention();
  heddle::RacedProblems problems;
  REQUIRE(problems.add(race, "race", machine).ok());
  heddle::Contention other = machine.contention;
  other.product_per_read.registers.value = 250;
  const std::vector<double> took = *problems.periods(other, {});
  for (std::size_t i = 0; i < took.size(); ++i) race.racers[i].cycles = {took[i], took[i]};
  const ScratchFolder folder;
  const std::string file = folder.write("race.json", heddle::race_text(race)), output = folder.path("h100.json");
  const auto run = run_heddle({"fit", "h100", file, "--out", output});
  INFO(run.out << run.err);
  REQUIRE(run.code == kDone);
  CHECK(contains(run.out, "1 number fitted to 9 programs"));
  CHECK(contains(run.out, "contention.late_per_read/shared is not fitted"));
  const std::string before = heddle::test::read_text(heddle::test::repository_path("assets/machines/h100.json"));
  const json old = json::parse(before), fitted = json::parse(heddle::test::read_text(output));
  json expected = old;
  json& number = expected["contention"]["product_per_read"]["registers"];
  number["value"] = fitted.at("contention").at("product_per_read").at("registers").at("value");
  number["source"] = "fitted: to 9 programs of 1 race on H100 (heddle fit)";
  CHECK(number.at("value").get<int>() == Approx(250).margin(15));
  CHECK(fitted == expected);
  const std::string after = heddle::test::read_text(output);
  CHECK(std::count(after.begin(), after.end(), '\n') == std::count(before.begin(), before.end(), '\n'));
}

TEST_CASE("fit says what keeps races from being fitted to", "[app]") {
  const Files files;
  const ScratchFolder folder;
  heddle::Race race = heddle::test::race_of_attention();
  const std::string file = folder.write("race.json", heddle::race_text(race));
  CHECK(contains(run_heddle({"fit", "h100", file, files.rows}).err, "is no race"));
  CHECK(run_heddle({"fit", "h100", file, "--kind", "gemm"}).code == kUsage);
  const auto toy = run_heddle({"fit", files.machine, file});
  CHECK(toy.code == kInvalidInput);
  CHECK(contains(toy.err, "no numbers of contention"));
  const auto other = run_heddle({"fit", "h200", file});
  CHECK(other.code == kInvalidInput);
  CHECK(contains(other.err, "a race for machine h100"));
  race.racers.resize(3);
  const auto few = run_heddle({"fit", "h100", folder.write("few.json", heddle::race_text(race))});
  CHECK(few.code == kInvalidInput);
  CHECK(contains(few.err, "4 programs or more"));
  race.racers[1].schedule_text = "{\"schema\": \"heddle.schedule/1\"}";
  const auto broken = run_heddle({"fit", "h100", folder.write("broken.json", heddle::race_text(race))});
  CHECK(broken.code == kInvalidInput);
  CHECK(contains(broken.err, "/racers/1/schedule_file"));
}

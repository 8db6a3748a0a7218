// Latencies that are not always the same, on the command line: the bracket, the study of depths, solve --within.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "app/command/exit_code.h"
#include "tests/app/cli_support.h"
#include "tests/support/paths.h"

using namespace heddle;
using nlohmann::json;
using test::contains;
using test::run_heddle;

namespace {

std::vector<std::string> words(const std::string& command, std::vector<std::string> more) {
  std::vector<std::string> all{command, test::repository_path("tests/kernels/ring.json"),
                               test::repository_path("tests/kernels/ring_machine.json")};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace

TEST_CASE("solve and simulate say the bracket, and that there is none where units serve first come", "[app]") {
  const auto solved = run_heddle(words("solve", {"--set", "fetch.latency_at=2", "--least-ii"}));
  CHECK(solved.code == app::kDone);
  CHECK(contains(solved.out, "latencies: fetch 270:80%,700:18%,1400:2%, scheduled for 700"));
  CHECK(contains(solved.out, "expected period 64 to 77.92 cycles"));
  CHECK(contains(run_heddle(words("simulate", {"--set", "fetch.latency_at=2", "--least-ii"})).out, "expected period 64 to 77.92 cycles"));
  const auto first_come = run_heddle(words("simulate", {"--arbitration", "first-come"}));
  CHECK(first_come.code == app::kDone);
  CHECK(contains(first_come.out, "no bracket of the expected period"));
  CHECK_FALSE(contains(first_come.out, "expected period 64"));
  CHECK_FALSE(contains(run_heddle(words("solve", {"--set", "fetch.latency=700"})).out, "expected period"));
  const json answer = json::parse(run_heddle(words("solve", {"--set", "fetch.latency_at=2", "--least-ii", "--json"})).out);
  CHECK(answer.at("expected_period").at("at_most").at("cycles") == 1948);
  CHECK(answer.at("expected_period").at("at_most").at("iterations") == 25);
  CHECK(answer.at("expected_period").at("latencies").at(0).at("scheduled_for") == 700);
}

TEST_CASE("the study of depths is a table, CSV and JSON with the bracket", "[app]") {
  const auto text = run_heddle(words("simulate", {"--study", "depth"}));
  CHECK(text.code == app::kDone);
  for (const char* part : {"period by shared memory, II 64", "item 8", "109.5", "as now"}) CHECK(contains(text.out, part));
  const auto csv = run_heddle(words("simulate", {"--study", "depth", "--csv"}));
  CHECK(contains(csv.out, "depth_item,smem_bytes,fits,now,at_least_cycles,simulated_cycles,standard_error,at_most_cycles"));
  CHECK(contains(csv.out, "4,1024,1,0,108.500000,"));
  const json answer = json::parse(run_heddle(words("simulate", {"--study", "depth", "--json"})).out);
  CHECK(answer.at("rings") == json::array({"item"}));
  REQUIRE(answer.at("rows").size() == 23);
  for (const json& row : answer.at("rows")) {
    CHECK(row.at("simulated") >= row.at("at_least").at("per_iteration").get<double>() - 5 * row.at("standard_error").get<double>() - 0.01);
    CHECK(row.at("simulated") <= row.at("at_most").at("per_iteration").get<double>() + 5 * row.at("standard_error").get<double>() + 0.01);
  }
  CHECK(run_heddle(words("simulate", {"--study", "depth", "--seed", "1"})).out == text.out);
}

TEST_CASE("solve --within finds the least memory, saves its schedule, and says what is proved", "[app]") {
  const test::ScratchFolder folder;
  const std::string file = folder.path("best.json");
  const auto run = run_heddle(words("solve", {"--within", "1%", "--out", file}));
  CHECK(run.code == app::kDone);
  CHECK(contains(run.out, "upper end at most 64.64"));
  CHECK(contains(run.out, "5 888 bytes are the least"));
  const auto checked = run_heddle(words("check", {file, "--set", "fetch.latency_at=1"}));
  CHECK(checked.code == app::kDone);
  const json answer = json::parse(run_heddle(words("solve", {"--within", "20", "--json"})).out);
  CHECK(answer.at("within").at("least_proved") == true);
  CHECK(answer.at("within").at("steps").at(0).at("depths").at("item") == 13);
  CHECK(answer.at("channels").at(0).at("depth") == 13);
  // Other commands go on with that schedule.
  CHECK(contains(run_heddle(words("simulate", {"--within", "1%", "--arbitration", "scheduled"})).out, "expected period 64 to 64 cycles"));

  const auto none = run_heddle(words("solve", {"--within", "1%", "--demand", "smem <= 4096"}));
  CHECK(none.code == app::kNegative);
  CHECK(contains(none.out, "with none of these orders"));
  CHECK(run_heddle(words("solve", {"--within", "1%", "--ii", "64"})).code == app::kInvalidInput);
  CHECK(run_heddle(words("solve", {"--within", "-1%"})).code == app::kUsage);
  CHECK(run_heddle(words("solve", {"--timeout", "5%"})).code == app::kUsage);
}

TEST_CASE("bad lists of latencies end with their faults", "[app]") {
  const auto run = run_heddle(words("solve", {"--set", "fetch.latency=270:80%,700:10%", "--set", "use.latency=9:x"}));
  CHECK(run.code == app::kInvalidInput);
  CHECK(contains(run.err, "the shares add up to 90%, expected 100%"));
  CHECK(contains(run.err, "'9:x' is no latency with its share"));
}

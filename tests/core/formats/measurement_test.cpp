// Measurements as values and files.
#include "core/records/measurement.h"

#include <filesystem>
#include <limits>
#include <random>

#include <catch2/catch.hpp>

#include "core/chart/gantt_model.h"
#include "core/formats/measurement_json.h"
#include "core/problem/fault_log.h"
#include "tests/support/golden.h"
#include "tests/support/mutate_json.h"
#include "tests/support/paths.h"
#include "tests/support/small_problem.h"

using namespace heddle;

namespace {

/// Every part, with invented numbers.
Measurement example() {
  Measurement m;
  m.kernel = "example";
  m.machine = "h200";
  m.params = {{"K", 8192}, {"M", 8192}};
  m.schedule = "example on h200";
  m.schedule_hash = "0123456789abcdef";
  m.schedule_text = R"({"schema":"heddle.schedule/1","ii":1000})";
  m.predicted_ii = 1000;
  m.predicted = {1050, 1520.5, 723.1};
  m.measured_ii = 1024.5;
  m.status = RunStatus::Wrong;
  m.sentence = "An example of the format: nobody measured these numbers.";
  m.command = "heddle profile example h200 --json";
  m.date = "2026-01-02T03:04:05Z";
  m.heddle = "0.1.0";
  m.device = {"example device", "sm_90", 132, "580.65.06", 150'000'000'000, 60'000'000, 1980, 1755.5};
  m.build = {"NVRTC 13.0", "V13.0.88", "fedcba9876543210", 168, 0, 196'700, 384, 132};
  m.verification = {{{"C", "small integers", "bit for bit", true, 0, 0, "", 0, 4096, 0},
                     {"C", "random", "|C - reference| <= 2^-8 |reference|", false, std::numeric_limits<double>::infinity(), 0.125,
                      "C[12, 40]", 3, 4096, 3}},
                    20,
                    true,
                    "a straightforward kernel in f32"};
  m.timing.emplace();
  m.timing->flops = 1'099'511'627'776;
  m.timing->kernel = {"heddle", {1500, 1490.5, 1510}, 1500, 733, 1600, 687.2};
  m.timing->libraries = {{{"library A 1.0.0", {1480, 1470, 1490}, 1480, 742.9, 1640, 670.4},
                          {},
                          {{"C", "random", "|C - reference| <= 2^-8 |reference|", true, 0.0625, 0.125, "C[3, 7]", 0, 4096, 0}}},
                         {{"library B", {}, 0, 0, 0, 0}, "library B is not installed", {}}};
  m.timing->left_out = "zeroing D", m.timing->sustained_launches = 500;
  m.timing->launches = 50, m.timing->warmups = 10, m.timing->buffer_sets = 3, m.timing->pause_seconds = 0.5;
  m.timing->cycles_per_iteration = 1024.5;
  m.profile.emplace();
  m.profile->median_us = 1530, m.profile->plain_us = 1500, m.profile->trusted = true;
  m.profile->records = 1792, m.profile->dropped = 1, m.profile->blocks = 4, m.profile->first_iteration = 8, m.profile->iterations = 16;
  m.profile->ops = {{"mma0", "consumer A", 64, -3.5, 560, 12, 0, 512, true}};
  m.profile->timeline = {{"mma0", "consumer A", 8, 0, 560}, {"mma0", "consumer A", 9, 1024, 1585}};
  return m;
}

}  // namespace

TEST_CASE("a measurement survives being written and read", "[core]") {
  const std::string text = measurement_text(example());
  CHECK(test::golden_difference("measurement.json", text) == "");
  std::vector<Fault> warnings;
  const auto again = parse_measurement(text, "m.json", &warnings);
  REQUIRE(again.ok());
  CHECK(warnings.empty());
  CHECK(measurement_text(*again) == text);
  CHECK(again->verification->checks[1].worst == std::numeric_limits<double>::infinity());
  CHECK(again->profile->ops[0].start == -3.5);
}

TEST_CASE("a measurement of a machine without a GPU has a status and nothing else", "[core]") {
  Measurement m;
  m.kernel = "k";
  m.machine = "h100";
  m.sentence = "no driver";
  const auto again = parse_measurement(measurement_text(m), "m.json");
  REQUIRE(again.ok());
  CHECK(again->status == RunStatus::NoGpu);
  CHECK_FALSE(again->timing.has_value());
  CHECK_FALSE(again->measured_ii.has_value());
}

TEST_CASE("members of a measurement that Heddle does not know are kept", "[core]") {
  std::string text = measurement_text(example());
  text.insert(text.find("\"device\": {") + 11, "\"x-room\": \"cold\", ");
  text.insert(text.find('{') + 1, "\"x-note\": [1, 2],");
  const auto read = parse_measurement(text, "m.json");
  REQUIRE(read.ok());
  const std::string again = measurement_text(*read, text);
  CHECK(again.find("\"x-room\": \"cold\"") != std::string::npos);
  CHECK(again.find("\"x-note\": [1, 2]") != std::string::npos);
}

TEST_CASE("faults in a measurement say where they are, all at once", "[core]") {
  const std::string text = R"({"schema": "heddle.measurement/1", "kernel": "k", "machine": 3, "status": "verifed",
    "timing": {"kernel": {"median_us": "fast"}}})";
  const auto read = parse_measurement(text, "m.json");
  REQUIRE_FALSE(read.ok());
  const std::string faults = to_string(read.error());
  CHECK(faults.find("/machine: expected a name") != std::string::npos);
  CHECK(faults.find("did you mean 'verified'?") != std::string::npos);
  CHECK(faults.find("/timing/kernel/median_us: expected a number") != std::string::npos);
}

TEST_CASE("damaged measurements are read or refused, and what is read can be written", "[core]") {
  constexpr std::uint64_t kSeed = 20260301;
  INFO("seed " << kSeed);
  std::mt19937_64 random(kSeed);
  const std::string whole = measurement_text(example());
  int good = 0;
  for (int k = 0; k < 2000; ++k) {
    const std::string text = test::mutate_json(whole, random);
    const auto read = parse_measurement(text, "fuzz.json");
    if (!read.ok()) {
      if (read.error().faults.empty() || read.error().faults[0].message.empty()) FAIL("an error without words for:\n" << text);
      continue;
    }
    ++good;
    const auto again = parse_measurement(measurement_text(*read, text), "fuzz.json");
    if (!again.ok()) FAIL(to_string(again.error()) << "\nfor:\n" << text);
  }
  CHECK(good > 10);
}

TEST_CASE("a profile in which something ends before it begins is refused", "[core]") {
  Measurement m = example();
  REQUIRE(m.profile.has_value());
  m.profile->timeline = {{"load", "producer", 0, 1162423, 46701}};
  OpTiming timing;
  timing.op = "load", timing.duration = -1338130, timing.spread = -1;
  m.profile->ops = {timing};
  const auto read = parse_measurement(measurement_text(m), "m.json");
  REQUIRE_FALSE(read.ok());
  const std::string faults = to_string(read.error());
  CHECK(faults.find("/profile/ops/0/duration") != std::string::npos);
  CHECK(faults.find("/profile/ops/0/spread") != std::string::npos);
  CHECK(faults.find("/profile/timeline/0: 'load' ends at 46701, before it begins at 1162423") != std::string::npos);
}

TEST_CASE("every measurement that ships is read, and its loads last some hundred cycles", "[core]") {
  int profiles = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(test::repository_path("assets/measured"))) {
    const std::string path = entry.path().string();
    if (!path.ends_with(".json") || path.find("calibrated") != std::string::npos) continue;
    CAPTURE(path);
    const auto m = read_measurement(path);
    if (!m) FAIL(to_string(m.error()));
    if (!m->profile) continue;
    ++profiles;
    for (const OpTiming& op : m->profile->ops) {
      CAPTURE(op.op);
      CHECK(std::abs(op.start) < 20'000);
      CHECK((op.duration > 0 && op.duration < 20'000));
    }
  }
  CHECK(profiles == 2);
}

TEST_CASE("a ratio and a residual need both of their numbers", "[core]") {
  Measurement m = example();
  CHECK(*m.timing->ratio() == Approx(1480.0 / 1500));
  CHECK(m.timing->fastest_library()->name == "library A 1.0.0");
  CHECK_FALSE(m.timing->ratio(m.timing->libraries[1].times).has_value());
  m.timing->libraries.push_back({{"library C", {1400}, 1400, 0}, {}, {}});
  CHECK(*m.timing->ratio() == Approx(1400.0 / 1500));  // the fastest counts
  CHECK(*m.ii_residual() == Approx(0.0245));
  CHECK(*m.prediction_residual() == Approx(1024.5 / 1050 - 1));
  m.timing->libraries.clear();
  m.measured_ii.reset();
  CHECK_FALSE(m.timing->ratio().has_value());
  CHECK_FALSE(m.ii_residual().has_value());
  CHECK_FALSE(m.prediction_residual().has_value());
}

TEST_CASE("an absurd latency of a damaged file becomes the largest that a problem takes", "[core]") {
  Problem p = test::empty_problem();
  test::add_op(p, "a", 4, 1);
  KernelProfile profile;
  profile.ops = {{"a", "consumer", 8, 0, 1e300, 0, 0, 4, true}};
  const Adopted adopted = adopt(p, profile);
  REQUIRE(adopted.changes.size() == 1);
  CHECK(adopted.changes[0].value == kAbsurd);
}

TEST_CASE("a kernel is named by its program, not by the schedule's name", "[core]") {
  Problem p = test::empty_problem();
  test::add_edge(p, test::add_op(p, "a", 4, 1), test::add_op(p, "b", 4, 1), 4);
  Schedule s = test::place(p, 8, {{0, 0}, {5, 0}});
  const std::string hash = schedule_hash(p, s);
  s.name = "another name";
  CHECK(schedule_hash(p, s) == hash);
  s.ops[1].start = 6;
  CHECK(schedule_hash(p, s) != hash);
}

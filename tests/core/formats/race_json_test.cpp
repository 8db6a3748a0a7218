// Races as files.
#include "core/formats/race_json.h"

#include <catch2/catch.hpp>

#include "tests/support/golden.h"

using namespace heddle;

TEST_CASE("a race comes back from its file, and knows its winner", "[race]") {
  Race race;
  race.kernel = "gemm", race.machine = "h100", race.params = {{"M", 256}}, race.rounds = 2, race.settled = true;
  for (const double us : {12.0, 10.0, 11.0}) {
    Racer racer;
    racer.name = "at " + std::to_string(static_cast<int>(us)), racer.ii = 7, racer.period = 10 * us;
    racer.cold_us = {us, us}, racer.sustained_us = {us + 1, us + 2};
    race.racers.push_back(racer);
  }
  const std::string text = race_text(race);
  CHECK(test::golden_difference("race.json", text) == "");
  const auto again = parse_race(text, "race.json");
  REQUIRE(again.ok());
  CHECK(race_text(*again) == text);
  REQUIRE(again->winner() != nullptr);
  CHECK(again->winner()->name == "at 10");
  CHECK(again->correlation().value() == Approx(1));
}

TEST_CASE("a faulty race names every fault by its place", "[race]") {
  const auto read = parse_race(R"({"schema":"heddle.race/1","kernel":"k","machine":"m","racers":[{"cold_us":[-1]}]})", "race.json");
  REQUIRE_FALSE(read.ok());
  const std::string said = to_string(read.error());
  CHECK(said.find("/racers/0/cold_us/0") != std::string::npos);
  CHECK(said.find("name") != std::string::npos);
}

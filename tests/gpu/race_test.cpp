// heddle race on the fake GPU: whoever is planted as the fastest wins.
#include <cstdlib>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "core/base/atomic_file.h"
#include "core/formats/race_json.h"
#include "tests/gpu/fixture.h"
#include "tests/support/paths.h"

using namespace heddle;
using heddle::test::FakeGpu;
using heddle::test::heddle_says;
using heddle::test::Outcome;

namespace {

std::string race_words() {
  return fmt::format("race gemm_hopper h100 '{}' -p M=256 -p N=256 -p K=320 --best 0 --far 0 --launches 1 --warmups 1 --sustained 2",
                     heddle::test::repository_path("tests/schedules/gemm_hopper_h100.json"));
}

}  // namespace

TEST_CASE("a race on the GPU finds the planted winner, says that ranks are settled and writes it", "[gpu]") {
  const FakeGpu gpu;
  const std::string winner = heddle::test::commands_folder() + "/fastest.json";
  const Outcome level = heddle_says(race_words() + " --rounds 1 --json");
  INFO(level.out << level.err);
  CHECK(level.code == 5);  // all take the same time: nothing is settled
  const auto first = parse_race(level.out, "out");
  REQUIRE(first.ok());
  REQUIRE(first->racers.size() > 1);
  std::string planted;
  double us = 100;
  for (const Racer& racer : first->racers)
    if (racer.why_not.empty()) planted += fmt::format("{} {} ", racer.cubin_hash, us -= 5);
  std::string fastest;
  for (const Racer& racer : first->racers)
    if (racer.why_not.empty()) fastest = racer.name;
  ::setenv("HEDDLE_FAKE_TIMES", planted.c_str(), 1);
  const Outcome race = heddle_says(fmt::format("{} --no-verify --json --schedule '{}'", race_words(), winner));
  ::unsetenv("HEDDLE_FAKE_TIMES");
  INFO(race.out << race.err);
  CHECK(race.code == 0);
  const auto found = parse_race(race.out, "out");
  REQUIRE(found.ok());
  CHECK(found->settled);
  CHECK(found->rounds == 8);
  REQUIRE(found->winner() != nullptr);
  CHECK(found->winner()->name == fastest);
  CHECK(read_file(winner).value().find("measured fastest of") != std::string::npos);
}

// heddle race on the fake GPU: whoever is planted as the fastest wins, here and on another machine.
#include <algorithm>
#include <cstdlib>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "core/base/atomic_file.h"
#include "core/formats/race_json.h"
#include "tests/gpu/fixture.h"
#include "tests/gpu/other_machine.h"
#include "tests/support/paths.h"

using namespace heddle;
using heddle::test::FakeGpu;
using heddle::test::heddle_says;
using heddle::test::OtherMachine;
using heddle::test::Outcome;

namespace {

const std::string kRounds = " --launches 1 --warmups 1 --sustained 2";

/// All programs but those of the model.
std::string race_words() {
  return fmt::format("race gemm_hopper h100 '{}' -p M=256 -p N=256 -p K=320 --best 0 --far 0{}",
                     heddle::test::repository_path("tests/schedules/gemm_hopper_h100.json"), kRounds);
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// For each racer another time on the fake GPU, the last one's the least.
struct Planted {
  std::string fastest;
  explicit Planted(const Race& level) {
    std::string times;
    double us = 100;
    for (const Racer& racer : level.racers)
      if (racer.why_not.empty()) times += fmt::format("{} {} ", racer.cubin_hash, us -= 5), fastest = racer.name;
    ::setenv("HEDDLE_FAKE_TIMES", times.c_str(), 1);
  }
  ~Planted() { ::unsetenv("HEDDLE_FAKE_TIMES"); }
};

/// With the verdict of each, as it stands beside a race of the same programs.
std::vector<std::string> programs_of(const Race& race) {
  std::vector<std::string> all;
  for (const Racer& racer : race.racers) all.push_back(racer.name + " " + racer.cubin_hash + " " + racer.why_not);
  return all;
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
  const Planted planted(*first);
  const Outcome race = heddle_says(fmt::format("{} --no-verify --json --schedule '{}'", race_words(), winner));
  INFO(race.out << race.err);
  CHECK(race.code == 0);
  const auto found = parse_race(race.out, "out");
  REQUIRE(found.ok());
  CHECK(found->settled);
  CHECK(found->rounds == 8);
  REQUIRE(found->winner() != nullptr);
  CHECK(found->winner()->name == planted.fastest);
  CHECK(read_file(winner).value().find("measured fastest of") != std::string::npos);
}

TEST_CASE("heuristics race beside the given schedule and hand schedules, and the same program only once", "[gpu]") {
  const FakeGpu gpu;
  const Outcome text = heddle_says(race_words() + " --rounds 1 --no-verify --json");
  INFO(text.out << text.err);
  const auto race = parse_race(text.out, "out");
  REQUIRE(race.ok());
  std::vector<std::string> names;
  for (const Racer& racer : race->racers) {
    names.push_back(racer.name);
    names.insert(names.end(), racer.also.begin(), racer.also.end());
  }
  for (const char* name : {"as given", "cutlass-cooperative", "serial", "rau", "tawa"})
    CHECK(std::count(names.begin(), names.end(), name) == 1);
  CHECK(std::set<std::string>(names.begin(), names.end()).size() == names.size());
  CHECK(holds(text.err, "round 1 of at most 1: "));
  const Outcome without = heddle_says(race_words() + " --rounds 1 --no-verify --no-heuristics --json");
  const auto fewer = parse_race(without.out, "out");
  REQUIRE(fewer.ok());
  CHECK(fewer->racers.size() < race->racers.size());
}

TEST_CASE("a race on another machine needs no compiler there, and its answer is that of a race here", "[gpu]") {
  const FakeGpu gpu;
  const OtherMachine machine;
  const std::string words = race_words() + " --no-heuristics --json" + machine.on("nocompiler");
  const std::string winner = heddle::test::commands_folder() + "/fastest_there.json";
  const Outcome once = heddle_says(words + " --rounds 1");
  INFO(once.out << once.err);
  CHECK(once.code == 5);
  const auto level = parse_race(once.out, "out");
  REQUIRE(level.ok());
  REQUIRE(level->racers.size() > 1);
  CHECK(level->host == "nocompiler");
  CHECK(level->params.at("K") == 320);
  CHECK(holds(level->command, "--on"));
  const Planted planted(*level);
  const Outcome there = heddle_says(fmt::format("{} --no-verify --schedule '{}'", words, winner));
  INFO(there.out << there.err);
  CHECK(there.code == 0);
  CHECK_FALSE(holds(there.err, "copying"));
  CHECK(holds(there.err, "heddle: round 8 of at most 40: " + planted.fastest + " leads "));
  const auto race = parse_race(there.out, "out");
  REQUIRE(race.ok());
  CHECK(race->settled);
  REQUIRE(race->winner() != nullptr);
  CHECK(race->winner()->name == planted.fastest);
  CHECK(programs_of(*race) == programs_of(*level));
  CHECK(holds(read_file(winner).value(), "at nocompiler"));
  CHECK(machine.clean());
}

TEST_CASE("a race that cannot be run on another machine says why as a run does", "[gpu]") {
  const OtherMachine machine;
  const std::string words = race_words() + " --no-heuristics --rounds 1";
  {
    const FakeGpu gpu("no-device");
    const Outcome text = heddle_says(words + machine.on("box"));
    INFO(text.out << text.err);
    CHECK(text.code == 6);
    CHECK(holds(text.err, "the CUDA driver finds no GPU"));
  }
  const FakeGpu gpu;
  const Outcome bare = heddle_says(words + machine.on("bare"));
  CHECK(bare.code == 6);
  CHECK(holds(bare.err, "bare has no NVIDIA GPU, or no driver"));
  const Outcome alone = heddle_says(words + " --package x");
  CHECK(alone.code == 2);
  CHECK(holds(alone.err, "--package goes with --on HOST"));
}

TEST_CASE("the programs of an earlier race run again, with its parameters", "[gpu]") {
  const FakeGpu gpu;
  const std::string file = heddle::test::commands_folder() + "/race.json";
  const Outcome first = heddle_says(fmt::format("{} --no-heuristics --rounds 1 --json --out '{}'", race_words(), file));
  const auto before = parse_race(first.out, "out");
  REQUIRE(before.ok());
  const std::string words = fmt::format("race gemm_hopper h100 --racers '{}' --rounds 1 --no-verify --json{}", file, kRounds);
  const Outcome again = heddle_says(words);
  INFO(again.out << again.err);
  const auto after = parse_race(again.out, "out");
  REQUIRE(after.ok());
  CHECK(after->params == before->params);
  CHECK(programs_of(*after) == programs_of(*before));
  const Outcome other = heddle_says(words + " -p K=640");
  CHECK(other.code == 3);
  CHECK(holds(other.err, "the race is of K=320, not 640"));
  const Outcome kernel = heddle_says(fmt::format("race attention_forward_hopper h100 --racers '{}'", file));
  CHECK(kernel.code == 3);
  CHECK(holds(kernel.err, "the race is of kernel 'gemm_hopper'"));
  CHECK(heddle_says(race_words() + " --racers '" + file + "'").code == 2);
}

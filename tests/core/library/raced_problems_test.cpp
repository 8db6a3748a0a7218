// Numbers of contention from a race whose times the rule of motion made, with other numbers than the machine's file has.
#include "core/library/raced_problems.h"

#include <catch2/catch.hpp>

#include <cmath>

#include "core/library/library.h"
#include "tests/support/measured_race.h"

using namespace heddle;

TEST_CASE("from a race with times of other numbers of contention those numbers are found again", "[core]") {
  const Machine machine = *load_machine("h100");
  RacedProblems problems;
  REQUIRE(problems.add(test::race_of_attention(), "race.json", machine).ok());
  REQUIRE(problems.programs().size() == 9);
  CHECK(problems.stuck() == 0);

  const char *read = "contention.late_per_read/shared", *product = "contention.product_per_read/registers";
  Contention other = machine.contention;
  contention_number(other, read)->value = 1000, contention_number(other, product)->value = 250;
  const std::vector<double> times = *problems.periods(other, {});
  std::vector<RacedProgram> programs = problems.programs();
  for (std::size_t i = 0; i < programs.size(); ++i) programs[i].measured = times[i];
  const Result<FitAnswer> answer =
      fit_races(programs, machine.contention, [&](const Contention& contention) { return problems.periods(contention, {}); });
  REQUIRE(answer.ok());
  INFO(fit_text(machine, *answer, {}));
  REQUIRE(answer->numbers.size() == 2);  // nine programs determine no more
  CHECK((answer->numbers[0].number == read && answer->numbers[1].number == product));
  CHECK(std::abs(answer->after[0] - 1000) <= 20);
  CHECK(std::abs(answer->after[1] - 250) <= 15);
  CHECK(answer->error_after < 0.002);
  CHECK(answer->error_left_out < 0.002);
  CHECK(answer->error_before > 0.005);
}

TEST_CASE("races of kernels that are not found, and schedules of others, are faults of their file", "[core]") {
  const Machine machine = *load_machine("h100");
  Race race = test::race_of_attention();
  race.kernel = "no_such_kernel";
  const Result<Ok> unknown = RacedProblems().add(race, "race.json", machine);
  REQUIRE_FALSE(unknown.ok());
  CHECK(to_string(unknown.error()).find("race.json") != std::string::npos);
  race.kernel = "gemm_hopper", race.params.clear();
  const Result<Ok> other = RacedProblems().add(race, "race.json", machine);
  REQUIRE_FALSE(other.ok());
  CHECK(to_string(other.error()).find("/racers/0/schedule_file") != std::string::npos);
}

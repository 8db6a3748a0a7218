// Numbers of contention from races, by periods that are simple enough to be known.
#include "core/answers/fit_races.h"

#include <catch2/catch.hpp>

#include <string>

#include "tests/support/json_schema.h"

using namespace heddle;

namespace {

constexpr const char* kRead = "contention.late_per_read/shared";
constexpr const char* kProduct = "contention.product_per_read/shared";
constexpr const char* kSpecial = "contention.special_interval";
constexpr const char* kDone = "contention.product_done";

RangedNumber ranged(std::int64_t value, std::int64_t least, std::int64_t most, std::string source) {
  return {value, least, most, std::move(source)};
}

Contention machine() {
  Contention contention;
  contention.known = true;
  contention.late_per_read.shared = ranged(800, 0, 2000, "fitted: to loops");
  contention.product_per_read.shared = ranged(200, 0, 1000, "as h100: fitted: to loops");
  contention.special_interval = ranged(9000, 8000, 10000, "fitted: to loops");
  contention.product_done = ranged(44, 37, 60, "measured: fitted: no");
  return contention;
}

/// Of `count` programs, which depend on two of the numbers each in its own way.
std::optional<std::vector<double>> periods(const Contention& contention, std::size_t count) {
  std::vector<double> all;
  for (std::size_t i = 0; i < count; ++i)
    all.push_back(2000 + 10 * static_cast<double>(i) +
                  static_cast<double>(i % 4) * 0.05 * static_cast<double>(contention.late_per_read.shared.value) +
                  static_cast<double>(i % 3) * 0.1 * static_cast<double>(contention.product_per_read.shared.value));
  return all;
}

/// Measured where the machine has other numbers.
std::vector<RacedProgram> measured(std::size_t count, std::size_t races, bool in_cycles = true) {
  Contention other = machine();
  contention_number(other, kRead)->value = 1400, contention_number(other, kProduct)->value = 600;
  const std::vector<double> took = *periods(other, count);
  std::vector<RacedProgram> programs;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t race = i * races / count;
    const double microseconds = 0.03 * static_cast<double>(race + 1);  // of a cycle, with all trips
    programs.push_back(
        {"race " + std::to_string(race), "program " + std::to_string(i), "kernel", i, took[i] * (in_cycles ? 1 : microseconds), in_cycles});
  }
  return programs;
}

FitAnswer fitted(const std::vector<RacedProgram>& programs) {
  const Result<FitAnswer> answer =
      fit_races(programs, machine(), [&](const Contention& contention) { return periods(contention, programs.size()); });
  REQUIRE(answer.ok());
  return *answer;
}

std::string because(const FitAnswer& answer, const std::string& number) {
  for (const UnfittedNumber& kept : answer.unfitted)
    if (kept.number == number) return kept.because;
  return {};
}

}  // namespace

TEST_CASE("only numbers whose source says that they were fitted are fitted again", "[core]") {
  std::vector<std::string> names;
  for (const FittedNumber& number : fitted_contention(machine())) names.push_back(number.number);
  CHECK(names == std::vector<std::string>{kRead, kProduct, kSpecial});
}

TEST_CASE("a fit to races finds the numbers that the programs were timed with, and says which move nothing", "[core]") {
  for (const bool in_cycles : {true, false}) {
    const FitAnswer answer = fitted(measured(24, 3, in_cycles));
    INFO(fit_text({}, answer, {}));
    REQUIRE(answer.complete);
    REQUIRE(answer.numbers.size() == 2);
    CHECK(answer.numbers[0].number == kRead);
    CHECK(answer.before == std::vector<std::int64_t>{800, 200});
    CHECK(std::abs(answer.after[0] - 1400) <= 40);
    CHECK(std::abs(answer.after[1] - 600) <= 20);
    CHECK(answer.error_after < answer.error_before / 5);
    CHECK(answer.error_left_out < answer.error_before / 5);
    CHECK(answer.left_out.size() == 3);
    CHECK(because(answer, kSpecial) == "no period depends on it");
    CHECK(because(answer, kDone).empty());
    CHECK(fit_headline({}, answer).find("24 programs of 3 races") != std::string::npos);
    CHECK(test::schema_fault(fit_schema(), fit_json({}, answer)) == "");
  }
}

TEST_CASE("few programs determine few numbers: one for four of them, and the fit says so", "[core]") {
  const FitAnswer answer = fitted(measured(7, 1));
  CHECK(answer.numbers.size() == 1);
  CHECK(answer.unfitted.size() == 2);
  CHECK((because(answer, kRead) + because(answer, kProduct)) == "so few measurements determine 1 number at most");
  CHECK(answer.left_out.size() == 7);  // programs of the only race, one by one
  CHECK(fit_text({}, answer, {}).find("one program left out") != std::string::npos);
  const std::vector<RacedProgram> three = measured(3, 1);
  const Result<FitAnswer> none = fit_races(three, machine(), [](const Contention& contention) { return periods(contention, 3); });
  REQUIRE_FALSE(none.ok());
  CHECK(to_string(none.error()).find("4 programs or more") != std::string::npos);
}

TEST_CASE("numbers that explain nothing of what was measured stay as they are", "[core]") {
  std::vector<RacedProgram> programs = measured(16, 2);
  const std::vector<double> now = *periods(machine(), 16);
  for (std::size_t i = 0; i < programs.size(); ++i) programs[i].measured = now[i] * (i % 2 == 0 ? 1.03 : 0.97);  // as nothing here does
  for (RacedProgram& program : programs) program.in_cycles = true;
  const FitAnswer answer = fitted(programs);
  INFO(fit_text({}, answer, {}));
  CHECK(answer.error_left_out < 0.05);
  CHECK(answer.numbers.size() <= 1);
}

TEST_CASE("a fit to races that is stopped has no numbers", "[core]") {
  const std::vector<RacedProgram> programs = measured(16, 2);
  for (int left : {0, 3, 9}) {
    const Result<FitAnswer> answer =
        fit_races(programs, machine(), [&](const Contention& contention) { return left-- > 0 ? periods(contention, 16) : std::nullopt; });
    REQUIRE(answer.ok());
    CHECK_FALSE(answer->complete);
    CHECK(fit_headline({}, *answer).find("stopped") != std::string::npos);
  }
}

TEST_CASE("a race's programs are timed in cycles where all of them have cycles, else by what launches took", "[core]") {
  Race race;
  race.kernel = "k";
  for (const double us : {10.0, 12.0, 11.0}) {
    Racer racer;
    racer.name = std::to_string(static_cast<int>(us));
    racer.cold_us = {us - 1, us, us + 1}, racer.cycles = {100 * us};
    race.racers.push_back(racer);
  }
  race.racers[1].why_not = "it faulted";
  const std::vector<RacedProgram> cycles = raced_programs(race, "file");
  REQUIRE(cycles.size() == 2);
  CHECK((cycles[1].racer == 2 && cycles[1].in_cycles && cycles[1].measured == 1100));
  race.racers[2].cycles.clear();
  const std::vector<RacedProgram> times = raced_programs(race, "file");
  REQUIRE(times.size() == 2);
  CHECK((times[0].name == "10" && !times[0].in_cycles && times[0].measured == 10));
}

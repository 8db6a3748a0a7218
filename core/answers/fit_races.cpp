#include "core/answers/fit_races.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/assert.h"
#include "core/base/quantile.h"
#include "core/base/text_style.h"

namespace heddle {
namespace {

constexpr const char* kPart = "contention.";
constexpr double kLeastEffect = 1e-4;  // of a period: what rounding does
constexpr double kStuck = 3;           // the error of a program that cannot run, as if it took 20 times as long

/// "fitted: to ..." or, of a file that has another's numbers, "as h100: fitted: to ...".
bool is_fitted(const RangedNumber& number) {
  std::string_view source = number.source;
  if (source.starts_with("as "))
    if (const std::size_t colon = source.find(": "); colon != std::string_view::npos) source.remove_prefix(colon + 2);
  return source.starts_with("fitted") && number.least < number.most;
}

/// Numbers of a race that has no cycles, less what all of them have in common.
std::vector<double> without_factors(const std::vector<RacedProgram>& programs, std::vector<double> logs) {
  std::map<std::string, std::vector<double>> of;
  for (std::size_t i = 0; i < programs.size(); ++i)
    if (!programs[i].in_cycles) of[programs[i].race].push_back(logs[i]);
  for (std::size_t i = 0; i < programs.size(); ++i)
    if (!programs[i].in_cycles) logs[i] -= median(of[programs[i].race]);
  return logs;
}

class RaceFit {
 public:
  RaceFit(const std::vector<RacedProgram>& programs, const Contention& contention, const RacedPeriods& periods)
      : programs_(programs), contention_(contention), periods_(periods) {
    const bool one = std::all_of(programs.begin(), programs.end(), [&](const RacedProgram& p) { return p.race == programs[0].race; });
    source_ = one ? "program" : "race";
    for (const RacedProgram& p : programs) rows_.push_back({p.name, p.kernel, one ? p.name : p.race});
  }

  Result<FitAnswer> run() {
    const std::optional<std::vector<FittedNumber>> numbers = moving_numbers();
    const std::size_t most = programs_.size() / kProgramsPerNumber;
    FitAnswer answer;
    if (numbers && (numbers->empty() || most == 0)) return nothing_to_fit();
    if (numbers) {
      Contention now = contention_;
      std::vector<std::int64_t> values;
      for (const FittedNumber& number : *numbers) values.push_back(contention_number(now, number.number)->value);
      answer = fit_numbers(rows_, *numbers, values, [&](const auto& tried) { return errors(*numbers, tried); }, {.most_numbers = most});
    } else {
      answer.complete = false;
    }
    answer.unfitted.insert(answer.unfitted.end(), unfitted_.begin(), unfitted_.end());
    answer.row = "program", answer.source = source_;
    return answer;
  }

 private:
  std::optional<std::vector<double>> errors(const std::vector<FittedNumber>& numbers, const std::vector<std::int64_t>& values) const {
    const auto periods = periods_(contention_with(contention_, numbers, values));
    if (!periods) return std::nullopt;
    std::vector<double> logs;
    for (std::size_t i = 0; i < programs_.size(); ++i)
      logs.push_back((*periods)[i] > 0 ? std::log(programs_[i].measured / (*periods)[i]) : kStuck);
    return without_factors(programs_, std::move(logs));
  }

  /// How far the number moves periods from one end of its range to the other, in the mean; nothing: stopped.
  std::optional<double> effect(const FittedNumber& number) const {
    const auto least = errors({number}, {number.least}), most = errors({number}, {number.most});
    if (!least || !most) return std::nullopt;
    double sum = 0;
    for (std::size_t i = 0; i < least->size(); ++i) sum += std::abs((*most)[i] - (*least)[i]);
    return sum / static_cast<double>(least->size());
  }

  /// Those that periods depend on; nothing: stopped.
  std::optional<std::vector<FittedNumber>> moving_numbers() {
    std::vector<FittedNumber> numbers;
    for (const FittedNumber& number : fitted_contention(contention_)) {
      const std::optional<double> moved = effect(number);
      if (!moved) return std::nullopt;
      if (*moved < kLeastEffect)
        unfitted_.push_back({number.number, "no period depends on it"});
      else
        numbers.push_back(number);
    }
    return numbers;
  }

  Result<FitAnswer> nothing_to_fit() const {
    if (fitted_contention(contention_).empty()) return Error::input("the machine's file marks no number of contention as fitted");
    return Error::input(programs_.size() < kProgramsPerNumber
                            ? count_of(programs_.size(), "program") + " determine no number"
                            : "these programs determine no number: no period depends on one that was fitted",
                        fmt::format("race {} programs or more whose periods differ", kProgramsPerNumber));
  }

  const std::vector<RacedProgram>& programs_;
  const Contention& contention_;
  const RacedPeriods& periods_;
  std::string source_;
  std::vector<FitRow> rows_;
  std::vector<UnfittedNumber> unfitted_;
};

}  // namespace

std::vector<FittedNumber> fitted_contention(const Contention& contention) {
  std::vector<FittedNumber> numbers;
  each_number(contention, [&](const char* name, const RangedNumber& number) {
    if (is_fitted(number)) numbers.push_back({std::string(kPart) + name, number.least, number.most, number.source});
  });
  return numbers;
}

RangedNumber* contention_number(Contention& contention, const std::string& name) {
  RangedNumber* found = nullptr;
  each_number(contention, [&](const char* other, RangedNumber& number) {
    if (std::string(kPart) + other == name) found = &number;
  });
  return found;
}

Contention contention_with(Contention contention, const std::vector<FittedNumber>& numbers, const std::vector<std::int64_t>& values) {
  HEDDLE_ASSERT(numbers.size() == values.size(), "a value of each number");
  for (std::size_t n = 0; n < numbers.size(); ++n) contention_number(contention, numbers[n].number)->value = values[n];
  return contention;
}

std::vector<RacedProgram> raced_programs(const Race& race, const std::string& name) {
  const std::vector<std::vector<double>> times = race.times();
  bool in_cycles = true;
  for (std::size_t i = 0; i < times.size(); ++i)
    if (!times[i].empty() && race.racers[i].cycles.empty()) in_cycles = false;
  std::vector<RacedProgram> programs;
  for (std::size_t i = 0; i < times.size(); ++i)
    if (!times[i].empty())
      programs.push_back({name, race.racers[i].name, race.kernel, i, median(in_cycles ? race.racers[i].cycles : times[i]), in_cycles});
  return programs;
}

Result<FitAnswer> fit_races(const std::vector<RacedProgram>& programs, const Contention& contention, const RacedPeriods& periods) {
  HEDDLE_ASSERT(!programs.empty(), "something was measured");
  return RaceFit(programs, contention, periods).run();
}

}  // namespace heddle

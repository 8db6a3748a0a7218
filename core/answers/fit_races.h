// heddle fit, of races: the numbers of contention that a machine file marks as fitted, estimated again from how long programs of a kernel
// took against each other. Fitted are only as many as that many programs can tell apart.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/answers/fit.h"
#include "core/machine/contention.h"
#include "core/records/race.h"

namespace heddle {

/// Those that their source says were fitted: "contention.late_per_read/shared".
std::vector<FittedNumber> fitted_contention(const Contention& contention);
/// By such a name; nullptr: there is none.
RangedNumber* contention_number(Contention& contention, const std::string& name);
/// Pre: the names are of fitted_contention().
Contention contention_with(Contention contention, const std::vector<FittedNumber>& numbers, const std::vector<std::int64_t>& values);

/// A program and what it took.
struct RacedProgram {
  std::string race, name, kernel;
  std::size_t racer = 0;  ///< of its race
  double measured = 0;    ///< median, of what its race was measured in
  /// In cycles of an iteration. False: in microseconds of a launch, of which only ratios within the race say something: its clock, trips
  /// and what lies around the loop are one factor for all.
  bool in_cycles = false;
};
/// Of a racer each that has times, in the order of the file. In cycles where all of them have cycles.
std::vector<RacedProgram> raced_programs(const Race& race, const std::string& name);

/// Cycles of an iteration of each program where the machine has these numbers, 0 where it cannot run. Nothing: stopped.
using RacedPeriods = std::function<std::optional<std::vector<double>>(const Contention&)>;

/// So many programs for each number at least: two would do if nothing but the rule decided their times.
inline constexpr std::size_t kProgramsPerNumber = 4;

/// Least error as of fit_numbers(). Races are left out one by one, or programs where there is one race only. Several numbers do much the
/// same to periods; of those that move them, so few are fitted as explain the measurements nearly as well as more would, and one at most
/// for kProgramsPerNumber programs. Input error: there is no such number, or there are too few programs.
Result<FitAnswer> fit_races(const std::vector<RacedProgram>& programs, const Contention& contention, const RacedPeriods& periods);

}  // namespace heddle

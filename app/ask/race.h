// Programs of a kernel against each other on the GPU: those that are known, or chosen (app/ask/race_field.h), all written and compiled
// before the first one runs.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/ask/ending.h"
#include "app/ask/listener.h"
#include "codegen/compile/compile.h"
#include "codegen/program/build.h"
#include "codegen/run/measure.h"
#include "core/records/measurement.h"
#include "core/records/race.h"
#include "core/schedule/schedule.h"

namespace heddle::app {

struct RaceOptions {
  int best = 6;               ///< programs, the shortest by the model
  int far = 2;                ///< programs that share the fewest neighbours with those, no more than kFarPercent longer than the least
  bool heuristics = true;     ///< what compilers and classical algorithms make of it (solver/baselines)
  int stages = 3;             ///< at most so many in a group
  int rounds = 40;            ///< at most
  double race_seconds = 300;  ///< for the rounds; searching and compiling come before
  int launches = 20, warmups = 5, sustained_launches = 200;  ///< of each program in each round
  double pause_seconds = 0.2;                                ///< of rest before the cold ones
  double limit_seconds = 60;                                 ///< without a sign of life before a kernel's process is killed
  bool verify = true;                                        ///< every result, before the first round
  codegen::BuildOptions build{};
  codegen::CompileOptions compile{};
  bool for_host = false;   ///< another machine writes the same texts and runs them: what is known of schedules here stays here
  bool text_only = false;  ///< there is no compiler here
};
inline constexpr int kFarPercent = 10;

/// A program that takes part.
struct RaceEntry {
  std::string name;
  Schedule schedule;
  std::vector<std::string> also{};  ///< who else gives the same program
  std::string why_not{};            ///< why it is not even written; empty: nothing
};
/// Where the same program takes part already, that one has the other name, too, and nothing is added: false.
bool add_racer(std::vector<RaceEntry>& entries, RaceEntry entry);
/// The subject's schedule and the hand schedules that ship with its kernel. Pre: the subject has a schedule.
std::vector<RaceEntry> known_racers(const Subject& subject);
/// Those of an earlier race. Faults: of their schedules, in `file`.
Result<std::vector<RaceEntry>> racers_of(const Race& race, const std::string& file, const Problem& problem);

struct RaceWatch {
  std::stop_token stop;
  std::function<void(const News&)> hear;
};

/// A racer's program, and what is run of it; neither where it is out.
struct RacerKernel {
  std::optional<codegen::Program> program;
  std::optional<codegen::PreparedRun> prepared;
};
/// Programs that can run. A stop leaves out those that come later.
struct ReadyRace {
  Race race;
  std::vector<RaceEntry> entries;    ///< a racer's each
  std::vector<RacerKernel> kernels;  ///< the same
};
/// Writes and compiles all of them; who cannot be, or has another's machine code, is out and says why. Errors of the environment: no
/// compiler.
Result<ReadyRace> ready_race(const Subject& subject, const RaceOptions& options, std::vector<RaceEntry> entries, const RaceWatch& watch);

struct RaceAnswer {
  Race race;
  std::optional<Schedule> winner;  ///< "measured fastest of N"
  std::optional<Error> error;      ///< there is no GPU, no compiler, no process
  bool cancelled = false;
};

/// What was measured of racer `i` in one go; verified where that is said.
using TimeRacer = std::function<Result<Measurement>(std::size_t i, bool verify)>;

/// The rounds: all racers in turn, forth and then back, so that what drifts meets each alike. Ends when all ranks are settled, when one
/// racer at most is left, at the last round, or when time is up. Who fails once is out, and says why. An error ends it, too.
std::optional<Error> run_rounds(Race& race, const RaceOptions& options, const TimeRacer& timed, const RaceWatch& watch);

/// Runs them here.
RaceAnswer ask_race(const Subject& subject, const RaceOptions& options, ReadyRace ready, const RaceWatch& watch);
/// The race has been run: its winner is one of these schedules, a racer's each.
RaceAnswer race_answer(Race race, const std::vector<RaceEntry>& entries);
Ended ended(const RaceAnswer& answer);
std::string told(const Subject& subject, const RaceAnswer& answer, const Telling& how);

}  // namespace heddle::app

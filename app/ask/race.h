// Programs of a kernel against each other on the GPU: the best by the model, some that differ most from those, and hand schedules.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/ask/ending.h"
#include "codegen/compile/compile.h"
#include "codegen/program/build.h"
#include "core/records/measurement.h"
#include "core/records/race.h"
#include "core/schedule/schedule.h"

namespace heddle::app {

struct RaceOptions {
  int best = 6;               ///< programs, the shortest by the model
  int far = 2;                ///< programs that share the fewest neighbours with those, no more than kFarPercent longer than the least
  int stages = 3;             ///< at most so many in a group
  int rounds = 40;            ///< at most
  double race_seconds = 300;  ///< for the rounds; searching and compiling come before
  int launches = 20, warmups = 5, sustained_launches = 200;  ///< of each program in each round
  double pause_seconds = 0.2;                                ///< of rest before the cold ones
  double limit_seconds = 60;                                 ///< without a sign of life before a kernel's process is killed
  bool verify = true;                                        ///< every result, before the first round
  codegen::BuildOptions build{};
  codegen::CompileOptions compile{};
};
inline constexpr int kFarPercent = 10;

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
std::optional<Error> run_rounds(Race& race, const RaceOptions& options, const std::stop_token& stop, const TimeRacer& timed,
                                const std::function<void(std::string)>& doing);

/// Pre: the subject has a schedule, which takes part and whose groups the model's programs keep.
RaceAnswer ask_race(const Subject& subject, const RaceOptions& options, std::stop_token stop, const Listener<RaceAnswer>& listener);
Ended ended(const RaceAnswer& answer);
std::string told(const Subject& subject, const RaceAnswer& answer, const Telling& how);

}  // namespace heddle::app

// The question "which program has the least period?": every program is run where they are few enough, else orders that are known are
// improved; what is claimed says the standing.
//
// The period is that of the rule of motion (core/motion/motion.h), in the machine's numbers of contention. II, its proof and the starts of
// a schedule are another matter: they say what can be sustained where nothing contends.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/motion/bound.h"
#include "solver/programs/enumerate.h"
#include "solver/programs/space.h"

namespace heddle::programs {

enum class ProgramStanding {
  LeastOfAll,            ///< of all programs whose groups hold these ops; every one was run or is bounded
  WithinPercentOfBound,  ///< not all were run; no program at all is below the bound
  ByPrediction,          ///< nothing is claimed: the first known schedule, however it was chosen
};

struct KnownProgram {
  std::string name;  ///< "fa3"
  Schedule schedule;
};

/// Programs that close to the least are ranked by the mean of their periods over the least and the most of each number of contention, then
/// by stages, shared memory, registers.
inline constexpr double kTiePercent = 0.5;

struct LeastOptions {
  Rules rules{};
  std::int64_t most_programs = 10'000'000;               ///< a space with more is not run whole
  std::int64_t most_orders = SpaceLimits{}.most_orders;  ///< that are looked at in one group before the space counts as too large
  std::int64_t local_programs = 20'000;                  ///< that are run where the space is not
  double seconds = 60;
  std::uint64_t seed = 0;
  double tie_percent = kTiePercent;
  std::size_t top = 40;  ///< programs that are kept, for whoever compiles and judges them ...
  int percent = 4;       ///< ... of those so much longer than the least at most
};

struct LeastProgram {
  ProgramStanding standing = ProgramStanding::ByPrediction;
  std::string sentence;              ///< for the certificate
  std::string why;                   ///< what keeps it from a better standing; empty for LeastOfAll
  std::optional<Schedule> schedule;  ///< the answer's: passed the checker and stands for the very program
  timing::LoopProgram program;       ///< the answer
  motion::MotionPeriod period;       ///< of the answer
  std::string from;                  ///< a known program's name, or empty: found here
  std::size_t tied = 1;              ///< programs within tie_percent of the least; the answer is chosen from them
  std::vector<std::string> unmade;   ///< programs that might have been the answer, but no legal schedule was made of them, and why
  motion::PeriodBound bound;         ///< on every program
  std::vector<OrderCounts> counts;   ///< per consumer group, where its orders were enumerated
  bool copies = false;               ///< they are the same orders in all groups (space.h)
  std::int64_t programs = 0;         ///< of the space; 0: not counted
  std::int64_t compared = 0;         ///< that were run
  std::string digest;                ///< of the space's signatures (space.h)
  std::vector<Ranked> top;           ///< the shortest, the least first

  /// Of the answer above the bound, in percent.
  double gap() const;
};

/// `known`: schedules of the problem, the first says which ops share a group and may be the answer whatever it is worth. Those that break a
/// rule or a demand are left out. Pre: there is one.
LeastProgram least_program(const Problem& problem, const std::vector<KnownProgram>& known, const LeastOptions& options = {},
                           const std::stop_token& stop = {}, const ProgressListener& listener = {});

/// Equal but for the last digits, in which it is seen how a program fell into step. Pre: both have a period.
bool same_period(const motion::MotionPeriod& a, const motion::MotionPeriod& b);

/// The schedule of a program, as early as its order allows at native cycles; or why there is none that keeps the rules and stands for this
/// program.
struct MadeSchedule {
  std::optional<Schedule> schedule;
  std::string objection;
};
MadeSchedule schedule_of(const Problem& problem, const Constraints& constraints, const Ranked& program);

}  // namespace heddle::programs

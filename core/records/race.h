// What a race of one kernel's programs on a GPU has shown: what the model says of each, and its times, round by round.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/expr.h"
#include "core/problem/problem.h"

namespace heddle {

struct Racer {
  std::string name;               ///< "fa3", "model 1", "far 1"
  std::vector<std::string> also;  ///< who else gives the same program
  std::string schedule_text;      ///< heddle.schedule/1
  Cycle ii = 0;
  double period = 0;                          ///< by the model, cycles an iteration; 0: the machine has no numbers of contention
  std::string cubin_hash;                     ///< of the kernel; empty: none was compiled
  std::string why_not;                        ///< why it has no times, or no more of them; empty: nothing
  std::vector<double> cold_us, sustained_us;  ///< per launch, one number a round
  std::vector<double> cycles;                 ///< of an iteration of the steady loop, one number a round in which it was measured
};

struct Race {
  std::string kernel, machine;
  Scope params;
  std::string device, heddle, command, date;
  std::string host;      ///< of --on, as it was given; empty: the machine where the command was typed
  std::string ended;     ///< why it ended: "ranks are settled" ...
  bool settled = false;  ///< of each two neighbours, who is faster (core/records/race_statistics.h)
  int rounds = 0;
  double seconds = 0;
  std::vector<Racer> racers;

  /// Sustained times of each racer, or cold ones where there are no others: what ranks are made of.
  std::vector<std::vector<double>> times() const;
  /// The first of them that was timed; nullptr: none.
  const Racer* winner() const;
  /// The model's order against that of the times; nothing with fewer than two racers, or where one orders nothing.
  std::optional<double> correlation() const;
};

}  // namespace heddle

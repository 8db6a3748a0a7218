// The answer to "which other schedules are as good?", as plain data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/analysis/robustness.h"
#include "core/analysis/signature.h"
#include "core/schedule/outcome.h"

namespace heddle {

/// A schedule whose signature no other one of the answer has.
struct Alternative {
  Schedule schedule;                     ///< passed the checker; groups numbered as in the first where possible
  int distance = 0;                      ///< signature_distance to the first
  int nearest = 0;                       ///< to the nearest of those found before; 0 for the first
  std::vector<std::string> differences;  ///< from the first, in words
  Cycle period = 0;                      ///< sustainable, rounded up
  Robustness robustness;
};

struct Alternatives {
  SolveOutcome first;                    ///< the search for the optimum; its schedule is the first alternative
  Aspect aspect = Aspect::Any;
  bool ii_only = false;                  ///< equal II suffices; otherwise every objective is at most that of the first
  int stages = 0;                        ///< what is said holds for schedules of at most this many stages
  int most_distance = 0;                 ///< no two schedules can be farther apart
  std::vector<Alternative> found;
  bool exact = false;                    ///< proved: there are exactly found.size()
  bool more = false;                     ///< one more was seen, beyond the count asked for
  bool cancelled = false, timed_out = false;
  std::int64_t queries = 0;
  double seconds = 0;                    ///< altogether
  std::string fault;                     ///< an internal error; empty when all is well
};

}  // namespace heddle

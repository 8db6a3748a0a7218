// Every program of a space is run, in the order of the greater bound of its groups, until that bound says that none of the rest is better.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/base/deadline.h"
#include "solver/programs/ranking.h"
#include "solver/programs/space.h"

namespace heddle::programs {

struct EnumerationProgress {
  std::string phase;
  std::int64_t programs = 0, of = 0;  ///< run so far; `of`: 0 where it is not known
  motion::MotionPeriod least;         ///< so far
  motion::Ticks bound = 0;            ///< on every program
};
using ProgressListener = std::function<void(const EnumerationProgress&)>;

struct EnumerateLimits {
  std::int64_t most_programs = 10'000'000;  ///< of a space with more none is run
  Deadline deadline{};
  std::stop_token stop{};
};

struct Enumeration {
  bool complete = false;       ///< no program of the space is shorter than the first of the ranking
  std::string why;             ///< not complete: why
  std::int64_t programs = 0;   ///< in all
  std::int64_t compared = 0;   ///< of these, that were run; the others are cut off by their groups' bounds
  motion::MotionPeriod least;  ///< of those that were run
};

/// Adds what it finds to the ranking, which may hold programs already. Pre: the space has no refusal.
Enumeration enumerate(const Assembly& assembly, const ProgramSpace& space, Ranking& ranking, const EnumerateLimits& limits = {},
                      const ProgressListener& listener = {});

}  // namespace heddle::programs

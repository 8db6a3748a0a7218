// One SM, event by event: the streams of its CTAs in time order, units that serve whoever asks first.
//
// With Arbitration::Scheduled the edges of a program hold every op back until the schedule's order on its units allows it; the
// units then only settle what no schedule orders, the meeting of several tiles or CTAs.
#pragma once

#include <cstdint>
#include <vector>

#include "core/simulate/cta_program.h"
#include "core/simulate/simulate.h"

namespace heddle {

struct SmWork {
  /// Trips of each tile, at least 1. One queue: a CTA ends with its tile, and the next tile's CTA starts in its place; `ctas` are
  /// resident at once. Persistent: a queue per CTA, whose groups go on to the next tile without waiting for each other.
  std::vector<std::vector<std::int64_t>> queues;
  int ctas = 1;
  bool persistent = false;
};

struct SmRun {
  Simulation run;  ///< stalls and timeline are those of the first CTA (its epilogue only if all of the loop is in the timeline); `trips`
                   ///< and the period those of its first tile
  Cycle first_tile = 0;  ///< until the first CTA's first tile is done
};

/// Pre: the program was made for this arbitration. options.trips is not looked at; past options.most_ops it gives up, with a fault.
SmRun run_sm(const CtaProgram& program, const SmWork& work, const SimulateOptions& options);

}  // namespace heddle

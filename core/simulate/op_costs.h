// What ops cost an SM, laid out flat for the engine that runs them event by event (core/simulate/sm_run.h).
#pragma once

#include <cstdint>
#include <vector>

#include "core/simulate/cta_program.h"
#include "core/simulate/simulate.h"

namespace heddle {

struct OpCost {
  Cycle latency = 0, window = 0, end = 0;
  std::uint32_t group = 0, first_use = 0, last_use = 0;  ///< OpCosts::uses [first_use, last_use)
  bool blocking = false;                                 ///< waits until its stream's last issue window is over
  bool queues = false;                                   ///< its stream goes on while its unit is busy
  bool jitters = false;
  // Interleaved: in how many parts its units serve it, how long all of them take where nothing else is served, and whether its stream
  // leaves them to a lane.
  std::int64_t parts = 1;
  Cycle whole = 0;
  bool laned = false;

  /// Of `cycles` for all parts, those of the parts before this one.
  Cycle before(std::int64_t part, Cycle cycles) const { return cycles * part / parts; }
  /// Those of this one.
  Cycle of(std::int64_t part, Cycle cycles) const { return before(part + 1, cycles) - before(part, cycles); }
};

struct OpUse {
  std::uint32_t unit = 0;
  Cycle offset = 0, duration = 0;
  std::int64_t amount = 0;
};

struct OpCosts {
  std::vector<OpCost> ops;
  std::vector<OpUse> uses;
  /// Per group the op that opens a tile's products, and how much later it comes than that of the first group that has any
  /// (SimulateOptions::apart).
  static constexpr std::uint32_t kNone = static_cast<std::uint32_t>(-1);
  std::vector<std::uint32_t> first_product;
  std::vector<Cycle> apart;
};

OpCosts op_costs(const CtaProgram& program, const SimulateOptions& options);

}  // namespace heddle

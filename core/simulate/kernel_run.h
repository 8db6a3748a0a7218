// A whole kernel: its grid of tiles on all SMs, each tile with prologue, loop and epilogue.
//
// SMs meet only in L2: where the machine file says what it supplies to each SM when all of them load, bulk copies of the loop take
// that long. The kernel lasts as long as its busiest SM, and at least as long as DRAM takes for every element of its tensors once. A tile
// is handed to whichever CTA slot is free first, in the grid's order (first dimension fastest) or longest first; persistent CTAs draw their
// tiles the same way from a counter.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/instance/instance.h"
#include "core/kernel/kernel.h"
#include "core/machine/clock.h"
#include "core/problem/work.h"
#include "core/simulate/cta_program.h"
#include "core/simulate/occupancy.h"
#include "core/simulate/simulate.h"

namespace heddle {

struct KernelRunOptions {
  /// All but its trips. Contended: iterations take as long as simulate() says; all else, the timeline too, is as if interleaved.
  SimulateOptions loop;
  /// Interleaved: iterations take as long as contended where that was held against measured loops (chooses_by_period()) and the rule can
  /// run the schedule.
  bool contention = true;
  std::optional<std::int64_t> trips;  ///< of every tile; default: what the kernel says
  /// Triangular: of n tiles along the first grid dimension the b-th runs ceil((b + 1) * trips / n) iterations. Of no effect where the
  /// kernel says the trips of its tiles itself and `trips` does not replace them.
  bool causal = false;
  bool persistent = false;
  bool longest_first = false;
  /// Tiles of more iterations are cut into pieces of so many, longest first or in the grid's order as the tiles are; 0: none is cut. What
  /// the pieces find is added up in global memory, or left there for a kernel that follows.
  std::int64_t split = 0;
  bool second_pass = false;
  bool lanes = false;       ///< keep which place runs which tile, and when, of up to 50 000 tiles
  std::optional<int> ctas;  ///< resident on an SM; default: as many as fit
  int cluster = 1;          ///< CTAs that load by multicast, once for all of them, what is the same for neighbours along a grid dimension
  ClockChoice clock;
  bool around = false;  ///< the kernels before and after it in the same call count
};

/// Where nothing keeps turns on the tensor cores, groups meet there by chance: the mean over so many distances between them.
inline constexpr int kPhases = 8;

/// How busy something is, as a part of the time that all SMs have.
struct UsedShare {
  std::string name;  ///< a unit, or "L2"
  double part = 0;
};

/// A tile, or a piece of one, on a place of an SM.
struct PlacedTile {
  std::int64_t trips = 0;
  Cycle start = 0, end = 0;
};

struct KernelRun {
  std::string fault;  ///< why there are no numbers; the loop's own run says more
  Simulation sm;      ///< the first CTA of the busiest SM: groups, stalls, timeline (ops of `program`)
  CtaProgram program;
  Occupancy occupancy;
  int ctas = 1;                           ///< resident per SM
  bool contended = false;                 ///< iterations take as long as the rule of motion says
  bool turns = false;                     ///< groups take turns on the tensor cores; with interleaved units
  bool by_chance = false;                 ///< they should, and do not: the mean over kPhases distances between them
  std::int64_t tiles = 0;                 ///< of the grid
  std::int64_t trips = 0, all_trips = 0;  ///< of the longest tile, of all together
  Cycle tile = 0;                         ///< the longest tile, from its first op to its last end
  Cycle cycles = 0;                       ///< of the kernel
  bool extrapolated = false;              ///< too long: in proportion to a part of the tiles or trips
  double filled = 1;                      ///< of all SMs' time, the part before their last tile ends
  Work work;                              ///< of one iteration
  std::int64_t l2_bytes = 0;              ///< that L2 supplies to an SM in one iteration, after multicast
  std::vector<UsedShare> used;            ///< busiest first; those of the loop, with what surrounds it left out
  ClockAnswer clock;                      ///< that the following are at
  double dram_us = 0;                     ///< every element of its tensors once, at DRAM's rate: a bound; 0 where the rate is unknown
  std::int64_t pieces = 0;                ///< that cut tiles were cut into, beyond one for each
  double merge_us = 0;                    ///< the kernel that puts the pieces of cut tiles together
  std::vector<std::vector<PlacedTile>>
      lanes;                ///< if asked for, and tiles differ or are cut: a list per place; place p is on SM p mod the machine's SMs
  double around_us = 0;     ///< kernels before and after it in the same call, each with its launch; 0 where unknown
  double microseconds = 0;  ///< with the launch, and with the kernels around it where they count
  /// 10^12 floating point operations per second, counting the multiply-adds of the loop twice; 0 where it has none.
  double tflops = 0;
  double of_peak = 0;  ///< of the tensor cores' best rate on all SMs; 0 where unknown
  double gbytes = 0;   ///< 10^9 bytes per second to and from global memory, by the loop
};

/// Why what pieces of a tile find cannot be added up: its epilogue does more than convert and store. Empty: it can.
std::string merge_fault(const Kernel& kernel);

/// Pre: the schedule as for simulate().
KernelRun run_kernel(const Instance& instance, const Schedule& schedule, const KernelRunOptions& options = {});

}  // namespace heddle

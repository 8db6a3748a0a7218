// What is wrong with, or wasted by, the schedule that a compiler stored with its graph: dependences that do not hold, units
// that are taken twice, an II that the program cannot keep, memory that is counted wrong, ring slots that nothing can fill.
// Every number here is computed from the dump; what the dump states itself is kept apart under `stated`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/analysis/bounds.h"
#include "core/analysis/period.h"
#include "core/dump/dump.h"
#include "core/dump/program_period.h"

namespace heddle::dump {

/// An edge that the stored cycles break, by the compiler's own rule: start(to) + distance * II >= start(from) + latency.
struct BrokenEdge {
  std::size_t from = 0, to = 0;
  Cycle latency = 0;
  int distance = 0;
  Cycle slack = 0;  ///< negative
  std::int64_t stage_from = 0, stage_to = 0;
  bool repairable = false;  ///< by a larger II at the same stages
};

struct UnitConflict {
  std::string unit, message;  ///< of the checker
  Cycle slot = 0;
  std::vector<std::size_t> nodes;
};

struct RingAudit {
  std::int64_t buffer = 0;
  std::string name;                   ///< "K_2"
  std::int64_t slots = 0, alive = 0;  ///< stored; copies alive at once at the stated II
  std::int64_t bytes = 0;             ///< per slot
  std::size_t writer = 0;             ///< node
};

struct MemoryAudit {
  std::int64_t smem = 0, smem_stated = 0;  ///< bytes: with storage from outside the loop, merged buffers once, channels that carry nothing
                                           ///< not at all; sum of the stored totals
  std::int64_t tmem = 0, tmem_stated = 0;  ///< columns; stated bytes / 512
  std::int64_t resident_smem = 0, resident_tmem = 0;  ///< of those: allocated outside
  struct Unneeded {
    std::int64_t buffer = 0, bytes = 0;
    std::string edge;
    std::size_t producer = 0, consumer = 0;  ///< nodes
  };
  std::vector<Unneeded> unneeded;  ///< channels for edges that carry no data
};

/// What a solve found, for comparison; filled in by whoever has a solver.
struct Improvement {
  bool full = true;  ///< in the full reading; else issue slots only
  Cycle ii = 0, lower_bound = 0;
  bool proved = false;
  int stages = 0, groups = 0, warps = 0;
  bool stages_proved = false;
  std::int64_t smem = 0, tmem = 0;
  Cycle sustainable = 0;
  double seconds = 0;
  std::string explanation;
  Cycle emitter_ii = 0;      ///< least within the emitter's demands; 0: not proved
  Cycle issue_slots_ii = 0;  ///< optimum of the compiler's own reading; 0: not proved
  int issue_slots_stages = 0;
};

struct DumpLoopAudit {
  std::size_t loop = 0;  ///< index into the dump
  bool scheduled = false;
  Cycle stated_ii = 0;
  int stages = 0;  ///< in use
  std::size_t groups = 0;
  Cycle res_mii = 0, rec_mii = 0, min_ii = 0;  ///< by the compiler's reading: occupancies, dependences, inner loops
  bool occupancies_derived = false;            ///< some are not in the file
  std::vector<BrokenEdge> broken;
  std::vector<UnitConflict> slot_conflicts;    ///< issue slots
  std::vector<UnitConflict> engine_conflicts;  ///< occupancies
  DumpPeriod program;                          ///< iteration after iteration, groups of the file
  Period pipelined;                            ///< in the order of the stored stages; empty without groups
  std::vector<std::size_t> pipelined_nodes;    ///< of its limiting cycle
  bool pipelined_known = false;
  std::vector<RingAudit> too_deep, too_shallow;
  std::vector<std::vector<std::int64_t>> never_together;  ///< groups of which no two ever issue in the same cycle
  MemoryAudit memory;
  std::string problem_fault;  ///< why the full reading cannot be judged; empty: it can
  std::optional<Improvement> improvement;

  bool illegal() const { return !broken.empty() || !slot_conflicts.empty(); }
  bool unsustainable() const { return scheduled && (program.deadlock || program.cycles() > stated_ii); }
  /// In the order of its stages, ops wait for themselves.
  bool stuck() const { return pipelined_known && pipelined.deadlock; }
};

struct DumpAudit {
  std::vector<DumpLoopAudit> loops;
  std::int64_t smem = 0, smem_stated = 0;  ///< of the deepest nest, storage from outside once; sum over the file
  std::int64_t smem_budget = 0, tmem_columns = 0;
  bool penalized = false;  ///< some partition_cost carries the compiler's penalty for memory that does not fit

  bool over_budget() const { return smem > smem_budget; }  ///< the loops together
  bool too_small(const DumpLoopAudit& loop) const;         ///< memory or rings, of one loop
  /// Nothing is wrong (RowMark::Wrong in core/dump/audit_report.h), of no loop and of the whole.
  bool clean() const;
};

/// `only`: the id of one loop.
DumpAudit audit(const Dump& dump, std::optional<std::int64_t> only = std::nullopt);

}  // namespace heddle::dump

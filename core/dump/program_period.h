// The period that a compiler's partitioned program can sustain, by the compiler's own model of what it emits (its partition
// cost model calls the bound RecMII'): every warp group runs the ops of one iteration after the other in the order of the
// stored schedule.
//
//   dependence  latency; plus the hand-off (core/dump/native.h) where the two are in different groups
//   stream      neighbours in a group's order: the first one's issue slots
//   wrap        the last op of a group that waits on a barrier (for data, or as a producer for a free slot) precedes, an
//               iteration later, the first one that does: waits are executed in order
//
// Ops without issue time (views and allocations) are in no stream: the op that reads one waits for it, the op behind one for its
// free slot.
//
// The bound in the compiler takes circuits with one loop-carried edge only; here it is the maximum cycle ratio over all.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/dump/dump.h"

namespace heddle::dump {

struct ProgramStep {
  enum class Kind { Dependence, Stream, Wrap };
  Kind kind = Kind::Dependence;
  std::size_t from = 0, to = 0;   ///< nodes
  Cycle weight = 0, handoff = 0;  ///< the hand-off is part of the weight
  int distance = 0;
};

struct DumpPeriod {
  bool deadlock = false;  ///< the order of a group contradicts a dependence
  std::int64_t weight = 0, tokens = 1;
  std::vector<ProgramStep> cycle;  ///< the limiting one
  Cycle cycles() const { return tokens > 0 ? (weight + tokens - 1) / tokens : 0; }
};

/// Pre: loop.scheduled().
DumpPeriod program_period(const DumpLoop& loop);

/// "mma_28 559 + 60 hand-off, then tmem_load_23 532 ..., an iteration later" on one line.
std::string sentence(const DumpLoop& loop, const DumpPeriod& period);

}  // namespace heddle::dump

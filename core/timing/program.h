// A program as people and compilers write one: for every warp group the ops of one turn of its loop, in order, each
// with the number of iterations by which it lags behind; the depth of every ring; and the turns that groups take where
// barriers or a common instruction stream force them. Starts follow: the least II at which the program runs, every op
// as early as possible.
//
// Where several groups share a unit and nothing prescribes their turns, it serves whoever comes first: the steady state
// of a run from a cold start decides for the tensor cores. Other units are shared instruction by instruction, where no
// op holds up another as a whole, so there (and where the steady state differs from iteration to iteration, which a
// schedule cannot say) a good order is taken.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/problem/problem.h"
#include "core/schedule/schedule.h"

namespace heddle::timing {

/// In turn j of the loop this op works on iteration j - stage.
struct StreamStep {
  OpId op;
  int stage = 0;
};

/// More than the problem demands: s(to) + tokens * II >= s(from) + cycles.
struct AddedWait {
  OpId from, to;
  Cycle cycles = 0;
  std::int64_t tokens = 0;
};

struct LoopProgram {
  std::vector<std::vector<StreamStep>> streams;  ///< per group; every op exactly once
  std::vector<int> depths;                       ///< per channel; what does not exist for these groups does not matter
  std::vector<std::vector<OpId>> turns;          ///< each: ops that take turns on the units they share, in this order
  std::vector<AddedWait> waits;
};

struct LoopTiming {
  Schedule schedule;             ///< whole (warps, roles, depths), not judged
  bool deadlock = false;         ///< the program cannot run: starts say nothing
  std::string limit;             ///< what limits II, or what waits for itself
  std::vector<ChannelId> rings;  ///< on the limiting cycle
};

/// The streams of a schedule: per group its ops by slot, ops without a window first; its depths. It prescribes no turns.
LoopProgram program_of(const Problem& problem, const Schedule& schedule);

/// Pre: streams hold every op exactly once, depths as many as channels.
LoopTiming earliest_schedule(const Problem& problem, const LoopProgram& program);

/// The same, but a ring without whose next slot nothing could run gets it (up to its largest depth); `log` says so.
LoopTiming running_schedule(const Problem& problem, LoopProgram& program, std::vector<std::string>& log);

/// For orders that come as a schedule in any unit of time (core/analysis/order_worth.h): the timing at native cycles.
LoopTiming timing_of_order(const Problem& problem, const Schedule& order);

/// Streams in words: one string per group, steps separated by blanks, "PV0@1" for a step that lags one iteration
/// behind. Faults: unknown ops, ops missing or twice.
Result<std::vector<std::vector<StreamStep>>> parse_streams(const Problem& problem, const std::vector<std::string>& streams);
std::vector<std::string> stream_text(const Problem& problem, const LoopProgram& program);

}  // namespace heddle::timing

// From a schedule to a program: which role does what in which order, and every decision that a schedule leaves open (the
// cut of each role's loop, unrolling, copies of registers, barriers, addresses, threads, register budgets).
//
// The order of every role's ops, waits and signals is that of core/analysis/pipeline_program.h. What is decided here:
//
//   cut        The steady loop may begin at any step. ptxas follows wgmma groups inside one pass only: a group that crosses
//              the back edge must be awaited with nothing left in flight before ordinary code touches its registers
//              (probed by compiling, CUDA 13.0: otherwise it serialises, warning C7514). The cut is the first of those
//              with the fewest copies, then stages, that obey.
//   copies     A register value that is alive when its successor is made gets more than one copy (program.h).
//   roles      Threads in whole warpgroups, because setmaxnreg is per warpgroup; what registers remain go to those who
//              compute.
#pragma once

#include <optional>
#include <vector>

#include "codegen/program/program.h"
#include "codegen/program/refusal.h"
#include "core/kernel/kernel.h"
#include "core/problem/problem.h"
#include "core/schedule/schedule.h"

namespace heddle::codegen {

struct BuildResult {
  std::optional<Program> program;  ///< absent exactly when there are refusals
  std::vector<Refusal> refusals;
};

struct BuildOptions {
  int cluster = 1;  ///< 2: pairs of blocks load what both need once, by multicast
  /// Per role: which cut, the one with the fewest copies, stages and carried registers first; 0 where nothing is said. What ptxas
  /// makes of registers is not foreseen to the last one, so that another cut may do where the first spills.
  std::vector<int> cuts = {};
  bool turns = true;            ///< keep wgmmas of different roles in the schedule's order where other work runs beside them
  bool deep_rings = true;       ///< rings of loads get what shared memory is left (rings.h)
  bool run_time_sizes = false;  ///< trips and numbers of tiles are an argument of the text (RunTimeSizes in emit/emit.h)
  bool operator==(const BuildOptions&) const = default;
};

/// Pre: `problem` is `kernel` resolved, `schedule` is of that problem. The schedule may be illegal: then it is refused.
/// `trips` replaces the kernel's own number of loop trips, for tests of the pipeline's ends; with sizes at run time it is refused, for
/// the program is the same whatever they are.
/// With deep rings the checker judges the deeper schedule too, and it is not taken where anything has to give way to it.
BuildResult build_program(const Kernel& kernel, const Problem& problem, const Schedule& schedule, std::optional<std::int64_t> trips = {},
                          const BuildOptions& options = {});

}  // namespace heddle::codegen

// Which on-chip storage a resolved loop body needs: ring buffers (channels) for values that pass between ops, and
// residents, of which there is exactly one copy for the whole loop. So there is of the memory through which changes of layout go.
//
// Values that alias each other share storage. Inside one iteration they must be written one after the other, each after
// the last reader of the one before; that is checked against the dependences, not assumed.
//
// A set of values read in a later iteration (an accumulator that lives in tensor memory) is resident when the
// dependences already order all accesses, across iterations too: then one copy is enough and nothing has to be
// credited.
#pragma once

#include <optional>
#include <vector>

#include "core/kernel/kernel.h"
#include "core/machine/machine.h"
#include "core/problem/costs.h"
#include "core/problem/fault_log.h"
#include "core/problem/problem.h"

namespace heddle {

/// Completion of `op` arrives on a barrier by hardware, so that any group can wait for it directly. wgmma (aligned) and
/// copies out of shared memory (no result) are instead awaited by the warps that issued them, which then signal.
bool completes_on_barrier(const Problem& problem, OpId op);

/// A valid kernel (core/kernel/validate.h) with what its formulas and the machine's give.
struct EvaluatedKernel {
  const Kernel& kernel;
  const std::vector<std::optional<Tile>>& tiles;  ///< parallel to kernel.values
  Cycle handoff_signal = 0;                       ///< the machine's
};

/// Fills channels and the smem and tmem residents. `problem` has its ops, values and edges; the edges have no cycle of total distance 0.
void place_values(const EvaluatedKernel& of, const Machine& machine, Problem& problem, FaultLog& faults);

}  // namespace heddle

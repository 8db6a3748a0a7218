// What a tile instruction costs on a machine: rule lookup, the names a rule may use, and the graph's own overrides.
//
// A rule is looked up as "<kind>.<variant>", then as "<kind>". The variant is the attribute "variant" if the op has
// one; else for mma the space of A ("ss" shared memory, "rs" register, "ts" tensor memory), for elementwise its
// function, for everything else the space of the first input ("atomic_add.register").
//
// Names in a rule: M, N, K (mma); rows, cols, elems, columns of the largest tile among outputs and inputs; in_elems and
// in_bytes of the largest input, out_elems of the largest output; bytes of the largest output, else of the largest
// input; bits of the first input, else of the first output; inputs (their number); the op's integer and boolean
// attributes, where attributes its kind knows but the op does not give are 0.
#pragma once

#include <string>
#include <vector>

#include "core/machine/machine.h"
#include "core/problem/fault_log.h"
#include "core/problem/problem.h"
#include "core/problem/tile.h"

namespace heddle {

/// The most specific rule; nullptr when the machine has none.
const CostRule* find_rule(const Machine& machine, const TileOp& op, const std::vector<const Tile*>& inputs);

/// `place` is the op's. Faults lie at the rule (machine file) or at the op's own `cost` (kernel file). Fields of the
/// result whose formulas failed keep harmless values.
Op cost_of(const TileOp& op, const Machine& machine, const Scope& params, const std::vector<const Tile*>& inputs,
           const std::vector<const Tile*>& outputs, const Place& place, FaultLog& faults);

}  // namespace heddle

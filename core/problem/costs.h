// What a tile instruction costs on a machine: rule lookup, the names a rule may use, and the graph's own overrides.
//
// A rule is looked up as "<kind>.<variant>", then as "<kind>". The variant is the attribute "variant" if the op has
// one; else for mma the space of A ("ss" shared memory, "rs" register, "ts" tensor memory), for elementwise its
// function, for loads by TMA that look up a place "indexed", for stores by TMA that leave rows as they are "before", for everything else
// the space of the first input ("atomic_add.register").
//
// Names in a rule: M, N, K (mma); rows, cols, elems, columns of the largest tile among outputs and inputs; in_elems and
// in_bytes of the largest input, out_elems of the largest output; bytes of the largest output, else of the largest
// input; port, port_least, issues and selects: what the op's access takes of the port of shared memory, with and without lanes that meet in
// a bank, in how many instructions per warp, and through how many selects (core/layout/plan.h; where no plan knows it, port is bytes / 128,
// rounded up, of an mma what the catalogue says of its shape); shuffles: instructions of all warps by which a copy or conversion takes
// registers of other lanes; single_rows: of a store that leaves rows as they are (core/problem/single_rows.h); bits of the first input,
// else of the first output; inputs (their number); the op's integer and boolean attributes, where attributes its kind knows but the op does
// not give are 0; fma, alu, mufu of a map that gives none are counted in its expression. What a reduction makes one number of counts as one
// row.
//
// A rule's `warp` may also use per_thread, elements of that tile in one thread of a warp group of four warps (a column of statistics, cols
// = 1, is held four times, once per thread of a quad), and special_interval, the machine's (core/machine/contention.h). Its formulas give
// thousandths of one quarter of an SM.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/kernel/kernel.h"
#include "core/machine/machine.h"
#include "core/problem/fault_log.h"
#include "core/problem/problem.h"

namespace heddle {

struct OpPlan;  // core/layout/plan.h

struct Tile {
  Space space = Space::Register;
  int bits = 32;          ///< per element
  std::int64_t rows = 1;  ///< product of all extents but the last; a vector is a column
  std::int64_t cols = 1;
  std::int64_t elems = 1;
  std::int64_t bytes = 4;
  std::int64_t columns = 1;  ///< of tensor memory: 128 lanes of 32 bits each
};

/// Evaluates the shape. Faults (at "/values/<index>/shape"): extents below 1 or absurd, more than 2^31 bytes.
std::optional<Tile> measure(const TileValue& value, const Scope& params, const FaultPlace& place, FaultLog& faults);

/// Registers per thread of a tile spread evenly over `threads`, at least 1.
std::int64_t registers_per_thread(const Tile& tile, std::int64_t threads);

/// M, N and K of D[M,N] = A[M,K] B[K,N].
struct MmaShape {
  std::int64_t m = 0, n = 0, k = 0;
};

/// An op with what it reads and makes.
struct TiledOp {
  const TileOp& op;
  std::vector<const Tile*> inputs, outputs;
  FaultPlace place{};            ///< the op's
  const OpPlan* plan = nullptr;  ///< the op's, where there is one
  std::int64_t single_rows = 0;  ///< core/problem/single_rows.h
};

/// Faults when operands or result do not fit each other. Operands are given as stored: transposed ones as [K,M] and
/// [N,K].
std::optional<MmaShape> mma_shape(const TiledOp& of, FaultLog& faults);

/// The most specific rule; nullptr when the machine has none.
const CostRule* find_rule(const Machine& machine, const TileOp& op, const std::vector<const Tile*>& inputs);

/// Faults lie at the rule (machine file) or at the op's own `cost` (kernel file). Fields of the result whose formulas failed keep
/// harmless values.
Op cost_of(const TiledOp& of, const Machine& machine, const Scope& params, FaultLog& faults);

/// Names that the machine's `register_copy` may use of a value in registers: bytes of the tile; port and issues, what its stores and loads
/// take of the port of shared memory together, and how many of either a warp issues (hand_over_cost in core/layout/plan.h; where the
/// machine has no such instructions, port is twice bytes / 128). Pre: the value's registers and its producer's warps are known.
Scope hand_over_names(const Machine& machine, const Problem& problem, const Value& value);

}  // namespace heddle

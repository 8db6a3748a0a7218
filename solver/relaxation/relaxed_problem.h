// What is left of a problem when warp groups, memory and stages are forgotten: dependences and units at one II.
//
// Unknowns are the starts, any integers. Two kinds of rules are left: differences s(v) - s(u) >= c (dependences, hand-offs
// between ops that never share a group, refills of rings at their greatest depth, the user's Before) and residues
// (s(v) - s(u)) mod II in [low, high] for two ops that exclude each other on a unit or in an instruction stream.
//
// Ops that the differences hold together only loosely, by `widest` cycles or more in sum, are taken apart into components:
// what holds between components is dropped. Where widest >= II this loses little, because a component can be moved by
// multiples of II without changing a residue; between strongly connected components of the differences it loses nothing at
// all. Instead every component is held within one II of an anchor, which does lose no solution. Then every pair has a
// bounded difference, the number of stages never appears, and a refutation holds for any number of stages. Ops without a
// rule of the second kind are projected away, what shares no rule is decided apart, and ops that can trade places are put
// in order.
#pragma once

#include <cstddef>
#include <vector>

#include "core/problem/problem.h"
#include "core/schedule/constraints.h"

namespace heddle::solver {

/// (s(v) - s(u)) mod II lies in [low, high] or, where high >= II, in the same wrapped; 0 <= high - low < II.
struct Residue {
  int u = 0, v = 0;
  Cycle low = 0, high = 0;
};

/// Uses that exclude each other pairwise: of a unit, or windows of one instruction stream. One use per op.
struct Exclusive {
  struct Member {
    int op = 0;
    Cycle offset = 0, duration = 0;
  };
  std::vector<Member> members;
};

/// Independent of the other parts. Indices are of `ops`.
struct RelaxedPart {
  std::vector<OpId> ops;
  std::vector<std::size_t> component;  ///< per op: a number that the ops held together share
  std::vector<Cycle> closed;           ///< row by row: s(v) - s(u) >= closed[u * n + v], all finite, closed
  std::vector<Residue> residues;       ///< at most one per pair and use
  std::vector<Exclusive> exclusives;
};

struct RelaxedProblem {
  bool refuted = false;  ///< already by sums or by a dependence cycle
  Cycle ii = 1;
  std::size_t op_count = 0;
  std::vector<Cycle> longest;          ///< of all ops: longest path of differences, kNoPath where there is none
  std::vector<std::size_t> component;  ///< per op: ops of one component keep their differences
  std::vector<RelaxedPart> parts;

  Cycle path(std::size_t u, std::size_t v) const { return longest[u * op_count + v]; }
};

inline constexpr Cycle kNoPath = -(Cycle{1} << 60);

/// What is kept beside the differences.
enum class Kept {
  FullestUnit,  ///< the uses of the unit with the greatest load
  Units,        ///< those of all units, and the instruction streams that are known
  Whole,        ///< the same, with all ops in one part, as one needs where warp groups tie them together
};

inline constexpr Cycle kAnyWidth = -2 * kNoPath;

struct RelaxOptions {
  Cycle widest =
      kAnyWidth;  ///< two ops u, v are held together when -(path(u, v) + path(v, u)) <= this: so far one can move against the other
  Kept kept = Kept::Units;
  int stages = 0;  ///< all ops start within so many; 0: any
};

RelaxedProblem relax(const Problem& problem, const Constraints& constraints, Cycle ii, const RelaxOptions& options = {});

}  // namespace heddle::solver

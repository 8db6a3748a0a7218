// What an op is to the warp of one quarter of an SM where nothing better is known of it: it follows from its window and its uses of units.
#pragma once

#include <vector>

#include "core/problem/problem.h"

namespace heddle {

/// How an op spends the time of the group that issues it.
enum class WarpRole {
  Arithmetic,  ///< the group computes
  Product,     ///< the tensor core computes; the group issues instructions and goes on
  Copy,        ///< bytes are on their way; the group issues it, and is held for its window
};

WarpRole warp_role(const Op& op, const std::vector<Unit>& units);
inline WarpRole warp_role(const Problem& problem, OpId op) { return warp_role(problem.op(op), problem.units); }

/// Cycles of the tensor core.
Cycle tensor_cycles(const Op& op, const std::vector<Unit>& units);

/// `alone` is the window. A quarter of an SM has 32 lanes of FP32, 16 of ALU and 4 of special functions (published: 128, 64 and 16 lanes of
/// an SM), so a warp's instruction takes 1, 2 and 8 cycles of them: `specials` and `issue` follow from the cycles of units with these
/// roles, whatever machine it is. Reads are not known: 0.
WarpWork usual_work(const Op& op, const std::vector<Unit>& units);

/// After a change of window or uses: the work changes as the usual one does.
void follow_change(Op& op, const Op& before, const std::vector<Unit>& units);

}  // namespace heddle

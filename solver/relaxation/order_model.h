// The Booleans of the order search: for every residue rule "q >= k", k over the values of q that the closed differences
// leave, each of its two values one difference bound.
#pragma once

#include <cstdint>
#include <vector>

#include "solver/relaxation/difference_closure.h"
#include "solver/relaxation/relaxed_problem.h"

namespace heddle::solver {

/// 2 * variable, + 1 when negated.
using OrderLit = std::int32_t;
constexpr OrderLit negated(OrderLit lit) { return lit ^ 1; }
constexpr int variable_of(OrderLit lit) { return lit >> 1; }
constexpr bool is_negated(OrderLit lit) { return (lit & 1) != 0; }

/// What a true literal adds, and when the closure makes it true: from at(from, to) >= threshold on, nothing else is left.
struct OrderBound {
  int from = 0, to = 0;
  std::int32_t weight = 0, threshold = 0;
};

/// q of one residue rule: in [first, last] from the beginning; Boolean `variable + i` is q >= first + 1 + i.
struct OrderRange {
  std::int32_t first = 0, last = 0;
  int variable = 0;
};

struct OrderModel {
  bool refuted = false;    ///< the differences alone contradict some residue
  bool too_large = false;  ///< cycles beyond 32 bits
  std::int32_t ii = 1;
  int size = 0;            ///< ops
  std::vector<std::int32_t> closed;
  std::vector<OrderRange> ranges;          ///< per residue
  std::vector<OrderBound> bounds;          ///< per literal
  std::vector<int> residue_of;             ///< per variable
  std::vector<std::int32_t> entry_begin;   ///< where an entry's literals start in entry_lits, one more than entries
  std::vector<OrderLit> entry_lits;        ///< literals by the entry (from, to) that decides them

  int variables() const { return static_cast<int>(residue_of.size()); }
};

OrderModel make_order_model(const RelaxedPart& part, Cycle ii);

}  // namespace heddle::solver

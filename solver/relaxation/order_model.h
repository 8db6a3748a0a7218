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
  int from = -1, to = -1;  ///< -1: nothing, the literal is only a Boolean
  std::int32_t weight = 0, threshold = 0;
};

/// q of one residue rule: in [first, last] from the beginning; Boolean `variable + i` is q >= first + 1 + i.
struct OrderRange {
  std::int32_t first = 0, last = 0;
  int variable = 0;
};

/// The weights of the true literals sum up to at most `limit`.
struct OrderLoad {
  std::vector<OrderLit> lits;
  std::vector<std::int32_t> weights;
  std::int32_t limit = 0;
};

struct OrderModel {
  bool refuted = false;    ///< the differences alone contradict some residue
  bool too_large = false;  ///< cycles beyond 32 bits
  std::int32_t ii = 1;
  int size = 0;  ///< ops
  std::vector<std::int32_t> closed;
  std::vector<OrderRange> ranges;      ///< per residue
  std::vector<OrderBound> bounds;      ///< per literal
  std::vector<int> residue_of;         ///< per variable; -1: it is no order of a residue
  std::vector<std::int8_t> first_try;  ///< per variable: the value to try first; 0: towards the middle
  std::vector<std::vector<OrderLit>> clauses;
  std::vector<OrderLoad> loads;
  std::size_t groups = 0;                 ///< warp groups that are decided too; 0: none
  std::vector<OrderLit> group_lits;       ///< [op * groups + group], -1 for ops whose group is known
  std::vector<std::int32_t> entry_begin;  ///< where an entry's literals start in entry_lits, one more than entries
  std::vector<OrderLit> entry_lits;       ///< literals by the entry (from, to) that decides them

  int variables() const { return static_cast<int>(residue_of.size()); }
};

OrderModel make_order_model(const RelaxedPart& part, Cycle ii);

/// Adds a variable with the bound s(v) - s(u) >= weight when true and its opposite when false.
OrderLit add_bound_literal(OrderModel& model, int u, int v, std::int32_t weight);
/// Adds a variable without a bound.
OrderLit add_plain_literal(OrderModel& model, std::int8_t first_try);
/// Fills entry_begin and entry_lits; to be called again after variables are added.
void index_entries(OrderModel& model);

}  // namespace heddle::solver

// Conflict-driven search over the orders of one part of a relaxed problem.
//
// A residue rule says: for some integer q, q * II + low <= s(v) - s(u) <= q * II + high. Its unknown is q alone, written as
// Booleans "q >= k"; either value of each is one difference bound, so the starts themselves never appear and an assignment
// is consistent exactly when the bounds have no positive cycle. Propagation is the all-pairs closure of the bounds
// (difference_closure.h): every Boolean that an entry decides is set at once; sums of what lies between two uses add bounds
// of their own (between_sums.h). Reasons are found only when a conflict asks for them. The rest is the usual: first unique
// implication point, activities, saved phases, restarts, forgetting.
#pragma once

#include <cstdint>
#include <vector>

#include "solver/relaxation/between_sums.h"
#include "solver/relaxation/clause_store.h"
#include "solver/relaxation/decision_heap.h"
#include "solver/relaxation/difference_closure.h"
#include "solver/relaxation/order_model.h"
#include "solver/z3/backend.h"

namespace heddle::solver {

class OrderSearch {
 public:
  /// `model`: of that part, with whatever was added to it.
  OrderSearch(const RelaxedPart& part, OrderModel model);

  /// `effort` counts bounds added to the closure (more for large ones), so that giving up is repeatable; what is used up
  /// comes off it.
  Answer run(std::uint64_t& effort, const QueryLimits& limits);
  /// After Yes: starts of the part's ops, relative to each other.
  std::vector<Cycle> starts() const;
  /// After Yes, where the model decides groups: of each op, -1 where it was known.
  std::vector<int> groups() const;
  std::int64_t conflicts() const { return conflicts_; }

 private:
  struct Reason {
    enum class Kind : std::int8_t { Decision, Clause, Closure, Load } kind = Kind::Decision;
    std::int32_t index = -1;  ///< of the clause or load, or the moment of the closure's entry
  };
  struct Level {
    std::size_t trail = 0, sums = 0;
    DifferenceClosure::Mark closure;
  };
  enum class Seen : std::int8_t { No, InConflict, Implied, NotImplied };

  int level() const { return static_cast<int>(levels_.size()); }
  void assign(OrderLit lit, Reason why);
  void backtrack(int to);
  bool propagate();
  bool propagate_clauses();
  bool propagate_loads(OrderLit lit);
  bool insert(const DifferenceClosure::Bound& bound);
  bool add_sums();
  void settle(const DifferenceClosure::Change& change);
  /// Appends the true literals from which a closure entry of that moment follows, weakened by up to `slack`.
  void explain(DifferenceClosure::Moment moment, std::int32_t slack, std::vector<OrderLit>& lits);
  void explain_cause(std::int32_t cause, std::vector<OrderLit>& lits) const;
  OrderLit literal_of(const BetweenSums::Statement& statement, int before) const;
  std::vector<OrderLit> reasons(OrderLit lit);
  bool implied(OrderLit lit, int depth);
  int analyze();
  void learn();
  bool decide();

  OrderModel model_;
  DifferenceClosure closure_;
  BetweenSums sums_;
  ClauseStore clauses_;
  DecisionHeap heap_;

  std::vector<std::int8_t> value_;        // per literal: 1 true, -1 false, 0 open
  std::vector<std::int8_t> phase_;        // per variable: the last value, 0 none yet
  std::vector<int> level_of_, position_;  // per variable, while set
  std::vector<Reason> reason_;
  std::vector<std::int32_t> replaced_;    // per variable: the bound of q that it replaced
  std::vector<std::int32_t> low_, high_;  // per residue: q
  std::vector<OrderLit> trail_;
  std::vector<Level> levels_;
  std::size_t clause_head_ = 0, bound_head_ = 0, root_bounds_ = 0;
  struct Share {
    int load;
    std::int32_t weight;
  };
  std::vector<std::vector<Share>> shares_;  // per literal: the loads that it is part of
  std::vector<std::int64_t> loaded_;        // per load: the weights of literals that propagate_loads has seen
  struct AddedSum {
    std::vector<BetweenSums::Statement> because;
    int before = 0;  ///< position on the trail
  };
  std::vector<AddedSum> added_;  // a bound's cause: a literal, or -1 - index here

  std::vector<OrderLit> conflict_;  // true literals that contradict each other; empty: none
  std::vector<OrderLit> learnt_;    // the asserting literal first
  std::vector<Seen> seen_;
  std::vector<int> touched_;
  std::vector<std::int32_t> causes_;
  std::vector<std::int64_t> counted_;  // per level: the conflict that counted it last
  std::int64_t conflicts_ = 0, insertions_ = 0;
};

}  // namespace heddle::solver

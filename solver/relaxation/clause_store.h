// Learned clauses with two watched literals each, and which of them to forget.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "solver/relaxation/order_model.h"

namespace heddle::solver {

class ClauseStore {
 public:
  explicit ClauseStore(std::size_t literals) : watches_(literals) {}

  const std::vector<OrderLit>& lits(int clause) const { return clauses_[clause].lits; }
  /// Pre: at least two literals; the first two are watched. `levels`: how many decision levels it spans, fewer is better.
  int add(std::vector<OrderLit> lits, int levels);
  void use(int clause) { clauses_[clause].used = ++clock_; }
  /// Forgets the worse half of those that span many levels, except `keep(clause)`.
  template <class Keep>
  void forget(Keep&& keep);

  /// Every clause that has become unit by `lit`: assign(literal, clause). Returns a clause that has become false, or -1.
  template <class Value, class Assign>
  int propagate(OrderLit lit, Value&& value, Assign&& assign);

 private:
  struct Clause {
    std::vector<OrderLit> lits;  ///< empty: forgotten
    int levels = 0;
    std::int64_t used = 0;
  };
  struct Watch {
    int clause;
    OrderLit other;  ///< some literal of the clause; when true, the clause needs no look
  };

  std::vector<int> worst_first() const;
  void remove(const std::vector<int>& clauses);

  std::vector<Clause> clauses_;
  std::vector<int> free_;
  std::vector<std::vector<Watch>> watches_;  ///< per literal: clauses that watch its negation
  std::int64_t clock_ = 0;
};

template <class Keep>
void ClauseStore::forget(Keep&& keep) {
  std::vector<int> worst = worst_first();
  std::erase_if(worst, keep);
  worst.resize(worst.size() / 2);
  remove(worst);
}

template <class Value, class Assign>
int ClauseStore::propagate(OrderLit lit, Value&& value, Assign&& assign) {
  std::vector<Watch>& list = watches_[lit];
  const OrderLit falsified = negated(lit);
  std::size_t kept = 0, i = 0;
  int failed = -1;
  for (; i < list.size() && failed < 0; ++i) {
    const Watch watch = list[i];
    if (value(watch.other) > 0) {
      list[kept++] = watch;
      continue;
    }
    std::vector<OrderLit>& lits = clauses_[watch.clause].lits;
    if (lits[0] == falsified) std::swap(lits[0], lits[1]);
    bool moved = value(lits[0]) > 0;
    if (moved) list[kept++] = {watch.clause, lits[0]};
    for (std::size_t k = 2; k < lits.size() && !moved; ++k) {
      if (value(lits[k]) < 0) continue;
      std::swap(lits[1], lits[k]);
      watches_[negated(lits[1])].push_back({watch.clause, lits[0]});
      moved = true;
    }
    if (moved) continue;
    list[kept++] = {watch.clause, lits[0]};
    if (value(lits[0]) < 0)
      failed = watch.clause;
    else
      assign(lits[0], watch.clause);
  }
  for (; i < list.size(); ++i) list[kept++] = list[i];
  list.resize(kept);
  return failed;
}

}  // namespace heddle::solver

#include "solver/relaxation/clause_store.h"

#include <algorithm>

namespace heddle::solver {
namespace {
constexpr int kAlwaysKept = 3;  // clauses that span at most this many levels
}

int ClauseStore::add(std::vector<OrderLit> lits, int levels) {
  int clause = static_cast<int>(clauses_.size());
  if (free_.empty()) {
    clauses_.emplace_back();
  } else {
    clause = free_.back();
    free_.pop_back();
  }
  watches_[negated(lits[0])].push_back({clause, lits[1]});
  watches_[negated(lits[1])].push_back({clause, lits[0]});
  clauses_[clause] = {std::move(lits), levels, ++clock_};
  return clause;
}

std::vector<int> ClauseStore::worst_first() const {
  std::vector<int> order;
  for (std::size_t c = 0; c < clauses_.size(); ++c)
    if (!clauses_[c].lits.empty() && clauses_[c].levels > kAlwaysKept) order.push_back(static_cast<int>(c));
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    const Clause &x = clauses_[a], &y = clauses_[b];
    return x.levels != y.levels ? x.levels > y.levels : x.used < y.used;
  });
  return order;
}

void ClauseStore::remove(const std::vector<int>& clauses) {
  for (int c : clauses) {
    clauses_[c].lits.clear();
    free_.push_back(c);
  }
  for (auto& list : watches_) std::erase_if(list, [&](const Watch& watch) { return clauses_[watch.clause].lits.empty(); });
}

}  // namespace heddle::solver

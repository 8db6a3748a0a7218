// What must lie between two uses that exclude each other: once the orders say that use w comes after u and before v, all of
// w's duration does, and so does that of every other such use, in whatever order they come. Pairs alone know that only when
// the order of the uses between is decided; the sum knows it before (20 to 200 times fewer conflicts on tight units).
//
// With "copies of w before v" = the q of the pair, the copies of w between u and v are the copies before v minus those
// before u; v is taken at its least copy after u.
#pragma once

#include <cstdint>
#include <vector>

#include "solver/relaxation/difference_closure.h"
#include "solver/relaxation/order_model.h"
#include "solver/relaxation/relaxed_problem.h"

namespace heddle::solver {

class BetweenSums {
 public:
  BetweenSums(const RelaxedPart& part, const OrderModel& model);

  /// q of a residue now lies in [low, high]; `narrower`: than before (otherwise an undo).
  void set(int residue, std::int32_t low, std::int32_t high, bool narrower);

  /// One statement that a sum rests on: q of the residue is at least (or at most) k.
  struct Statement {
    int residue = 0;
    bool at_least = true;
    std::int32_t k = 0;
  };
  struct Sum {
    int from = 0, to = 0;
    std::int32_t weight = 0;  ///< s(to) - s(from) >= weight
    std::vector<Statement> because;
  };

  /// Every sum that says more than the closure does, among those whose parts changed since the last call. `add` puts it into
  /// the closure, which may call `set`, and returns false to end it all.
  template <class Add>
  bool each(const DifferenceClosure& closure, Add&& add);

 private:
  struct Clique {
    int size = 0;
    std::vector<int> op;
    std::vector<std::int32_t> offset, duration;
    std::vector<std::int32_t> low, high;  ///< [v * size + w]: copies of w before v
    std::vector<int> residue;             ///< [u * size + v]; -1 none
    std::vector<char> straight;           ///< the residue is v minus u
    std::vector<char> rises, falls;       ///< per use: its row of low, of high changed
    bool changed = true;
  };
  struct Place {
    int clique, u, v;
  };

  /// False when the sum says nothing: no use between, or no order of the two.
  bool sum_between(const Clique& clique, int u, int v, Sum& sum) const;
  void explain(const Clique& clique, int u, int v, Sum& sum) const;

  std::int32_t ii_;
  std::vector<char> rises_, falls_;  // scratch of each
  std::vector<Clique> cliques_;
  std::vector<std::vector<Place>> places_;  ///< per residue
};

template <class Add>
bool BetweenSums::each(const DifferenceClosure& closure, Add&& add) {
  Sum sum;
  for (Clique& c : cliques_) {
    if (!c.changed) continue;
    c.changed = false;
    rises_.assign(c.size, 0);
    falls_.assign(c.size, 0);
    rises_.swap(c.rises);
    falls_.swap(c.falls);
    for (int u = 0; u < c.size; ++u)
      for (int v = 0; v < c.size; ++v) {
        if (u == v || (!rises_[v] && !falls_[u]) || !sum_between(c, u, v, sum)) continue;
        if (sum.weight <= closure.at(sum.from, sum.to)) continue;
        explain(c, u, v, sum);
        if (!add(sum)) return false;
      }
  }
  return true;
}

}  // namespace heddle::solver

// One start per op as order-encoded Booleans, with dependences and capacity modulo I: what the modulo scheduler and the
// compact joint form have in common.
#pragma once

#include <vector>

#include "solver/paper/graph.h"
#include "solver/z3/backend.h"

namespace heddle::solver::paper {

class Starts {
 public:
  /// Starts in [0, L - cycles(v)], and below L.
  Starts(Backend& backend, const PaperGraph& graph, Cycle ii, Cycle length);

  /// s_v >= t, for any t.
  Lit at_least(std::size_t op, Cycle t) const;
  /// s_v == t.
  Lit at(std::size_t op, Cycle t);
  /// Implied by s_v == slot modulo I.
  Lit slot(std::size_t op, Cycle slot);

  /// s_to + distance * I >= s_from + delay, if `condition` holds.
  void depend(const Arc& arc, Cycle delay, Lit condition = kTrue);
  void capacity();

  Cycle last(std::size_t op) const { return static_cast<Cycle>(ge_[op].size()); }  ///< latest start
  bool possible() const { return possible_; }                                      ///< false: some op is longer than L
  std::vector<Cycle> values() const;                                               ///< after Yes
  /// Not these starts.
  void exclude(const std::vector<Cycle>& starts);

 private:
  Backend& backend_;
  const PaperGraph& graph_;
  Cycle ii_;
  bool possible_ = true;
  std::vector<std::vector<Lit>> ge_;  ///< ge_[v][t - 1]: s_v >= t
  std::vector<std::vector<Lit>> at_;  ///< kTrue where not made yet and not constant
  std::vector<std::vector<Lit>> slot_;
};

}  // namespace heddle::solver::paper

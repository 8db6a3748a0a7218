// Longest-path closure of the start differences at one II and K: for every pair of ops the tightest provable
// s(v) - s(u) >= at(u, v) from dependences, refills of rings at their greatest depth, and the
// span K*II. Decides many constraints before Z3 sees them,
// and refutes some II by itself.
#pragma once

#include <vector>

#include "core/problem/problem.h"
#include "solver/z3/backend.h"

namespace heddle::solver {

/// s(to) - s(from) >= apart, whatever groups and depths are.
struct StartDifference {
  OpId from, to;
  Cycle apart = 0;
};

/// Dependences, with the hand-off where two ops never share a group, and refills of rings at their greatest depth.
std::vector<StartDifference> certain_differences(const Problem& problem, Cycle ii);

class Closure {
 public:
  /// Takes the cube of the number of ops; throws Stopped where the limits end it.
  Closure(const Problem& problem, Cycle ii, int stages, const QueryLimits& limits);

  /// A cycle of dependences and refills that does not fit: no schedule at this II and K.
  bool contradiction() const { return contradiction_; }
  /// Lower bound on s(v) - s(u). The upper bound is -at(v, u).
  Cycle at(OpId u, OpId v) const { return bound_[u.index() * size_ + v.index()]; }

 private:
  void propagate(const QueryLimits& limits);

  std::size_t size_ = 0;
  std::vector<Cycle> bound_;
  bool contradiction_ = false;
};

/// Slots that a ring needs whatever the schedule: the least time between its writer and the release of its last reader.
int least_depth(const Problem& problem, const Closure& closure, Cycle ii, const Channel& channel);

/// Two ops of which one has variable latency and the other not are never in the same group.
bool never_same_group(const Op& a, const Op& b);

}  // namespace heddle::solver

// Figure 6 without time: opw[v,w], WARP UNIQUENESS, VARIABLE LATENCY, and what "on another warp" means. Both forms of the
// joint problem stand on it.
#pragma once

#include <map>
#include <vector>

#include "solver/paper/graph.h"
#include "solver/z3/backend.h"

namespace heddle::solver::paper {

class Warps {
 public:
  /// `pool`: members that may be used, at most graph.pool.
  Warps(Backend& backend, const PaperGraph& graph, const Options& options, int pool);

  Lit on(std::size_t op, int member) const { return on_[op][static_cast<std::size_t>(member)]; }
  int pool() const { return pool_; }

  /// True whenever the two ops have a common member.
  Lit share(std::size_t a, std::size_t b);
  /// True whenever what `from` leaves in registers has to be transferred for `to`.
  Lit cross(std::size_t from, std::size_t to);

  /// After Yes: the members of an op.
  std::vector<int> members(std::size_t op) const;

 private:
  void unique(std::size_t op, int needed);
  void break_symmetry();
  Lit contains(std::size_t outer, std::size_t inner);

  Backend& backend_;
  const PaperGraph& graph_;
  const Options& options_;
  int pool_;
  std::vector<std::vector<Lit>> on_;
  std::map<std::pair<std::size_t, std::size_t>, Lit> share_, cross_, contains_;
};

}  // namespace heddle::solver::paper

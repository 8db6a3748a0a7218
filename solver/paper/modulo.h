// OPTIMAL-MODULO-SCHEDULE(G, I): the shortest modulo schedule at one I. The paper solves an integer program after Stoutchinin
// with CBC; this asks for a schedule of length L, from the longest path upward.
#pragma once

#include "solver/paper/graph.h"
#include "solver/z3/backend.h"

namespace heddle::solver::paper {

struct PaperModuloSchedule {
  Answer answer = Answer::Unknown;  ///< No: the graph has no modulo schedule at this I
  std::vector<Cycle> starts;
  Cycle length = 0;  ///< LEN(M), the smallest possible
};

/// Never throws.
PaperModuloSchedule optimal_modulo_schedule(const PaperGraph& graph, Cycle ii, std::uint64_t seed, const QueryLimits& limits);

/// The smallest I that units and recurrences allow by arithmetic; 0 when no I does.
Cycle arithmetic_min_ii(const PaperGraph& graph);

}  // namespace heddle::solver::paper

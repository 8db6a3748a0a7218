// The formulas of the Twill paper evaluated on complete assignments, and exhaustive search over them: the truth about small
// paper graphs. Shares nothing with either form of the encoder.
#pragma once

#include <functional>
#include <vector>

#include "solver/paper/graph.h"
#include "solver/paper/options.h"

namespace heddle::test {

/// Figures 4 to 6 for these starts and this group per op (pool of groups).
bool paper_formulas_hold(const solver::paper::PaperGraph& graph, const solver::paper::Options& options, Cycle ii, Cycle length,
                         const std::vector<Cycle>& starts, const std::vector<int>& groups);

/// Whether some starts and groups satisfy them. Pool of groups only.
bool paper_schedule_exists(const solver::paper::PaperGraph& graph, const solver::paper::Options& options, Cycle ii, Cycle length);

/// The shortest modulo schedule at this I, of at most `limit` cycles; 0 when there is none.
Cycle shortest_modulo_length(const solver::paper::PaperGraph& graph, Cycle ii, Cycle limit);

/// A few ops on two units with registers, footprints, spills, blocking edges and recurrences.
solver::paper::PaperGraph random_paper_graph(std::uint64_t seed, int most_ops);

}  // namespace heddle::test

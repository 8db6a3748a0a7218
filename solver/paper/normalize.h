// Cost normalization (section 5.2 of the paper), solved exactly.
//
// Given integers C, find integers C' that minimize F subject to -F <= C[i] C'[j] - C[j] C'[i] <= F for all i, j and
// 1 <= sum C' <= U. No integer program is needed:
//   - Let m be a largest cost and k = C'[m]. One unit for m and nothing for the others has F < C[m] (equal costs are one
//     variable), so every solution has |C[i] k - C[m] C'[i]| < C[m]: C'[i] is C[i] k / C[m] rounded down or up.
//   - Two costs rounded the same way never violate F if each fits together with m. So for given k and F what is left are
//     implications "i up => j up"; the set of those rounded up must be closed under them.
//   - The smallest closed set that contains what must be rounded up has the smallest sum, which decides feasibility; F is
//     found by bisection for every k <= U.
// Equal costs get equal C'. That loses nothing unless every cost occurs more than U times.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "solver/paper/graph.h"
#include "solver/z3/backend.h"

namespace heddle::solver::paper {

struct Normalization {
  bool possible = false;  ///< false: U is too small for the list; `why` says it
  std::string why;
  std::map<Cycle, Cycle> of;        ///< C -> C' for every integer in the list
  std::int64_t error = 0, sum = 0;  ///< F, sum of C' as the switch `entries` counts it
  int entries = 0, zeros = 0;       ///< positive entries, and how many of them became zero
  Cycle largest = 0;                ///< in C
  bool tie_broken = true;           ///< false: stopped looking for the finest solution
};

/// Throws Stopped when the limits say so.
Normalization normalize(const std::vector<Cycle>& costs, const Options& options, const QueryLimits& limits = {});

/// The graph with every cost replaced; costs that are not in the list are scaled by the same ratio, rounded.
PaperGraph normalized(PaperGraph graph, const Normalization& normalization);

}  // namespace heddle::solver::paper

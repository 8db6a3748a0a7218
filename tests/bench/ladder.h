// The ladder: graphs of 25 to 400 ops in three classes, each solved for II alone within a time limit. Says how far
// proofs reach, and what is known where they do not.
//
//   unrolled  attention forward (Hopper), several iterations as one loop body: many equal ops, II at the resource bound
//   layered   random layers without structure, II at the resource bound
//   mixed     few units and circuits near the resource bound: II above both simple bounds, the hard class
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/bench/table.h"

namespace heddle::bench {

struct LadderOptions {
  std::vector<int> ops;    ///< empty: 25, 50, 100, 200, 400
  std::string kind;        ///< empty: all classes
  std::uint64_t seed = 1;  ///< of the random graphs
  double limit = 60;       ///< seconds per graph
  bool log = false;        ///< the solver's log lines to stderr
};

/// False when some graph could not be built.
bool run_ladder(const LadderOptions& options, Format format);

}  // namespace heddle::bench

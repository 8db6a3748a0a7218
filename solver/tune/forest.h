// A random forest that says how likely a configuration is to be feasible at all: hidden constraints (kernels that do not compile, spill,
// hang) are learned from what failed. As in BaCO (Hellsten et al., ASPLOS 2023): no bootstrap, three quarters of the features at each
// split, and classes weighted 0.8 (feasible) to 0.2, so that a region is given up late rather than early.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heddle::solver {

class FeasibilityForest {
 public:
  /// Rows of `columns` numbers each. Same input, same forest. Pre: as many rows as answers, at least one.
  static FeasibilityForest fit(std::size_t columns, const std::vector<double>& rows, const std::vector<char>& feasible, std::uint64_t seed);

  /// Mean share of feasible weight in the leaves that the row falls into, 0 to 1. Without a tree: 1.
  double probability(const double* row) const;

 private:
  struct Node {
    int column = -1;       ///< negative: a leaf
    double threshold = 0;  ///< at most: left
    std::uint32_t left = 0, right = 0;
    double share = 1;
  };
  std::vector<std::vector<Node>> trees_;
  friend class ForestGrower;
};

}  // namespace heddle::solver

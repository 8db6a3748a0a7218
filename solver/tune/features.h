// Configurations as points: one or more columns per parameter, so that plain distances mean something.
//
//   real, integer, ordinal   one column in [0, 1], of the logarithm where the parameter says so
//   categorical              one column per value, 1 / sqrt(2) for the one taken: two values are a distance of 1 apart
//   permutation              one column per item, its position / items: the squared distance is the sum of squared displacements
//                            (Spearman's, the default of BaCO, Hellsten et al., ASPLOS 2023)
#pragma once

#include <cstddef>
#include <vector>

#include "core/tuning_space/space.h"

namespace heddle::solver {

struct FeatureMap {
  std::vector<std::size_t> parameter_of;  ///< per column
  std::size_t columns() const { return parameter_of.size(); }
};

FeatureMap feature_map(const SearchSpace& space);
/// Appends the columns of one configuration.
void append_features(const SearchSpace& space, const Config& config, std::vector<double>& out);

}  // namespace heddle::solver

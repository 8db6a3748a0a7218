#include "solver/tune/features.h"

#include <cmath>

namespace heddle::solver {
namespace {

double scaled(double value, double low, double high, bool log) {
  if (high <= low) return 0;
  return log ? (std::log(value) - std::log(low)) / (std::log(high) - std::log(low)) : (value - low) / (high - low);
}

}  // namespace

FeatureMap feature_map(const SearchSpace& space) {
  FeatureMap map;
  for (std::size_t p = 0; p < space.parameters.size(); ++p) {
    const Parameter& parameter = space.parameters[p];
    const bool wide = parameter.kind == ParameterKind::Categorical || parameter.kind == ParameterKind::Permutation;
    map.parameter_of.insert(map.parameter_of.end(), wide ? parameter.words.size() : 1, p);
  }
  return map;
}

void append_features(const SearchSpace& space, const Config& config, std::vector<double>& out) {
  for (std::size_t i = 0; i < space.parameters.size(); ++i) {
    const Parameter& p = space.parameters[i];
    const auto index = static_cast<std::int64_t>(config[i]);
    switch (p.kind) {
      case ParameterKind::Real: out.push_back(scaled(config[i], p.least, p.most, p.log)); break;
      case ParameterKind::Integer:
      case ParameterKind::Ordinal:
        out.push_back(scaled(static_cast<double>(p.number_at(index)), static_cast<double>(p.number_at(0)),
                             static_cast<double>(p.number_at(p.count() - 1)), p.log));
        break;
      case ParameterKind::Categorical:
        for (std::int64_t w = 0; w < p.count(); ++w) out.push_back(w == index ? std::sqrt(0.5) : 0);
        break;
      case ParameterKind::Permutation: {
        const std::vector<std::size_t> order = arrangement(index, p.words.size());
        std::vector<double> position(order.size());
        for (std::size_t at = 0; at < order.size(); ++at) position[order[at]] = static_cast<double>(at) / static_cast<double>(order.size());
        out.insert(out.end(), position.begin(), position.end());
        break;
      }
    }
  }
}

}  // namespace heddle::solver

#include "codegen/program/indices.h"

#include "core/base/integer_division.h"

namespace heddle::codegen {

Indices indices_of(const Kernel& kernel, const Scope& params, std::int64_t trips, std::int64_t cluster) {
  Indices indices;
  for (const GridDim& dim : kernel.grid) {
    indices.names.push_back(dim.name);
    indices.counts.push_back(ceil_div(dim.size.evaluate(params).value(), cluster) * cluster);
  }
  indices.names.push_back(kernel.loop.variable);
  indices.counts.push_back(trips);
  return indices;
}

std::pair<std::int64_t, std::int64_t> range_of(const Affine& affine, const std::vector<std::int64_t>& counts) {
  std::int64_t low = affine.constant, high = affine.constant;
  for (std::size_t v = 0; v < counts.size(); ++v) {
    const std::int64_t most = affine.coefficients[v] * (counts[v] - 1);
    (most < 0 ? low : high) += most;
  }
  return {low, high};
}

}  // namespace heddle::codegen

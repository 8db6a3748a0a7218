#include "codegen/program/boxes.h"

#include <numeric>

#include <fmt/format.h>

#include "codegen/program/affine.h"

namespace heddle::codegen {

BoxStart box_start(const Kernel& kernel, const Scope& params, std::int64_t trips, int cluster, const TileOp& op, const TileValue& tile) {
  const Tensor* tensor = kernel.find_tensor(op.tensor);
  if (!tensor || tensor->prepacked || op.at.empty()) return {};  // prepacked blocks are rows of their own
  std::vector<std::string> variables;
  std::vector<std::int64_t> counts;
  for (const GridDim& dim : kernel.grid) {
    variables.push_back(dim.name);
    const auto size = dim.size.evaluate(params);
    // The last cluster may reach beyond the grid.
    counts.push_back(size.ok() ? (*size + cluster - 1) / cluster * cluster : cluster + 1);
  }
  variables.push_back(kernel.loop.variable);
  counts.push_back(trips);
  const auto first = affine_of(op.at.back(), params, variables);
  if (!first) return {};
  // What divides it in every tile and trip.
  const std::int64_t unit = kLeastBoxBytes * 8 / bits_of(tensor->dtype);
  std::int64_t common = std::gcd(unit, first->constant);
  for (std::size_t v = 0; v < counts.size(); ++v)
    if (counts[v] > 1) common = std::gcd(common, first->coefficients[v]);
  if (common == unit) return {};
  const bool brings_neighbours = op.kind == "tma_load" && tile.shape.size() == 1 && bits_of(tensor->dtype) >= 16;
  const std::int64_t length = brings_neighbours ? tile.shape[0].evaluate(params).value() : unit;
  if (length <= common) return {static_cast<int>(unit), {}};
  std::string why = fmt::format(
      "'{}' has boxes of '{}' begin at column {}, which is a multiple of {} in every tile and trip; TMA needs one of {} (16 bytes)",
      op.name, op.tensor, op.at.back().text(), common, unit);
  why += length < unit
             ? fmt::format(": up to {} such numbers at a time could be loaded, with their neighbours", common)
             : fmt::format(": let columns begin at multiples of {}, with rows padded to that, or read it by 'load' into registers", unit);
  return {1, std::move(why)};
}

}  // namespace heddle::codegen

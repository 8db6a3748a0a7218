#include "codegen/program/boxes.h"

#include <numeric>

#include <fmt/format.h>

#include "codegen/program/indices.h"

namespace heddle::codegen {

BoxStart box_start(const Kernel& kernel, const BoxRange& range, const TileOp& op, const TileValue& tile) {
  const Scope& params = range.params;
  const Tensor* tensor = kernel.find_tensor(op.tensor);
  if (!tensor || op.at.empty()) return {};
  auto [names, counts] = indices_of(kernel, params, range.trips, range.cluster);
  names.insert(names.end(), range.sizes.begin(), range.sizes.end());
  // With sizes at run time nothing is known of how far the indices go.
  const auto first = range.sizes.empty() ? op.at.back().affine(params, names) : std::nullopt;
  // What divides it in every tile and trip.
  const std::int64_t unit = kLeastBoxBytes * 8 / bits_of(tensor->dtype);
  std::int64_t common = std::gcd(unit, first ? first->constant : op.at.back().divisor(params, names));
  for (std::size_t v = 0; first && v < counts.size(); ++v)
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

#include "core/triton/kernel/tensor_sizes.h"

#include <algorithm>

#include "core/base/saturate.h"

namespace heddle::triton {
namespace {

/// What a parameter may be; addresses beyond it (rows of 64 bits) read and write nothing.
constexpr std::int64_t kLargestExtent = std::int64_t{1} << 31;

/// The place where everything has its largest index.
Scope last_place(const Kernel& kernel, bool evaluation, const std::map<std::string, std::int64_t>& instead) {
  Scope scope;
  for (const Param& p : kernel.params) {
    const auto other = instead.find(p.name);
    scope[p.name] = other != instead.end() ? other->second : evaluation ? p.eval_value.value_or(p.value) : p.value;
  }
  Scope last = scope;
  for (const GridDim& dim : kernel.grid) {
    const auto size = dim.size.evaluate(scope);
    last[dim.name] = std::max<std::int64_t>(0, size ? *size - 1 : 0);
  }
  const auto trips = kernel.loop.trips.evaluate(last);
  last[kernel.loop.variable] = std::max<std::int64_t>(0, (trips ? *trips : 1) - 1);
  return last;
}

/// As many blocks along a dimension as fit one step of the next: with rows at block_y * keys + block_x * 128, keys / 128 along x.
void size_grid(Kernel& kernel) {
  constexpr std::int64_t kMostBlocks = 1024;
  for (const bool evaluation : {false, true}) {
    Scope first = last_place(kernel, evaluation, {});
    for (const GridDim& dim : kernel.grid) first[dim.name] = 0;
    std::map<std::string, std::int64_t> counts;
    for (const auto* list : {&kernel.body, &kernel.epilogue})
      for (const TileOp& each : *list)
        for (const Expr& at : each.outputs.empty() ? each.at : std::vector<Expr>{}) {
          std::map<std::string, std::int64_t> steps;
          const auto here = at.evaluate(first);
          for (const GridDim& dim : kernel.grid) {
            Scope next = first;
            next[dim.name] = 1;
            const auto there = at.evaluate(next);
            if (here && there && *there > *here) steps[dim.name] = *there - *here;
          }
          for (const auto& [fine, small] : steps)
            for (const auto& [coarse, large] : steps)
              if (large > small && large % small == 0 && large / small <= kMostBlocks) counts[fine] = large / small;
        }
    for (const GridDim& dim : kernel.grid)
      for (Param& p : kernel.params)
        if (const auto it = counts.find(dim.name); it != counts.end() && dim.size.text() == p.name)
          (evaluation ? p.eval_value.emplace() : p.value) = it->second;
  }
}

/// How far apart rows lie is a number of the launch. As small as the columns that are touched: what no tile writes is then not there.
void size_pitches(Kernel& kernel, const std::map<std::string, std::vector<std::int64_t>>& extents) {
  constexpr std::int64_t kWide = std::int64_t{1} << 24;
  std::map<std::string, std::int64_t> wide;
  const std::vector<std::string> counted = kernel.loop.trips.names();
  for (const Tensor& tensor : kernel.tensors)
    if (tensor.shape.size() == 2 && kernel.find_param(tensor.shape[1].text()) &&
        std::find(counted.begin(), counted.end(), tensor.shape[1].text()) == counted.end())
      wide[tensor.shape[1].text()] = kWide;
  for (const bool evaluation : {false, true}) {
    const Scope last = last_place(kernel, evaluation, wide);
    std::map<std::string, std::int64_t> needed;
    for (const auto* list : {&kernel.prologue, &kernel.body, &kernel.epilogue})
      for (const TileOp& each : *list) {
        const Tensor* tensor = each.tensor.empty() ? nullptr : kernel.find_tensor(each.tensor);
        if (!tensor || tensor->shape.size() != 2 || each.at.size() != 2 || !wide.contains(tensor->shape[1].text())) continue;
        const std::string& tile = each.outputs.empty() ? each.inputs.at(0).value : each.outputs[0];
        const auto from = each.at[1].evaluate(last);
        std::int64_t& most = needed[tensor->shape[1].text()];
        most = std::max(most, from && *from < kWide / 2 ? sat_add(*from, extents.at(tile).back()) : kWide);
      }
    for (Param& p : kernel.params)
      if (const auto it = needed.find(p.name); it != needed.end() && it->second >= 1 && it->second < kWide / 2)
        (evaluation ? p.eval_value.emplace() : p.value) = it->second;
  }
}

}  // namespace

void size_tensors(Kernel& kernel, const std::map<std::string, std::vector<std::int64_t>>& extents) {
  size_grid(kernel);
  size_pitches(kernel, extents);
  for (const bool evaluation : {false, true}) {
    const Scope last = last_place(kernel, evaluation, {});
    std::map<std::string, std::int64_t> needed;  ///< by parameter
    for (const auto* list : {&kernel.prologue, &kernel.body, &kernel.epilogue})
      for (const TileOp& each : *list) {
        const Tensor* tensor = each.tensor.empty() ? nullptr : kernel.find_tensor(each.tensor);
        if (!tensor || tensor->shape.size() != each.at.size()) continue;
        const std::string& tile = each.outputs.empty() ? each.inputs.at(0).value : each.outputs[0];
        const std::vector<std::int64_t>& shape = extents.at(tile);
        for (std::size_t d = 0; d < each.at.size(); ++d) {
          const auto from = each.at[d].evaluate(last);
          const std::size_t lead = each.at.size() - std::min(shape.size(), each.at.size());
          const std::int64_t extent = d < lead ? 1 : shape[d - lead];
          std::int64_t& most = needed[tensor->shape[d].text()];
          if (from) most = std::max(most, sat_add(*from, extent));
        }
      }
    for (const Param& p : std::vector<Param>(kernel.params)) {
      const auto it = needed.find(p.name);
      if (it == needed.end() || it->second < 1) continue;
      const bool mentioned = std::any_of(kernel.body.begin(), kernel.body.end(), [&](const TileOp& each) {
        return std::any_of(each.at.begin(), each.at.end(), [&](const Expr& e) {
          const std::vector<std::string> names = e.names();
          return std::find(names.begin(), names.end(), p.name) != names.end();
        });
      });
      const std::vector<std::string> trip_names = kernel.loop.trips.names();
      if (mentioned || std::find(trip_names.begin(), trip_names.end(), p.name) != trip_names.end()) continue;
      for (Param& own : kernel.params)
        if (own.name == p.name) (evaluation ? own.eval_value.emplace() : own.value) = std::min(it->second, kLargestExtent);
    }
  }
}

}  // namespace heddle::triton

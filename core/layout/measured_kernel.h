// A kernel whose extents are numbers, on a machine: what all passes of plan_layouts() look at.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/kernel/kernel.h"
#include "core/layout/plan.h"
#include "core/machine/machine.h"

namespace heddle {

struct MeasuredKernel {
  const Kernel& kernel;
  const Scope& params;  ///< every parameter
  const Machine& machine;
  LayoutPlan::Family family = LayoutPlan::Family::None;
  std::vector<std::vector<std::int64_t>> shapes;          ///< as the kernel's values
  std::map<std::string_view, std::size_t> index;          ///< of values, by name
  std::int64_t rows = 0, columns = 0;                     ///< of the tiles of a kernel without products
  std::vector<std::reference_wrapper<const TileOp>> ops;  ///< of prologue, body and epilogue

  std::size_t index_of(std::string_view name) const { return index.at(name); }
  const TileValue& value(std::size_t v) const { return kernel.values[v]; }
  int bits(std::size_t v) const { return bits_of(kernel.values[v].dtype); }
  bool products() const { return family == LayoutPlan::Family::Products; }
  bool tensor_products() const { return family == LayoutPlan::Family::TensorProducts; }

  /// Some op lays the vector over a tile, one element for each column, or what is computed of it element by element.
  bool along_columns(std::size_t v) const;
  /// Whether the op lays the vector that it reads there over a tile like that.
  bool takes_by_column(const TileOp& op, std::size_t input) const;
  /// Bytes of a row of the panels in which a tile lies by default.
  int usual_span(std::size_t v) const;
  /// "wgmma of 'qk'", "TMA of 'load_k'".
  std::string asker(const TileOp& op) const;
};

/// Pre: `params` holds every parameter, and extents are sane. All three outlive what is returned.
MeasuredKernel measure(const Kernel& kernel, const Scope& params, const Machine& machine);

}  // namespace heddle

#include "core/triton/kernel/row_cut.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/kernel/free_axes.h"
#include "core/kernel/op_shapes.h"

namespace heddle::triton {
namespace {

/// Extents that an op takes as one, put together.
class Dimensions {
 public:
  Dimensions(const Kernel& kernel, const std::map<std::string, std::vector<std::int64_t>>& extents) : extents_(extents) {
    for (const TileValue& value : kernel.values) {
      first_[value.name] = static_cast<int>(classes_.size());
      for (std::size_t d = 0; d < rank_of(value.name); ++d) classes_.push_back(static_cast<int>(classes_.size()));
    }
    for (const auto* list : {&kernel.prologue, &kernel.body, &kernel.epilogue})
      for (const TileOp& each : *list) link_op(each);
  }

  /// A value has the dimension twice.
  bool repeats(const TileAxis& axis) const {
    return std::any_of(extents_.begin(), extents_.end(), [&](const auto& value) { return places(value.first, axis).size() > 1; });
  }
  /// Gives the dimension a name in all values; `registers`: of a vector along it.
  void name(LoopKernelDraft& draft, const TileAxis& axis, const std::string& name, const std::string& registers) const {
    for (TileValue& value : draft.native.kernel.values)
      for (const std::size_t d : places(value.name, axis)) {
        value.shape[d] = expr_of(name);
        if (value.registers && rank_of(value.name) == 1) value.registers = expr_of(registers);
      }
  }

 private:
  std::size_t rank_of(const std::string& value) const { return extents_.at(value).size(); }
  int root_of(const std::string& value, std::size_t d) const {
    int dim = first_.at(value) + static_cast<int>(d);
    while (classes_[static_cast<std::size_t>(dim)] != dim) dim = classes_[static_cast<std::size_t>(dim)];
    return dim;
  }
  /// Where the value has the dimension.
  std::vector<std::size_t> places(const std::string& value, const TileAxis& axis) const {
    std::vector<std::size_t> found;
    for (std::size_t d = 0; d < rank_of(value); ++d)
      if (root_of(value, d) == root_of(axis.value, axis.dimension)) found.push_back(d);
    return found;
  }

  void link(const std::string& a, std::size_t dim_a, const std::string& b, std::size_t dim_b) {
    const auto x = extents_.find(a), y = extents_.find(b);
    if (x == extents_.end() || y == extents_.end() || dim_a >= x->second.size() || dim_b >= y->second.size()) return;
    if (x->second[dim_a] != y->second[dim_b]) return;
    const int from = root_of(a, dim_a), to = root_of(b, dim_b);
    classes_[static_cast<std::size_t>(std::max(from, to))] = std::min(from, to);
  }
  void link_op(const TileOp& each) {
    if (each.outputs.empty()) return;
    const std::string& out = each.outputs[0];
    const std::size_t rank = rank_of(out);
    if (each.kind == "mma") {
      const bool ta = flag_attr(each, "transpose_a"), tb = flag_attr(each, "transpose_b");
      link(each.inputs[0].value, ta, out, 0);
      link(each.inputs[1].value, !tb, out, 1);
      link(each.inputs[0].value, !ta, each.inputs[1].value, tb);
      for (std::size_t k = 2; k < each.inputs.size(); ++k)
        for (std::size_t d = 0; d < 2; ++d) link(each.inputs[k].value, d, out, d);
      return;
    }
    if (each.kind.starts_with("reduce_")) {
      const auto along = static_cast<std::size_t>(integer_attr(each, "axis", 1));
      link(each.inputs[0].value, 1 - along, out, 0);
      for (std::size_t k = 1; k < each.inputs.size(); ++k) link(each.inputs[k].value, 0, out, 0);
      return;
    }
    const std::string letters = text_attr(each, "along");
    for (std::size_t k = 0; k < each.inputs.size(); ++k) {
      if (rank_of(each.inputs[k].value) == rank) {
        for (std::size_t d = 0; d < rank; ++d) link(each.inputs[k].value, d, out, d);
        continue;
      }
      std::size_t runs = static_cast<std::size_t>(integer_attr(each, "axis", 0));
      if (k < letters.size()) runs = letters[k] == 'c';
      link(each.inputs[k].value, 0, out, runs);
    }
  }

  const std::map<std::string, std::vector<std::int64_t>>& extents_;  ///< of every value, by name
  std::map<std::string, int> first_;                                 ///< of each value's dimensions, which follow each other
  std::vector<int> classes_;                                         ///< union-find over dimensions
};

/// On Blackwell a tile of 128 rows is one warp group's, so that wide ones that it keeps in registers are cut by columns: until what is
/// carried and the largest of the others take half of a thread's registers.
std::optional<Subtile> cut_columns(LoopKernelDraft& draft, const Dimensions& dimensions, const std::string& accumulator) {
  Kernel& kernel = draft.native.kernel;
  constexpr std::int64_t kThreads = 128, kComfortable = 128;
  std::int64_t carried = 0, largest = 0;
  for (const TileValue& value : kernel.values) {
    const std::vector<std::int64_t>& shape = draft.extents[value.name];
    const auto defines = [&](const TileOp& each) { return !each.outputs.empty() && each.outputs[0] == value.name; };
    if (value.space != Space::Register || shape.size() != 2 || std::none_of(kernel.body.begin(), kernel.body.end(), defines)) continue;
    constexpr std::int64_t kLong = 1 << 20;  // longer ones need more registers than there are all the same
    const std::int64_t registers = std::min(shape[0], kLong) * std::min(shape[1], kLong) * bits_of(value.dtype) / 32 / kThreads;
    const bool again = std::any_of(kernel.body.begin(), kernel.body.end(), [&](const TileOp& each) {
      return std::any_of(each.inputs.begin(), each.inputs.end(),
                         [&](const Operand& in) { return in.value == value.name && in.distance > 0; });
    });
    (again ? carried : largest) = again ? carried + registers : std::max(largest, registers);
  }
  std::int64_t parts = 1;
  while (parts < 4 && (carried + largest) / parts > kComfortable + kComfortable / 2) parts *= 2;
  const std::vector<std::int64_t>& tile = draft.extents[accumulator];
  if (tile.size() != 2 || parts == 1 || tile[1] % (16 * parts) != 0 || dimensions.repeats({accumulator, 1})) return std::nullopt;
  const std::string name =
      draft.scalars.param(draft.scalars.fresh("COLUMNS"), tile[1], tile[1], "columns of the tile, as the text has them");
  dimensions.name(draft, {accumulator, 1}, name, name);
  return Subtile{name, parts};
}

}  // namespace

Subtile name_dimensions(LoopKernelDraft& draft) {
  const LoopText& text = draft.text;
  Kernel& kernel = draft.native.kernel;
  const Dimensions dimensions(kernel, draft.extents);
  // The rows of the mmas' accumulators, if they are one dimension.
  const TileOp* product = nullptr;
  for (const TileOp& each : kernel.body)
    if (each.kind == "mma") product = &each;
  if (!product || dimensions.repeats({product->outputs[0], 0})) return {};
  const std::int64_t extent = draft.extents[product->outputs[0]][0];
  // A warp group takes 64 rows of an mma at a time on Hopper, a tile of tensor memory has 128.
  const std::int64_t of_text = std::max<std::int64_t>(1, text.program.num_warps / 4);
  const std::int64_t wanted = text.program.target >= 100 ? extent / 128 : std::max<std::int64_t>(of_text, extent >= 128 ? 2 : 1);
  const std::int64_t rows_each = text.program.target >= 100 ? 128 : 64;
  const std::int64_t groups = extent % (rows_each * std::max<std::int64_t>(1, wanted)) == 0 && wanted <= 4 ? wanted : 1;
  const bool cuts = groups > 1;
  const std::string name = draft.scalars.param(draft.scalars.fresh("ROWS"), extent, extent, "rows of the tile, as the text has them");
  const int rows_of_vector = text.program.target >= 100 ? 128 : 32;
  dimensions.name(draft, {product->outputs[0], 0}, name, fmt::format("max(1, {} / {})", name, rows_of_vector));
  if (!cuts && text.program.target >= 100)
    if (const std::optional<Subtile> columns = cut_columns(draft, dimensions, product->outputs[0])) return *columns;
  return {name, cuts ? groups : 1};
}

}  // namespace heddle::triton

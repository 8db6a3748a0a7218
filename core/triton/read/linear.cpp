// A layout covers its own extent first (registers, lanes, warps); a tile that is larger is repeated over further registers, a smaller one
// is held several times. What each layout means is said by the attribute definitions of Triton's TritonGPU dialect.
#include "core/triton/read/linear.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace heddle::triton {
namespace {

constexpr int kMostBits = 30;

/// Bases with a coordinate per dimension, while a layout is put together.
using Basis = std::vector<std::int64_t>;

struct Builder {
  std::size_t rank;
  std::vector<Basis> registers, lanes, warps, blocks;
  Basis extent;                      ///< covered so far
  std::vector<std::size_t> growing;  ///< dimensions in the order in which a larger tile repeats them

  explicit Builder(std::size_t dimensions) : rank(dimensions), extent(dimensions, 1), growing(dimensions) {
    std::iota(growing.rbegin(), growing.rend(), std::size_t{0});
  }

  /// `size` further elements of a dimension go over the bits of `where`.
  void grow(std::vector<Basis>& where, std::size_t dimension, std::int64_t size) {
    for (std::int64_t step = 1; step < size; step *= 2) {
      Basis basis(rank, 0);
      basis[dimension] = extent[dimension];
      extent[dimension] *= 2;
      where.push_back(std::move(basis));
    }
  }
  void copies(std::vector<Basis>& where, std::int64_t size) {
    for (std::int64_t step = 1; step < size; step *= 2) where.emplace_back(rank, 0);
  }
};

bool sizes_fit(const std::vector<std::int64_t>& sizes, std::size_t rank) {
  return sizes.size() == rank && std::ranges::all_of(sizes, [](std::int64_t size) {
           return size >= 1 && size <= (std::int64_t{1} << kMostBits) && std::has_single_bit(static_cast<std::uint64_t>(size));
         });
}

bool order_fits(const std::vector<std::int64_t>& order, std::size_t rank) {
  std::vector<std::int64_t> sorted = order;
  std::ranges::sort(sorted);
  for (std::size_t i = 0; i < sorted.size(); ++i)
    if (sorted[i] != static_cast<std::int64_t>(i)) return false;
  return sorted.size() == rank;
}

std::optional<Builder> blocked(const TritonLayout& layout, std::size_t rank) {
  if (!sizes_fit(layout.size_per_thread, rank) || !sizes_fit(layout.threads_per_warp, rank) || !sizes_fit(layout.warps_per_cta, rank) ||
      !order_fits(layout.order, rank))
    return std::nullopt;
  Builder builder(rank);
  for (std::size_t i = 0; i < rank; ++i) builder.growing[i] = static_cast<std::size_t>(layout.order[i]);
  for (const std::size_t d : builder.growing) builder.grow(builder.registers, d, layout.size_per_thread[d]);
  for (const std::size_t d : builder.growing) builder.grow(builder.lanes, d, layout.threads_per_warp[d]);
  for (const std::size_t d : builder.growing) builder.grow(builder.warps, d, layout.warps_per_cta[d]);
  return builder;
}

/// A tile of a tensor core's instruction: 4 lanes along `inner`, each with `width` neighbours, 8 along `outer`, the rest in registers.
struct MatrixTile {
  std::size_t inner, outer;  ///< dimensions
  std::int64_t width, inner_size, outer_size;
};

void instruction(Builder& builder, const MatrixTile& tile) {
  builder.grow(builder.registers, tile.inner, tile.width);
  builder.grow(builder.lanes, tile.inner, 4);
  builder.grow(builder.lanes, tile.outer, 8);
  builder.grow(builder.registers, tile.outer, tile.outer_size / 8);
  builder.grow(builder.registers, tile.inner, tile.inner_size / (4 * tile.width));
}

std::optional<Builder> nvidia_mma(const TritonLayout& layout, std::size_t rank) {
  if (rank < 2 || !sizes_fit(layout.warps_per_cta, rank) || layout.instr_shape.size() < 2) return std::nullopt;
  // Version 2 prints [16, 8], version 3 M, N and K.
  const std::size_t at = layout.version >= 3 ? 0 : layout.instr_shape.size() - 2;
  const std::int64_t m = layout.instr_shape[at], n = layout.instr_shape[at + 1];
  if (m < 8 || n < 8 || !std::has_single_bit(static_cast<std::uint64_t>(m)) || !std::has_single_bit(static_cast<std::uint64_t>(n)))
    return std::nullopt;
  Builder builder(rank);
  instruction(builder, {rank - 1, rank - 2, 2, n, m});
  if (layout.version >= 3)  // warps of a group lie over the rows first
    for (std::size_t d = 0; d < rank; ++d) builder.grow(builder.warps, d, layout.warps_per_cta[d]);
  else
    for (std::size_t d = rank; d-- > 0;) builder.grow(builder.warps, d, layout.warps_per_cta[d]);
  return builder;
}

std::optional<Builder> dot_operand(const TritonLayout& layout, std::size_t rank) {
  if (layout.parent.empty() || rank < 2) return std::nullopt;
  const TritonLayout& parent = layout.parent.front();
  if (parent.kind != TritonLayout::Kind::NvidiaMma || !sizes_fit(parent.warps_per_cta, rank)) return std::nullopt;
  const std::int64_t width = layout.k_width;
  if (width < 1 || width > 64 || !std::has_single_bit(static_cast<std::uint64_t>(width))) return std::nullopt;
  const bool left = layout.op_idx == 0;
  const std::size_t depth = left ? rank - 1 : rank - 2, other = left ? rank - 2 : rank - 1;
  Builder builder(rank);
  builder.growing.clear();
  builder.growing.push_back(left ? rank - 1 : rank - 2);
  builder.growing.push_back(left ? rank - 2 : rank - 1);
  for (std::size_t d = rank - 2; d-- > 0;) builder.growing.push_back(d);
  instruction(builder, {depth, other, width, 8 * width, left ? 16 : 8});
  // Warps along the depth of the mma hold the same elements.
  const auto warps = [&](std::size_t d) {
    if (d == depth)
      builder.copies(builder.warps, parent.warps_per_cta[d]);
    else
      builder.grow(builder.warps, d, parent.warps_per_cta[d]);
  };
  if (parent.version >= 3)
    for (std::size_t d = 0; d < rank; ++d) warps(d);
  else
    for (std::size_t d = rank; d-- > 0;) warps(d);
  return builder;
}

std::optional<Builder> printed(const TritonLayout& layout, std::size_t rank) {
  Builder builder(rank);
  builder.registers = layout.registers, builder.lanes = layout.lanes, builder.warps = layout.warps, builder.blocks = layout.blocks;
  for (const std::vector<Basis>* part : {&builder.registers, &builder.lanes, &builder.warps, &builder.blocks})
    for (const Basis& basis : *part) {
      if (basis.size() != rank) return std::nullopt;
      for (std::size_t d = 0; d < rank; ++d) {
        if (basis[d] < 0 || basis[d] >= (std::int64_t{1} << kMostBits)) return std::nullopt;
        builder.extent[d] = std::max(builder.extent[d], static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(basis[d] + 1))));
      }
    }
  return builder;
}

std::optional<Builder> build(const std::vector<std::int64_t>& shape, const TritonLayout& layout, int depth);

/// What is left of a layout of one more dimension when that has one element.
std::optional<Builder> slice(const std::vector<std::int64_t>& shape, const TritonLayout& layout, int depth) {
  const std::size_t rank = shape.size();
  if (layout.parent.empty() || layout.dim < 0 || layout.dim > static_cast<std::int64_t>(rank)) return std::nullopt;
  const auto gone = static_cast<std::ptrdiff_t>(layout.dim);
  std::vector<std::int64_t> whole = shape;
  whole.insert(whole.begin() + gone, 1);
  std::optional<Builder> parent = build(whole, layout.parent.front(), depth + 1);
  if (!parent) return std::nullopt;
  Builder builder(rank);
  const auto copy = [&](const std::vector<Basis>& from, std::vector<Basis>& to, bool drop) {
    for (Basis basis : from) {
      basis.erase(basis.begin() + gone);
      if (drop && std::ranges::all_of(basis, [](std::int64_t x) { return x == 0; })) continue;
      to.push_back(std::move(basis));
    }
  };
  copy(parent->registers, builder.registers, true);
  copy(parent->lanes, builder.lanes, false);
  copy(parent->warps, builder.warps, false);
  copy(parent->blocks, builder.blocks, false);
  builder.extent = shape;
  return builder;
}

/// Covers exactly `shape`.
void fit(Builder& builder, const std::vector<std::int64_t>& shape) {
  for (const std::size_t d : builder.growing)
    while (builder.extent[d] < shape[d]) builder.grow(builder.registers, d, 2);
  for (std::vector<Basis>* part : {&builder.registers, &builder.lanes, &builder.warps, &builder.blocks})
    for (Basis& basis : *part)
      for (std::size_t d = 0; d < shape.size(); ++d)
        if (basis[d] >= shape[d]) basis[d] = 0;
}

std::optional<Builder> build(const std::vector<std::int64_t>& shape, const TritonLayout& layout, int depth) {
  if (depth > 8) return std::nullopt;
  const std::size_t rank = shape.size();
  std::optional<Builder> builder;
  switch (layout.kind) {
    case TritonLayout::Kind::Blocked: builder = blocked(layout, rank); break;
    case TritonLayout::Kind::NvidiaMma: builder = nvidia_mma(layout, rank); break;
    case TritonLayout::Kind::DotOperand: builder = dot_operand(layout, rank); break;
    case TritonLayout::Kind::Linear: builder = printed(layout, rank); break;
    case TritonLayout::Kind::Slice: return slice(shape, layout, depth);
    case TritonLayout::Kind::None:
    case TritonLayout::Kind::SharedSwizzled:
    case TritonLayout::Kind::SharedNvmma:
    case TritonLayout::Kind::TensorMemory:
    case TritonLayout::Kind::Other: break;
  }
  // A printed layout that is larger than the tile gives up the registers that it has no use for; the others hold copies in them.
  const auto beyond = [&](const Basis& basis) {
    for (std::size_t d = 0; d < rank; ++d)
      if (basis[d] >= shape[d]) return true;
    return false;
  };
  if (builder && layout.kind == TritonLayout::Kind::Linear) std::erase_if(builder->registers, beyond);
  if (builder) fit(*builder, shape);
  return builder;
}

}  // namespace

int Linear::total() const { return std::accumulate(bits.begin(), bits.end(), 0); }

int Linear::offset(std::size_t dimension) const {
  return std::accumulate(bits.begin(), bits.begin() + static_cast<std::ptrdiff_t>(dimension), 0);
}

std::optional<Linear> linear_of(const std::vector<std::int64_t>& shape, const TritonLayout& layout) {
  Linear linear;
  int total = 0;
  for (const std::int64_t extent : shape) {
    if (extent < 1 || !std::has_single_bit(static_cast<std::uint64_t>(extent))) return std::nullopt;
    linear.bits.push_back(std::countr_zero(static_cast<std::uint64_t>(extent)));
    total += linear.bits.back();
  }
  if (total > kMostBits) return std::nullopt;
  const std::optional<Builder> builder = build(shape, layout, 0);
  if (!builder) return std::nullopt;
  const auto flat = [&](const std::vector<Basis>& from, std::vector<std::uint32_t>& to) {
    for (const Basis& basis : from) {
      std::uint32_t position = 0;
      for (std::size_t d = 0; d < shape.size(); ++d) position |= static_cast<std::uint32_t>(basis[d]) << linear.offset(d);
      to.push_back(position);
    }
  };
  flat(builder->registers, linear.registers);
  flat(builder->lanes, linear.lanes);
  flat(builder->warps, linear.warps);
  flat(builder->blocks, linear.blocks);
  return linear;
}

std::optional<Linear> linear_of(const Type& type) { return linear_of(type.tile.shape, type.layout); }

Linear without_copies(Linear linear) {
  std::erase(linear.registers, 0u);
  return linear;
}

bool within_warps(const Linear& from, const Linear& to) {
  if (from.warps != to.warps || from.blocks != to.blocks) return false;
  if (from.lanes == to.lanes) return true;
  // Bits that change between lane and register. A shuffle sends one value of each lane, so one such bit costs a second shuffle with a
  // choice before and after; Triton's conversions do no more.
  const auto missing = [](const std::vector<std::uint32_t>& lanes, const std::vector<std::uint32_t>& of) {
    return std::ranges::count_if(lanes, [&](std::uint32_t lane) { return lane != 0 && std::ranges::find(of, lane) == of.end(); });
  };
  return std::max(missing(from.lanes, to.lanes), missing(to.lanes, from.lanes)) < 2;
}

}  // namespace heddle::triton

// How a tile lies: which element a place holds. A place is a register of a lane of a warp, or an element's offset in memory.
//
// A layout is an atom that is linear over GF(2) - bit i of the index on an axis moves the element by basis i, moves are combined by
// exclusive or - times repeats for extents that are no power of two (176 columns are 22 blocks of 8) and for padding. Swizzles are bases
// like all others. Why GF(2): inverse, composition and bank conflicts are exact linear algebra on words (K. Zhou et al., "Linear Layouts",
// arXiv 2505.23819); why repeats: CuTe's shapes (arXiv 2603.02298) are not all powers of two.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace heddle {

/// What the index of a place counts. Registers count elements of a thread, not 32-bit words. Offset counts elements of memory from the
/// tile's first one; its byte is offset * bits / 8.
enum class LayoutAxis { Register, Lane, Warp, Offset };
inline constexpr std::size_t kLayoutAxes = 4;
const char* to_string(LayoutAxis axis);

/// Of an element of a tile, outermost dimension first: row, column.
using Coordinates = std::vector<std::int64_t>;

/// Indices on the axes; those that a layout does not have are 0.
struct LayoutPlace {
  std::array<std::int64_t, kLayoutAxes> index{};
  std::int64_t& operator[](LayoutAxis axis) { return index[static_cast<std::size_t>(axis)]; }
  std::int64_t operator[](LayoutAxis axis) const { return index[static_cast<std::size_t>(axis)]; }
  auto operator<=>(const LayoutPlace&) const = default;
};

/// `extent` copies of what lies inside: copy x is x * pitch further on the axis, and its elements are x * step further in `dimension`.
/// Step 0: the same elements again.
struct LayoutRepeat {
  LayoutAxis axis = LayoutAxis::Offset;
  std::int64_t extent = 1, pitch = 1;
  std::size_t dimension = 0;
  std::int64_t step = 0;
  bool operator==(const LayoutRepeat&) const = default;
};

struct Layout {
  std::vector<std::int64_t> shape;  ///< of the tile
  /// Per axis and bit of its index: the move, a coordinate per dimension, each below the atom's extent there. Zero: a copy.
  std::array<std::vector<Coordinates>, kLayoutAxes> bases;
  std::vector<LayoutRepeat> repeats;  ///< per axis from the innermost, each pitch at least what lies inside it spans

  const std::vector<Coordinates>& of(LayoutAxis axis) const { return bases[static_cast<std::size_t>(axis)]; }
  std::vector<Coordinates>& of(LayoutAxis axis) { return bases[static_cast<std::size_t>(axis)]; }
  /// Least number above every index on the axis that holds something; 1 for an axis that the layout does not have.
  std::int64_t extent(LayoutAxis axis) const;
  /// Elements of the tile.
  std::int64_t elements() const;
  bool in_memory() const;  ///< it has offsets, not registers
  bool operator==(const Layout&) const = default;
};

/// Caps that keep hostile input small: elements of a tile, dimensions, repeats, bits of the index on one axis.
inline constexpr std::int64_t kMostLayoutElements = std::int64_t{1} << 22;
inline constexpr std::size_t kMostLayoutDimensions = 8, kMostLayoutRepeats = 32, kMostLayoutBits = 24;

/// What is wrong with it, all of it: bases beyond the tile or of another rank, repeats that overlap or overflow, elements that no place
/// holds, memory that holds two elements in one place or one in two. Registers may hold an element several times (replication). A layout
/// without faults is good; everything below expects good ones. Pointers: "/bases/lane/3", "/repeats/0".
std::vector<Fault> faults_of(const Layout& layout);

/// The element at a place; nothing in padding or beyond the ends. Whoever asks often takes a LayoutReader, whoever wants a grid table_of()
/// (core/layout/reader.h).
std::optional<Coordinates> element_at(const Layout& layout, const LayoutPlace& place);
/// Every place that holds the element, ascending.
std::vector<LayoutPlace> places_of(const Layout& layout, const Coordinates& element);
/// How many places hold each element: 1 in memory; the row statistics of a wgmma fragment are held 4 times.
std::int64_t copies(const Layout& layout);
/// Every element lies in the same places in both; however they are spelled.
bool same_places(const Layout& a, const Layout& b);
/// The same layout in one spelling: whatever can be a basis is one, neighbouring repeats are one. Layouts of the same places whose extents
/// are powers of two get equal.
Layout canonical(const Layout& layout);

/// Where memory keeps what a register holds: a layout onto one dimension, `offset`, with the axes of `registers`. Nothing where the two are
/// of different shapes, or where it is no atom with repeats.
std::optional<Layout> addresses(const Layout& registers, const Layout& memory);
/// `inner`'s places that hold each place's element of `outer`, over the elements of the tile: the change of layout from one to the other as
/// bases, where both are linear (no repeats). Row i of the result: bit i of outer's index (registers, then lanes, then warps).
std::optional<std::vector<std::uint64_t>> conversion(const Layout& outer, const Layout& inner);

/// With the order of its dimensions turned round: rows for columns.
Layout transposed(const Layout& layout);
/// The layout of a tile's one number per row (dimension 1 gone) or per column (dimension 0 gone): what was held along the dimension is held
/// in copies; registers that are copies of each other are one.
Layout without_dimension(const Layout& layout, std::size_t dimension);

/// How registers become others, cheapest first.
enum class ConversionClass {
  Same,         ///< nothing to do
  Rename,       ///< other registers of the same lane
  BytePermute,  ///< other bytes of registers of the same lane
  Shuffle,      ///< other lanes of the same warp
  SharedMemory  ///< other warps
};
const char* to_string(ConversionClass kind);
/// `bits`: of an element.
ConversionClass conversion_class(const Layout& from, const Layout& to, int bits);
/// Registers of 32 bits that each warp takes from other lanes, an instruction each. Pre: no elements come from other warps.
std::int64_t shuffles_of(const Layout& from, const Layout& to, int bits);

}  // namespace heddle

// Each is put together from its definition in the PTX ISA, axis by axis from the innermost.
#include "core/layout/known.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "core/base/scanner.h"
#include "core/base/split.h"
#include "core/kernel/packed.h"

namespace heddle {
namespace {

constexpr std::string_view kRelabelledSuffix = " relabelled";
constexpr std::int64_t kGroupWarps = 4, kGroupThreads = 128, kLanes = 32, kFragmentRows = 64;

bool is_size(std::int64_t x) { return x >= 1 && x <= kMostLayoutElements; }

/// Puts axes together from the innermost: factors of two become bases where they can.
class Builder {
 public:
  explicit Builder(std::vector<std::int64_t> shape) { layout_.shape = std::move(shape); }
  Builder& over(LayoutAxis axis, std::int64_t extent, std::size_t dimension, std::int64_t step) {
    if (extent > 1) layout_.repeats.push_back({axis, extent, layout_.extent(axis), dimension, step});
    return *this;
  }
  Builder& apart(LayoutAxis axis, std::int64_t extent, std::int64_t pitch, std::size_t dimension, std::int64_t step) {
    if (extent > 1) layout_.repeats.push_back({axis, extent, pitch, dimension, step});
    return *this;
  }
  Layout take() const { return canonical(layout_); }

 private:
  Layout layout_;
};

/// Numbers after a name: "panels 64".
std::optional<std::vector<std::int64_t>> numbers_of(const std::vector<std::string>& words) {
  std::vector<std::int64_t> numbers;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const auto number = read_number<std::int64_t>(words[i]);
    if (!number || *number < 0) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

}  // namespace

Layout accumulator_layout(std::int64_t columns) {
  return Builder({kFragmentRows, columns})
      .over(LayoutAxis::Register, 2, 1, 1)
      .over(LayoutAxis::Register, 2, 0, 8)
      .over(LayoutAxis::Register, columns / 8, 1, 8)
      .over(LayoutAxis::Lane, 4, 1, 2)
      .over(LayoutAxis::Lane, 8, 0, 1)
      .over(LayoutAxis::Warp, kGroupWarps, 0, 16)
      .take();
}

Layout operand_layout(std::int64_t columns, int bits) {
  const std::int64_t word = 32 / bits;  // neighbours in a register of 32 bits
  return Builder({kFragmentRows, columns})
      .over(LayoutAxis::Register, word, 1, 1)
      .over(LayoutAxis::Register, 2, 0, 8)
      .over(LayoutAxis::Register, columns / (4 * word), 1, 4 * word)
      .over(LayoutAxis::Lane, 4, 1, word)
      .over(LayoutAxis::Lane, 8, 0, 1)
      .over(LayoutAxis::Warp, kGroupWarps, 0, 16)
      .take();
}

Layout warp_rows_layout(std::int64_t rows, std::int64_t columns) {
  const std::int64_t own = rows / kGroupWarps, lanes = lanes_of_row(columns), at_once = kLanes / lanes;
  return Builder({rows, columns})
      .over(LayoutAxis::Register, 8, 1, 1)
      .over(LayoutAxis::Register, columns / (8 * lanes), 1, 8 * lanes)
      .over(LayoutAxis::Register, own / at_once, 0, at_once)
      .over(LayoutAxis::Lane, lanes, 1, 8)
      .over(LayoutAxis::Lane, at_once, 0, 1)
      .over(LayoutAxis::Warp, kGroupWarps, 0, own)
      .take();
}

std::int64_t lanes_of_row(std::int64_t columns) { return std::gcd(columns / 8, kLanes); }

bool fits_warp_rows(std::int64_t rows, std::int64_t columns) {
  return rows > 0 && columns > 0 && columns % 8 == 0 && rows % (kGroupWarps * kLanes / lanes_of_row(columns)) == 0;
}

Layout thread_rows_layout(std::int64_t rows, std::int64_t columns) {
  return Builder({rows, columns})
      .over(LayoutAxis::Register, columns, 1, 1)
      .over(LayoutAxis::Lane, 32, 0, 1)
      .over(LayoutAxis::Warp, rows / 32, 0, 32)
      .take();
}

std::optional<Layout> quads_layout(std::int64_t rows, std::int64_t columns, bool across) {
  constexpr std::int64_t kSide = 128;
  if (rows % kSide != 0 || columns % kSide != 0) return std::nullopt;
  Layout layout;
  layout.shape = {rows, columns};
  auto& registers = layout.of(LayoutAxis::Register);
  const std::vector<Coordinates> down{{1, 0}, {2, 0}}, along{{0, 1}, {0, 2}};
  for (const auto& pair : {across ? along : down, across ? down : along}) registers.insert(registers.end(), pair.begin(), pair.end());
  for (const Coordinates& basis : {Coordinates{64, 0}, {0, 64}, {0, 8}}) registers.push_back(basis);
  layout.of(LayoutAxis::Lane) = {{4, 0}, {0, 4}, {8, 8}, {16, 16}, {32, 32}};
  layout.of(LayoutAxis::Warp) = {{0, 16}, {0, 32}};
  for (const auto& [extent, dimension] : {std::pair{rows / kSide, 0}, std::pair{columns / kSide, 1}})
    if (extent > 1)
      layout.repeats.push_back(
          {LayoutAxis::Register, extent, layout.extent(LayoutAxis::Register), static_cast<std::size_t>(dimension), kSide});
  return canonical(layout);
}

std::optional<Layout> panels_layout(std::int64_t rows, std::int64_t columns, int bits, int swizzle, int atom) {
  if (!is_size(rows) || !is_size(columns) || !is_size(rows * columns) || bits < 4 || bits > 32) return std::nullopt;
  if (swizzle != 0 && swizzle != 32 && swizzle != 64 && swizzle != 128) return std::nullopt;
  if (atom != 16 && (atom != 32 || swizzle != 128)) return std::nullopt;
  const std::int64_t width = swizzle == 0 ? std::min<std::int64_t>(columns, 256) : swizzle * 8 / bits;
  if (columns % width != 0) return std::nullopt;
  Layout layout = Builder({rows, columns})
                      .over(LayoutAxis::Offset, width, 1, 1)
                      .over(LayoutAxis::Offset, rows, 0, 1)
                      .over(LayoutAxis::Offset, columns / width, 1, width)
                      .take();
  if (swizzle == 0) return layout;
  // Eight rows are a pattern: panels hold whole ones, or there is one panel with a part of it.
  if (rows % 8 != 0 && !(columns == width && rows <= 4 && rows != 3)) return std::nullopt;
  // Address bits 4.. (of atoms of 32 bytes 5..) are exchanged with bits 7..: a place's element has the piece that both together say.
  const int piece = std::countr_zero(static_cast<unsigned>(8 * atom / bits)), from = std::countr_zero(static_cast<unsigned>(1024 / bits));
  const int exchanged = std::countr_zero(static_cast<unsigned>(swizzle / atom));
  std::vector<Coordinates>& bases = layout.of(LayoutAxis::Offset);
  for (int i = 0; i < exchanged; ++i) {
    const auto row = static_cast<std::size_t>(from + i);
    if (row >= bases.size()) break;
    for (std::size_t d = 0; d < 2; ++d) bases[row][d] ^= bases[static_cast<std::size_t>(piece + i)][d];
  }
  return layout;
}

std::optional<Layout> taken_at_once(const Layout& registers, std::int64_t bytes, int bits) {
  const Layout held = canonical(registers);
  const auto of_lane = static_cast<std::uint64_t>(bytes * 8 / bits);
  const auto& in_thread = held.of(LayoutAxis::Register);
  if (!std::has_single_bit(of_lane) || in_thread.size() < static_cast<std::size_t>(std::countr_zero(of_lane))) return std::nullopt;
  const auto rest = in_thread.begin() + std::countr_zero(of_lane);
  Layout memory;
  memory.shape = held.shape;
  std::vector<Coordinates>& offsets = memory.of(LayoutAxis::Offset);
  offsets.assign(in_thread.begin(), rest);
  for (const LayoutAxis axis : {LayoutAxis::Lane, LayoutAxis::Warp})
    offsets.insert(offsets.end(), held.of(axis).begin(), held.of(axis).end());
  offsets.insert(offsets.end(), rest, in_thread.end());
  for (LayoutRepeat repeat : held.repeats) {
    // Of registers that come later: as many instructions, each with as much of every thread.
    if (repeat.axis != LayoutAxis::Register) return std::nullopt;
    repeat.axis = LayoutAxis::Offset;
    repeat.pitch = repeat.pitch * held.extent(LayoutAxis::Lane) * held.extent(LayoutAxis::Warp);
    memory.repeats.push_back(repeat);
  }
  return canonical(memory);
}

Layout packed_operand_layout(std::int64_t columns) {
  Layout layout = canonical(accumulator_layout(columns));
  // From neighbours to half a word of 32 bits apart.
  std::vector<Coordinates>& registers = layout.of(LayoutAxis::Register);
  std::rotate(registers.begin(), registers.begin() + 1, registers.begin() + 3);
  return canonical(layout);
}

std::optional<Layout> packed_layout(std::int64_t columns, int bits) {
  if ((bits != 4 && bits != 16 && bits != 32) || columns < 1 || columns % packed_columns(bits) != 0) return std::nullopt;
  return taken_at_once(bits == 4 ? packed_operand_layout(columns) : accumulator_layout(columns), kPackedBytes, bits);
}

std::optional<Layout> packed_lines_layout(std::int64_t columns) {
  if (columns < 1 || columns % packed_columns(32) != 0) return std::nullopt;
  const Layout held = canonical(accumulator_layout(packed_columns(32)));
  Layout memory;
  memory.shape = {kPackedRows, columns};
  for (const LayoutAxis axis : {LayoutAxis::Lane, LayoutAxis::Register, LayoutAxis::Warp})
    for (const Coordinates& basis : held.of(axis)) memory.of(LayoutAxis::Offset).push_back(basis);
  if (const std::int64_t blocks = columns / packed_columns(32); blocks > 1)
    memory.repeats.push_back({LayoutAxis::Offset, blocks, kPackedRows * packed_columns(32), 1, packed_columns(32)});
  return canonical(memory);
}

std::optional<Layout> relabelled(const Layout& layout, std::size_t dimension) {
  constexpr std::int64_t kOrdered = 16;
  Layout result = canonical(layout);
  if (dimension >= result.shape.size() || result.shape[dimension] % kOrdered != 0) return std::nullopt;
  for (auto& axis : result.bases)
    for (Coordinates& basis : axis) {
      std::int64_t& at = basis[dimension];
      at = (at & ~std::int64_t{14}) | (at & 6) << 1 | (at & 8) >> 2;
    }
  for (const LayoutRepeat& repeat : result.repeats)
    if (repeat.dimension == dimension && repeat.step % kOrdered != 0) return std::nullopt;
  return canonical(result);
}

Layout rows_layout(std::int64_t rows, std::int64_t columns, std::int64_t pitch) {
  if (pitch == 0) pitch = columns;
  return Builder({rows, columns}).over(LayoutAxis::Offset, columns, 1, 1).apart(LayoutAxis::Offset, rows, pitch, 0, 1).take();
}

std::optional<Layout> known_layout(std::string_view name, const std::vector<std::int64_t>& shape, int bits) {
  if (name.size() > 64 || shape.empty() || shape.size() > 2 || bits < 1 || bits > 64) return std::nullopt;
  if (name.ends_with(kRelabelledSuffix)) {
    const auto plain = known_layout(name.substr(0, name.size() - kRelabelledSuffix.size()), shape, bits);
    const bool other = plain && (name.starts_with("panels") || name.starts_with("accumulator")) && !name.starts_with("panels 0");
    return other ? relabelled(*plain, plain->in_memory() ? 0 : 1) : std::nullopt;
  }
  if (name == "packed lines" && shape.size() == 2 && shape[0] == kPackedRows && bits == 32) return packed_lines_layout(shape[1]);
  if (name == kAtomsOf32 && shape.size() == 2) return panels_layout(shape[0], shape[1], bits, 128, 32);
  const std::vector<std::string> words = split(name, ' ');
  const auto numbers = numbers_of(words);
  if (!numbers || numbers->size() > 1) return std::nullopt;
  const bool vector = shape.size() == 1;
  const std::int64_t rows = vector ? 1 : shape[0], columns = shape.back();
  if (!is_size(rows) || !is_size(columns) || !is_size(rows * columns)) return std::nullopt;
  const std::string& word = words.front();
  if (word == "rows") {
    const std::int64_t pitch = numbers->empty() ? columns : numbers->front();
    if (pitch < columns || pitch > kMostLayoutElements) return std::nullopt;
    Layout layout = rows_layout(rows, columns, pitch);
    if (!vector) return layout;
    return without_dimension(layout, 0);
  }
  if (vector) return std::nullopt;
  if (word == "panels") {
    const std::int64_t swizzle = numbers->empty() ? 128 : numbers->front();
    return swizzle <= 128 ? panels_layout(rows, columns, bits, static_cast<int>(swizzle)) : std::nullopt;
  }
  if (!numbers->empty()) return std::nullopt;
  if (word == "accumulator" && rows == kFragmentRows && columns % 8 == 0) return accumulator_layout(columns);
  if (word == "operand" && rows == kFragmentRows && (bits == 8 || bits == 16 || bits == 32) && columns % (256 / bits) == 0)
    return operand_layout(columns, bits);
  if (word == "packed" && rows == kPackedRows) return packed_layout(columns, bits);
  if (word == "packed_operand" && bits == 4 && rows == kFragmentRows && columns % packed_columns(4) == 0)
    return packed_operand_layout(columns);
  if ((word == "quads_down" || word == "quads_across") && bits == 8) return quads_layout(rows, columns, word == "quads_across");
  if (word == "warp_rows" && fits_warp_rows(rows, columns)) return warp_rows_layout(rows, columns);
  if (word == "thread_rows" && rows == kGroupThreads) return thread_rows_layout(rows, columns);
  return std::nullopt;
}

std::string known_name(const Layout& layout, int bits) {
  const auto is = [&](std::string_view name) {
    const std::optional<Layout> known = known_layout(name, layout.shape, bits);
    return known && same_places(*known, layout);
  };
  if (layout.in_memory()) {
    for (const std::string_view name : std::initializer_list<std::string_view>{"panels 128", "panels 64", "panels 32", "rows", "panels 0",
                                                                               "packed", "panels 128 relabelled", "panels 64 relabelled",
                                                                               "panels 32 relabelled", "packed lines", kAtomsOf32})
      if (is(name)) return std::string(name);
    // Rows further apart than they are long.
    if (layout.shape.size() == 2 && layout.shape[0] > 1) {
      const std::vector<LayoutPlace> second = places_of(layout, {1, 0});
      const std::string name = fmt::format("rows {}", second.empty() ? 0 : second.front()[LayoutAxis::Offset]);
      if (is(name)) return name;
    }
    return {};
  }
  for (const std::string name :
       {"accumulator", "operand", "packed_operand", "thread_rows", "warp_rows", "accumulator relabelled", "quads_down", "quads_across"})
    if (is(name)) return name;
  return {};
}

std::optional<int> swizzle_of(const Layout& layout, int bits) {
  if (layout.shape.size() == 1) {
    const auto rows = known_layout("rows", layout.shape, bits);
    return rows && same_places(*rows, layout) ? std::optional(0) : std::nullopt;
  }
  if (layout.shape.size() != 2) return std::nullopt;
  for (const int swizzle : {128, 64, 32, 0})
    if (const auto panels = panels_layout(layout.shape[0], layout.shape[1], bits, swizzle); panels && same_places(*panels, layout))
      return swizzle;
  return std::nullopt;
}

std::optional<int> relabelled_swizzle(const Layout& layout, int bits) {
  if (layout.shape.size() != 2 || !layout.in_memory()) return std::nullopt;
  for (const int swizzle : {128, 64, 32})
    if (const auto panels = panels_layout(layout.shape[0], layout.shape[1], bits, swizzle))
      if (const auto other = relabelled(*panels, 0); other && same_places(*other, layout)) return swizzle;
  return std::nullopt;
}

std::optional<int> box_swizzle(const Layout& layout, int bits) {
  const std::optional<int> swizzle = swizzle_of(layout, bits);
  return swizzle ? swizzle : relabelled_swizzle(layout, bits);
}

std::vector<std::string> known_names() {
  return {"accumulator",
          "operand",
          "warp_rows",
          "thread_rows",
          "panels 128",
          "panels 64",
          "panels 32",
          "panels 0",
          "rows",
          "packed",
          "packed lines",
          "packed_operand",
          "quads_down",
          "quads_across",
          "accumulator relabelled",
          "panels 128 relabelled",
          std::string(kAtomsOf32)};
}

std::optional<Layout> layout_of(const Fragment& fragment) {
  Layout layout;
  layout.of(LayoutAxis::Register) = fragment.registers;
  layout.of(LayoutAxis::Lane) = fragment.lanes;
  layout.of(LayoutAxis::Warp) = fragment.warps;
  std::size_t rank = 0;
  std::int64_t largest = 0;
  for (const auto& axis : layout.bases) {
    if (axis.size() > kMostLayoutBits) return std::nullopt;
    for (const Coordinates& basis : axis) {
      if (basis.empty() || (rank != 0 && basis.size() != rank)) return std::nullopt;
      rank = basis.size();
      for (const std::int64_t x : basis) {
        if (x < 0) return std::nullopt;
        largest = std::max(largest, x);
      }
    }
  }
  if (rank == 0 || rank > kMostLayoutDimensions || largest > kMostLayoutElements) return std::nullopt;
  layout.shape.assign(rank, 1);
  for (const auto& axis : layout.bases)
    for (const Coordinates& basis : axis)
      for (std::size_t d = 0; d < rank; ++d)
        layout.shape[d] = std::max(layout.shape[d], static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(basis[d]) + 1)));
  if (!faults_of(layout).empty()) return std::nullopt;
  return layout;
}

}  // namespace heddle

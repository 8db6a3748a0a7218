#include "core/layout/least_ways.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "core/layout/access_parts.h"

namespace heddle {
namespace {

using Move = std::uint64_t;

/// Vectors in the order in which they were added, of which none is a sum of others.
class Span {
 public:
  const std::vector<Move>& basis() const { return basis_; }
  int dimension() const { return static_cast<int>(basis_.size()); }
  bool contains(Move move) const { return reduced(move) == 0; }
  /// False, and nothing is added, where it is a sum of those that are there.
  bool add(Move move) {
    const Move rest = reduced(move);
    if (rest == 0) return false;
    basis_.push_back(move);
    reduced_.push_back(rest);
    return true;
  }
  void add_all(const std::vector<Move>& moves) {
    for (const Move move : moves) add(move);
  }
  void add_up_to(int dimension, const std::vector<Move>& moves) {
    for (const Move move : moves)
      if (this->dimension() < dimension) add(move);
  }
  /// The move less what of it lies here: linear, and 0 for what does.
  Move reduced(Move move) const {
    for (const Move each : reduced_) move = std::min(move, move ^ each);
    return move;
  }

 private:
  std::vector<Move> basis_, reduced_;
};

Span intersection(const std::vector<Move>& moves, const Span& space) {
  Span inside;
  std::vector<std::pair<Move, Move>> outside;  // what lies outside the space, and the whole
  for (Move move : moves) {
    Move rest = space.reduced(move);
    for (const auto& [other_rest, other] : outside)
      if ((rest ^ other_rest) < rest) rest ^= other_rest, move ^= other;
    if (rest == 0)
      inside.add(move);
    else
      outside.emplace_back(rest, move);
  }
  return inside;
}

/// Of two spaces of one dimension, inside `space`.
std::vector<Move> common_complement(const Span& a, const Span& b, const Span& space) {
  // What only one of them has.
  const auto beyond = [](const Span& mine, const Span& others) {
    Span all = others;
    std::vector<Move> found;
    for (const Move move : mine.basis())
      if (all.add(move)) found.push_back(move);
    return found;
  };
  const std::vector<Move> of_a = beyond(a, b), of_b = beyond(b, a);
  std::vector<Move> complement;
  for (std::size_t i = 0; i < of_a.size(); ++i) complement.push_back(of_a[i] ^ of_b[i]);
  Span both = a;
  both.add_all(b.basis());
  for (const Move move : space.basis())
    if (both.add(move)) complement.push_back(move);
  return complement;
}

/// Low bits of the instruction's registers and lanes, as they follow each other in memory and in a phase (core/layout/access_cost.cpp).
std::optional<AccessMoves> moves_of(const Layout& registers, const Instruction& row, int bits) {
  const auto number = [&](const Coordinates& at) {
    Move move = 0;
    for (std::size_t d = 0; d < at.size(); ++d)
      move = move << std::countr_zero(static_cast<std::uint64_t>(registers.shape[d])) | static_cast<Move>(at[d]);
    return move;
  };
  std::vector<Move> held, lanes;
  for (const Coordinates& at : registers.of(LayoutAxis::Register)) held.push_back(number(at));
  for (const Coordinates& at : registers.of(LayoutAxis::Lane)) lanes.push_back(number(at));
  const bool matrix = is_matrix(row.kind);
  if (lanes.size() != 5 || bits < 1 || (matrix && (bits > 16 || row.lanes_per_phase != 8))) return std::nullopt;
  const std::int64_t each = matrix ? 32 / bits : std::int64_t{row.bytes} * 8 / bits;
  const auto low = static_cast<std::size_t>(std::countr_zero(static_cast<std::uint64_t>(each)));
  if (each < 1 || held.size() < low || (!matrix && row.bytes < kBankBytes)) return std::nullopt;
  AccessMoves moves;
  for (std::size_t i = 0; i < held.size(); ++i)
    (i >= low ? moves.rest : matrix && row.transposed ? moves.lanes : moves.inside).push_back(held[i]);
  const auto in_phase = static_cast<std::size_t>(std::countr_zero(static_cast<unsigned>(row.lanes_per_phase)));
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const bool across = matrix && (row.transposed ? i >= 2 : i < 2);
    (across ? moves.inside : matrix || i < in_phase ? moves.lanes : moves.rest).push_back(lanes[i]);
  }
  for (const Coordinates& at : registers.of(LayoutAxis::Warp)) moves.rest.push_back(number(at));
  return moves;
}

}  // namespace

std::optional<std::vector<std::uint64_t>> least_ways(const AccessMoves& one, const AccessMoves& other, int tile_bits, int row_bits) {
  const bool swapped = one.inside.size() < other.inside.size();
  const AccessMoves &wide = swapped ? other : one, &narrow = swapped ? one : other;
  if (!std::equal(narrow.inside.begin(), narrow.inside.end(), wide.inside.begin())) return std::nullopt;
  Span offsets;  // from the lowest bit
  for (const Move move : wide.inside)
    if (!offsets.add(move)) return std::nullopt;
  Span addresses;
  addresses.add_all(wide.lanes);
  addresses.add_all(wide.rest);
  Span whole = offsets;
  whole.add_all(addresses.basis());
  const int dimension = std::min(tile_bits, row_bits) - offsets.dimension();  // of the banks that addresses tell apart
  if (whole.dimension() != tile_bits || offsets.dimension() + addresses.dimension() != tile_bits || dimension < 0) return std::nullopt;
  // The narrow access's addresses move nothing that lies inside them.
  Span others = addresses;
  others.add_all({wide.inside.begin() + static_cast<std::ptrdiff_t>(narrow.inside.size()), wide.inside.end()});
  for (const auto* moves : {&narrow.lanes, &narrow.rest})
    if (!std::all_of(moves->begin(), moves->end(), [&](Move move) { return others.contains(move); })) return std::nullopt;

  // What the lanes of each move, with as much in common as can be; of more than the banks tell apart as much as they do.
  std::vector<Move> moved = narrow.inside;
  moved.insert(moved.end(), narrow.lanes.begin(), narrow.lanes.end());
  const Span met = intersection(moved, addresses);
  Span a, b;
  a.add_up_to(dimension, wide.lanes);
  a.add_up_to(dimension, met.basis());
  a.add_up_to(dimension, addresses.basis());
  b.add_up_to(dimension, met.basis());
  b.add_up_to(dimension, a.basis());
  const std::vector<Move> same_bank = common_complement(a, b, addresses);

  Span taken = offsets;
  taken.add_all(same_bank);
  for (const Move move : addresses.basis())
    if (taken.add(move)) offsets.add(move);
  offsets.add_all(same_bank);
  return offsets.basis();
}

std::optional<Layout> least_ways_layout(const Layout& one, const Instruction& by_one, const Layout& other, const Instruction& by_other,
                                        int bits) {
  if (one.shape != other.shape || bits < 1 || bits > 32) return std::nullopt;
  const Layout a = canonical(one), b = canonical(other);
  std::vector<int> width;  // bits of each coordinate
  int tile_bits = 0;
  for (const std::int64_t extent : a.shape) {
    if (!std::has_single_bit(static_cast<std::uint64_t>(extent))) return std::nullopt;
    tile_bits += width.emplace_back(std::countr_zero(static_cast<std::uint64_t>(extent)));
  }
  if (!a.repeats.empty() || !b.repeats.empty()) return std::nullopt;
  const auto moves = moves_of(a, by_one, bits), others = moves_of(b, by_other, bits);
  if (!moves || !others) return std::nullopt;
  const int row_bits = std::countr_zero(static_cast<unsigned>(kBanks * kBankBytes * 8 / bits));
  const auto offsets = least_ways(*moves, *others, tile_bits, row_bits);
  if (!offsets) return std::nullopt;
  Layout memory;
  memory.shape = a.shape;
  for (Move move : *offsets) {
    Coordinates at(width.size());
    for (std::size_t d = width.size(); d-- > 0; move >>= width[d]) at[d] = static_cast<std::int64_t>(move & ((Move{1} << width[d]) - 1));
    memory.of(LayoutAxis::Offset).push_back(std::move(at));
  }
  return memory;
}

}  // namespace heddle

// The buffer in shared memory through which a register tile goes from one layout to another. Triton writes and reads it in vectors, places
// elements so that neither side meets bank conflicts, and where some registers hold the same elements in both layouts, it sends the tile
// in that many rounds through one small buffer. Which registers those are follows from the vector, the bits that choose a bank, and the
// bits left over, the segment: bits of the segment that are registers on both sides are rounds.
// (What is computed, from Triton's lib/Tools/GenericSwizzling.cpp, 2025 and 2026; written anew.)
#include <algorithm>
#include <bit>

#include "core/triton/memory/scratch.h"

namespace heddle::triton {
namespace {

using Bits = std::vector<std::uint32_t>;

bool has(const Bits& bits, std::uint32_t bit) { return std::ranges::find(bits, bit) != bits.end(); }

/// Lanes of an instruction whose elements stand next to each other in shared memory, and lanes that give addresses.
struct Access {
  std::vector<int> neighbours, addresses;
};

/// Vectors of 128 bits by ordinary loads and stores; 8x8 matrices by ldmatrix and stmatrix, for 16 bits also transposed.
std::vector<Access> accesses(bool matrices, std::int64_t element_bits) {
  std::vector<Access> all{{{}, {0, 1, 2}}};
  if (matrices && element_bits <= 32) all.push_back({{0, 1}, {2, 3, 4}});
  if (matrices && element_bits == 16) all.push_back({{2, 3, 4}, {0, 1}});
  return all;
}

/// Number of independent vectors.
std::size_t independent(Bits vectors) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    if (vectors[i] == 0) continue;
    ++count;
    const auto top = std::bit_width(vectors[i]) - 1;
    for (std::size_t j = i + 1; j < vectors.size(); ++j)
      if ((vectors[j] >> top) & 1u) vectors[j] ^= vectors[i];
  }
  return count;
}

/// Dimension of what two spans have in common.
std::size_t common(const Bits& a, const Bits& b) {
  Bits both = a;
  both.insert(both.end(), b.begin(), b.end());
  return independent(a) + independent(b) - independent(both);
}

Bits shared_bits(const Bits& a, const Bits& b) {
  Bits out;
  for (const std::uint32_t bit : a)
    if (bit != 0 && has(b, bit)) out.push_back(bit);
  return out;
}

/// Bits of a position that choose neither the place in a vector nor the bank: those that neither side varies within an instruction first,
/// then pairs of one bit of each side, whose sum neither side repeats.
Bits segment_of(Bits from, Bits to, int total, int length) {
  std::erase(from, 0u);
  std::erase(to, 0u);
  Bits segment;
  for (int bit = 0; bit < total; ++bit)
    if (!has(from, 1u << bit) && !has(to, 1u << bit)) segment.push_back(1u << bit);
  const auto wanted = static_cast<std::size_t>(length);
  if (segment.size() < wanted) {
    Bits few, many;
    for (const std::uint32_t bit : from)
      if (!has(to, bit)) few.push_back(bit);
    for (const std::uint32_t bit : to)
      if (!has(from, bit)) many.push_back(bit);
    if (few.size() > many.size()) std::swap(few, many);
    std::ranges::sort(few);
    std::ranges::sort(many);
    const int room = length - static_cast<int>(few.size()) - static_cast<int>(segment.size());
    const auto conflicts = static_cast<std::size_t>(std::clamp(room, 0, static_cast<int>(few.size())));
    for (std::size_t i = conflicts; i < few.size(); ++i) segment.push_back(few[i] ^ many[i]);
    segment.insert(segment.end(), few.begin(), few.begin() + static_cast<std::ptrdiff_t>(conflicts));
    segment.insert(segment.end(), many.begin(), many.begin() + static_cast<std::ptrdiff_t>(conflicts));
  }
  if (segment.size() > wanted) segment.resize(wanted);
  return segment;
}

struct Placement {
  std::size_t rounds = 0;  ///< as a power of two
  std::size_t conflicts = 0;
};

/// A layout, and what an instruction touches of it beside the vector.
struct Touched {
  const Linear& layout;
  const Bits& tile;
};

Placement place(const Touched& written, const Touched& read, std::int64_t element_bits, const Bits& vector, int kept_rounds) {
  const auto& [from, tile_from] = written;
  const auto& [to, tile_to] = read;
  const int total = from.total(), in_vector = static_cast<int>(vector.size());
  const auto per_row = std::max<std::int64_t>(1, 1024 / (element_bits << in_vector));  // 32 banks of 32 bits
  const int bank = std::min(static_cast<int>(std::bit_width(static_cast<std::uint64_t>(per_row))) - 1, std::max(0, total - in_vector));
  Bits bank_from = vector, bank_to = vector;
  bank_from.insert(bank_from.end(), tile_from.begin(), tile_from.end());
  bank_to.insert(bank_to.end(), tile_to.begin(), tile_to.end());
  Placement placement;
  Bits segment;
  for (const std::uint32_t bit : segment_of(bank_from, bank_to, total, std::max(0, total - bank - in_vector))) {
    const bool round = has(from.registers, bit) && has(to.registers, bit);
    if (round && kept_rounds-- <= 0)
      ++placement.rounds;
    else
      segment.push_back(bit);
  }
  placement.conflicts = (std::size_t{1} << common(segment, tile_from)) + (std::size_t{1} << common(segment, tile_to));
  return placement;
}

/// One instruction of two that a vector passes: the bits of it that are registers there, and the lanes beside them.
struct VectorSide {
  const Linear& layout;
  int registers;
  const std::vector<int>& lanes;

  Bits tile() const {
    Bits bits;
    for (const int lane : lanes)
      bits.push_back(static_cast<std::size_t>(lane) < layout.lanes.size() ? layout.lanes[static_cast<std::size_t>(lane)] : 0);
    return bits;
  }
};

/// The bits of a vector that the two instructions can share; nothing where they cannot be combined.
std::optional<Bits> shared_vector(const VectorSide& a, const VectorSide& b) {
  if (a.registers < b.registers) return shared_vector(b, a);
  Bits vector = shared_bits(a.layout.registers, b.layout.registers);
  if (b.registers < 0 || static_cast<int>(vector.size()) < b.registers) return std::nullopt;
  vector.resize(static_cast<std::size_t>(b.registers));
  const Bits tile_a = a.tile(), tile_b = b.tile();
  if (has(tile_a, 0) || has(tile_b, 0)) return std::nullopt;
  const auto first = static_cast<std::size_t>(a.registers - b.registers);
  if (tile_b.size() != tile_a.size() + first) return std::nullopt;
  for (std::size_t i = 0; i < first; ++i)
    if (!has(a.layout.registers, tile_b[i])) return std::nullopt;
  for (std::size_t i = 0; i < tile_a.size(); ++i)
    if (tile_b[first + i] != tile_a[i]) return std::nullopt;
  vector.insert(vector.end(), tile_b.begin(), tile_b.end());
  return vector;
}

/// What an instruction touches beside the vector: registers first, then lanes that give addresses.
std::optional<Bits> touched(const Linear& layout, const Access& access, const Bits& vector) {
  Bits tile;
  std::size_t registers = 3 - std::min<std::size_t>(3, access.addresses.size());
  for (const std::uint32_t bit : layout.registers) {
    if (registers == 0) break;
    if (has(vector, bit)) continue;
    tile.push_back(bit);
    --registers;
  }
  if (registers > 0) return std::nullopt;
  for (const int lane : access.addresses) {
    if (static_cast<std::size_t>(lane) >= layout.lanes.size()) return std::nullopt;
    tile.push_back(layout.lanes[static_cast<std::size_t>(lane)]);
  }
  return tile;
}

std::size_t log2_of(std::int64_t size) {
  return size <= 1 ? 0 : static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(size)) - 1);
}

/// Registers of one side that are lanes of the other: a vector of them costs the other side nothing.
Bits free_registers(const Bits& registers, const Bits& vector, const Bits& other_lanes, std::int64_t element_bits) {
  const std::size_t most = log2_of(128 / std::max<std::int64_t>(32, element_bits));
  Bits out;
  for (const std::uint32_t bit : registers) {
    if (has(vector, bit)) continue;
    if (has(other_lanes, bit)) out.push_back(bit);
    if (out.size() == most) break;
  }
  return out;
}

bool prefix(const Bits& vector, const Bits& registers) {
  return vector.size() <= registers.size() && std::equal(vector.begin(), vector.end(), registers.begin());
}

/// The vector of ordinary loads and stores when no wide instruction fits both sides.
Bits plain_vector(const Linear& from, const Linear& to, std::int64_t element_bits) {
  Bits vector = shared_bits(from.registers, to.registers);
  if (vector.size() > log2_of(128 / element_bits)) vector.resize(log2_of(128 / element_bits));
  const std::size_t per_bank = element_bits > 32 ? 0 : log2_of(32 / element_bits);
  Bits source = from.registers, target = to.registers;
  bool by_source = true;
  if ((element_bits << vector.size()) < 32) {
    const auto front = [&](const Bits& registers) {
      Bits out = vector;
      for (const std::uint32_t bit : registers)
        if (!has(vector, bit)) out.push_back(bit);
      return out;
    };
    const auto filled = [&](const Bits& registers) {
      Bits out = vector;
      for (std::size_t i = vector.size(); i < per_bank && i < registers.size(); ++i) out.push_back(registers[i]);
      return out;
    };
    bool source_first = prefix(vector, source), target_first = prefix(vector, target);
    if (!vector.empty() && !source_first && !target_first) {
      source = front(source), target = front(target);
      source_first = target_first = true;
    }
    if (source_first && target_first)
      source_first = free_registers(source, filled(source), to.lanes, element_bits) >=
                     free_registers(target, filled(target), from.lanes, element_bits);
    by_source = source_first;
    vector = filled(by_source ? source : target);
  }
  const Bits more =
      by_source ? free_registers(source, vector, to.lanes, element_bits) : free_registers(target, vector, from.lanes, element_bits);
  vector.insert(vector.end(), more.begin(), more.end());
  return vector;
}

/// Lanes that one access of ordinary width covers, without those in the vector.
Bits plain_tile(const Linear& layout, const Bits& vector, std::int64_t element_bits) {
  std::size_t wide = 0;
  while (wide < vector.size() && wide < layout.registers.size() && layout.registers[wide] == vector[wide]) ++wide;
  Bits tile = layout.lanes;
  if (const std::int64_t width = element_bits << wide; width > 32) tile.resize(tile.size() - std::min(tile.size(), log2_of(width / 32)));
  std::erase_if(tile, [&](std::uint32_t bit) { return has(vector, bit); });
  return tile;
}

}  // namespace

std::int64_t exchanged_elements(const Linear& with_copies_from, const Linear& with_copies_to, std::int64_t element_bits, int target) {
  const Linear from = without_copies(with_copies_from), to = without_copies(with_copies_to);
  const std::int64_t bits = std::clamp<std::int64_t>(element_bits, 8, 128);
  const int all = static_cast<int>(log2_of(128 / bits));
  std::optional<Placement> best;
  const std::vector<Access> stores = accesses(target >= 90, bits), loads = accesses(target >= 75, bits);
  if (target > 0)
    for (const Access& store : stores)
      for (const Access& load : loads) {
        const std::optional<Bits> vector = shared_vector({from, all - static_cast<int>(store.neighbours.size()), store.neighbours},
                                                         {to, all - static_cast<int>(load.neighbours.size()), load.neighbours});
        if (!vector) continue;
        const std::optional<Bits> written = touched(from, store, *vector), read = touched(to, load, *vector);
        if (!written || !read) continue;
        // Two matrix instructions keep two bits of what could be rounds, to move four matrices at a time.
        const int kept = store.neighbours.empty() || load.neighbours.empty() ? 0 : 2;
        const Placement placement = place({from, *written}, {to, *read}, bits, *vector, kept);
        if (!best || placement.conflicts < best->conflicts || (placement.conflicts == best->conflicts && placement.rounds > best->rounds))
          best = placement;
      }
  if (!best) {
    const Bits vector = plain_vector(from, to, bits);
    const Bits written = plain_tile(from, vector, bits), read = plain_tile(to, vector, bits);
    best = place({from, written}, {to, read}, bits, vector, 0);
  }
  return std::int64_t{1} << std::max(0, from.total() - static_cast<int>(best->rounds));
}

}  // namespace heddle::triton

// What an access costs the port of shared memory: by rank where the bits of the lane move the address each by itself, in every issue alike;
// else lane by lane.
#include <algorithm>
#include <bit>

#include "core/base/integer_division.h"
#include "core/layout/access_parts.h"

namespace heddle {
namespace {

std::int64_t phase_cycles(const Instruction& instruction) {
  const Result<std::int64_t> cycles = instruction.cycles.evaluate({{"bytes", instruction.bytes}, {"bits", instruction.bytes * 8}});
  return cycles ? std::clamp<std::int64_t>(*cycles, 0, 1 << 20) : 1;
}

/// How the moves of a register layout look in memory. Memory's offset is linear in the low bits of the coordinates (its atom's box); what
/// else a place adds is a constant that all lanes share, as long as nothing carries into the bits that lanes move.
class Moves {
 public:
  Moves(const Layout& registers, const Layout& memory) : registers_(registers), memory_(memory) {
    const AtomAlgebra algebra = algebra_of(memory_);
    good_ = nested(memory_, algebra) && algebra.kernel.empty();
    if (!good_) return;
    box_ = algebra.bits;
    shift_ = algebra.shift;
    for (const std::uint64_t sum : algebra.inverse) {
      std::int64_t offset = 0;
      for (std::size_t c = 0; c < algebra.columns.size(); ++c)
        if (sum >> c & 1) offset |= std::int64_t{1} << algebra.columns[c].bit;
      inverse_.push_back(offset);
    }
  }
  bool good() const { return good_; }

  /// What the part of a move inside the box does to the offset.
  std::int64_t offset_of(const Coordinates& move) const {
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < move.size(); ++d)
      for (int bit = 0; bit < box_[d]; ++bit)
        if (move[d] >> bit & 1) offset ^= inverse_[static_cast<std::size_t>(shift_[d] + bit)];
    return offset;
  }
  bool inside(const Coordinates& move) const {
    for (std::size_t d = 0; d < move.size(); ++d)
      if (move[d] >> box_[d] != 0) return false;
    return true;
  }
  /// Nothing but `lanes` moves the address below a multiple of `elements`, and no repeat carries into the bits that `lanes` move.
  bool others_are_multiples(const std::vector<Coordinates>& lanes, std::int64_t elements, std::int64_t words) const {
    std::vector<std::int64_t> moved(box_.size(), 0);
    for (const Coordinates& lane : lanes)
      for (std::size_t d = 0; d < moved.size(); ++d) moved[d] |= lane[d];
    for (const LayoutRepeat& r : registers_.repeats) {
      if (r.step == 0) continue;
      const int low = std::countr_zero(static_cast<std::uint64_t>(r.step));
      if (moved[r.dimension] >> low != 0) return false;
      for (int bit = low; bit < box_[r.dimension]; ++bit)
        if (inverse_[static_cast<std::size_t>(shift_[r.dimension] + bit)] % elements != 0) return false;
    }
    for (const LayoutRepeat& r : memory_.repeats)
      if (r.pitch % elements != 0 || r.pitch % words != 0) return false;
    return true;
  }

 private:
  const Layout& registers_;
  const Layout& memory_;
  bool good_ = false;
  std::vector<int> box_, shift_;
  std::vector<std::int64_t> inverse_;  ///< offset of each bit of the coordinates
};

Coordinates sum_of(const Coordinates& a, const Coordinates& b) {
  Coordinates sum = a;
  for (std::size_t d = 0; d < sum.size(); ++d) sum[d] ^= b[d];
  return sum;
}

/// Ways of every phase of every issue, where they are all alike and can be read off the bases.
std::optional<int> ways_by_rank(const Layout& registers, const Layout& memory, int bits, const Instruction& instruction,
                                const LaneExchange& exchange) {
  const std::vector<Coordinates>&held = registers.of(LayoutAxis::Register), &lanes = registers.of(LayoutAxis::Lane);
  const bool matrix = is_matrix(instruction.kind);
  if (lanes.size() != 5 || registers.extent(LayoutAxis::Lane) != kWarpLanes || (matrix && instruction.lanes_per_phase != 8))
    return std::nullopt;
  for (const LayoutAxis axis : {LayoutAxis::Register, LayoutAxis::Warp}) {
    std::int64_t held_indices = std::int64_t{1} << registers.of(axis).size();
    for (const LayoutRepeat& r : registers.repeats)
      if (r.axis == axis) held_indices *= r.extent;
    if (held_indices != registers.extent(axis)) return std::nullopt;  // some hold nothing
  }
  const Moves moves(registers, memory);
  if (!moves.good()) return std::nullopt;

  // Low bits of the offset, in the order in which the instruction's own elements follow each other; and who moves the rows or lanes.
  const auto low =
      static_cast<std::size_t>(std::countr_zero(static_cast<std::uint64_t>(matrix ? 32 / bits : instruction.bytes * 8 / bits)));
  if (held.size() < low) return std::nullopt;
  std::vector<Coordinates> inner, outer;
  for (std::size_t i = 0; i < low; ++i) (matrix && instruction.transposed ? outer : inner).push_back(held[i]);
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const bool across = matrix && (instruction.transposed ? i >= 2 : i < 2);
    Coordinates lane = lanes[i];
    if (exchange.used() && static_cast<int>(i) == exchange.lane) {
      if (static_cast<std::size_t>(exchange.register_bit) >= held.size()) return std::nullopt;
      lane = sum_of(lane, held[static_cast<std::size_t>(exchange.register_bit)]);
    }
    (across ? inner : outer).push_back(lane);
  }
  const std::int64_t elements = std::int64_t{1} << inner.size();
  for (std::size_t i = 0; i < inner.size(); ++i)
    if (!moves.inside(inner[i]) || moves.offset_of(inner[i]) != std::int64_t{1} << i) return std::nullopt;
  std::vector<std::int64_t> bytes;
  for (const Coordinates& move : outer) {
    if (!moves.inside(move) || moves.offset_of(move) % elements != 0) return std::nullopt;
    bytes.push_back(moves.offset_of(move) * bits / 8);
  }
  for (std::size_t i = low; i < held.size(); ++i)
    if (moves.offset_of(held[i]) % elements != 0) return std::nullopt;
  for (const Coordinates& warp : registers.of(LayoutAxis::Warp))
    if (moves.offset_of(warp) % elements != 0) return std::nullopt;
  std::vector<Coordinates> all = inner;
  all.insert(all.end(), outer.begin(), outer.end());
  if (!moves.others_are_multiples(all, elements, std::max<std::int64_t>(1, 8 * kBankBytes / bits))) return std::nullopt;
  return bank_rank(bytes, instruction.bytes, instruction.lanes_per_phase).ways();
}

}  // namespace

AccessCost cost_of_access(const Layout& registers, const Layout& memory, int bits, const Instruction& instruction,
                          const LaneExchange& exchange) {
  AccessCost cost;
  const std::int64_t cycles = phase_cycles(instruction);
  const auto unknown = [&] {
    const std::int64_t moved = registers.elements() * std::max(bits, 1) / 8;
    cost.port = cost.least = ceil_div(moved, std::int64_t{kBanks} * kBankBytes) * cycles;
    const std::int64_t count = bits > 0 && bits <= 32 ? std::max<std::int64_t>(1, registers_per_issue(instruction, bits)) : 1;
    cost.issues = ceil_div(registers.extent(LayoutAxis::Register), count);
    return cost;
  };
  if (!refusal_of(registers, memory, bits, instruction, exchange).empty()) return unknown();
  const Layout one = canonical(registers), other = canonical(memory);
  const std::int64_t issues = one.extent(LayoutAxis::Register) / registers_per_issue(instruction, bits);
  const std::int64_t addresses = is_matrix(instruction.kind) ? 8 * instruction.matrices : kWarpLanes;
  if (const std::optional<int> ways = ways_by_rank(one, other, bits, instruction, exchange)) {
    const std::int64_t phases = issues * one.extent(LayoutAxis::Warp) * std::max<std::int64_t>(1, addresses / instruction.lanes_per_phase);
    cost.ways = *ways;
    cost.least = phases * cycles;
    cost.port = cost.least * *ways;
  } else {
    const AccessResult explicitly = access_of(one, other, bits, instruction, exchange);
    if (!explicitly.access) return unknown();
    for (const WarpAccess& warp : explicitly.access->all)
      for (int first = 0; first < kWarpLanes; first += instruction.lanes_per_phase)
        if (const int ways = ways_of_phase(*explicitly.access, warp, first); ways > 0) {
          cost.ways = std::max(cost.ways, ways);
          cost.least += cycles;
          cost.port += cycles * ways;
        }
  }
  cost.known = true;
  cost.issues = issues;
  if (exchange.used()) cost.selects = one.elements() * copies(one);
  return cost;
}

}  // namespace heddle

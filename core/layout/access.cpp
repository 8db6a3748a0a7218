#include "core/layout/access.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "core/layout/access_parts.h"

namespace heddle {
namespace {

constexpr std::int64_t kMostMoved = std::int64_t{1} << 20;  // registers of all threads; more is no group of warps

/// Of every register of every lane of every warp, the offset in memory of what it holds; -1: nothing.
class Offsets {
 public:
  Offsets(const Layout& registers, const Layout& memory)
      : registers_(registers.extent(LayoutAxis::Register)),
        lanes_(registers.extent(LayoutAxis::Lane)),
        warps_(registers.extent(LayoutAxis::Warp)) {
    const std::vector<std::int64_t> offsets = offsets_of(memory);
    all_.assign(static_cast<std::size_t>(registers_ * lanes_ * warps_), -1);
    LayoutReader(registers).each_place([&](const LayoutPlace& place, std::int64_t element) {
      all_[index(place[LayoutAxis::Warp], place[LayoutAxis::Lane], place[LayoutAxis::Register])] =
          offsets[static_cast<std::size_t>(element)];
    });
  }
  std::int64_t at(std::int64_t warp, std::int64_t lane, std::int64_t reg) const {
    return lane < lanes_ && reg < registers_ ? all_[index(warp, lane, reg)] : -1;
  }
  std::int64_t registers() const { return registers_; }
  std::int64_t lanes() const { return lanes_; }
  std::int64_t warps() const { return warps_; }

 private:
  std::size_t index(std::int64_t warp, std::int64_t lane, std::int64_t reg) const {
    return static_cast<std::size_t>((warp * lanes_ + lane) * registers_ + reg);
  }
  std::int64_t registers_, lanes_, warps_;
  std::vector<std::int64_t> all_;
};

struct Mover {
  const Offsets& offsets;
  const Instruction& instruction;
  const LaneExchange& exchange;
  int bits;

  std::int64_t byte(std::int64_t offset) const { return offset * bits / 8; }
  bool is_multiple(std::int64_t offset) const { return offset * bits % (instruction.bytes * 8) == 0; }

  /// Each lane moves `count` registers from `first` on; empty: done.
  std::string vectors(WarpAccess& to, std::int64_t first, std::int64_t count) const {
    for (int lane = 0; lane < kWarpLanes; ++lane) {
      std::int64_t reg = first;
      if (exchange.used() && (lane >> exchange.lane & 1)) reg ^= std::int64_t{1} << exchange.register_bit;
      const std::int64_t offset = offsets.at(to.warp, lane, reg);
      to.first_register[static_cast<std::size_t>(lane)] = reg;
      to.address[static_cast<std::size_t>(lane)] = -1;
      if (lane >= offsets.lanes()) continue;
      for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t here = offsets.at(to.warp, lane, reg + i);
        if (offset < 0 || here < 0) return fmt::format("register {} of lane {} holds nothing", reg + i, lane);
        if (here != offset + i)
          return fmt::format(
              "{} moves {} elements that lie side by side in both, and register {} of lane {} does not follow register {} in memory",
              instruction.name, count, reg + i, lane, reg + i - 1);
      }
      if (!is_multiple(offset))
        return fmt::format("{} takes addresses that are multiples of {} bytes, and register {} of lane {} is at {}", instruction.name,
                           instruction.bytes, reg, lane,
                           offset * bits % 8 == 0 ? fmt::format("byte {}", byte(offset)) : "a part of a byte");
      to.address[static_cast<std::size_t>(lane)] = byte(offset);
    }
    return {};
  }

  /// 8 rows of 16 bytes: lane 8 i + r gives row r of matrix i.
  std::string matrices(WarpAccess& to, std::int64_t first, std::int64_t word) const {
    to.address.fill(-1);
    to.first_register.fill(first);
    if (offsets.lanes() != kWarpLanes)
      return fmt::format("{} takes all 32 lanes, and the layout has {}", instruction.name, offsets.lanes());
    for (int m = 0; m < instruction.matrices; ++m) {
      const std::int64_t reg = first + m * word;
      std::array<std::int64_t, 8> row{};
      for (int r = 0; r < 8; ++r) {
        // The element at the beginning of the row.
        const std::int64_t offset = instruction.transposed ? offsets.at(to.warp, r / 2, reg + r % 2) : offsets.at(to.warp, 4 * r, reg);
        if (offset < 0 || !is_multiple(offset))
          return fmt::format("{} takes rows of 16 bytes at multiples of 16, and those of register {} do not lie so", instruction.name, reg);
        row[static_cast<std::size_t>(r)] = offset;
        to.address[static_cast<std::size_t>(8 * m + r)] = byte(offset);
      }
      for (int lane = 0; lane < kWarpLanes; ++lane)
        for (std::int64_t e = 0; e < word; ++e) {
          const int r = instruction.transposed ? 2 * (lane % 4) + static_cast<int>(e) : lane / 4;
          const std::int64_t along = instruction.transposed ? lane / 4 : word * (lane % 4) + e;
          if (offsets.at(to.warp, lane, reg + e) != row[static_cast<std::size_t>(r)] + along)
            return fmt::format("{} moves 8 rows of 16 bytes as its fragment has them, and register {} of lane {} lies elsewhere",
                               instruction.name, reg + e, lane);
        }
    }
    return {};
  }
};

/// Bytes by which the bits of the lane's number move the address; nothing where lanes are no exclusive sum of them.
std::optional<std::vector<std::int64_t>> lane_moves(const WarpAccess& one) {
  std::vector<std::int64_t> moves;
  int lanes = 0;
  while (lanes < kWarpLanes && one.address[static_cast<std::size_t>(lanes)] >= 0) ++lanes;
  if (lanes == 0 || !std::has_single_bit(static_cast<unsigned>(lanes))) return std::nullopt;
  for (int bit = 1; bit < lanes; bit *= 2) moves.push_back(one.address[0] ^ one.address[static_cast<std::size_t>(bit)]);
  for (int lane = 0; lane < lanes; ++lane) {
    std::int64_t address = one.address[0];
    for (std::size_t bit = 0; bit < moves.size(); ++bit)
      if (lane >> bit & 1) address ^= moves[bit];
    if (address != one.address[static_cast<std::size_t>(lane)]) return std::nullopt;
  }
  return moves;
}

/// Two lanes of a phase that want different words of one bank: the lanes and the bytes between the words.
struct Meeting {
  int first = 0, second = 0;
  std::int64_t bytes = 0;
};
std::optional<Meeting> meeting_of(const Access& access, const WarpAccess& one, int first_lane) {
  std::array<std::pair<std::int64_t, int>, kBanks> seen;
  seen.fill({-1, 0});
  std::optional<Meeting> meeting;
  const int end = std::min(first_lane + access.lanes_per_phase, kWarpLanes);
  for (int lane = first_lane; lane < end; ++lane) {
    const std::int64_t address = one.address[static_cast<std::size_t>(lane)];
    if (address < 0) continue;
    for (std::int64_t word = address / kBankBytes; word <= (address + access.bytes - 1) / kBankBytes; ++word) {
      auto& [other, who] = seen[static_cast<std::size_t>(word % kBanks)];
      if (other < 0) {
        other = word, who = lane;
      } else if (other != word && !meeting) {
        meeting = Meeting{who, lane, std::abs(word - other) * kBankBytes};
      }
    }
  }
  return meeting;
}

}  // namespace

std::string refusal_of(const Layout& registers, const Layout& memory, int bits, const Instruction& instruction,
                       const LaneExchange& exchange) {
  using Kind = InstructionKind;
  const bool matrix = is_matrix(instruction.kind);
  const bool vector = instruction.kind == Kind::SharedLoad || instruction.kind == Kind::SharedStore || instruction.kind == Kind::AsyncCopy;
  if (!matrix && !vector) return fmt::format("{} moves nothing between registers and shared memory", instruction.name);
  if (registers.shape != memory.shape) return "the tile in registers and the tile in memory have different shapes";
  if (registers.in_memory()) return "the layout of the registers is one of memory";
  if (!memory.in_memory() && memory.elements() > 1) return "the layout of the memory is one of registers";
  if (bits < 1 || bits > 64 || !std::has_single_bit(static_cast<unsigned>(bits)))
    return fmt::format("elements of {} bits are not known", bits);
  if (registers.extent(LayoutAxis::Lane) > kWarpLanes)
    return fmt::format("a warp has 32 lanes, and the layout has {}", registers.extent(LayoutAxis::Lane));
  const std::int64_t places = registers.extent(LayoutAxis::Register) * registers.extent(LayoutAxis::Lane);
  if (places > kMostMoved || places * registers.extent(LayoutAxis::Warp) > kMostMoved) return "the tile has more registers than a block";
  const auto phase = static_cast<unsigned>(instruction.lanes_per_phase);
  if (instruction.bytes < 1 || instruction.bytes > 16 || !std::has_single_bit(static_cast<unsigned>(instruction.bytes)) || phase < 1 ||
      phase > kWarpLanes || !std::has_single_bit(phase))
    return fmt::format("{} has {} bytes and {} lanes in a phase, which no shared memory has", instruction.name, instruction.bytes,
                       instruction.lanes_per_phase);
  if (exchange.used()) {
    if (instruction.kind != Kind::SharedStore)
      return fmt::format("lanes exchange what they store with st.shared only, not with {}", instruction.name);
    const std::int64_t registers_held = registers.extent(LayoutAxis::Register);
    if (exchange.lane > 4 || exchange.register_bit < 0 || exchange.register_bit > 20 ||
        registers_held % (std::int64_t{2} << exchange.register_bit) != 0 || instruction.bytes * 8 > bits << exchange.register_bit)
      return fmt::format("lane bit {} cannot exchange register bit {} of {} registers", exchange.lane, exchange.register_bit,
                         registers_held);
  }
  if (instruction.transposed && bits != 16) return fmt::format("{} moves elements of 16 bits, and these have {}", instruction.name, bits);
  if (matrix) {
    if (bits > 32) return fmt::format("{} moves registers of 32 bits, and elements have {}", instruction.name, bits);
    if (instruction.bytes != 16 || (instruction.matrices != 1 && instruction.matrices != 2 && instruction.matrices != 4))
      return fmt::format("{} moves {} matrices, where 1, 2 or 4 were expected", instruction.name, instruction.matrices);
  } else if (instruction.bytes * 8 < bits) {
    return fmt::format("{} moves {} bits, and an element has {}", instruction.name, instruction.bytes * 8, bits);
  }
  const std::int64_t count = registers_per_issue(instruction, bits);
  if (registers.extent(LayoutAxis::Register) % count != 0)
    return fmt::format("{} moves {} registers of elements at a time, and a lane has {}", instruction.name, count,
                       registers.extent(LayoutAxis::Register));
  return {};
}

std::int64_t registers_per_issue(const Instruction& instruction, int bits) {
  return is_matrix(instruction.kind) ? instruction.matrices * (32 / bits) : instruction.bytes * 8 / bits;
}

bool is_matrix(InstructionKind kind) { return kind == InstructionKind::MatrixLoad || kind == InstructionKind::MatrixStore; }

BankRank bank_rank(const std::vector<std::int64_t>& lane_bytes, int bytes, int lanes_per_phase) {
  // Columns: words inside a lane's bytes, then lane bits. Reduced by their banks: what is left over moves no bank.
  struct Row {
    std::uint64_t bank, word, who;
  };
  std::vector<Row> columns, rows;
  for (int word = 1; word < bytes / kBankBytes; word *= 2) columns.push_back({0, static_cast<std::uint64_t>(word), 0});
  for (std::size_t bit = 0; bit < lane_bytes.size() && (1 << bit) < lanes_per_phase; ++bit)
    columns.push_back({0, static_cast<std::uint64_t>(lane_bytes[bit]) / kBankBytes, std::uint64_t{1} << bit});
  BankRank result;
  std::vector<std::uint64_t> same_bank;  // words that are in the span of others' are no conflict: lanes share them
  std::optional<std::uint64_t> who;
  for (Row column : columns) {
    column.bank = column.word % kBanks;
    for (const Row& row : rows)
      if (column.bank >> (std::bit_width(row.bank) - 1) & 1) column.bank ^= row.bank, column.word ^= row.word, column.who ^= row.who;
    if (column.bank != 0) {
      for (Row& row : rows)
        if (row.bank >> (std::bit_width(column.bank) - 1) & 1) row.bank ^= column.bank, row.word ^= column.word, row.who ^= column.who;
      rows.push_back(column);
      continue;
    }
    if (column.word == 0) continue;
    if (!who || std::popcount(column.who) < std::popcount(*who)) who = column.who;
    std::uint64_t left = column.word;
    for (const std::uint64_t word : same_bank) left = std::min(left, left ^ word);
    if (left != 0) same_bank.push_back(left);
  }
  result.banks = static_cast<int>(rows.size());
  result.words = result.banks + static_cast<int>(same_bank.size());
  for (int bit = 0; who && bit < 64; ++bit)
    if (*who >> bit & 1) result.meeting_lane_bits.push_back(bit);
  return result;
}

AccessResult access_of(const Layout& registers, const Layout& memory, int bits, const Instruction& instruction,
                       const LaneExchange& exchange) {
  if (std::string refusal = refusal_of(registers, memory, bits, instruction, exchange); !refusal.empty())
    return {std::nullopt, std::move(refusal)};
  const Offsets offsets(registers, memory);
  Access access;
  access.instruction = instruction.name;
  access.kind = instruction.kind;
  access.bytes = instruction.bytes;
  access.lanes_per_phase = instruction.lanes_per_phase;
  access.warps = static_cast<int>(offsets.warps());
  const std::int64_t count = registers_per_issue(instruction, bits);
  access.issues = static_cast<int>(offsets.registers() / count);
  access.all.resize(static_cast<std::size_t>(access.warps) * static_cast<std::size_t>(access.issues));
  const Mover mover{offsets, instruction, exchange, bits};
  for (std::size_t i = 0; i < access.all.size(); ++i) {
    WarpAccess& one = access.all[i];
    one.warp = static_cast<int>(i) / access.issues;
    one.issue = static_cast<int>(i) % access.issues;
    std::string refusal =
        is_matrix(instruction.kind) ? mover.matrices(one, one.issue * count, 32 / bits) : mover.vectors(one, one.issue * count, count);
    if (!refusal.empty()) return {std::nullopt, std::move(refusal)};
  }
  return {std::move(access), {}};
}

int ways_of_phase(const Access& access, const WarpAccess& one, int first_lane) {
  std::array<std::array<std::int64_t, kWarpLanes>, kBanks> words;  // different ones: no more than lanes
  std::array<int, kBanks> count{};
  int ways = 0;
  for (int lane = first_lane; lane < first_lane + access.lanes_per_phase; ++lane) {
    const std::int64_t address = one.address[static_cast<std::size_t>(lane)];
    if (address < 0) continue;
    for (std::int64_t word = address / kBankBytes; word <= (address + access.bytes - 1) / kBankBytes; ++word) {
      const auto bank = static_cast<std::size_t>(word % kBanks);
      const auto end = words[bank].begin() + count[bank];
      if (std::find(words[bank].begin(), end, word) != end) continue;
      *end = word;
      ways = std::max(ways, ++count[bank]);
    }
  }
  return ways;
}

std::string why_text(const Access& access) {
  const WarpAccess* worst = nullptr;
  int ways = 1, first_lane = 0;
  for (const WarpAccess& one : access.all)
    for (int first = 0; first < kWarpLanes; first += access.lanes_per_phase)
      if (const int here = ways_of_phase(access, one, first); here > ways) worst = &one, ways = here, first_lane = first;
  if (worst == nullptr) return "no two lanes meet in a bank";
  const std::optional<Meeting> meeting = meeting_of(access, *worst, first_lane);
  const char* who = is_matrix(access.kind) ? "rows" : "lanes";
  const std::string apart =
      meeting ? fmt::format("{} {} and {} want words {} bytes apart", who, meeting->first, meeting->second, meeting->bytes) : std::string();
  const auto moves = lane_moves(*worst);
  if (!moves) return apart;
  const BankRank rank = bank_rank(*moves, access.bytes, access.lanes_per_phase);
  const std::vector<int>& bits = rank.meeting_lane_bits;
  if (bits.empty()) return apart;
  std::string named = std::to_string(bits.front());
  for (std::size_t i = 1; i < bits.size(); ++i) named += (i + 1 == bits.size() ? " and " : ", ") + std::to_string(bits[i]);
  // Two lanes that differ in just these bits.
  std::size_t other = 0;
  for (const int bit : bits) other |= std::size_t{1} << bit;
  const auto first = static_cast<std::size_t>(first_lane);
  const std::int64_t bytes = std::abs(worst->address[first] - worst->address[first ^ other]);
  return bits.size() == 1
             ? fmt::format("lane bit {} moves by whole rounds of the banks: {} {} and {} are {} bytes apart", named, who, first,
                           first ^ other, bytes)
             : fmt::format("lane bits {} meet in one bank: {} {} and {} are {} bytes apart", named, who, first, first ^ other, bytes);
}

}  // namespace heddle

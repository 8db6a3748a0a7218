// Accesses of every instruction between random pairs of layouts, odd extents, paddings, copies and exchanges among them: what is counted by
// rank is what its addresses say, and what is refused by the one is refused by the other.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <set>

#include "core/layout/access.h"
#include "core/layout/known.h"
#include "core/layout/notation.h"

using namespace heddle;

namespace {

class RandomAccesses {
 public:
  explicit RandomAccesses(unsigned seed) : random_(seed) {}

  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  std::optional<Layout> registers(int bits) {
    const std::int64_t columns = 8 * (1 + below(32));
    std::optional<Layout> layout = tile(columns, bits);
    if (!layout || below(4) != 0) return layout;
    // Two moves exchanged.
    auto& a = layout->bases[static_cast<std::size_t>(below(3))];
    auto& b = layout->bases[static_cast<std::size_t>(below(3))];
    if (!a.empty() && !b.empty())
      std::swap(a[static_cast<std::size_t>(below(static_cast<int>(a.size())))],
                b[static_cast<std::size_t>(below(static_cast<int>(b.size())))]);
    return faults_of(*layout).empty() ? layout : std::nullopt;
  }

  std::optional<Layout> memory(const std::vector<std::int64_t>& shape, int bits) {
    const std::int64_t rows = shape.size() > 1 ? shape[0] : 1, columns = shape.back();
    switch (below(4)) {
      case 0: return known_layout("rows", shape, bits);
      case 1: return known_layout(fmt::format("rows {}", columns + below(5) * (1 << below(6))), shape, bits);
      case 2: return known_layout(fmt::format("panels {}", std::array{0, 32, 64, 128}[static_cast<std::size_t>(below(4))]), shape, bits);
      default: break;
    }
    if (shape.size() < 2) return std::nullopt;
    const bool by_rows = below(3) > 0;
    Result<Layout> layout = parse_layout(fmt::format("Sw<{},{},{}> o ({},{}):({},{})", 1 + below(3), below(5), 3 + below(3), rows, columns,
                                                     by_rows ? columns : 1, by_rows ? 1 : rows),
                                         {});
    return layout ? std::optional(*std::move(layout)) : std::nullopt;
  }

  Instruction instruction() {
    Instruction row;
    const std::array kinds{InstructionKind::SharedLoad, InstructionKind::SharedStore, InstructionKind::MatrixLoad,
                           InstructionKind::MatrixStore};
    row.kind = kinds[static_cast<std::size_t>(below(4))];
    const bool matrix = row.kind == InstructionKind::MatrixLoad || row.kind == InstructionKind::MatrixStore;
    row.bytes = matrix ? 16 : 1 << below(5);
    row.lanes_per_phase = row.bytes == 16 ? 8 : row.bytes == 8 ? 16 : 32;
    row.matrices = matrix ? 1 << below(3) : 0;
    row.transposed = matrix && below(3) == 0;
    row.name =
        fmt::format("{} of {} bytes, {} matrices{}", to_string(row.kind), row.bytes, row.matrices, row.transposed ? " transposed" : "");
    return row;
  }

 private:
  std::optional<Layout> tile(std::int64_t columns, int bits) {
    switch (below(6)) {
      case 0: return bits >= 8 ? operand_layout(256 / bits * (1 + below(8)), bits) : accumulator_layout(columns);
      case 1: return warp_rows_layout(4 * (1 + below(6)), 256 * (1 + below(3)));
      case 2: return thread_rows_layout(128, columns);
      case 3: return without_dimension(accumulator_layout(columns), static_cast<std::size_t>(below(2)));
      case 4:
        return without_dimension(below(2) ? warp_rows_layout(8 * (1 + below(3)), 256) : thread_rows_layout(128, columns),
                                 static_cast<std::size_t>(below(2)));
      default: return accumulator_layout(columns);
    }
  }

  std::mt19937 random_;
};

}  // namespace

TEST_CASE("an access between random layouts costs what its addresses say, however it is counted") {
  const unsigned seed = 1;
  INFO("seed " << seed);
  RandomAccesses random(seed);
  int counted = 0, conflicts = 0;
  for (int i = 0; i < 3000; ++i) {
    const int bits = 4 << random.below(4);
    const std::optional<Layout> registers = random.registers(bits);
    const std::optional<Layout> memory = registers ? random.memory(registers->shape, bits) : std::nullopt;
    if (!memory) continue;
    const Instruction row = random.instruction();
    LaneExchange exchange;
    if (row.kind == InstructionKind::SharedStore && random.below(3) == 0) exchange = {random.below(5), random.below(7)};
    const AccessCost cost = cost_of_access(*registers, *memory, bits, row, exchange);
    const AccessResult result = access_of(*registers, *memory, bits, row, exchange);
    const std::string what = fmt::format("{}: {} of {} bits, {} and {}: {}", i, row.name, bits, layout_text(*registers, bits),
                                         layout_text(*memory, bits), result.refusal);
    if (cost.known != result.access.has_value()) FAIL(what);
    if (!result.access) continue;
    std::int64_t cycles = 0, phases = 0;
    std::size_t worst = 1;
    for (const WarpAccess& one : result.access->all)
      for (int first = 0; first < 32; first += row.lanes_per_phase) {
        std::map<std::int64_t, std::set<std::int64_t>> words_of_bank;
        for (int lane = first; lane < first + row.lanes_per_phase; ++lane)
          if (const std::int64_t address = one.address[static_cast<std::size_t>(lane)]; address >= 0)
            for (std::int64_t byte = address; byte < address + row.bytes; ++byte) words_of_bank[byte / 4 % 32].insert(byte / 4);
        std::size_t most = 0;
        for (const auto& [bank, words] : words_of_bank) most = std::max(most, words.size());
        cycles += static_cast<std::int64_t>(most);
        phases += most > 0;
        worst = std::max(worst, most);
      }
    if (cost.port != cycles || cost.least != phases || cost.ways != static_cast<int>(worst)) FAIL(what);
    ++counted;
    conflicts += worst > 1;
  }
  CHECK(counted > 300);
  CHECK(conflicts > 100);
}

// Lanes and banks: ranks against counting bank by bank, the instructions that the emitter writes today, and what others have published.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <set>

#include "core/answers/layout_view.h"
#include "core/layout/access.h"
#include "core/layout/known.h"
#include "core/layout/notation.h"

using namespace heddle;

namespace {

Instruction vector_row(const std::string& name, InstructionKind kind, int bytes) {
  Instruction row;
  row.name = name, row.kind = kind, row.bytes = bytes;
  row.lanes_per_phase = bytes == 16 ? 8 : bytes == 8 ? 16 : 32;
  return row;
}
Instruction store(int bytes) { return vector_row("st.shared." + std::to_string(bytes), InstructionKind::SharedStore, bytes); }
Instruction load(int bytes) { return vector_row("ld.shared." + std::to_string(bytes), InstructionKind::SharedLoad, bytes); }
Instruction matrix(bool load, int matrices, bool transposed = false) {
  Instruction row = vector_row((load ? "ldmatrix.x" : "stmatrix.x") + std::to_string(matrices) + (transposed ? ".trans" : ""),
                               load ? InstructionKind::MatrixLoad : InstructionKind::MatrixStore, 16);
  row.matrices = matrices, row.transposed = transposed;
  return row;
}

/// Cycles of the port, counted from addresses alone: for each phase the most different words that one bank is asked for.
struct Counted {
  std::int64_t cycles = 0, phases = 0;
  int ways = 1;
};
void count_phase(Counted& to, const std::vector<std::int64_t>& addresses, int bytes) {
  std::map<std::int64_t, std::set<std::int64_t>> words_of_bank;
  for (const std::int64_t address : addresses)
    for (std::int64_t byte = address; byte < address + bytes; ++byte) words_of_bank[byte / 4 % 32].insert(byte / 4);
  std::size_t most = 0;
  for (const auto& [bank, words] : words_of_bank) most = std::max(most, words.size());
  if (most == 0) return;
  to.cycles += static_cast<std::int64_t>(most);
  ++to.phases;
  to.ways = std::max(to.ways, static_cast<int>(most));
}
Counted count(const Access& access) {
  Counted counted;
  for (const WarpAccess& one : access.all)
    for (int first = 0; first < 32; first += access.lanes_per_phase) {
      std::vector<std::int64_t> addresses;
      for (int lane = first; lane < first + access.lanes_per_phase; ++lane)
        if (one.address[static_cast<std::size_t>(lane)] >= 0) addresses.push_back(one.address[static_cast<std::size_t>(lane)]);
      count_phase(counted, addresses, access.bytes);
    }
  return counted;
}

/// The same three times: by rank or lane by lane, from the access, and from its addresses alone.
AccessCost checked(const Layout& registers, const Layout& memory, int bits, const Instruction& row, const LaneExchange& exchange = {}) {
  const AccessResult result = access_of(registers, memory, bits, row, exchange);
  const AccessCost cost = cost_of_access(registers, memory, bits, row, exchange);
  INFO(row.name << " " << result.refusal);
  REQUIRE(cost.known == result.access.has_value());
  if (!result.access) return cost;
  const Counted counted = count(*result.access);
  CHECK(cost.port == counted.cycles);
  CHECK(cost.least == counted.phases);
  CHECK(cost.ways == counted.ways);
  CHECK(cost.issues == result.access->issues);
  int ways = 1;
  for (std::size_t one = 0; one < result.access->all.size(); ++one)
    for (int phase = 0; phase < phases(*result.access); ++phase) ways = std::max(ways, bank_strip(*result.access, one, phase).ways);
  CHECK(ways == counted.ways);
  CHECK((why_text(*result.access) == "no two lanes meet in a bank") == (ways == 1));
  return cost;
}

Layout panels(std::int64_t rows, std::int64_t columns, int bits, int swizzle) {
  const std::optional<Layout> layout = panels_layout(rows, columns, bits, swizzle);
  REQUIRE(layout);
  return *layout;
}
Layout parsed(const std::string& text, int bits = 16) {
  const Result<Layout> layout = parse_layout(text, {{}, bits});
  INFO((layout ? "" : to_string(layout.error())));
  REQUIRE(layout);
  return *layout;
}
/// As ldmatrix leaves 64 rows: of 16-bit elements it is wgmma's fragment.
Layout fragment(std::int64_t columns, int bits) { return operand_layout(columns, bits); }

}  // namespace

TEST_CASE("the rank of words and banks counts what counting bank by bank counts, for random moves of lanes") {
  const unsigned seed = 20260722;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 100000; ++i) {
    const int bytes = 4 << random() % 3, lanes = bytes == 16 ? 8 : bytes == 8 ? 16 : 32;
    std::vector<std::int64_t> moves;
    for (int bit = 0; bit < 5; ++bit) {
      const std::int64_t any = static_cast<std::int64_t>(random() % (1u << (random() % 14))) * bytes;
      moves.push_back(any);
    }
    std::vector<std::int64_t> addresses;
    for (int lane = 0; lane < lanes; ++lane) {
      std::int64_t address = 0;
      for (int bit = 0; bit < 5; ++bit)
        if (lane >> bit & 1) address ^= moves[static_cast<std::size_t>(bit)];
      addresses.push_back(address);
    }
    // Counted plainly: words of each bank, once each.
    std::array<std::vector<std::int64_t>, 32> banks;
    std::size_t most = 1;
    for (const std::int64_t address : addresses)
      for (std::int64_t word = address / 4; word < (address + bytes) / 4; ++word) {
        auto& words = banks[static_cast<std::size_t>(word % 32)];
        if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
        most = std::max(most, words.size());
      }
    const BankRank rank = bank_rank(moves, bytes, lanes);
    if (rank.ways() != static_cast<int>(most) || rank.meeting_lane_bits.empty() != (most == 1)) {
      CAPTURE(i, bytes, moves, most, rank.words, rank.banks);
      FAIL("rank and count differ");
    }
  }
}

TEST_CASE("the cost of an access by rank is the cost lane by lane, for random layouts of registers and memory") {
  const unsigned seed = 22;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  int known = 0;
  for (int i = 0; i < 400; ++i) {
    const int bits = 4 << random() % 4;
    const std::vector<Instruction> rows{store(4), store(8), store(16),       load(1),          load(2),         load(4),
                                        load(8),  load(16), matrix(true, 1), matrix(false, 2), matrix(true, 4), matrix(false, 4, true)};
    const Instruction& row = rows[random() % rows.size()];
    // Elements of one instruction lie in order at the low end of both; the other moves are shuffled.
    const int total = 11;
    std::vector<Coordinates> units;
    for (int bit = 0; bit < total; ++bit) units.push_back(bit < 5 ? Coordinates{0, 1 << bit} : Coordinates{1 << (bit - 5), 0});
    std::shuffle(units.begin(), units.end(), random);
    for (int k = 0; k < 6; ++k) {
      const std::size_t a = random() % units.size(), b = random() % units.size();
      if (a != b)
        for (std::size_t d = 0; d < 2; ++d) units[a][d] ^= units[b][d];
    }
    const bool is_matrix = row.matrices > 0;
    int low = 0;
    while ((is_matrix ? 32 : row.bytes * 8) >= bits << (low + 1)) ++low;
    const int across = is_matrix && !row.transposed ? 2 : 0;
    Layout memory, registers;
    memory.shape = registers.shape = {64, 32};
    memory.of(LayoutAxis::Offset) = units;
    std::vector<Coordinates> rest(units.begin() + low + across, units.end());
    std::shuffle(rest.begin(), rest.end(), random);
    auto& regs = registers.of(LayoutAxis::Register);
    auto& lanes = registers.of(LayoutAxis::Lane);
    regs.assign(units.begin(), units.begin() + low);
    lanes.assign(units.begin() + low, units.begin() + low + across);
    std::size_t at = 0;
    for (; lanes.size() < 5; ++at) lanes.push_back(rest[at]);
    for (; registers.of(LayoutAxis::Warp).size() < 1 && at < rest.size(); ++at) registers.of(LayoutAxis::Warp).push_back(rest[at]);
    for (; at < rest.size(); ++at) regs.push_back(rest[at]);
    REQUIRE(faults_of(memory).empty());
    REQUIRE(faults_of(registers).empty());
    CAPTURE(i, row.name, bits);
    known += checked(registers, memory, bits, row).known;
  }
  CHECK(known > 200);
}

TEST_CASE("padding and repeats are counted as they are, too") {
  for (const std::int64_t pitch : {64, 66, 68, 72, 80, 96}) {
    CAPTURE(pitch);
    const Layout padded = rows_layout(64, 64, pitch);
    checked(accumulator_layout(64), padded, 16, matrix(false, 4));
    checked(accumulator_layout(64), padded, 16, store(4));
    checked(accumulator_layout(64), padded, 32, store(8));
    checked(accumulator_layout(64), padded, 16, store(2));
  }
  // Rows of 72 elements of 16 bits: the padding by 16 bytes that books teach.
  CHECK(cost_of_access(accumulator_layout(64), rows_layout(64, 64, 72), 16, matrix(false, 4)).ways == 1);
  for (const std::int64_t columns : {24, 48, 176, 192}) {
    CAPTURE(columns);
    checked(accumulator_layout(columns), rows_layout(64, columns), 16, store(4));
    checked(accumulator_layout(columns), rows_layout(64, columns), 32, store(8));
    if (columns % 16 == 0) checked(accumulator_layout(columns), rows_layout(64, columns), 16, matrix(false, 4));
  }
  checked(accumulator_layout(192), panels(64, 192, 16, 128), 16, matrix(false, 4));
  checked(warp_rows_layout(24, 768), panels(24, 768, 16, 0), 16, store(16));
  checked(warp_rows_layout(24, 768), panels(24, 768, 16, 0), 16, load(16));
}

TEST_CASE("stmatrix from the accumulator addresses what the emitted text addresses") {
  for (const std::int64_t columns : {64, 128, 256}) {
    const AccessResult result = access_of(accumulator_layout(columns), panels(64, columns, 16, 128), 16, matrix(false, 4));
    REQUIRE(result.access);
    const Access& access = *result.access;
    REQUIRE(access.issues == columns / 16);
    for (const WarpAccess& one : access.all)
      for (int lane = 0; lane < 32; ++lane) {
        const int to = (one.warp * 16 + (lane & 15)) * 128 + ((lane >> 4) ^ (lane & 7)) * 16;
        const std::int64_t at = (to ^ one.issue % 4 * 32) + one.issue / 4 * 64 * 128;
        CHECK(one.address[static_cast<std::size_t>(lane)] == at);
        CHECK(one.first_register[static_cast<std::size_t>(lane)] == one.issue * 8);
      }
  }
}

TEST_CASE("pairs of the f32 accumulator, exchanged between lanes, go where the emitted text sends them") {
  const LaneExchange exchange{2, 3};
  const AccessResult result = access_of(accumulator_layout(64), panels(64, 64, 32, 128), 32, store(8), exchange);
  REQUIRE(result.access);
  for (const WarpAccess& one : result.access->all)
    for (int lane = 0; lane < 32; ++lane) {
      const int j = one.issue;
      const int to = (one.warp * 16 + lane / 4) * 128 + ((lane % 4 / 2) ^ (lane / 4) ^ (lane & 4)) * 16 + lane % 2 * 8;
      const int at = (to ^ j / 2 % 4 * 32) + j / 8 * (64 * 128) + j % 2 * 1024;
      CHECK(one.address[static_cast<std::size_t>(lane)] == at);
      CHECK(one.first_register[static_cast<std::size_t>(lane)] == 2 * (lane & 4 ? j ^ 4 : j));
    }
  const AccessCost cost = checked(accumulator_layout(64), panels(64, 64, 32, 128), 32, store(8), exchange);
  CHECK(cost.ways == 1);
  CHECK(cost.selects == 64 * 64);
}

TEST_CASE("rows of threads and of warps go to memory in chunks of 16 bytes as the emitted texts send them") {
  const AccessResult threads = access_of(thread_rows_layout(128, 128), panels(128, 128, 16, 128), 16, store(16));
  REQUIRE(threads.access);
  for (const WarpAccess& one : threads.access->all)
    for (int lane = 0; lane < 32; ++lane) {
      const int tid = one.warp * 32 + lane, j = one.issue;
      CHECK(one.address[static_cast<std::size_t>(lane)] == ((tid * 128 + (tid & 7) * 16) ^ j % 8 * 16) + j / 8 * (128 * 128));
    }
  CHECK(checked(thread_rows_layout(128, 128), panels(128, 128, 16, 128), 16, store(16)).ways == 1);
  const AccessResult warps = access_of(warp_rows_layout(16, 512), panels(16, 512, 16, 0), 16, load(16));
  REQUIRE(warps.access);
  for (const WarpAccess& one : warps.access->all)
    for (int lane = 0; lane < 32; ++lane) {
      const int j = one.issue, row = one.warp * 4 + j / 2, panel = j % 2;
      CHECK(one.address[static_cast<std::size_t>(lane)] == panel * (16 * 512) + row * 512 + lane * 16);
    }
  CHECK(checked(warp_rows_layout(16, 512), panels(16, 512, 16, 0), 16, load(16)).ways == 1);
}

TEST_CASE("vectors in shared memory are read as the emitted texts read them, and lanes that want one word share it") {
  const Layout tile = accumulator_layout(128);
  const std::optional<Layout> rows = known_layout("rows", {64}, 32), columns = known_layout("rows", {128}, 32);
  REQUIRE((rows && columns));
  const AccessResult by_row = access_of(without_dimension(tile, 1), *rows, 32, load(4));
  REQUIRE(by_row.access);
  for (const WarpAccess& one : by_row.access->all)
    for (int lane = 0; lane < 32; ++lane)
      CHECK(one.address[static_cast<std::size_t>(lane)] == (one.warp * 16 + lane / 4 + one.issue * 8) * 4);
  CHECK(checked(without_dimension(tile, 1), *rows, 32, load(4)).ways == 1);
  const AccessResult by_column = access_of(without_dimension(tile, 0), *columns, 32, load(8));
  REQUIRE(by_column.access);
  for (const WarpAccess& one : by_column.access->all)
    for (int lane = 0; lane < 32; ++lane) CHECK(one.address[static_cast<std::size_t>(lane)] == (one.issue * 8 + lane % 4 * 2) * 4);
  CHECK(checked(without_dimension(tile, 0), *columns, 32, load(8)).ways == 1);
  CHECK(checked(without_dimension(thread_rows_layout(128, 64), 0), *known_layout("rows", {64}, 32), 32, load(16)).ways == 1);
}

TEST_CASE(
    "ldmatrix on rows of 128 bytes: 8-way plain, free with Swizzle<3,3,3>, 2-way with <3,3,4>, which is right for rows of 256 bytes") {
  const Layout tile = fragment(64, 16), wide = fragment(128, 16);
  const Instruction row = matrix(true, 4);
  CHECK(checked(tile, parsed("(64,64):(64,1)"), 16, row).ways == 8);
  CHECK(checked(tile, parsed("Sw<3,3,3> o (64,64):(64,1)"), 16, row).ways == 1);
  CHECK(checked(tile, parsed("Sw<3,3,4> o (64,64):(64,1)"), 16, row).ways == 2);
  CHECK(checked(wide, parsed("Sw<3,3,4> o (64,128):(128,1)"), 16, row).ways == 1);
  CHECK(checked(wide, parsed("Sw<3,3,3> o (64,128):(128,1)"), 16, row).ways == 2);
  CHECK(checked(tile, parsed("(64,64):(64,1)"), 16, row).port == 8 * checked(tile, parsed("(64,64):(64,1)"), 16, row).least);
}

TEST_CASE("stmatrix meets no bank twice under TMA's modes of 32, 64 and 128 bytes, and eight times without") {
  const Layout tile = accumulator_layout(64);
  for (const int swizzle : {32, 64, 128}) CHECK(checked(tile, panels(64, 64, 16, swizzle), 16, matrix(false, 4)).ways == 1);
  CHECK(checked(tile, panels(64, 64, 16, 0), 16, matrix(false, 4)).ways == 8);
  for (const int matrices : {1, 2, 4}) {
    CHECK(checked(tile, panels(64, 64, 16, 128), 16, matrix(false, matrices)).ways == 1);
    CHECK(checked(tile, panels(64, 64, 16, 128), 16, matrix(true, matrices)).ways == 1);
  }
  CHECK(checked(fragment(128, 8), panels(64, 128, 8, 128), 8, matrix(false, 4)).ways == 1);
}

TEST_CASE(
    "pairs of the f32 accumulator: 4 cycles with rows of 128 and of 64 bytes, 2 with rows of 32, with an exchange, with 32-byte atoms") {
  const Layout tile = accumulator_layout(64);
  const auto cycles = [&](const Layout& memory, const LaneExchange& exchange = {}) {
    const AccessCost cost = checked(tile, memory, 32, store(8), exchange);
    REQUIRE(cost.port % (cost.issues * 4) == 0);
    return cost.port / (cost.issues * 4);  // 4 warps
  };
  CHECK(cycles(panels(64, 64, 32, 128)) == 4);
  CHECK(cycles(panels(64, 64, 32, 64)) == 4);
  CHECK(cycles(panels(64, 64, 32, 32)) == 2);
  CHECK(cycles(panels(64, 64, 32, 128), {2, 3}) == 2);
  CHECK(cycles(parsed("Sw<2,3,2> o (64,(32,2)):(32,(1,2048))", 32)) == 2);  // 5 - 2 = 3: in elements of 4 bytes
}

TEST_CASE("matrices of 16-bit halves store f32 tiles too, with columns that lie elsewhere in memory") {
  // A register of 32 bits is a pair of b16: columns 2 q and 2 q + 1 of a thread are stored as columns q of two matrices.
  Layout memory;
  memory.shape = {64, 32};
  memory.of(LayoutAxis::Offset) = {{0, 2}, {0, 4}, {0, 1}, {0, 8}, {0, 16}, {1, 1}, {2, 8}, {4, 16}, {8, 0}, {16, 0}, {32, 0}};
  REQUIRE(faults_of(memory).empty());
  const AccessCost cost = checked(accumulator_layout(32), memory, 32, matrix(false, 4));
  CHECK(cost.known);
  CHECK(cost.port / (cost.issues * 4) == 4);  // 32 lanes of 16 bytes
}

TEST_CASE("int4 weights in their natural order are read byte by byte, 64 cycles where a swizzle keeps banks apart, and 16 prepacked") {
  // A of m64k16: of 4 bits a thread's two neighbours in k are one byte.
  const Layout tile = accumulator_layout(64);
  const auto port = [&](const Layout& memory) {
    const AccessCost cost = checked(tile, memory, 4, load(1));
    CHECK(cost.issues == 16);
    return cost;
  };
  CHECK(port(rows_layout(64, 64)).ways == 2);
  CHECK(port(rows_layout(64, 64, 128)).ways == 4);
  CHECK(port(rows_layout(64, 64, 256)).ways == 8);
  // Rows of 32 bytes, and the piece of 16 bytes exchanged by bit 2 of the row.
  const AccessCost swizzled = port(panels(64, 64, 4, 32));
  CHECK(swizzled.ways == 1);
  CHECK(swizzled.port == 64);
  // Prepacked: memory has thread after thread all that it holds.
  Layout packed;
  packed.shape = {64, 64};
  for (const LayoutAxis axis : {LayoutAxis::Register, LayoutAxis::Lane, LayoutAxis::Warp})
    for (const Coordinates& basis : tile.of(axis)) packed.of(LayoutAxis::Offset).push_back(basis);
  const AccessCost prepacked = checked(tile, packed, 4, load(16));
  CHECK(prepacked.ways == 1);
  CHECK(prepacked.port == 16);
}

TEST_CASE("memory in the order in which threads take a tile needs no cycle more than its bytes, in as few instructions as there can be") {
  for (const int bits : {4, 8, 16, 32})
    for (const std::int64_t bytes : {1, 2, 4, 8, 16})
      for (const Layout& tile : {accumulator_layout(64), accumulator_layout(192), warp_rows_layout(16, 256)}) {
        INFO(bits << " bits, " << bytes << " bytes at once");
        const auto memory = taken_at_once(tile, bytes, bits);
        const std::int64_t of_thread = tile.elements() / 128, at_once = bytes * 8 / bits;
        if (at_once < 1 || of_thread % at_once != 0) continue;
        if (!memory) {
          CHECK(tile.elements() == 64 * 192);  // as many of 3 blocks at once
          continue;
        }
        REQUIRE(faults_of(*memory).empty());
        const AccessCost cost = checked(tile, *memory, bits, load(static_cast<int>(bytes)));
        CHECK(cost.ways == 1);
        CHECK(cost.issues == of_thread / at_once);
        // Less than 4 bytes of a lane are less than a bank has.
        CHECK(cost.port == tile.elements() * bits / 8 / 128 * std::max<std::int64_t>(4 / bytes, 1));
      }
}

TEST_CASE("of all orders of a thread's 4-bit numbers, those need the fewest masks that have a register's two halves 16 bits apart") {
  // Of eight numbers in a word by three bits of their number in the thread: one mask takes both halves, or each has one.
  const auto masks = [](const std::array<int, 5>& order) {
    int count = 0;
    for (int pair = 0; pair < 16; ++pair) {
      const auto place = [&](int number) {
        int at = 0;
        for (int b = 0; b < 5; ++b) at |= (number >> order[static_cast<std::size_t>(b)] & 1) << b;
        return at;
      };
      const int low = place(2 * pair), high = place(2 * pair + 1);
      count += low / 8 == high / 8 && high - low == 4 ? 1 : 2;
    }
    return count;
  };
  std::array<int, 5> order{0, 1, 2, 3, 4};
  int fewest = 32;
  do fewest = std::min(fewest, masks(order));
  while (std::next_permutation(order.begin(), order.end()));
  CHECK(fewest == 16);
  // "packed_operand" is the accumulator's order with such an order of its first five bits.
  const Layout plain = canonical(accumulator_layout(64)), packed = packed_operand_layout(64);
  for (std::size_t b = 0; b < 5; ++b) {
    const auto& all = plain.of(LayoutAxis::Register);
    order[b] = static_cast<int>(std::find(all.begin(), all.end(), packed.of(LayoutAxis::Register)[b]) - all.begin());
  }
  CHECK(masks(order) == fewest);
  CHECK(same_places(*packed_layout(64, 4), *taken_at_once(packed, 16, 4)));
}

TEST_CASE("16-bit tiles are transposed by the load itself, where they become the operand of an mma") {
  const AccessCost cost = checked(accumulator_layout(64), transposed(panels(64, 64, 16, 128)), 16, matrix(true, 4));
  CHECK(cost.ways == 1);
  CHECK(cost.issues == 4);
}

TEST_CASE("8-bit tiles are transposed without conflicts: four of a column from rows, four of a row to columns") {
  const Layout memory = panels(128, 128, 8, 128), turned = transposed(memory);
  const Layout down = *quads_layout(128, 128, false), across = *quads_layout(128, 128, true);
  for (const Layout* each : {&down, &across}) {
    CHECK(faults_of(*each).empty());
    CHECK(known_name(*each, 8) == (each == &down ? "quads_down" : "quads_across"));
  }
  CHECK(conversion_class(down, across, 8) == ConversionClass::BytePermute);
  for (const AccessCost& cost : {checked(down, turned, 8, load(4)), checked(across, memory, 8, store(4))}) {
    CHECK(cost.ways == 1);
    CHECK(cost.port == 128);
    CHECK(cost.issues == 32);
  }
  CHECK(transposed(turned) == memory);
  CHECK(known_layout("quads_down", {256, 128}, 8).has_value());
  CHECK(faults_of(*known_layout("quads_down", {256, 384}, 8)).empty());
  CHECK(!known_layout("quads_down", {64, 128}, 8));
  CHECK(!known_layout("quads_down", {128, 128}, 16));
}

TEST_CASE("what an instruction cannot move is refused with what is in the way") {
  const Layout tile = accumulator_layout(64);
  const auto refusal = [&](const Layout& registers, const Layout& memory, int bits, const Instruction& row,
                           const LaneExchange& exchange = {}) {
    const AccessResult result = access_of(registers, memory, bits, row, exchange);
    CHECK_FALSE(result.access);
    CHECK_FALSE(cost_of_access(registers, memory, bits, row, exchange).known);
    return result.refusal;
  };
  CHECK(refusal(tile, rows_layout(64, 64), 32, matrix(true, 4, true)) == "ldmatrix.x4.trans moves elements of 16 bits, and these have 32");
  CHECK(refusal(tile, rows_layout(64, 64), 32, store(2)) == "st.shared.2 moves 16 bits, and an element has 32");
  CHECK_THAT(refusal(tile, rows_layout(64, 64), 16, store(16)), Catch::Contains("side by side"));
  CHECK_THAT(refusal(tile, rows_layout(64, 64, 65), 16, store(4)), Catch::Contains("multiples of 4 bytes"));
  CHECK_THAT(refusal(tile, rows_layout(64, 64, 68), 16, matrix(false, 4)), Catch::Contains("16"));
  CHECK_THAT(refusal(tile, rows_layout(64, 32), 16, store(4)), Catch::Contains("different shapes"));
  CHECK_THAT(refusal(thread_rows_layout(128, 64), rows_layout(128, 64), 16, matrix(false, 4)), Catch::Contains("stmatrix.x4"));
  CHECK_THAT(refusal(tile, rows_layout(64, 64), 32, load(8), {2, 3}), Catch::Contains("st.shared"));
  CHECK_THAT(refusal(tile, rows_layout(64, 64), 32, store(8), {2, 0}), Catch::Contains("cannot exchange"));
  CHECK_THAT(refusal(tile, rows_layout(64, 64), 32, store(8), {7, 3}), Catch::Contains("cannot exchange"));
  CHECK_THAT(refusal(tile, rows_layout(64, 64), 32, store(8), {2, 60}), Catch::Contains("cannot exchange"));
  Instruction product;
  product.name = "wgmma.ss.bf16", product.kind = InstructionKind::Product;
  CHECK_THAT(refusal(tile, rows_layout(64, 64), 16, product), Catch::Contains("moves nothing between registers and shared memory"));
}

TEST_CASE("a transposed matrix moves what the fragment of the transpose holds, in both directions") {
  // Memory by columns: columns of 64 elements, 16-byte pieces exchanged.
  const Layout columns = parsed("Sw<3,3,3> o (64,64):(1,64)");
  const Layout tile = accumulator_layout(64);
  for (const bool load : {true, false})
    for (const int matrices : {1, 2, 4}) CHECK(checked(tile, columns, 16, matrix(load, matrices, true)).ways == 1);
  CHECK(checked(tile, parsed("(64,64):(1,64)"), 16, matrix(true, 4, true)).ways == 8);
  CHECK_FALSE(access_of(tile, columns, 16, matrix(true, 4)).access);
}

TEST_CASE("why lanes meet is said in their bits") {
  const AccessResult plain = access_of(fragment(64, 16), rows_layout(64, 64), 16, matrix(true, 4));
  REQUIRE(plain.access);
  CHECK(why_text(*plain.access) == "lane bit 0 moves by whole rounds of the banks: rows 0 and 1 are 128 bytes apart");
  const AccessResult pairs = access_of(accumulator_layout(64), panels(64, 64, 32, 128), 32, store(8));
  REQUIRE(pairs.access);
  CHECK(why_text(*pairs.access) == "lane bits 1 and 2 meet in one bank: lanes 0 and 6 are 128 bytes apart");
}

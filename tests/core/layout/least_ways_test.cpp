// Layouts made for two accesses: against all layouts of small tiles, and against the layouts that the catalogue of names has.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <iostream>
#include <map>
#include <random>
#include <set>

#include "core/layout/access.h"
#include "core/layout/known.h"
#include "core/layout/least_ways.h"
#include "core/layout/notation.h"
#include "core/layout/plan.h"
#include "core/library/library.h"
#include "core/problem/resolve.h"
#include "tests/support/paths.h"

using namespace heddle;

namespace {

using Move = std::uint64_t;

// Tiles of 16 elements of a word each, 4 lanes, 4 banks: 4 bits of an element's number, of which two tell the bank.
constexpr int kBits = 4, kBankBits = 2, kElements = 16, kRowBanks = 4;

bool independent(const std::vector<Move>& moves) {
  for (std::size_t some = 1; some < std::size_t{1} << moves.size(); ++some) {
    Move sum = 0;
    for (std::size_t i = 0; i < moves.size(); ++i)
      if (some >> i & 1) sum ^= moves[i];
    if (sum == 0) return false;
  }
  return true;
}

/// Offset of every element.
using Offsets = std::array<int, kElements>;
Offsets offsets_of(const std::vector<Move>& bases) {
  Offsets offsets{};
  for (int offset = 0; offset < kElements; ++offset) {
    Move element = 0;
    for (int bit = 0; bit < kBits; ++bit)
      if (offset >> bit & 1) element ^= bases[static_cast<std::size_t>(bit)];
    offsets[element] = offset;
  }
  return offsets;
}

std::vector<Offsets> all_layouts() {
  std::vector<Offsets> all;
  for (Move a = 1; a < kElements; ++a)
    for (Move b = 1; b < kElements; ++b)
      for (Move c = 1; c < kElements; ++c)
        for (Move d = 1; d < kElements; ++d)
          if (independent({a, b, c, d})) all.push_back(offsets_of({a, b, c, d}));
  return all;
}

/// Each of 4 lanes holds 4 elements and moves 1, 2 or 4 at a time; 4, 2 or 1 lanes then fill the banks.
struct ToyAccess {
  int vector_bits = 0;
  std::vector<Move> registers, lanes;

  AccessMoves moves() const {
    AccessMoves moves{{registers.begin(), registers.begin() + vector_bits}, {lanes.begin(), lanes.end() - vector_bits}, {}};
    moves.rest.assign(registers.begin() + vector_bits, registers.end());
    moves.rest.insert(moves.rest.end(), lanes.end() - vector_bits, lanes.end());
    return moves;
  }
};

/// Cycles of all phases, lane by lane; nothing where the elements of an address do not follow each other from a multiple of as many on.
std::optional<int> cycles_of(const ToyAccess& access, const Offsets& offsets) {
  const int vector = 1 << access.vector_bits, together = kRowBanks / vector;
  const auto element = [&](int lane, int held) {
    Move at = 0;
    for (int bit = 0; bit < 2; ++bit) {
      if (lane >> bit & 1) at ^= access.lanes[static_cast<std::size_t>(bit)];
      if (held >> bit & 1) at ^= access.registers[static_cast<std::size_t>(bit)];
    }
    return at;
  };
  int cycles = 0;
  for (int first = 0; first < 4; first += vector)
    for (int phase = 0; phase < 4; phase += together) {
      std::array<unsigned, kRowBanks> words{};  // a bit for each that is wanted
      for (int lane = phase; lane < phase + together; ++lane) {
        const int begin = offsets[element(lane, first)];
        if (begin % vector != 0) return std::nullopt;
        for (int i = 0; i < vector; ++i) {
          const int offset = offsets[element(lane, first + i)];
          if (offset != begin + i) return std::nullopt;
          words[static_cast<std::size_t>(offset % kRowBanks)] |= 1u << offset / kRowBanks;
        }
      }
      int ways = 0;
      for (const unsigned wanted : words) ways = std::max(ways, std::popcount(wanted));
      cycles += ways;
    }
  return cycles;
}

std::optional<int> cycles_of(const std::array<ToyAccess, 2>& accesses, const Offsets& offsets) {
  const auto one = cycles_of(accesses[0], offsets);
  const auto other = one ? cycles_of(accesses[1], offsets) : std::nullopt;
  return one && other ? std::optional(*one + *other) : std::nullopt;
}

class Toys {
 public:
  explicit Toys(unsigned seed) : random_(seed) {}

  std::array<ToyAccess, 2> pair() {
    std::array<ToyAccess, 2> both{access(), access()};
    // Two vectors of unrelated elements fit no layout: often the second begins as the first does.
    const int common = std::min(both[0].vector_bits, both[1].vector_bits);
    if (below(4) != 0) do {
        both[1] = access(both[1].vector_bits);
        for (int bit = 0; bit < common; ++bit)
          both[1].registers[static_cast<std::size_t>(bit)] = both[0].registers[static_cast<std::size_t>(bit)];
      } while (!whole(both[1]));
    return both;
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  static bool whole(const ToyAccess& a) { return independent({a.registers[0], a.registers[1], a.lanes[0], a.lanes[1]}); }
  ToyAccess access() { return access(below(3)); }
  ToyAccess access(int vector_bits) {
    ToyAccess made{vector_bits, {}, {}};
    do {
      made.registers = {move(), move()};
      made.lanes = {move(), move()};
    } while (!whole(made));
    return made;
  }
  Move move() { return static_cast<Move>(1 + below(kElements - 1)); }
  std::mt19937 random_;
};

void compare_toys(unsigned seed, int count) {
  const std::vector<Offsets> layouts = all_layouts();
  REQUIRE(layouts.size() == 20160);
  INFO("seed " << seed);
  Toys toys(seed);
  int none = 0, vectors = 0;
  for (int n = 0; n < count; ++n) {
    const std::array<ToyAccess, 2> accesses = toys.pair();
    std::optional<int> least;
    for (const Offsets& offsets : layouts)
      if (const auto cycles = cycles_of(accesses, offsets); cycles && (!least || *cycles < *least)) least = cycles;
    const auto made = least_ways(accesses[0].moves(), accesses[1].moves(), kBits, kBankBits);
    INFO("problem " << n);
    REQUIRE(made.has_value() == least.has_value());
    none += !least;
    vectors += least && accesses[0].vector_bits + accesses[1].vector_bits > 0;
    if (!made) continue;
    REQUIRE(independent(*made));
    REQUIRE(cycles_of(accesses, offsets_of(*made)) == least);
  }
  // The problems are of all kinds.
  CHECK(none > 0);
  CHECK(none < count / 2);
  CHECK(vectors > count / 4);
}

Machine h100() { return load_machine(test::repository_path("assets/machines/h100.json")).value(); }

}  // namespace

TEST_CASE("a layout made for two accesses has the least sum of ways of all 20 160 layouts of 16 elements", "[core]") {
  compare_toys(1, 60);
}

TEST_CASE("a layout made for two accesses has the least sum of ways of all 20 160 layouts, for 1000 problems", "[core][.slow]") {
  compare_toys(2, 1000);
}

TEST_CASE("spaces beyond the banks and tiles below a row of them are no special case", "[core]") {
  // Everything in one row of banks.
  const AccessMoves plain{{}, {1, 2}, {4, 8}};
  const auto small = least_ways({{}, {1, 2}, {}}, {{}, {2, 1}, {}}, 2, 5);
  REQUIRE(small.has_value());
  CHECK(small->size() == 2);
  // Three bits of lanes for two of banks: two ways are the least, and what is made has no more.
  const auto made = least_ways({{}, {1, 2, 4}, {8}}, {{}, {8, 4}, {1, 2}}, 4, 2);
  REQUIRE(made.has_value());
  std::set<int> banks;
  const Offsets offsets = offsets_of(*made);
  for (const int element : {0, 4, 8, 12}) banks.insert(offsets[static_cast<std::size_t>(element)] % kRowBanks);
  CHECK(banks.size() == 4);
  std::array<int, kRowBanks> wanted{};
  for (int element = 0; element < 8; ++element) ++wanted[static_cast<std::size_t>(offsets[static_cast<std::size_t>(element)] % kRowBanks)];
  CHECK(wanted == std::array<int, kRowBanks>{2, 2, 2, 2});
  // Elements of an address that are no elements, or that both want in another order.
  CHECK_FALSE(least_ways({{1, 1}, {2}, {4, 8}}, plain, 4, 2).has_value());
  // Addresses that are no multiples of what they hold: what lies inside one, the other's lanes move by and more.
  CHECK_FALSE(least_ways({{1}, {4}, {2, 8}}, {{1}, {5}, {2, 8}}, 4, 2).has_value());
  CHECK_FALSE(least_ways({{1}, {4}, {2, 8}}, {{2}, {4}, {1, 8}}, 4, 2).has_value());
}

TEST_CASE(
    "of fragments, by every pair of instructions, no layout with a name takes less than what is made, which has no conflicts by one width",
    "[core]") {
  const Machine machine = h100();
  struct Held {
    const char* name;
    Layout layout;
  };
  const auto transposed = [](Layout layout) {
    for (auto& axis : layout.bases)
      for (Coordinates& at : axis) std::swap(at[0], at[1]);
    std::swap(layout.shape[0], layout.shape[1]);
    return layout;
  };
  std::map<int, std::array<int, 3>> counted;  // per bits: pairs that can be, those where every layout with a name takes more, none fits
  std::map<int, double> worst;
  for (const int bits : {8, 16, 32}) {
    const std::vector<Held> held{{"accumulator", accumulator_layout(64)},
                                 {"operand", operand_layout(64, std::min(bits, 16))},
                                 {"transposed", transposed(accumulator_layout(64))}};
    for (const Held& from : held)
      for (const Held& to : held)
        for (const Instruction& store : machine.instructions) {
          if (store.kind != InstructionKind::SharedStore && store.kind != InstructionKind::MatrixStore) continue;
          for (const Instruction& load : machine.instructions) {
            if (load.kind != InstructionKind::SharedLoad && load.kind != InstructionKind::MatrixLoad) continue;
            const auto port = [&](const Layout& memory) -> std::optional<std::int64_t> {
              if (!access_of(from.layout, memory, bits, store).refusal.empty() || !access_of(to.layout, memory, bits, load).refusal.empty())
                return std::nullopt;
              return cost_of_access(from.layout, memory, bits, store).port + cost_of_access(to.layout, memory, bits, load).port;
            };
            const auto made = least_ways_layout(from.layout, store, to.layout, load, bits);
            std::optional<std::int64_t> named;
            for (const char* name : {"panels 128", "panels 64", "panels 32", "panels 0", "rows"})
              if (const auto layout = known_layout(name, {64, 64}, bits))
                if (const auto takes = port(*layout); takes && (!named || *takes < *named)) named = takes;
            INFO(bits << " bits, " << from.name << " by " << store.name << ", " << to.name << " by " << load.name);
            const bool words = std::min(store.bytes, load.bytes) >= 4;
            if (!made) {
              // Where none is made none fits, but for addresses below a word, which are not asked for.
              CHECK((!named || !words));
              continue;
            }
            REQUIRE(faults_of(*made).empty());
            const auto takes = port(*made);
            if (!takes) {  // a transposed matrix instruction of other than 16 bits
              CHECK_FALSE(named.has_value());
              continue;
            }
            // Addresses of one width, which tell all banks apart, meet nowhere.
            const AccessCost there = cost_of_access(from.layout, *made, bits, store), back = cost_of_access(to.layout, *made, bits, load);
            if (store.bytes == load.bytes) CHECK(*takes == there.least + back.least);
            CHECK((!named || *takes <= *named));
            ++counted[bits][0];
            if (!named) ++counted[bits][2];
            if (named && *named > *takes) {
              ++counted[bits][1];
              worst[bits] = std::max(worst[bits], static_cast<double>(*named) / static_cast<double>(*takes));
            }
            // As text and back.
            const auto again = parse_layout(layout_text(*made, bits), {{64, 64}, bits});
            REQUIRE(again.ok());
            CHECK(same_places(*again, *made));
          }
        }
    if (std::getenv("HEDDLE_VERBOSE"))
      std::cout << fmt::format(
          "{} bits: {} pairs, {} of them take more in every layout with a name (at most {:.1f} times as much), {} fit none\n", bits,
          counted[bits][0], counted[bits][1], worst[bits], counted[bits][2]);
    CHECK(counted[bits][0] > 10);
  }
}

TEST_CASE("a tile that goes from registers to registers through shared memory is offered a layout made for both", "[core]") {
  // Lanes have neighbouring rows before, and every eighth row, which swizzles of panels do not tell apart, afterwards.
  Kernel kernel = load_kernel(test::repository_path("tests/kernels/gemm_turned.json")).value();
  TileValue stage = *kernel.find_value("y");
  stage.name = "ys";
  stage.space = Space::Smem;
  kernel.values.push_back(stage);
  TileOp& there = kernel.epilogue.front();
  TileOp back = there;
  there.kind = "smem_store", there.outputs = {"ys"};
  back.name = "back", back.kind = "smem_load", back.inputs[0].value = "ys";
  const std::string store = there.name;
  kernel.epilogue.insert(kernel.epilogue.begin() + 1, back);
  LayoutChoices choices;
  choices.layouts["y"] = "{register=[[1,0],[2,0],[4,0],[0,8],[0,16]],lane=[[0,1],[0,2],[8,0],[16,0],[32,0]],warp=[[0,4],[0,32]]}";
  const auto problem = resolve(kernel, h100(), {}, {}, choices);
  INFO((problem.ok() ? "" : to_string(problem.error())));
  REQUIRE(problem.ok());
  // Cycles of the port for both by the best instructions, for each layout.
  std::map<std::string, std::int64_t> cycles[2];
  for (const bool load : {false, true})
    for (const LayoutAlternative& each : alternatives_of(kernel, problem->params, h100(), *problem->layouts, load ? "back" : store)) {
      if (!each.refused.empty() || !each.cost.known) continue;
      const auto [it, added] = cycles[load].try_emplace(each.layout, each.cost.port);
      if (!added) it->second = std::min(it->second, each.cost.port);
    }
  std::map<std::string, std::int64_t> both;
  for (const auto& [layout, port] : cycles[0])
    if (cycles[1].contains(layout)) both[layout] = port + cycles[1][layout];
  std::string all;
  std::optional<std::int64_t> made, named;
  for (const auto& [layout, port] : both) {
    all += fmt::format("{}: {}\n", layout, port);
    std::optional<std::int64_t>& of = layout.starts_with("panels") || layout.starts_with("rows") ? named : made;
    of = std::min(of.value_or(port), port);
  }
  INFO(all);
  REQUIRE(made.has_value());
  REQUIRE(named.has_value());
  CHECK(*made == 2 * 64 * 64 * 4 / 128);
  CHECK(*made < *named);
}

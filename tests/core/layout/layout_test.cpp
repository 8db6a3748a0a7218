// How tiles lie: places and elements, what is wrong with a layout, one spelling, conversions; all against brute force.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "core/layout/known.h"
#include "core/layout/layout.h"
#include "core/layout/reader.h"

using namespace heddle;

namespace {

using Axis = LayoutAxis;

LayoutPlace place(std::int64_t reg, std::int64_t lane, std::int64_t warp) {
  LayoutPlace p;
  p[Axis::Register] = reg, p[Axis::Lane] = lane, p[Axis::Warp] = warp;
  return p;
}
LayoutPlace at(std::int64_t offset) {
  LayoutPlace p;
  p[Axis::Offset] = offset;
  return p;
}

/// All places of a layout, asked one by one over its extents.
std::map<Coordinates, std::vector<LayoutPlace>> everything(const Layout& layout) {
  std::map<Coordinates, std::vector<LayoutPlace>> found;
  for (std::int64_t r = 0; r < layout.extent(Axis::Register); ++r)
    for (std::int64_t l = 0; l < layout.extent(Axis::Lane); ++l)
      for (std::int64_t w = 0; w < layout.extent(Axis::Warp); ++w)
        for (std::int64_t o = 0; o < layout.extent(Axis::Offset); ++o) {
          LayoutPlace p = place(r, l, w);
          p[Axis::Offset] = o;
          if (const auto element = element_at(layout, p)) found[*element].push_back(p);
        }
  for (auto& [element, places] : found) std::sort(places.begin(), places.end());
  return found;
}

bool has_fault(const Layout& layout, const std::string& pointer, const std::string& part) {
  for (const Fault& fault : faults_of(layout))
    if (fault.pointer == pointer && fault.message.find(part) != std::string::npos) return true;
  for (const Fault& fault : faults_of(layout)) UNSCOPED_INFO(to_string(fault));
  return false;
}

Layout memory(std::vector<std::int64_t> shape, std::vector<Coordinates> bases) {
  Layout layout;
  layout.shape = std::move(shape);
  layout.of(Axis::Offset) = std::move(bases);
  return layout;
}

/// Registers of 32 x 16 elements: all moves shuffled and mixed, some copies; sometimes with repeats of extents that are no power of two.
Layout random_registers(std::mt19937& random, bool repeats) {
  std::vector<Coordinates> units;
  for (int bit = 0; bit < 5; ++bit) units.push_back({1 << bit, 0});
  for (int bit = 0; bit < 4; ++bit) units.push_back({0, 1 << bit});
  for (int k = 0; k < 8; ++k) {
    const std::size_t a = random() % units.size(), b = random() % units.size();
    if (a != b)
      for (std::size_t d = 0; d < 2; ++d) units[a][d] ^= units[b][d];
  }
  for (std::uint32_t k = random() % 3; k > 0; --k) units.push_back(random() % 2 ? Coordinates{0, 0} : units[random() % units.size()]);
  std::shuffle(units.begin(), units.end(), random);
  Layout layout;
  layout.shape = {32, 16};
  for (const Coordinates& unit : units) {
    const Axis axes[] = {Axis::Register, Axis::Lane, Axis::Warp};
    Axis axis = axes[random() % 3];
    if (layout.of(Axis::Lane).size() == 5 && axis == Axis::Lane) axis = Axis::Register;
    layout.of(axis).push_back(unit);
  }
  if (repeats) {
    layout.shape = {96, 80};
    layout.repeats.push_back({Axis::Register, 3, layout.extent(Axis::Register), 0, 32});
    layout.repeats.push_back({random() % 2 ? Axis::Register : Axis::Warp, 5, 0, 1, 16});
    layout.repeats.back().pitch = layout.extent(layout.repeats.back().axis);
    Layout without = layout;
    without.repeats.pop_back();
    layout.repeats.back().pitch = without.extent(layout.repeats.back().axis);
  }
  return layout;
}

}  // namespace

TEST_CASE("the accumulator of a wgmma lies as the PTX ISA says, for every number of columns") {
  for (std::int64_t columns = 8; columns <= 256; columns += 8) {
    CAPTURE(columns);
    const Layout layout = accumulator_layout(columns);
    REQUIRE(faults_of(layout).empty());
    REQUIRE(layout.extent(Axis::Register) == columns / 2);
    CHECK(copies(layout) == 1);
    bool same = true;
    const LayoutReader reader(layout);
    for (int t = 0; t < 128; ++t)
      for (int j = 0; j < columns / 8; ++j)
        for (int e = 0; e < 4; ++e) {
          const int row = 16 * (t / 32) + t % 32 / 4 + e / 2 * 8, column = 8 * j + 2 * (t % 4) + e % 2;
          same = same && reader.element(place(4 * j + e, t % 32, t / 32)) == row * columns + column;
        }
    CHECK(same);
  }
}

TEST_CASE("the bf16 accumulator is the A fragment of the next mma as it stands") {
  for (const std::int64_t columns : {16, 64, 176, 256}) {
    CHECK(same_places(accumulator_layout(columns), operand_layout(columns, 16)));
    CHECK(conversion_class(accumulator_layout(columns), operand_layout(columns, 16), 16) == ConversionClass::Same);
  }
  const auto rows = conversion(accumulator_layout(64), operand_layout(64, 16));
  REQUIRE(rows);
  for (std::size_t i = 0; i < rows->size(); ++i) CHECK((*rows)[i] == std::uint64_t{1} << i);
}

TEST_CASE("the fp8 accumulator is not: lanes exchange, unless the columns are relabelled by the bit permutation 1, 8, 2, 4, 16") {
  const Layout from = accumulator_layout(128), to = operand_layout(128, 8);
  CHECK(conversion_class(from, to, 8) == ConversionClass::Shuffle);
  // Slot k of the operand is fed with the key that bit i of k moves by key[i].
  const std::int64_t key[] = {1, 8, 2, 4, 16, 32, 64};
  Layout relabelled = to;
  for (auto& axis : relabelled.bases)
    for (Coordinates& basis : axis) {
      std::int64_t moved = 0;
      for (int bit = 0; bit < 7; ++bit)
        if (basis[1] >> bit & 1) moved ^= key[bit];
      basis[1] = moved;
    }
  REQUIRE(faults_of(relabelled).empty());
  CHECK(conversion_class(from, relabelled, 8) != ConversionClass::Shuffle);
  // Registers of four bytes hold what pairs of registers of a thread hold: no lane takes part.
  CHECK(conversion_class(from, relabelled, 8) <= ConversionClass::BytePermute);
  // Other orders of the five bits leave lanes alone only where they permute what a thread holds by itself.
  std::vector<std::int64_t> order{1, 2, 4, 8, 16};
  do {
    Layout other = to;
    for (auto& axis : other.bases)
      for (Coordinates& basis : axis) {
        std::int64_t moved = basis[1] & ~std::int64_t{31};
        for (std::size_t bit = 0; bit < 5; ++bit)
          if (basis[1] >> bit & 1) moved ^= order[bit];
        basis[1] = moved;
      }
    const ConversionClass kind = conversion_class(from, other, 8);
    // A thread's lane bits are columns 2 and 4 of the accumulator, and slots 4 and 8 of the operand.
    CHECK((kind < ConversionClass::Shuffle) == (order[2] == 2 && order[3] == 4));
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("statistics of rows are held four times and in two registers, those of columns by all rows of threads") {
  const Layout rows = without_dimension(accumulator_layout(128), 1), columns = without_dimension(accumulator_layout(176), 0);
  REQUIRE(faults_of(rows).empty());
  REQUIRE(faults_of(columns).empty());
  CHECK(rows.shape == std::vector<std::int64_t>{64});
  CHECK(rows.extent(Axis::Register) == 2);
  CHECK(copies(rows) == 4);
  for (int t = 0; t < 128; ++t)
    for (int r = 0; r < 2; ++r) CHECK(element_at(rows, place(r, t % 32, t / 32)) == Coordinates{t / 32 * 16 + t % 32 / 4 + 8 * r});
  CHECK(columns.extent(Axis::Register) == 44);
  CHECK(copies(columns) == 32);
  for (int lane = 0; lane < 32; ++lane)
    for (int r = 0; r < 44; ++r) CHECK(element_at(columns, place(r, lane, 3)) == Coordinates{r / 2 * 8 + lane % 4 * 2 + r % 2});
  CHECK(without_dimension(thread_rows_layout(128, 64), 1).extent(Axis::Register) == 1);
  CHECK(without_dimension(warp_rows_layout(24, 512), 1).extent(Axis::Register) == 6);
}

TEST_CASE("panels lie as TMA leaves them: pieces of 16 bytes exchanged by the row") {
  for (const int bits : {4, 8, 16, 32})
    for (const int swizzle : {32, 64, 128})
      for (const std::int64_t rows : {8, 24, 64, 192, 256}) {
        const std::int64_t width = swizzle * 8 / bits, columns = 3 * width;
        CAPTURE(bits, swizzle, rows);
        const std::optional<Layout> layout = panels_layout(rows, columns, bits, swizzle);
        REQUIRE(layout);
        REQUIRE(faults_of(*layout).empty());
        const LayoutTable table = table_of(*layout);
        bool same = true;
        for (std::int64_t r = 0; r < rows; ++r)
          for (std::int64_t c = 0; c < columns; ++c) {
            const std::int64_t bit = ((c / width * rows + r) * width + c % width) * bits, byte = bit / 8;
            const std::int64_t moved = byte ^ (byte >> 7 & (swizzle / 16 - 1)) << 4;
            same = same && table.first[static_cast<std::size_t>(r * columns + c)][Axis::Offset] * bits == moved * 8 + bit % 8;
          }
        CHECK(same);
      }
  CHECK_FALSE(panels_layout(64, 96, 16, 128));
  CHECK_FALSE(panels_layout(12, 64, 16, 128));
  CHECK_FALSE(panels_layout(64, 64, 16, 48));
}

TEST_CASE("places and elements are inverses of each other, for random layouts with and without repeats") {
  const unsigned seed = 4;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 30; ++i) {
    const Layout layout = random_registers(random, i % 2 == 1);
    CAPTURE(i);
    REQUIRE(faults_of(layout).empty());
    const auto all = everything(layout);
    REQUIRE(static_cast<std::int64_t>(all.size()) == layout.elements());
    const PlaceReader places(layout);
    bool same = true;
    for (const auto& [element, found] : all) {
      same = same && static_cast<std::int64_t>(found.size()) == copies(layout);
      same = same && places.first(element[0] * layout.shape[1] + element[1]) == found.front();
    }
    CHECK(same);
    for (int k = 0; k < 20; ++k) {
      const Coordinates element{static_cast<std::int64_t>(random()) % layout.shape[0],
                                static_cast<std::int64_t>(random()) % layout.shape[1]};
      CHECK(places_of(layout, element) == all.at(element));
    }
    const LayoutTable table = table_of(layout);
    std::size_t e = 0;
    for (const auto& [element, found] : all) {
      same = same && table.first[e] == found.front() && table.copies[e] == static_cast<std::int32_t>(found.size());
      ++e;
    }
    CHECK(same);
  }
}

TEST_CASE("one spelling: the same places, and equal wherever extents are powers of two") {
  const unsigned seed = 5;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 20; ++i) {
    const Layout layout = random_registers(random, i % 2 == 1);
    const Layout one = canonical(layout);
    const auto all = everything(layout);
    CHECK(everything(one) == all);
    CHECK(canonical(one) == one);
    CHECK(same_places(layout, one));
    const Layout other = random_registers(random, i % 2 == 1);
    CHECK(same_places(layout, other) == (all == everything(other)));
  }
  Layout spelled;
  spelled.shape = {8, 16};
  spelled.repeats = {{Axis::Offset, 4, 1, 1, 1}, {Axis::Offset, 8, 4, 0, 1}, {Axis::Offset, 2, 32, 1, 4}, {Axis::Offset, 2, 64, 1, 8}};
  REQUIRE(faults_of(spelled).empty());
  CHECK(canonical(spelled) == memory({8, 16}, {{0, 1}, {0, 2}, {1, 0}, {2, 0}, {4, 0}, {0, 4}, {0, 8}}));
  // 176 columns: 16 by bases, 11 times.
  const Layout odd = canonical(rows_layout(1, 176));
  CHECK(odd.of(Axis::Offset).size() == 4);
  CHECK(odd.repeats == std::vector<LayoutRepeat>{{Axis::Offset, 11, 16, 1, 16}});
}

TEST_CASE("addresses put a register layout and memory together, point by point") {
  const auto agree = [](const Layout& registers, const Layout& in) {
    const std::optional<Layout> found = addresses(registers, in);
    REQUIRE(found);
    const std::vector<std::int64_t> offsets = offsets_of(in);
    bool same = true;
    LayoutReader(registers).each_place([&](const LayoutPlace& p, std::int64_t element) {
      same = same && element_at(*found, p) == Coordinates{offsets[static_cast<std::size_t>(element)]};
    });
    CHECK(same);
  };
  agree(accumulator_layout(64), *panels_layout(64, 64, 16, 128));
  agree(accumulator_layout(48), *panels_layout(64, 48, 16, 32));
  agree(accumulator_layout(192), *panels_layout(64, 192, 16, 128));
  agree(accumulator_layout(32), rows_layout(64, 32, 40));
  agree(thread_rows_layout(128, 64), *panels_layout(128, 64, 16, 128));
  agree(warp_rows_layout(24, 256), *panels_layout(24, 256, 16, 0));
  CHECK_FALSE(addresses(accumulator_layout(64), rows_layout(64, 32)));
}

TEST_CASE("a conversion leads from each place to the one that holds the same element, by exclusive sums of its rows") {
  const unsigned seed = 6;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 30; ++i) {
    const Layout outer = random_registers(random, false), inner = random_registers(random, false);
    const auto rows = conversion(outer, inner);
    REQUIRE(rows);
    const LayoutReader from(outer), to(inner);
    bool same = true;
    from.each_place([&](const LayoutPlace& p, std::int64_t element) {
      std::uint64_t word = 0;
      std::size_t row = 0;
      for (std::size_t a = 0; a < kLayoutAxes; ++a)
        for (std::size_t bit = 0; bit < outer.bases[a].size(); ++bit, ++row)
          if (p.index[a] >> bit & 1) word ^= (*rows)[row];
      LayoutPlace q;
      for (std::size_t a = 0; a < kLayoutAxes; ++a) {
        q.index[a] = static_cast<std::int64_t>(word & ((std::uint64_t{1} << inner.bases[a].size()) - 1));
        word >>= inner.bases[a].size();
      }
      same = same && to.element(q) == element;
    });
    CHECK(same);
  }
  CHECK_FALSE(conversion(accumulator_layout(176), accumulator_layout(176)));
}

TEST_CASE("the class of a conversion is the cheapest that every place can do with") {
  Layout tile;
  tile.shape = {4, 64};
  tile.of(Axis::Register) = {{0, 1}, {0, 2}};
  tile.of(Axis::Lane) = {{0, 4}, {0, 8}, {0, 16}, {0, 32}, {1, 0}};
  tile.of(Axis::Warp) = {{2, 0}};
  Layout renamed = tile, lanes = tile, warps = tile;
  std::swap(renamed.of(Axis::Register)[0], renamed.of(Axis::Register)[1]);
  std::swap(lanes.of(Axis::Lane)[0], lanes.of(Axis::Lane)[4]);
  std::swap(warps.of(Axis::Lane)[4], warps.of(Axis::Warp)[0]);
  CHECK(conversion_class(tile, tile, 32) == ConversionClass::Same);
  CHECK(conversion_class(tile, renamed, 32) == ConversionClass::Rename);
  CHECK(conversion_class(tile, renamed, 16) == ConversionClass::BytePermute);
  CHECK(conversion_class(tile, lanes, 16) == ConversionClass::Shuffle);
  CHECK(conversion_class(tile, warps, 16) == ConversionClass::SharedMemory);
  // Words of two elements in another order are other registers only.
  Layout words = tile;
  words.shape = {4, 128};
  words.of(Axis::Register) = {{0, 1}, {0, 2}, {0, 64}};
  Layout other = words;
  std::swap(other.of(Axis::Register)[1], other.of(Axis::Register)[2]);
  CHECK(conversion_class(words, other, 16) == ConversionClass::Rename);
  CHECK(conversion_class(words, other, 8) == ConversionClass::BytePermute);
  // Whoever holds copies finds one nearby.
  CHECK(conversion_class(without_dimension(accumulator_layout(64), 1), without_dimension(accumulator_layout(64), 1), 32) ==
        ConversionClass::Same);
}

TEST_CASE("what is wrong with a layout is said, all of it, with a pointer") {
  CHECK(has_fault(Layout{}, "/shape", "dimensions"));
  CHECK(has_fault(memory({0, 4}, {}), "/shape/0", "at least 1"));
  CHECK(has_fault(memory({std::int64_t{1} << 62, std::int64_t{1} << 62}, {}), "/shape", "at most"));
  CHECK(has_fault(memory({4, 4}, {{0, 1}, {0, 4}, {1, 0}, {2, 0}}), "/bases/offset/1", "moves by 4 in dimension 1, which has 4"));
  CHECK(has_fault(memory({4, 4}, {{0, 1}, {0, -2}, {1, 0}, {2, 0}}), "/bases/offset/1", "moves by -2"));
  CHECK(has_fault(memory({4, 4}, {{0, 1}, {2}, {1, 0}, {2, 0}}), "/bases/offset/1", "2 coordinates"));
  CHECK(has_fault(memory({4, 4}, {{0, 1}, {0, 2}, {1, 0}, {1, 2}}), "/bases/offset/3", "as others together do"));
  CHECK(has_fault(memory({4, 4}, {{0, 1}, {0, 2}, {0, 0}, {1, 0}, {2, 0}}), "/bases/offset/2", "moves nothing"));
  CHECK(has_fault(memory({4, 4}, {{0, 1}, {0, 2}, {1, 0}}), "/bases", "8 places for 16 elements"));
  CHECK(has_fault(memory({4, 4}, std::vector<Coordinates>(1000000, Coordinates{0, 1})), "/bases/offset", "found 1000000"));
  Layout both = memory({4, 4}, {{0, 1}, {0, 2}, {1, 0}});
  both.of(Axis::Lane) = {{2, 0}};
  CHECK(has_fault(both, "/bases/offset", "both"));

  Layout layout = memory({4, 12}, {{0, 1}, {0, 2}, {1, 0}, {2, 0}});
  layout.repeats = {{Axis::Offset, 3, 8, 1, 4}};
  CHECK(has_fault(layout, "/repeats/0", "overlap"));
  layout.repeats = {{Axis::Offset, 3, 16, 5, 4}};
  CHECK(has_fault(layout, "/repeats/0", "dimension below 2"));
  layout.repeats = {{Axis::Offset, 4, 16, 1, 4}};
  CHECK(has_fault(layout, "/repeats/0", "leave dimension 1"));
  layout.repeats = {{Axis::Offset, std::int64_t{1} << 62, std::int64_t{1} << 62, 1, std::int64_t{1} << 62}};
  CHECK(has_fault(layout, "/repeats/0", "beyond"));
  layout.repeats = {{Axis::Offset, -3, 16, 1, 4}};
  CHECK(has_fault(layout, "/repeats/0", "at least 1"));
  layout.repeats = {{Axis::Offset, 3, 16, 1, 2}};
  CHECK(has_fault(layout, "/bases", "no place holds the element (0, 8)"));
  layout.repeats = {{Axis::Offset, 3, 16, 1, 4}};
  CHECK(faults_of(layout).empty());
  layout.repeats.assign(1000000, {Axis::Offset, 3, 16, 1, 4});
  CHECK(has_fault(layout, "/repeats", "found 1000000"));
  // Several at once.
  Layout many = memory({4, 4}, {{0, 9}, {9, 0}, {1, 0}, {2, 0}});
  many.repeats = {{Axis::Offset, 0, 0, 0, 0}};
  CHECK(faults_of(many).size() == 3);
  // Registers may hold an element twice, all equally often.
  Layout held;
  held.shape = {4};
  held.of(Axis::Lane) = {{1}, {2}, {0}, {1}};
  CHECK(faults_of(held).empty());
  CHECK(copies(held) == 4);
  held.shape = {6};
  held.of(Axis::Lane) = {{1}, {2}};
  held.repeats = {{Axis::Lane, 2, 4, 0, 2}};
  CHECK_FALSE(faults_of(held).empty());
}

TEST_CASE("a layout that is no digits above its atom is read place by place, and still exactly") {
  // Rows 0, 2, 1, 3: the low bit of the row is above the high one, and padded.
  Layout layout = memory({4, 4}, {{0, 1}, {0, 2}, {2, 0}});
  layout.repeats = {{Axis::Offset, 2, 12, 0, 1}};
  REQUIRE(faults_of(layout).empty());
  for (std::int64_t row = 0; row < 4; ++row)
    for (std::int64_t column = 0; column < 4; ++column)
      CHECK(places_of(layout, {row, column}) == std::vector<LayoutPlace>{at(row / 2 * 4 + row % 2 * 12 + column)});
}

TEST_CASE("names of layouts give the layouts, and layouts give the names") {
  const auto back = [](const std::string& name, std::vector<std::int64_t> shape, int bits) {
    CAPTURE(name, shape, bits);
    const std::optional<Layout> layout = known_layout(name, shape, bits);
    REQUIRE(layout);
    REQUIRE(faults_of(*layout).empty());
    const std::optional<Layout> again = known_layout(known_name(*layout, bits), shape, bits);
    REQUIRE(again);
    CHECK(same_places(*layout, *again));
    return known_name(*layout, bits);
  };
  CHECK(back("accumulator", {64, 176}, 32) == "accumulator");
  CHECK(back("operand", {64, 64}, 8) == "operand");
  CHECK(back("operand", {64, 64}, 16) == "accumulator");
  CHECK(back("warp_rows", {24, 512}, 16) == "warp_rows");
  CHECK(back("thread_rows", {128, 96}, 32) == "thread_rows");
  for (const std::string name : {"panels 128", "panels 64", "panels 32"}) CHECK(back(name, {64, 128}, 16) == name);
  CHECK(back("panels 0", {16, 512}, 16) == "panels 0");
  CHECK(back("panels 0", {16, 256}, 16) == "rows");
  CHECK(back("rows 72", {64, 64}, 16) == "rows 72");
  CHECK(back("rows", {256}, 32) == "rows");
  for (const std::string name :
       {"", "panel", "panels 48", "panels 128 64", "rows 8", "rows -1", "rows 99999999999999999999", "accumulator 3"})
    CHECK_FALSE(known_layout(name, {64, 64}, 16));
  CHECK_FALSE(known_layout("accumulator", {128, 64}, 16));
  CHECK_FALSE(known_layout("accumulator", {64}, 32));
  CHECK_FALSE(known_layout("rows", {std::int64_t{1} << 40, std::int64_t{1} << 40}, 16));
  CHECK_FALSE(known_layout(std::string(1000000, 'a'), {64, 64}, 16));
}

TEST_CASE("a fragment of the catalogue is a layout of its own tile") {
  Fragment fragment{"d", {{0, 1}, {8, 0}}, {{0, 2}, {0, 4}, {1, 0}, {2, 0}, {4, 0}}, {{16, 0}, {32, 0}}};
  const std::optional<Layout> layout = layout_of(fragment);
  REQUIRE(layout);
  CHECK(same_places(*layout, accumulator_layout(8)));
  fragment.lanes[0] = {0, -2};
  CHECK_FALSE(layout_of(fragment));
  fragment.lanes[0] = {0, 2, 0};
  CHECK_FALSE(layout_of(fragment));
  fragment.lanes[0] = {};
  CHECK_FALSE(layout_of(fragment));
  fragment.registers[0] = {};
  CHECK_FALSE(layout_of(fragment));
  CHECK_FALSE(layout_of(Fragment{}));
}

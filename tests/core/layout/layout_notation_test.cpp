// Layouts as people write them: CuTe's notation, Triton's bases, names; back and forth, and bad texts.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "core/layout/known.h"
#include "core/layout/notation.h"
#include "core/layout/reader.h"

using namespace heddle;

namespace {

using Axis = LayoutAxis;

Layout read(const std::string& text, const LayoutContext& context = {}) {
  const Result<Layout> layout = parse_layout(text, context, "file", "/layouts/x");
  INFO(text << ": " << (layout ? "" : to_string(layout.error())));
  REQUIRE(layout);
  return *layout;
}

std::string fault(const std::string& text, const LayoutContext& context = {}) {
  const Result<Layout> layout = parse_layout(text, context, "file.json", "/layouts/x");
  if (layout) return "none";
  for (const Fault& f : layout.error().faults) {
    CHECK(f.file == "file.json");
    CHECK(f.pointer == "/layouts/x");
    CHECK(f.message.size() < 400);
  }
  return layout.error().faults.front().message;
}

/// CuTe's own meaning of shape, stride and swizzle, over coordinates (row, column) of flat modes.
std::int64_t swizzled(std::int64_t offset, int b, int m, int s) { return offset ^ ((offset >> (m + s)) & ((1 << b) - 1)) << m; }

std::int64_t offset_of(const Layout& layout, const Coordinates& element) {
  const std::vector<LayoutPlace> places = places_of(layout, element);
  return places.size() == 1 ? places.front()[Axis::Offset] : -1;
}

void reads_back(const Layout& layout, int bits) {
  const std::string text = layout_text(layout, bits);
  INFO(text);
  const Result<Layout> again = parse_layout(text, {layout.shape, bits});
  INFO((again ? "" : to_string(again.error())));
  REQUIRE(again);
  CHECK(same_places(layout, *again));
  for (const std::string& other : {cute_text(layout), triton_text(layout)}) {
    if (other.empty()) continue;
    INFO(other);
    // Without the shape: the text says it.
    const Result<Layout> alone = parse_layout(other, {});
    REQUIRE(alone);
    CHECK(same_places(layout, *alone));
  }
}

}  // namespace

TEST_CASE("CuTe's notation means what CuTe means, element by element") {
  const struct {
    int b, m, s;
    std::int64_t rows, columns, row_stride, column_stride;
  } cases[] = {{0, 0, 0, 64, 64, 64, 1}, {3, 3, 3, 64, 64, 64, 1},   {3, 4, 3, 64, 64, 64, 1},  {3, 3, 4, 32, 128, 128, 1},
               {2, 3, 3, 64, 32, 32, 1}, {1, 3, 3, 64, 16, 16, 1},   {3, 3, 3, 192, 64, 64, 1}, {3, 3, 3, 64, 64, 1, 64},
               {0, 0, 0, 64, 64, 72, 1}, {0, 0, 0, 22, 176, 176, 1}, {0, 0, 0, 176, 3, 1, 180}, {2, 5, 2, 16, 128, 128, 1},
               {3, 3, 3, 8, 64, 64, 1},  {2, 2, 3, 12, 48, 64, 1},   {3, 3, 3, 4, 4, 4, 1}};
  for (const auto& c : cases) {
    const std::string text = fmt::format("{}({},{}):({},{})", c.b > 0 ? fmt::format("Sw<{},{},{}> o ", c.b, c.m, c.s) : std::string(),
                                         c.rows, c.columns, c.row_stride, c.column_stride);
    CAPTURE(text);
    if (c.rows == 12) {  // padding inside what the swizzle reads
      CHECK(fault(text) != "none");
      continue;
    }
    const Layout layout = read(text);
    REQUIRE(layout.shape == std::vector<std::int64_t>{c.rows, c.columns});
    const LayoutTable table = table_of(layout);
    bool same = true;
    for (std::int64_t row = 0; row < c.rows; ++row)
      for (std::int64_t column = 0; column < c.columns; ++column)
        same = same && table.first[static_cast<std::size_t>(row * c.columns + column)][Axis::Offset] ==
                           swizzled(row * c.row_stride + column * c.column_stride, c.b, c.m, c.s);
    CHECK(same);
    reads_back(layout, 16);
  }
}

TEST_CASE("nested shapes, other spellings of a swizzle, and vectors are read") {
  const Layout nested = read("((8,8),64):((64,512),1)");
  CHECK(same_places(nested, read("(64,64):(64,1)")));
  const Layout atoms = read("((8,4),(16,2)):((16,256),(1,128))");
  CHECK(atoms.shape == std::vector<std::int64_t>{32, 32});
  CHECK(offset_of(atoms, {9, 17}) == 1 * 16 + 1 * 256 + 1 + 128);
  reads_back(atoms, 16);
  for (const std::string text :
       {"S<3,3,3> o (64,64):(64,1)", "Swizzle<3,3,3> o (64,64):(64,1)", "  Sw< 3, 3,3 >o(64,64) : (64,1) ",
        "Sw<3,3,3> o 0 o (64,64):(64,1)", "Sw<3,3,3> o _0 o (_64,_64):(_64,_1)", "Sw<3,4,3> o smem_ptr[16b](unset) o (_64,_64):(_64,_1)"})
    CHECK(same_places(read(text), read("Sw<3,3,3> o (64,64):(64,1)")));
  CHECK(read("64:1").shape == std::vector<std::int64_t>{64});
  CHECK(read("(64):(1)").shape == std::vector<std::int64_t>{64});
  CHECK(same_places(read("Sw<1,3,3> o 128:1"), read("Sw<1,3,3> o (128):(1)")));
  CHECK(same_places(read("(1,64):(0,1)"), rows_layout(1, 64)));
  CHECK(cute_text(rows_layout(1, 64)) == "(1,64):(0,1)");
  CHECK(cute_text(read("Sw<3,3,3> o (64,64):(64,1)")) == "Sw<3,3,3> o (64,64):(64,1)");
  CHECK(cute_text(read("(64,64):(72,1)")) == "(64,64):(72,1)");
  CHECK(cute_text(*panels_layout(64, 128, 16, 128)) == "Sw<3,3,3> o (64,(64,2)):(64,(1,4096))");
  CHECK(cute_text(accumulator_layout(64)).empty());
}

TEST_CASE("Triton's bases and CuTe's notation of the same layout agree point by point") {
  const struct {
    std::string cute, bases;
  } pairs[] = {
      {"(4,8):(8,1)", "{offset = [[0, 1], [0, 2], [0, 4], [1, 0], [2, 0]]}"},
      {"(4,8):(1,4)", "{offset = [[1, 0], [2, 0], [0, 1], [0, 2], [0, 4]], block = []}"},
      {"Sw<3,3,3> o (8,64):(64,1)",
       "#ttg.shared_linear<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32]], "
       "block = []}, alignment = 16>"},
      {"Sw<2,3,3> o (16,32):(32,1)", "{offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[1,0],[2,8],[4,16],[8,0]]}"},
      {"(64,64):(72,1)", "{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], repeat = [[offset, 64, 72, 0, 1]]}"},
      {"(3,176):(176,1)", "{offset = [[0, 1], [0, 2], [0, 4], [0, 8]], repeat = [[offset, 11, 16, 1, 16], [offset, 3, 176, 0, 1]]}"},
  };
  for (const auto& [cute, bases] : pairs) {
    CAPTURE(cute);
    const Layout one = read(cute), other = read(bases);
    REQUIRE(one.shape == other.shape);
    CHECK(same_places(one, other));
    CHECK(offsets_of(one) == offsets_of(other));
    for (std::int64_t row = 0; row < one.shape[0]; row += 3)
      CHECK(offset_of(one, {row, 5}) == offsets_of(other)[static_cast<std::size_t>(row * one.shape[1] + 5)]);
  }
}

TEST_CASE("registers are said in Triton's bases, as Triton prints a linear layout") {
  const std::string text =
      "#ttg.linear<{register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], "
      "[32, 0]], block = []}>";
  CHECK(same_places(read(text), accumulator_layout(16)));
  CHECK(same_places(read("#linear = " + text), accumulator_layout(16)));
  CHECK(triton_text(accumulator_layout(16)) ==
        "{register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]}");
  CHECK(triton_text(accumulator_layout(176)).empty());
  CHECK(layout_text(accumulator_layout(176), 32) == "accumulator");
  // Bases that reach less than the tile are a fault, not copies.
  CHECK(fault(text, {{64, 32}, 16}) != "none");
}

TEST_CASE("names need a shape and fit it") {
  CHECK(same_places(read("panels 128", {{64, 128}, 16}), *panels_layout(64, 128, 16, 128)));
  CHECK(same_places(read(" accumulator ", {{64, 176}, 32}), accumulator_layout(176)));
  CHECK_THAT(fault("accumulator"), Catch::Contains("needs the shape"));
  CHECK_THAT(fault("accumulator", {{128, 64}, 16}), Catch::Contains("does not fit a tile of (128, 64) with elements of 16 bits"));
  CHECK_THAT(fault("panels 48", {{64, 64}, 16}), Catch::Contains("does not fit"));
  CHECK_THAT(fault("acumulator", {{64, 64}, 16}), Catch::Contains("no layout is called 'acumulator'"));
  const Result<Layout> wrong = parse_layout("acumulator", {{64, 64}, 16});
  REQUIRE_FALSE(wrong);
  CHECK_THAT(wrong.error().faults.front().hint, Catch::Contains("accumulator"));
}

TEST_CASE("every layout's text reads back to the same places: random swizzles, strides, paddings and registers") {
  const unsigned seed = 9;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const auto upto = [&](std::int64_t n) { return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n)); };
  for (int i = 0; i < 300; ++i) {
    CAPTURE(i);
    Layout layout;
    const std::size_t rank = 1 + static_cast<std::size_t>(upto(3));
    std::vector<std::vector<std::int64_t>> digits(rank);
    layout.shape.assign(rank, 1);
    std::vector<Coordinates> units;
    for (std::size_t d = 0; d < rank; ++d)
      for (std::int64_t bit = upto(4); bit > 0; --bit) {
        Coordinates unit(rank, 0);
        unit[d] = layout.shape[d];
        layout.shape[d] *= 2;
        units.push_back(unit);
      }
    std::shuffle(units.begin(), units.end(), random);
    for (std::int64_t k = upto(4); k > 0 && units.size() > 1; --k) {
      const auto a = static_cast<std::size_t>(upto(static_cast<std::int64_t>(units.size()))),
                 b = static_cast<std::size_t>(upto(static_cast<std::int64_t>(units.size())));
      if (a != b)
        for (std::size_t d = 0; d < rank; ++d) units[a][d] ^= units[b][d];
    }
    const bool memory = i % 2 == 0;
    for (const Coordinates& unit : units) layout.of(memory ? Axis::Offset : static_cast<Axis>(upto(3))).push_back(unit);
    if (!memory && upto(2)) layout.of(static_cast<Axis>(upto(3))).emplace_back(rank, 0);
    for (std::int64_t k = upto(4); k > 0; --k) {
      const auto d = static_cast<std::size_t>(upto(static_cast<std::int64_t>(rank)));
      const std::int64_t extent = 2 + upto(5);
      const Axis axis = memory ? Axis::Offset : static_cast<Axis>(upto(3));
      const bool copy = !memory && upto(3) == 0;
      layout.repeats.push_back({axis, extent, layout.extent(axis) + (memory ? upto(3) * 4 : 0), d, copy ? 0 : layout.shape[d]});
      if (!copy) layout.shape[d] *= extent;
    }
    REQUIRE(faults_of(layout).empty());
    reads_back(layout, 4 << upto(4));
  }
}

TEST_CASE("bad texts are faults at once, never a crash or a wait") {
  CHECK_THAT(fault(""), Catch::Contains("found nothing"));
  CHECK_THAT(fault(" \n "), Catch::Contains("found nothing"));
  CHECK_THAT(fault(std::string(1 << 20, '(')), Catch::Contains("at most 65536 characters"));
  CHECK_THAT(fault(std::string(60000, '(')), Catch::Contains("levels"));
  CHECK_THAT(fault("(64,64):(64,-1)"), Catch::Contains("at least 0"));
  CHECK_THAT(fault("(64,-64):(64,1)"), Catch::Contains("at least 0"));
  CHECK_THAT(fault("(64,64):(64,1) x"), Catch::Contains("expected the end"));
  CHECK_THAT(fault("(64,64):(64"), Catch::Contains("found the end"));
  CHECK_THAT(fault("(64,64)"), Catch::Contains("':'"));
  CHECK_THAT(fault("(64,64):(64,1,2)"), Catch::Contains("2 extents and 3 strides"));
  CHECK_THAT(fault("(64,(8,8)):(64,1)"), Catch::Contains("2 extents and 1 strides"));
  CHECK_THAT(fault("(64,64):(0,1)"), Catch::Contains("stride 0"));
  CHECK_THAT(fault("(64,64):(32,1)"), Catch::Contains("overlap"));
  CHECK_THAT(fault("(0,64):(64,1)"), Catch::Contains("extents of 1"));
  CHECK_THAT(fault("(4194304,4194304):(4194304,1)"), Catch::Contains("at most"));
  CHECK_THAT(fault("(64,64):(9223372036854775807,1)"), Catch::Contains("beyond"));
  CHECK_THAT(fault("(64,64):(99999999999999999999,1)"), Catch::Contains("a smaller number"));
  CHECK_THAT(fault("Sw<10,10,11> o (64,64):(64,1)"), Catch::Contains("up to 31"));
  CHECK_THAT(fault("Sw<9223372036854775807,9223372036854775807,9223372036854775807> o (64,64):(64,1)"),
             Catch::Contains("exchanges bits up to"));
  CHECK_THAT(fault("Sw<3,3,2> o (64,64):(64,1)"), Catch::Contains("s is at least b"));
  CHECK_THAT(fault("Sw<3,3,-3> o (64,64):(64,1)"), Catch::Contains("at least 0"));
  CHECK_THAT(fault("Sw<3,3> o (64,64):(64,1)"), Catch::Contains("','"));
  CHECK_THAT(fault("Sw<3,3,3> (64,64):(64,1)"), Catch::Contains("'o'"));
  CHECK_THAT(fault("Sw<3,3,3> o 5 o (64,64):(64,1)"), Catch::Contains("offset of 0"));
  CHECK_THAT(fault("Sw<3,0,3> o smem_ptr[16b](unset) o (64,64):(64,1)"), Catch::Contains("whole"));
  CHECK_THAT(fault("Swozzle<3,3,3> o (64,64):(64,1)"), Catch::Contains("Sw<b,m,s>"));
  CHECK_THAT(fault("Sw<3,3,3> o (12,64):(64,1)"), Catch::Contains("exchanges bits below 9"));
  CHECK_THAT(fault("Sw<3,3,3> o (64,64):(72,1)"), Catch::Contains("72 apart"));
  CHECK_THAT(fault("(64,64):(64,1)", {{32, 64}, 16}), Catch::Contains("the tile is (32, 64)"));

  CHECK_THAT(fault("{"), Catch::Contains("found"));
  CHECK_THAT(fault("{register"), Catch::Contains("'='"));
  CHECK_THAT(fault("{register = [[0, 1]"), Catch::Contains("found the end"));
  CHECK_THAT(fault("{registers = [[0, 1]]}"), Catch::Contains("expected register"));
  CHECK_THAT(fault("{register = [[0, 1]], register = [[0, 1]]}"), Catch::Contains("twice"));
  CHECK_THAT(fault("{register = [[0, -1]]}"), Catch::Contains("at least 0"));
  CHECK_THAT(fault("{register = [[0, 1]], block = [[1, 0]]}"), Catch::Contains("blocks"));
  CHECK_THAT(fault("{lane = [[0, 1], [0, 1, 2]]}"), Catch::Contains("coordinates"));
  CHECK_THAT(fault("{offset = [[1], [1]]}"), Catch::Contains("as others together do"));
  CHECK_THAT(fault("{offset = [[1], [4]]}"), Catch::Contains("places for 8 elements"));
  CHECK_THAT(fault("{lane = [[99999999999]]}"), Catch::Contains("at most"));
  CHECK_THAT(fault("{lane = [[9223372036854775807]]}"), Catch::Contains("at most"));
  CHECK_THAT(fault("{lane = [[64, 0]]}", {{64, 64}, 16}), Catch::Contains("which has 64"));
  CHECK_THAT(fault("{repeat = [[bank, 2, 1, 0, 1]]}"), Catch::Contains("begin with"));
  CHECK_THAT(fault("{repeat = [[offset, 2, 1]]}"), Catch::Contains("4 numbers"));
  CHECK_THAT(fault("{repeat = [[offset, 9223372036854775807, 9223372036854775807, 0, 9223372036854775807]]}"), Catch::Contains("at most"));
  CHECK_THAT(fault("{repeat = [[offset, 2, 1, 9223372036854775807, 1]]}"), Catch::Contains("dimension"));
  CHECK_THAT(fault("#ttg.linear<{register = [[0, 1]]}"), Catch::Contains("'>'"));
  CHECK_THAT(fault("#ttg.blocked<{}>"), Catch::Contains("no list of bases"));
  std::string bases = "{offset = [";
  for (int i = 0; i < 8000; ++i) bases += i > 0 ? ",[1]" : "[1]";
  CHECK_THAT(fault(bases + "]}"), Catch::Contains("more than"));
  bases = "{offset = [";
  for (int i = 0; i < 40; ++i) bases += i > 0 ? ",[1]" : "[1]";
  CHECK_THAT(fault(bases + "]}"), Catch::Contains("at most 24 bases"));
  std::string numbers = "{offset = [[1";
  for (int i = 0; i < 10000; ++i) numbers += ",1";
  CHECK_THAT(fault(numbers + "]]}"), Catch::Contains("more"));
  for (const std::string& hostile : {std::string("a\0b\x01\xff\x1b[31m", 10), std::string("../../etc/passwd"), std::string("%s%n{}{0}"),
                                     std::string(60000, 'a'), std::string("panels 128\n128"), std::string("\xf0\x9f\xa7\xb5")}) {
    const std::string message = fault(hostile, {{64, 64}, 16});
    CHECK(message != "none");
    CHECK(std::all_of(message.begin(), message.end(), [](char c) { return c >= ' ' && c <= '~'; }));
  }
}

TEST_CASE("cut and changed texts are layouts or faults, never anything else") {
  const unsigned seed = 11;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const std::vector<std::string> texts{"Sw<3,3,3> o ((8,8),64):((64,512),1)",
                                       layout_text(read("(64,64):(72,1)"), 32),
                                       triton_text(accumulator_layout(64)),
                                       "#ttg.linear<{register = [[0, 1]], lane = [], warp = [], block = []}>",
                                       "{offset = [[0, 1]], repeat = [[offset, 11, 16, 1, 16]], shape = [1, 2]}",
                                       "panels 128"};
  const std::string letters = "()<>[]{},:0123456789 o-_#=SwEe";
  for (int i = 0; i < 3000; ++i) {
    std::string text = texts[random() % texts.size()];
    for (std::uint32_t k = 1 + random() % 3; k > 0; --k) {
      const std::size_t where = random() % text.size();
      switch (random() % 3) {
        case 0: text[where] = letters[random() % letters.size()]; break;
        case 1: text.erase(where, 1 + random() % 4); break;
        default: text.insert(where, 1, letters[random() % letters.size()]);
      }
      if (text.empty()) text = "(";
    }
    CAPTURE(text);
    const Result<Layout> layout = parse_layout(text, {});
    if (layout) CHECK(faults_of(*layout).empty());
    if (!layout) CHECK_FALSE(layout.error().faults.empty());
  }
}

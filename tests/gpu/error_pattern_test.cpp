// A kernel's faults, planted in a right result: the pattern of the wrong elements names each.
#include "codegen/run/error_pattern.h"

#include <random>

#include <catch2/catch.hpp>

using namespace heddle;
using namespace heddle::codegen;

namespace {

/// 256 x 256 of bf16's size; an element's value is its own.
struct Output {
  static constexpr std::int64_t kRows = 256, kColumns = 256;
  std::vector<std::int64_t> expected, computed;
  Output() {
    for (std::int64_t i = 0; i < kRows * kColumns; ++i) expected.push_back(i);
    computed = expected;
  }
  std::int64_t& at(std::int64_t row, std::int64_t column) { return computed[static_cast<std::size_t>(row * kColumns + column)]; }
  std::int64_t right(std::int64_t row, std::int64_t column) const { return expected[static_cast<std::size_t>(row * kColumns + column)]; }
  ErrorPattern pattern() const {
    WrongElements output{kColumns, 2, {}, [&](std::int64_t at, std::int64_t from) {
                           return computed[static_cast<std::size_t>(at)] == expected[static_cast<std::size_t>(from)];
                         }};
    for (std::size_t i = 0; i < expected.size(); ++i) output.wrong.push_back(computed[i] != expected[i]);
    return pattern_of(output);
  }
};

}  // namespace

TEST_CASE("the pattern of wrong elements names the fault that was planted", "[gpu]") {
  Output right, nothing, panels, swizzled, operand, rows, tile, race;
  for (std::int64_t r = 0; r < Output::kRows; ++r)
    for (std::int64_t c = 0; c < Output::kColumns; ++c) {
      nothing.at(r, c) = -1;
      if (c / 64 % 2 == 1) panels.at(r, c) = -1;
      swizzled.at(r, c) = swizzled.right(r, c ^ r % 8 * 8);  // chunks of 8 elements, exchanged as a swizzle does
      if (r % 8 != 0) operand.at(r, c) = -1;                 // an operand whose rows were read unswizzled
      rows.at(r, c) = rows.right(r ^ 8, c);
      if (r >= 128 && c >= 128) tile.at(r, c) = -1;
    }
  std::mt19937_64 random(7);
  for (int k = 0; k < 40; ++k) race.computed[random() % race.computed.size()] = -1;
  CHECK(right.pattern() == ErrorPattern::None);
  CHECK(nothing.pattern() == ErrorPattern::Everything);
  CHECK(panels.pattern() == ErrorPattern::Panels);
  CHECK(swizzled.pattern() == ErrorPattern::Chunks);
  CHECK(operand.pattern() == ErrorPattern::Chunks);
  CHECK(rows.pattern() == ErrorPattern::Rows);
  CHECK(tile.pattern() == ErrorPattern::Tiles);
  CHECK(race.pattern() == ErrorPattern::Scattered);
}

TEST_CASE("outputs of any shape have a pattern", "[gpu]") {
  for (const std::int64_t columns : {1, 3, 8, 64, 100, 130})
    for (const int bytes : {2, 4})
      for (const std::int64_t rows : {1, 5, 64}) {
        WrongElements output{columns, bytes, std::vector<bool>(static_cast<std::size_t>(rows * columns), true),
                             [](std::int64_t, std::int64_t) { return false; }};
        CHECK(pattern_of(output) == ErrorPattern::Everything);
        output.wrong.assign(output.wrong.size(), false);
        CHECK(pattern_of(output) == ErrorPattern::None);
      }
}

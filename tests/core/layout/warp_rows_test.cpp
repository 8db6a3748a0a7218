// Whole rows per warp: of multiples of 256 columns by all lanes, of fewer by some lanes each, side by side.
#include <catch2/catch.hpp>

#include "core/layout/known.h"
#include "core/layout/layout.h"

using namespace heddle;

namespace {

Coordinates element(const Layout& layout, std::int64_t warp, std::int64_t lane, std::int64_t e) {
  LayoutPlace place;
  place[LayoutAxis::Warp] = warp, place[LayoutAxis::Lane] = lane, place[LayoutAxis::Register] = e;
  return element_at(layout, place).value_or(Coordinates{-1, -1});
}

}  // namespace

TEST_CASE("as many lanes have a row as 8 columns each divide it into", "[core]") {
  for (const auto& [columns, lanes] : {std::pair{64, 8}, {128, 16}, {192, 8}, {256, 32}, {512, 32}, {96, 4}, {8, 1}})
    CHECK(lanes_of_row(columns) == lanes);
  CHECK(fits_warp_rows(4, 256));
  CHECK(fits_warp_rows(8, 128));
  CHECK_FALSE(fits_warp_rows(4, 128));
  CHECK(fits_warp_rows(16, 192));
  CHECK_FALSE(fits_warp_rows(8, 64));
  CHECK_FALSE(fits_warp_rows(16, 60));
  CHECK_FALSE(fits_warp_rows(0, 64));
}

TEST_CASE("a lane has 8 columns of rows that lie side by side in its warp", "[core]") {
  const Layout narrow = warp_rows_layout(32, 64), middle = warp_rows_layout(32, 192), wide = warp_rows_layout(8, 512);
  // Of 64 columns 8 lanes have a row; the next four rows are in the next registers.
  CHECK(element(narrow, 0, 0, 0) == Coordinates{0, 0});
  CHECK(element(narrow, 0, 9, 3) == Coordinates{1, 11});
  CHECK(element(narrow, 2, 31, 15) == Coordinates{16 + 4 + 3, 63});
  CHECK(element(middle, 0, 1, 8) == Coordinates{0, 64 + 8});
  CHECK(element(middle, 1, 17, 24) == Coordinates{8 + 4 + 2, 8});
  CHECK(element(wide, 1, 31, 8) == Coordinates{2, 256 + 248});
  CHECK(element(wide, 3, 1, 16) == Coordinates{7, 8});
}

TEST_CASE("rows of every width are held once, and go by their name", "[core]") {
  for (const auto& [rows, columns] : {std::pair{16, 64}, {8, 128}, {32, 128}, {16, 192}, {32, 96}, {4, 256}, {8, 1024}}) {
    INFO(rows << " x " << columns);
    const Layout layout = warp_rows_layout(rows, columns);
    CHECK(faults_of(layout).empty());
    CHECK(copies(layout) == 1);
    CHECK(layout.elements() == rows * columns);
    const auto known = known_layout("warp_rows", {rows, columns}, 16);
    REQUIRE(known.has_value());
    CHECK(same_places(*known, layout));
  }
  CHECK_FALSE(known_layout("warp_rows", {4, 128}, 16).has_value());
  // A row per lane is a row per thread.
  CHECK(known_name(thread_rows_layout(128, 8), 32) == "thread_rows");
}

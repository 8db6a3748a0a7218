// Who is faster, and whether that is settled.
#include <cmath>

#include <catch2/catch.hpp>

#include "core/records/race_statistics.h"

using namespace heddle;

TEST_CASE("the sign test counts rounds, not differences", "[race]") {
  const std::vector<double> slow(8, 2.0), fast(8, 1.0);
  CHECK(sign_test(fast, slow) == Approx(2.0 / 256));
  CHECK(sign_test(slow, fast) == Approx(2.0 / 256));
  CHECK(sign_test({1, 1, 1, 9}, {2, 2, 2, 2}) == Approx(2 * 5.0 / 16));
  CHECK(sign_test({1, 3}, {2, 2}) == 1);
  CHECK(sign_test({1, 1}, {1, 1}) == 1);  // ties say nothing
  CHECK(sign_test({}, {}) == 1);
}

TEST_CASE("a rank is settled from eight rounds of eight on", "[race]") {
  const auto settled_after = [](std::size_t rounds) {
    return settled_neighbours({std::vector<double>(rounds, 2.0), std::vector<double>(rounds, 1.0)});
  };
  CHECK(settled_after(7) == std::vector<bool>{false});
  CHECK(settled_after(8) == std::vector<bool>{true});
  CHECK(settled_neighbours({std::vector<double>(50, 1.0), std::vector<double>(50, 1.0)}) == std::vector<bool>{false});
  CHECK(settled_neighbours({}).empty());
}

TEST_CASE("contenders are ranked by their medians, and those that were not timed are left out", "[race]") {
  CHECK(ranked_by_median({{3, 3, 1}, {}, {2, 2, 9}, {3}}) == std::vector<std::size_t>{2, 0, 3});
}

TEST_CASE("the rank correlation of lists with ties is Kendall's tau-b", "[race]") {
  CHECK(rank_correlation({1, 2, 3}, {10, 20, 30}).value() == Approx(1));
  CHECK(rank_correlation({1, 2, 3}, {30, 20, 10}).value() == Approx(-1));
  CHECK(rank_correlation({1, 1, 2}, {1, 2, 3}).value() == Approx(2 / std::sqrt(6.0)));
  CHECK_FALSE(rank_correlation({1, 1, 1}, {1, 2, 3}).has_value());
  CHECK_FALSE(rank_correlation({}, {}).has_value());
}

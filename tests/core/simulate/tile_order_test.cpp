// Tiles of different lengths: how many iterations each has, and who runs which.
#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <random>

#include "core/kernel/structure.h"
#include "core/simulate/dispatch.h"
#include "core/simulate/tile_grid.h"

using namespace heddle;

namespace {

std::vector<std::int64_t> bigbird_lengths(int heads, int seed) {
  const auto rows = *make_structure("bigbird", {{"rows", 64}, {"seed", seed}}, "lengths");
  std::vector<std::int64_t> all;
  for (int h = 0; h < heads; ++h) all.insert(all.end(), rows.begin(), rows.end());
  return all;
}

Cycle longest(std::vector<std::int64_t> tiles, bool longest_first) {
  if (longest_first) std::stable_sort(tiles.begin(), tiles.end(), std::greater<>());
  return dispatch(tiles, 132, [](std::int64_t trips) { return trips; }).cycles;
}

}  // namespace

TEST_CASE("BigBird's blocks on 132 SMs: grid order, longest first, long rows cut", "[core]") {
  // 1024 positions in blocks of 16, 12 heads: about 51 at best.
  const auto tiles = bigbird_lengths(12, 1);
  const std::int64_t all = std::accumulate(tiles.begin(), tiles.end(), std::int64_t{0});
  CHECK(all / 132 >= 50);
  CHECK(all / 132 <= 51);
  CHECK(longest(tiles, false) == 99);
  CHECK(longest(tiles, true) == 64);
  CHECK(longest(split_tiles(tiles, 16), true) <= 55);
  CHECK(longest(split_tiles(tiles, 16), true) >= 54);
}

TEST_CASE("cut tiles have as many iterations in all, and none has too many", "[core]") {
  const auto seed = GENERATE(range(1u, 20u));
  std::mt19937 random(seed);
  INFO("seed " << seed);
  std::vector<std::int64_t> tiles(1 + random() % 50);
  for (std::int64_t& t : tiles) t = random() % 40;
  const std::int64_t most = 1 + random() % 12;
  const auto pieces = split_tiles(tiles, most);
  CHECK(std::accumulate(pieces.begin(), pieces.end(), std::int64_t{0}) == std::accumulate(tiles.begin(), tiles.end(), std::int64_t{0}));
  CHECK(*std::max_element(pieces.begin(), pieces.end()) <= most);
  CHECK(split_tiles(tiles, 0) == tiles);
  for (const std::int64_t scale : {1, 1000}) {  // close together and far apart
    auto sorted = tiles, falling = tiles;
    for (auto* list : {&sorted, &falling})
      for (std::int64_t& t : *list) t *= scale;
    sort_longest_first(sorted);
    std::sort(falling.begin(), falling.end(), std::greater<>());
    CHECK(sorted == falling);
  }
  // A place that is free takes the next tile: nobody waits while there are tiles, so nobody ends a tile's length after the others.
  const Dispatch handed = dispatch(pieces, 7, [](std::int64_t trips) { return trips; });
  std::vector<int> seen(pieces.size(), 0);
  for (std::size_t p = 0; p < handed.taken.size(); ++p) {
    std::int64_t sum = 0;
    for (const std::int32_t tile : handed.taken[p]) ++seen[static_cast<std::size_t>(tile)], sum += pieces[static_cast<std::size_t>(tile)];
    CHECK(sum == handed.ends[p]);
    CHECK(handed.cycles - handed.ends[p] <= most);
  }
  CHECK(std::all_of(seen.begin(), seen.end(), [](int count) { return count == 1; }));
}

TEST_CASE("a million rows of different lengths are handed out by their lengths", "[core]") {
  // One cost is asked for per length, however many tiles have it.
  const auto lengths = *make_structure("powerlaw", {{"rows", 1'000'000}, {"cols", 400}, {"mean", 20}}, "lengths");
  const std::vector<std::int64_t> tiles(lengths.begin(), lengths.end());
  std::vector<std::int64_t> asked;
  const Dispatch handed = dispatch(tiles, 132, [&](std::int64_t trips) { return asked.push_back(trips), trips + 3; });
  std::sort(asked.begin(), asked.end());
  CHECK(std::adjacent_find(asked.begin(), asked.end()) == asked.end());
  CHECK(handed.cycles >= std::accumulate(tiles.begin(), tiles.end(), std::int64_t{3'000'000}) / 132);
}

TEST_CASE("trips that follow any grid dimension, or index tensors, are listed tile by tile", "[core]") {
  Kernel kernel;
  kernel.grid = {{"a", Expr(3)}, {"b", Expr(2)}, {"c", Expr(2)}};
  kernel.loop.trips = Expr(20);
  Scope scope;
  auto tables = std::make_shared<IndexTables>();
  (*tables)["t"] = {{2, 3}, std::make_shared<const std::vector<std::int32_t>>(std::vector<std::int32_t>{4, 0, 9, 1, 2, 3})};
  scope.tables = tables;
  kernel.loop.tile_trips = *Expr::parse("t[b, a] + c");
  const TileGrid grid = tile_grid(kernel, scope);
  CHECK(grid.by_tile == std::vector<std::int64_t>{4, 0, 9, 1, 2, 3, 5, 1, 10, 2, 3, 4});
  CHECK(grid.trips == 10);
  CHECK(grid.all_trips() == 44);
  kernel.loop.tile_trips = *Expr::parse("t[b, 0]");
  CHECK(tile_grid(kernel, scope).by_tile == std::vector<std::int64_t>{4, 4, 4, 1, 1, 1, 4, 4, 4, 1, 1, 1});
  kernel.loop.tile_trips = *Expr::parse("t[b, a] * 4");
  CHECK(tile_grid(kernel, scope).fault.find("the kernel's loop at most 20") != std::string::npos);
  CHECK(tile_grid(kernel, scope, 7).even());
}

// How a block walks over tiles: which they are, in what order, and how many trips each of them has.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "codegen/emit/context.h"

namespace heddle::codegen {

inline constexpr std::int64_t kMostTiles = 1'000'000'000;

/// How the persistent loop walks over tiles: from which, in which steps, up to how many; those of a cluster count once.
struct TileWalk {
  std::string_view index, count;
  std::string tiles;
};
TileWalk tile_walk(const EmitContext& emit);

/// Of a program whose trips vary; nothing where they follow no block index, or more than one, and after a refusal.
std::optional<TripRule> trip_rule(EmitContext& emit);

void write_tile_loop(EmitContext& emit);
/// Trips of the loop's tile where no rule says them; before its steps are written, so that what both look up is numbered from here on.
std::string computed_trips(EmitContext& emit);
/// The loop's tile: its indices, as far as `steps` and what they look up need them, and its trips.
void write_tile(EmitContext& emit, const std::string& trips, const CudaText& steps);

}  // namespace heddle::codegen

// Carries out arithmetic on lanes, with operands that are known, in part, or not at all.
#include <algorithm>

#include "ptx/run/inside.h"

namespace heddle::ptx {

namespace {

struct LaneResult {
  std::array<std::uint64_t, kLanes> bits{};
  LaneMask unknown = 0;
  std::uint64_t unknown_bits = 0;
};

/// Lanes in `in_doubt` have an operand with unknown bits.
void with_doubts(const DecodedInstruction& decoded, const LaneValues* const* sources, LaneMask in_doubt, LaneResult& result) {
  const std::uint64_t width = low_bits(decoded.result_bits);
  if (decoded.known_bits == nullptr) {
    result.unknown |= in_doubt;
    result.unknown_bits |= width;
    return;
  }
  // Whole lanes of the same doubt (nothing known of any operand) are the usual case: one answer for all.
  for_lanes(in_doubt, [&](int lane) {
    std::array<KnownBits, 5> known{};
    for (int i = 0; i < decoded.count; ++i) {
      const LaneValues& source = *sources[i];
      const std::uint64_t unknown = (source.unknown >> lane & 1) != 0 ? source.unknown_bits : 0;
      known[static_cast<std::size_t>(i)] = {source.bits[static_cast<std::size_t>(lane)] & ~unknown, unknown};
    }
    const KnownBits one = decoded.known_bits(decoded, known.data());
    result.bits[static_cast<std::size_t>(lane)] = one.bits & width;
    if ((one.unknown & width) == 0) return;
    result.unknown |= 1u << lane;
    result.unknown_bits |= one.unknown & width;
  });
}

}  // namespace

void RunInside::run_lanes(WarpFragment& fragment, const DecodedInstruction& decoded, int pc, LaneMask lanes) {
  if (decoded.destination < 0) return;
  Warp& warp = run.warps[static_cast<std::size_t>(fragment.warp)];
  std::array<const LaneValues*, 5> sources{};
  LaneMask in_doubt = decoded.function == nullptr ? lanes : 0;
  Origin origin = -1;
  for (int i = 0; i < decoded.count; ++i) {
    const LaneValues& source_values = source(warp, decoded.sources[static_cast<std::size_t>(i)]);
    sources[static_cast<std::size_t>(i)] = &source_values;
    const LaneMask doubt = source_values.unknown & lanes;
    if (doubt == 0) continue;
    in_doubt |= doubt;
    if (origin < 0) origin = source_values.origin;
  }
  LaneValues& into = warp.values[static_cast<std::size_t>(decoded.destination)];
  if (in_doubt == 0 && (warp.live & ~lanes) == 0) {
    decoded.function(decoded, sources.data(), into.bits.data());
    into.unknown = 0;
    into.unknown_bits = 0;
    return;
  }
  LaneResult result;
  if (decoded.function != nullptr && in_doubt != lanes) decoded.function(decoded, sources.data(), result.bits.data());
  if (in_doubt != 0) with_doubts(decoded, sources.data(), in_doubt, result);
  for_lanes(lanes, [&](int lane) { into.bits[static_cast<std::size_t>(lane)] = result.bits[static_cast<std::size_t>(lane)]; });
  const LaneMask before = into.unknown & ~lanes & warp.live;
  into.unknown = before | result.unknown;
  into.unknown_bits = (before != 0 ? into.unknown_bits : 0) | result.unknown_bits;
  if (result.unknown != 0) into.origin = origin >= 0 ? origin : pc;
}

}  // namespace heddle::ptx

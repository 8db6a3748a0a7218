// Where TMA's boxes begin in global memory.
//
// The address of a box, with its coordinates, must be a multiple of 16 bytes; at any other the hardware reports an illegal instruction
// (seen on an H100; Triton's issue 7385). A tensor's rows are multiples of 16 bytes, so only the first coordinate matters, the one of the
// innermost dimension. Where it is something else, a value that is shorter than a box is fetched with its neighbours: from the multiple
// before.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "core/kernel/kernel.h"

namespace heddle::codegen {

/// Of what TMA moves at once (cuTensorMapEncodeTiled), and of what a box's address is a multiple.
inline constexpr std::int64_t kLeastBoxBytes = 16;

struct BoxStart {
  int unit = 1;         ///< the first coordinate is rounded down to a multiple of so many numbers; 1: it is taken as it is
  std::string refusal;  ///< why no box can begin there; empty: one can
};

/// All tiles of the grid and all trips of each.
struct BoxRange {
  const Scope& params;  ///< every parameter
  std::int64_t trips = 1;
  int cluster = 1;                          ///< blocks together
  std::span<const std::string> sizes = {};  ///< parameters that may be anything
};

/// Of a tma_load, gather, tma_store or atomic_add of this tile.
BoxStart box_start(const Kernel& kernel, const BoxRange& range, const TileOp& op, const TileValue& tile);

}  // namespace heddle::codegen

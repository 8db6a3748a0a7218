// Rings: shared memory that copies fill again and again, slot by slot, with the barriers that say full and empty.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ptx/report/record.h"

namespace heddle::ptx {

struct RingSlot {
  std::uint64_t begin = 0;  ///< in shared memory of the cluster
  std::uint64_t full = 0;   ///< the barrier that its copies signal
  std::uint64_t empty = 0;  ///< the barrier that is waited for before it is filled; 0: none was seen
};

struct PtxRing {
  std::string name;  ///< of the tensor, or "map at byte 768", "copy of line 120"
  int map = -1;      ///< index into Launch::maps; -1: a copy without a map
  int cta = 0;       ///< where it lies
  std::int64_t slot_bytes = 0;
  std::vector<RingSlot> slots;  ///< by address
  std::vector<int> places;      ///< pcs of its copies
  std::int64_t copies = 0;
};

std::vector<PtxRing> rings_of(const PtxRecord& record);

/// What a barrier is for, told by the rings: "FULL of A and B [1]", "EMPTY of K[0]"; else "mbarrier at 1088".
std::string barrier_name(const std::vector<PtxRing>& rings, std::uint64_t barrier, const PtxRecord& record);
/// The ring and slot that byte `address` of the cluster's shared memory lies in: "K[1]"; "" where no ring has it.
std::string slot_name(const std::vector<PtxRing>& rings, std::uint64_t address);

}  // namespace heddle::ptx

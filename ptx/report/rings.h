// Rings: shared memory that copies fill again and again, slot by slot, with the barriers that say full and empty.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "ptx/report/record.h"
#include "ptx/report/roles.h"

namespace heddle::ptx {

struct RingSlot {
  std::uint64_t begin = 0, end = 0;  ///< in shared memory of the cluster
  std::uint64_t full = 0;            ///< the barrier that its copies signal
  std::uint64_t empty = 0;           ///< the barrier that is waited for before it is filled; 0: none was seen
};

struct PtxRing {
  std::string name;             ///< of the tensor, or "map at byte 768", "copy of line 120"; numbered where a CTA has several
  int map = -1;                 ///< index into Launch::maps; -1: a copy without a map
  int cta = 0;                  ///< where it lies
  std::vector<RingSlot> slots;  ///< by address
  std::vector<int> places;      ///< pcs of its copies
  std::int64_t copies = 0;

  std::uint64_t slot_bytes() const { return slots.empty() ? 0 : slots[0].end - slots[0].begin; }
};

std::vector<PtxRing> rings_of(const PtxRecord& record);

/// The ring and slot that byte `address` of the cluster's shared memory lies in: "K[1]"; "" where no ring has it.
std::string slot_name(const std::vector<PtxRing>& rings, std::uint64_t address);

/// What each barrier is for.
class BarrierNames {
 public:
  BarrierNames(const PtxRecord& record, const std::vector<PtxRole>& roles, const std::vector<PtxRing>& rings);
  /// "FULL of A and B [1]", "EMPTY of K[0]"; else by who arrives and who waits ("products to epilogue"), else "mbarrier"; followed by its
  /// byte where another has the same name.
  std::string of(std::uint64_t barrier) const;

 private:
  std::unordered_map<std::uint64_t, std::string> names_;
  int ctas_ = 1;
};

}  // namespace heddle::ptx

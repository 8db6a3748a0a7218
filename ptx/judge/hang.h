// A hang in words: what each warp waits for, who could end it, and the circle of who waits for whom.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ptx/judge/barriers.h"
#include "ptx/judge/finding.h"

namespace heddle::ptx {

/// A fragment that waits when nothing moves any more.
struct HangWait {
  enum class For : std::uint8_t { Mbarrier, Named, Cluster, Registers, Product, TensorColumns } what = For::Mbarrier;
  int warp = -1, pc = -1, cta = 0;
  std::uint64_t address = 0;  ///< of the mbarrier; or the named barrier's id
  bool parity = false;
  std::int64_t amount = 0;  ///< registers or columns that it wants
  std::int64_t cycle = 0;   ///< since when
};

struct HangScene {
  std::span<const HangWait> waits;
  const Barriers& barriers;
  std::vector<int> exited;  ///< warps
  int warps_per_cta = 0;
};

/// What a wait lacks: "FULL: phase 3 lacks 1 of 1 arrivals and 16384 bytes".
std::string lack_of(const HangWait& wait, const Barriers& barriers);
/// One finding of rule Hang, its place that of the wait that is the reason: `related` is the circle of who waits for whom or, where there
/// is none, all waits. And one of ExitWhileWaited for each wait that only warps that have exited could end.
void report_hang(const HangScene& scene, Findings& findings);

}  // namespace heddle::ptx

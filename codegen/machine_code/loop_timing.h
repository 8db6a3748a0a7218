// How long the steady loops of a kernel's roles take together, in the words of the audit (codegen/machine_code/quarter.h is the rule).
#pragma once

#include <cstddef>
#include <vector>

#include "codegen/machine_code/audit.h"
#include "codegen/machine_code/loops.h"

namespace heddle::codegen {

inline constexpr std::size_t kNoSpan = static_cast<std::size_t>(-1);

/// Compiled code and what it is of.
struct CompiledText {
  const std::vector<MachineInstruction>& code;
  const Problem& problem;
  const Program& program;
  const Emission& emission;
  const std::vector<std::size_t>& spans;  ///< by instruction: of the emission, or kNoSpan
};

class RoleLoopTiming {
 public:
  /// What `text` refers to outlives this.
  explicit RoleLoopTiming(const CompiledText& text) : text_(text) {}

  /// `loop`, one of `loops`, is the role's. Roles of fewer than four warps are left out: not every quarter of the SM has one.
  void add(const MachineLoop& loop, const std::vector<MachineLoop>& loops, std::size_t role);

  /// Writes the times into the audit of these loops. There are none for other architectures than sm_90a, for machines without numbers of
  /// contention, without wgmmas, where a role with wgmmas has no loop here or works in loops of its own inside, and where the loops would
  /// wait for each other for ever.
  void run(MachineAudit& audit) const;

 private:
  struct Entry {
    std::size_t role = 0;
    std::vector<std::size_t> pass;
  };
  bool seldom(std::size_t first, std::size_t last) const;
  bool complete() const;
  LoopTime time_of(std::size_t warp, const QuarterTimes& times, int iterations) const;

  CompiledText text_;
  std::vector<QuarterWarp> warps_;
  std::vector<Entry> of_;  ///< the same warps
  bool works_inside_ = false, products_ = false;
};

}  // namespace heddle::codegen

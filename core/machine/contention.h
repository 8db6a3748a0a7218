// What the warps of one quarter of an SM take from each other while they run side by side, as a machine file says it: the numbers behind
// the rule of motion (core/motion/motion.h).
//
// Each number has a range and a source, because few of them are measured alone. Hopper: wgmma reads operands from the register file, so
// arithmetic and mmas delay each other. Where accumulators lie in tensor memory (Blackwell) nothing of that is known, and a file leaves it
// 0.
#pragma once

#include <cstdint>
#include <string>

namespace heddle {

struct RangedNumber {
  std::int64_t value = 0, least = 0, most = 0;
  std::string source;
  bool operator==(const RangedNumber&) const = default;
};

/// Of an mma whose first operand lies in shared memory, and of one that reads it from registers.
struct ByOperand {
  RangedNumber shared, registers;
  const RangedNumber& of(bool from_registers) const { return from_registers ? registers : shared; }
  bool operator==(const ByOperand&) const = default;
};

struct Contention {
  bool known = false;       ///< the machine file has it; else every number is 0 and nothing below applies
  RangedNumber in_flight;   ///< mma instructions of all groups that are accepted and have not ended; with more groups are held. 0: no limit
  ByOperand late_per_read;  ///< a register read of arithmetic beside an mma: so much later, thousandths of a cycle
  RangedNumber late_per_special;  ///< the same of a special function
  ByOperand product_per_read;     ///< a register read beside an mma takes so much from the tensor core, thousandths of a cycle
  RangedNumber product_done;      ///< last cycle of an mma until its waiting group goes on, cycles
  RangedNumber turn;              ///< a turn is passed until the other group goes on, cycles
  RangedNumber special_interval;  ///< of one warp's special functions in a row, thousandths of a cycle
  RangedNumber fence;             ///< before the first instruction of an mma, cycles
  RangedNumber register_fence;    ///< so much later where its first operand lies in registers, cycles
  RangedNumber issue_step;        ///< between two mma instructions of one group, cycles
  /// Machine code as the compiler of this architecture writes it (core/motion/as_compiled.h), not in the order of the text.
  bool reordered = false;
  RangedNumber first_loads;  ///< latency of a loop's first loads, which are not in L2 yet, in percent of the usual one; 0: the same
  RangedNumber hidden;       ///< of its own time arithmetic keeps so much beside special functions of its own stretch, percent
  bool operator==(const Contention&) const = default;
};

/// Calls `each(name, number)` for all of them, named as in machine files: "in_flight", "late_per_read/shared".
template <class C, class Each>
void each_number(C& contention, Each each) {
  each("in_flight", contention.in_flight);
  each("late_per_read/shared", contention.late_per_read.shared);
  each("late_per_read/registers", contention.late_per_read.registers);
  each("late_per_special", contention.late_per_special);
  each("product_per_read/shared", contention.product_per_read.shared);
  each("product_per_read/registers", contention.product_per_read.registers);
  each("product_done", contention.product_done);
  each("turn", contention.turn);
  each("special_interval", contention.special_interval);
  each("fence", contention.fence);
  each("register_fence", contention.register_fence);
  each("issue_step", contention.issue_step);
  each("first_loads", contention.first_loads);
  each("hidden", contention.hidden);
}

}  // namespace heddle

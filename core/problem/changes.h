// "What if this number were different?": changes of a kernel's and a machine's numbers as named, switchable data.
//
// resolve() takes them into account before it derives anything, so that edges, holds and releases follow from the changed
// costs as they would from an edited file. They apply in the order of the list; the place of each goes into messages.
// An order of the graph that carries its own latency keeps it: that number belongs to the order, not to the op.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/kernel/kernel.h"
#include "core/machine/latency_spread.h"
#include "core/machine/machine.h"
#include "core/problem/fault_log.h"
#include "core/problem/problem.h"

namespace heddle {

enum class ChangeKind {
  Latency,  ///< of one op, or of all ops that take it from one rule of the machine; the same for the next five
  Window,
  Warps,
  Duration,   ///< cycles a unit is reserved
  Amount,     ///< of a unit
  LatencyAt,  ///< which of several latencies a schedule is made for: 1 is the shortest
  Capacity,   ///< of a unit
  Limit,      ///< of the machine, by its name in machine files
  HandOff,    ///< cost of crossing warp groups: register_copy (of every value) or signal
  Groups,     ///< most warp groups
};
const char* to_string(ChangeKind kind);

enum class ChangeEffect {
  To,       ///< the number becomes `value`
  Add,      ///< plus `value`
  Percent,  ///< plus `value` percent, rounded to the nearest; at least 1 where it was
};

struct Change {
  std::string name;  ///< empty: describe() says it all
  bool enabled = true;
  ChangeKind kind = ChangeKind::Latency;
  std::string op;     ///< Latency to LatencyAt: an op of the loop body ...
  std::string rule;   ///< ... or a rule of the machine ("mma.ss"); exactly one of the two is given
  std::string unit;   ///< Capacity; Duration and Amount: only of this unit, empty: of all
  std::string field;  ///< Limit and HandOff: which one
  ChangeEffect effect = ChangeEffect::To;
  std::int64_t value = 0;
  std::vector<LatencyCase> cases{};  ///< of a latency, in place of `value`: it is not always the same; its effect is To
  FaultPlace place;                  ///< where it was written; empty for the command line
};

using Changes = std::vector<Change>;

/// Percentages must lie above -100: nothing is gained by one more way to say 0.
inline constexpr Range kChangePercent{-99, 1'000'000};
/// No number anywhere is meant to become larger, or to change by more.
inline constexpr std::int64_t kLargestChange = std::int64_t{1} << 40;

/// The number after the change.
std::int64_t changed(const Change& change, std::int64_t number);

/// Appends the change, or puts it in the place of the one of the same number.
void put(Changes& changes, const Change& change);

/// "exp0.latency=600", "TC.capacity=+1", "mma.ss.TC.duration=-10%": what parse_change reads.
std::string describe(const Change& change);

/// Both are changes of one and the same number.
bool same_number(const Change& a, const Change& b);
/// "exp0.latency": what describe() says before the "=".
std::string number_name(const Change& change);

/// Reads NUMBER=VALUE. NUMBER is OP.latency, OP.latency_at, OP.window, OP.warps, OP.duration, OP.UNIT.duration (the same with amount, or
/// with a rule of the machine in place of OP), UNIT.capacity, limits.NAME, handoff.register_copy, handoff.signal or groups.
/// VALUE is an integer, +N or -N to add, +P% or -P% for percent; of a latency also CYCLES:P%,CYCLES:P%,... where it is not always the
/// same. A word that is an op and a rule means the op.
Result<Change> parse_change(std::string_view text, const Kernel& kernel, const Machine& machine);

// What changes do to the numbers of a kernel on a machine while resolve() puts them together.

class ChangedNumbers {
 public:
  /// Edits the machine's capacities and limits at once. Faults: ops, rules, units and fields that do not exist, values
  /// that the number may not have; all at the change's own place. Pre: `faults` outlives it.
  ChangedNumbers(const Changes& changes, const Kernel& kernel, Machine& machine, FaultLog& faults);

  /// The op's costs. `own` is what the graph gives itself: changes of a rule do not touch that.
  void apply(Op& op, const CostOverride* own, const std::vector<Unit>& units) const;
  Cycle register_copy(Cycle cycles) const { return hand_off("register_copy", cycles); }
  Cycle signal(Cycle cycles) const { return hand_off("signal", cycles); }
  int max_groups(int groups) const;

  /// In words, for the problem; without those switched off.
  std::vector<std::string> in_force() const;

 private:
  void check_names(const Change& change, const Kernel& kernel, const Machine& machine);
  void edit_machine(const Change& change, Machine& machine) const;
  Cycle hand_off(const char* field, Cycle cycles) const;
  void apply_latency(const Change& change, Op& op) const;
  /// The number after the change; as it was, and a fault, when that is outside `range`.
  std::int64_t number(const Change& change, std::int64_t old, Range range, const std::string& what) const;

  Changes changes_;  ///< those in force whose names are known
  FaultLog& faults_;
};

// The numbers that a kernel's schedules on a machine depend on and that may be wrong by some percent: costs, capacities,
// hand-offs, sizes of memories. What is a matter of counting (threads of a warp, the granule of registers) is not among them.

/// One change per number, with its effect still to be set. Rules come in the machine's order, each with latency, window, and
/// per unit duration and amount; then what ops give themselves; then capacities, limits and hand-offs.
/// Pre: `problem` was resolved from the two.
Changes numbers_of(const Kernel& kernel, const Machine& machine, const Problem& problem);

/// The values that the number has in the problem, ascending, each once; empty for hand-offs, which depend on sizes.
std::vector<std::int64_t> values_of(const Problem& problem, const Change& number);

}  // namespace heddle

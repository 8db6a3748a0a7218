// What changes do to the numbers of a kernel on a machine while resolve() puts them together.
#pragma once

#include "core/problem/changes.h"
#include "core/problem/problem.h"

namespace heddle {

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
  /// The number after the change; as it was, and a fault, when that is outside `range`.
  std::int64_t number(const Change& change, std::int64_t old, Range range, const std::string& what) const;

  Changes changes_;  ///< those in force whose names are known
  FaultLog& faults_;
};

}  // namespace heddle

// registers: live register values of a group at every op's start stay within the group's budget, and budgets share the
// register file. The dear family (with it a query took up to five times as long as with all others together), so it is generated lazily: a
// schedule found without it is measured, and only the ops at whose start it breaks the rule get their constraint.
#pragma once

#include <optional>
#include <vector>

#include "solver/encoding/model.h"

namespace heddle::solver {

/// Registers per thread that the group of `op` holds when `op` starts, overhead included (core/problem/problem.h).
std::int64_t registers_at(const Problem& problem, const Schedule& schedule, OpId op);

/// It makes or reads a register value; one that takes no register at all is a register value too.
bool touches_registers(const Problem& problem, OpId op);

/// Fills in the smallest legal budget of every group.
void set_register_budgets(const Problem& problem, Schedule& schedule);

class RegisterFamily {
 public:
  explicit RegisterFamily(Model& model);

  /// Adds constraints where `schedule` breaks the rule; false when it breaks nothing. `tighter_cap` on every budget: for
  /// the "lowest peak" objective.
  bool refine(const Schedule& schedule, std::optional<std::int64_t> tighter_cap = {});
  /// Adds the constraint at the start of one op, whether or not a schedule broke it.
  void require(OpId at);
  /// True when assumed: every budget is at most `registers` (a multiple of the granule).
  Lit budget_at_most(std::int64_t registers);

 private:
  void make_budgets();
  void constrain(OpId at);
  void count_copies(ValueId value, OpId at, std::vector<WeightedLit>& terms);
  Lit budget_level(OpId at, std::size_t level);

  Model& model_;
  std::int64_t granule_ = 8, cap_ = 0;     ///< budgets run from 0 to cap_ in steps of granule_
  std::vector<std::vector<Lit>> budgets_;  ///< [group][level-1]: budget >= level * granule_
  std::vector<Lit> peak_;                  ///< [level-1]: some budget is that large
  std::vector<bool> constrained_;
};

}  // namespace heddle::solver

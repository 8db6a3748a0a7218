// Which layouts and instructions are left to the solver, and what there is to choose from.
//
// A decision is a value in shared memory, or several, with the ops of the loop by whose threads it is stored and loaded: what they can be
// is decided together, because an instruction fits a layout or does not. The order of an axis that the kernel leaves free is a decision,
// too, with the ops by which registers then change their layout; so is the order of a tensor's bytes, with its tiles. A candidate says all
// of it. Its numbers are those of the problem in which only this decision differs from the one as given. A number of the problem follows
// from one decision alone (those that would share one are one decision), so the numbers of any combination are those as given plus what
// each decision changes.
//
// Dominated: another candidate of the decision needs no more of anything. Whatever is scheduled with the one can be scheduled with the
// other, so the dominated one is not asked. Of candidates with the same numbers the one remains that meets banks least, then as given.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/instance/instance.h"
#include "core/layout/plan.h"
#include "core/problem/numbers.h"

namespace heddle {

struct LayoutCandidate {
  LayoutChoices choices;          ///< the layout of each value and the instruction of each op of the decision
  std::vector<AccessCost> costs;  ///< parallel to the decision's ops: of one execution
  std::int64_t bytes = 0;         ///< of the values in shared memory
  int registers = 0;              ///< per thread, beyond what the ops need anyway; the most of any op
  bool current = false;           ///< as given
  ProblemNumbers numbers;
  std::optional<std::size_t> dominated_by;  ///< of the decision's candidates; that one is not dominated itself

  AccessCost cost() const;  ///< of all ops together: port, issues and selects added up, the worst ways
};

struct LayoutDecision {
  std::vector<std::string> values, ops;     ///< values: also axes and tensors
  std::vector<LayoutCandidate> candidates;  ///< one at least; that as given is first

  std::string name() const { return values.front(); }
  /// Those that are not dominated, in their order.
  std::vector<std::size_t> open() const;
};

/// Notes of each candidate whether another dominates it.
void drop_dominated(LayoutDecision& decision);

struct OpenLayouts {
  Problem problem;  ///< as given
  /// The same with a use of each unit that some candidate uses, if only for 0 cycles: all candidates' numbers are of this shape.
  Problem shape;
  std::vector<LayoutDecision> decisions;
  /// False: there are more candidates than are looked at, or some whose problem is of another shape. Then nothing may be said of all.
  bool complete = true;
  std::vector<std::string> left_out;  ///< "w0: why nothing of it can be chosen", where all were meant
  std::int64_t combinations = 1;      ///< of all candidates; saturates
  std::int64_t left = 1;              ///< of those that are not dominated
};

/// Explaining asks what each value by itself could be instead, so what is said is no reason to keep it, and tensors stay in their order.
enum class LayoutsFor { Choosing, Explaining };

/// `names`: values in shared memory, ops that move one between it and registers, free axes, tensors that may be packed (with their tiles),
/// or "all" of the loop, which may be none. What the spec's choices say of them is not open: a candidate agrees with it. Faults: unknown
/// names (Fault::part "left open"), and those where nothing can be chosen, with the reason; everything that make_problem() finds.
Result<OpenLayouts> open_layouts(const InstanceSpec& spec, const std::vector<std::string>& names, LayoutsFor what = LayoutsFor::Choosing);

/// Those of a problem that was resolved from the same kernel, in the shape of the question. Nothing where it has another.
std::optional<ProblemNumbers> numbers_in(const Problem& shape, Problem problem);

/// The problem's choices with a candidate of each decision. Pre: one index for each.
LayoutChoices choices_with(const OpenLayouts& question, const std::vector<std::size_t>& chosen);

/// The combination that dominates all others: whatever can be scheduled with any of them can be with it, and takes no more of anything.
/// Nothing where several are left, or not all were looked at.
std::optional<LayoutChoices> only_choices(const OpenLayouts& question);

/// Of these candidates of each decision every number at its least: what is refuted of it is refuted of every combination. With one
/// candidate of each it is the problem of that combination, but for its layouts. Pre: one at least of each.
Problem easiest(const OpenLayouts& question, const std::vector<std::vector<std::size_t>>& candidates);

}  // namespace heddle

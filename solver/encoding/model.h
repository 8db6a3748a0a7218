// The native-cycle model of one problem at one II: its unknowns and the three primitives every constraint family is
// written in. Absolute starts with one disjunction per wrap-around took 1.3 to 20 times as long to refute.
//
// Unknowns per op v: the slot r_v in [0, II) as an integer, the stage k_v in [0, K) as order-encoded Booleans (k_v >= j),
// and one Boolean per warp group. The start s_v = r_v + II * k_v never appears as a number. The size of the formula does not
// depend on how many cycles anything takes.
//
// Every schedule can be shifted as a whole, so one op may be anchored at slot 0; then K stage numbers cover every schedule of
// K - 1 stages. Anchoring is off when the user pins absolute cycles and when the number of stages itself is the question.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "core/problem/problem.h"
#include "core/schedule/constraints.h"
#include "core/schedule/schedule.h"
#include "solver/encoding/closure.h"
#include "solver/z3/backend.h"

namespace heddle::solver {

struct ModelOptions {
  Cycle ii = 1;
  int stages = 4;  ///< K: stage numbers 0 .. K-1
  bool anchored = true;
  OpId anchor;         ///< the op at slot 0; invalid: anchor_of(problem)
  bool named = false;  ///< give every constraint a name and an assumption, to explain infeasibility
  /// The numbering of groups in order of first use holds only if symmetry() is assumed, so that constraints which speak of
  /// groups by number can come and go (add_guarded in encoding/user.h).
  bool switchable = false;
  std::uint64_t seed = 0;
  QueryLimits limits;
};

/// The rules that can take part in a refutation, in the order in which they are told.
enum class ConstraintFamily {
  User,
  Unit,
  Dependence,
  HandOff,
  Credit,
  Smem,
  Tmem,
  Issue,
  Blocking,
  Groups,
  Warps,
  Registers,
  RegisterFile
};

/// What a guarded constraint is about; put in words by explain.
struct ConstraintName {
  ConstraintFamily family = ConstraintFamily::User;
  std::size_t index = 0;  ///< of the edge, unit, channel or user constraint
  std::vector<OpId> ops;  ///< the ops it ties together, where it is about some only
  bool operator==(const ConstraintName&) const = default;
};

/// The op that anchors best: the widest use of the most loaded unit.
OpId anchor_of(const Problem& problem);

class Model {
 public:
  /// Creates the unknowns and computes the closure; families add the constraints (encoding/families.h).
  Model(const Problem& problem, const Constraints& constraints, const ModelOptions& options);

  const Problem& problem() const { return problem_; }
  const Constraints& constraints() const { return constraints_; }
  /// Which constraints count from now on for what extract() makes of a schedule; adds no formula.
  void set_constraints(Constraints constraints) { constraints_ = std::move(constraints); }
  Cycle ii() const { return options_.ii; }
  int stages() const { return options_.stages; }
  std::size_t op_count() const { return problem_.ops.size(); }
  Backend& backend() { return backend_; }
  const Backend& backend() const { return backend_; }

  // --- unknowns -------------------------------------------------------------------------------------------------------
  /// An op that is not there: starts at cycle 0 always. Constraints against absolute cycles are constraints against it.
  OpId origin() const { return OpId(op_count()); }
  IntVar slot(OpId op) const { return slots_[op.index()]; }
  Lit stage_at_least(OpId op, int j) const;
  std::size_t group_count() const { return groups_; }
  Lit in_group(OpId op, std::size_t group) const { return in_group_[op.index()][group]; }
  /// True exactly when the two ops are in one group; made on first use.
  Lit same_group(OpId a, OpId b);
  Lit depth_at_least(ChannelId channel, int j) const;
  int max_depth(ChannelId channel) const { return static_cast<int>(depths_[channel.index()].size()); }
  /// Order-encoded width of a group over the distinct widths that ops need.
  const std::vector<int>& widths() const { return widths_; }
  Lit width_at_least(std::size_t group, std::size_t width_index) const { return group_width_[group][width_index]; }
  bool uses_producer_group() const { return producer_group_; }
  /// Groups are numbered in order of first use; assumed or not if the model is switchable.
  Lit symmetry() const { return symmetry_; }
  bool switchable() const { return options_.switchable; }

  // --- primitives -----------------------------------------------------------------------------------------------------
  /// condition or s(v) - s(u) >= cycles.
  void require_apart(OpId u, OpId v, Cycle cycles, std::span<const Lit> condition = {});
  void require_apart(OpId u, OpId v, Cycle cycles, std::initializer_list<Lit> condition) {
    require_apart(u, v, cycles, std::span<const Lit>(condition.begin(), condition.size()));
  }
  /// condition or (s(v) - s(u)) mod II lies in [low, low + length] (residues, wrapping). length < 0 means never.
  void require_residue(OpId u, OpId v, Cycle low, Cycle length, std::span<const Lit> condition = {});
  void require_residue(OpId u, OpId v, Cycle low, Cycle length, std::initializer_list<Lit> condition) {
    require_residue(u, v, low, length, std::span<const Lit>(condition.begin(), condition.size()));
  }
  /// A literal that is true only if s(v) - s(u) >= cycles (the other way round it may be false): for clauses that ask for
  /// something else than what was found.
  Lit apart(OpId u, OpId v, Cycle cycles);
  /// A literal that is true whenever k(a) - k(b) + offset >= j (one direction is all that counting copies needs).
  Lit stage_difference_at_least(OpId a, OpId b, int offset, int j);

  // --- names ----------------------------------------------------------------------------------------------------------
  /// Names the constraints that follow, until the next call. Costs nothing unless options.named.
  void name(ConstraintFamily family, std::size_t index = 0, std::initializer_list<OpId> ops = {}) {
    if (options_.named) start_name({family, index, ops});
  }
  /// The guard of every constraint named so far. Some names are given more than once, and some guard nothing.
  const std::vector<std::pair<Lit, ConstraintName>>& names() const { return names_; }

  const Closure& closure() const { return closure_; }
  /// The schedule in the backend's model, group roles derived, starts as found. Pre: the last check said Yes.
  Schedule extract() const;

 private:
  void make_stages();
  void make_groups();
  void make_depths();
  void start_name(ConstraintName name);
  Lit apart_literal(OpId u, OpId v, Cycle cycles);

  const Problem& problem_;
  Constraints constraints_;  // a copy: callers pass temporaries
  ModelOptions options_;
  Backend backend_;
  Closure closure_;
  std::vector<IntVar> slots_;            // ops, then the origin
  std::vector<std::vector<Lit>> stage_;  // [op][j-1]: k >= j
  bool producer_group_ = false;
  Lit symmetry_ = kTrue;
  std::size_t groups_ = 1;
  std::vector<std::vector<Lit>> in_group_;
  std::vector<int> widths_;
  std::vector<std::vector<Lit>> group_width_;
  std::vector<std::vector<Lit>> depths_;  // [channel][j-1]
  std::map<std::pair<OpId, OpId>, Lit> same_group_;
  std::map<std::tuple<OpId, OpId, Cycle>, Lit> apart_;
  std::map<std::tuple<OpId, OpId, int>, Lit> stage_difference_;
  std::vector<std::pair<Lit, ConstraintName>> names_;
};

}  // namespace heddle::solver

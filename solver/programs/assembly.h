// Whole programs from the orders of the consumers' ops: the producer, turns on the tensor cores and waits for registers are added by rule.
#pragma once

#include <cstddef>
#include <vector>

#include "core/problem/problem.h"
#include "core/schedule/schedule.h"
#include "core/timing/program.h"
#include "solver/programs/group_rules.h"
#include "solver/programs/ring_depths.h"

namespace heddle::programs {

/// Where turns begin among the products of a group, counted in their order on its circle, ascending. A turn goes on to where the next one
/// begins; of one that begins at 1 of two products, 1 is the first and 0 the second. Empty: the group takes no turns.
using Runs = std::vector<std::size_t>;

/// What a consumer brings into a program, whatever the other groups do.
struct ProgramPart {
  Order order;                           ///< from where it takes its first turn
  std::vector<std::vector<OpId>> turns;  ///< its mmas, turn by turn; empty: it takes none
  std::vector<timing::AddedWait> waits;  ///< for registers
};

class Assembly {
 public:
  /// `groups` says which ops are in one group; its groups, their names and warps are kept. Group 0 of a problem with a producer group is
  /// the producer, all others are consumers. Pre: refused_demand() is empty.
  Assembly(const Problem& problem, const Schedule& groups, const Rules& rules);

  const Problem& problem() const { return problem_; }
  const Schedule& groups() const { return groups_; }
  const RingDepths& depths() const { return depths_; }
  std::size_t size() const { return consumers_.size(); }  ///< of consumers; everything below names them by their place
  GroupId group(std::size_t consumer) const { return consumers_[consumer]; }
  const GroupRules& rules(std::size_t consumer) const { return rules_[consumer]; }
  std::size_t place_of(GroupId group) const;  ///< size() for the producer

  /// Whether barriers keep an order of groups on the tensor cores (core/analysis/turns.h).
  bool takes_turns() const { return takes_turns_; }

  ProgramPart part(std::size_t consumer, const Order& order, const Runs& runs) const;

  /// All groups alternate: the first turn of each, the second of each ... Loads come in the order in which the first group that reads them
  /// reads them and lag as much as the least of their readers; a producer whose ops depend on each other stays as `groups` has it. Pre: one
  /// part per consumer, with as many turns in each as in the others, or none.
  timing::LoopProgram program(const std::vector<const ProgramPart*>& parts, const std::vector<int>& depths) const;
  /// The same with turns in any order.
  timing::LoopProgram program(const std::vector<Order>& orders, std::vector<OpId> turns, const std::vector<int>& depths) const;

  /// Budgets of all groups, the producer's included, fit the register file. `uses`: per consumer.
  bool registers_fit(const std::vector<std::int64_t>& uses) const;

 private:
  using Parts = std::vector<const ProgramPart*>;
  Order producer(const Parts& parts) const;
  timing::LoopProgram assembled(const Parts& parts, std::vector<OpId> turns, const std::vector<int>& depths) const;

  const Problem& problem_;
  Schedule groups_;
  RingDepths depths_;
  std::vector<GroupId> consumers_;
  std::vector<GroupRules> rules_;
  bool takes_turns_ = false;
  Order seed_producer_;
  bool producer_follows_ = false;
};

}  // namespace heddle::programs

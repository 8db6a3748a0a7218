// Two schedules of one problem side by side: what every op does differently, where the programs first part, and whether
// they are one program after all. A common shift of all starts and other numbers for the groups are no differences.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/analysis/alignment.h"
#include "core/problem/problem.h"
#include "core/schedule/schedule.h"

namespace heddle {

/// What is added to every start of `b`, so that it is aligned with `a`. Antisymmetric in a and b.
Cycle alignment_shift(const Schedule& a, const Schedule& b, const Alignment& alignment);

/// Per group of `from`, the group of `to` that it has most ops in common with; invalid where nothing is left that shares an
/// op. The producer group, if there is one, answers to itself. The inverse of the same the other way round.
std::vector<GroupId> match_groups(const Problem& problem, const Schedule& from, const Schedule& to);

struct OpDifference {
  OpId op;
  Cycle a_start = 0, b_start = 0;    ///< as each schedule has them, unshifted
  Cycle delta = 0;                   ///< b_start + shift - a_start: how many cycles later it starts in B
  bool slot = false, stage = false;  ///< of the aligned starts, each by its own II
  bool group = false;                ///< up to the numbers of groups
  bool differs() const { return delta != 0 || group; }
};

/// The earliest place where the two programs do not issue the same.
struct Divergence {
  GroupId group;          ///< of A; invalid when only a ring's depth or a group's warps differ
  OpId after;             ///< the last op that both issue alike; invalid at the start of the window
  OpId a_next, b_next;    ///< what each issues then; invalid where its stream ends
  Cycle at = 0;           ///< cycle in A's window
  ChannelId channel;      ///< where the streams agree and a ring's depth does not
  std::vector<OpId> ops;  ///< to highlight
  std::string sentence;
};

struct Difference {
  Cycle shift = 0;                ///< see alignment_shift
  std::vector<GroupId> groups;    ///< per group of B, that of A; see match_groups
  std::vector<OpDifference> ops;  ///< every op, in op order
  std::optional<Divergence> first;
  bool turns = false;  ///< one has barriers that keep turns on the tensor cores, the other has not
  /// Every group issues the same stream of instructions, every ring is as deep, every group as wide, and turns are kept in both or in
  /// neither: what is left are idle times and with them II.
  bool same_program() const { return !first && !turns; }
  bool same_times() const;  ///< no op differs
};

/// Pre: the sizes of both fit the problem; any timing is fine.
Difference compare_schedules(const Problem& problem, const Schedule& a, const Schedule& b, const Alignment& alignment = {});

/// The ops that start at another time or belong to another group, under the shift that leaves the fewest of them.
std::vector<OpId> differing_ops(const Problem& problem, const Schedule& a, const Schedule& b);

/// `schedule` with every start later by `shift`; starts may become negative, which pictures bear and the checker does not.
Schedule shifted(Schedule schedule, Cycle shift);

}  // namespace heddle

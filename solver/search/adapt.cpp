// Pushing is two fixpoints over the edges of the event graph: up from the lower limits, then down from the upper ones. The
// solutions of difference constraints are closed under minimum and maximum, so the second does not undo the first.
#include "solver/search/adapt.h"

#include <algorithm>
#include <numeric>

#include "core/analysis/period.h"
#include "solver/encoding/finish_schedule.h"
#include "solver/encoding/user.h"

namespace heddle::solver {
namespace {

constexpr std::size_t kMostGroupsRenumbered = 4;  // 24 ways

/// s(to) - s(from) >= cycles
struct Gap {
  std::size_t from, to;
  Cycle cycles;
};

std::vector<Gap> gaps_of(const Problem& problem, const Constraints& constraints, const Schedule& schedule) {
  std::vector<Gap> gaps;
  for (const EventEdge& e : event_graph(problem, schedule))
    if (e.from != e.to) gaps.push_back({e.from.index(), e.to.index(), e.weight - e.tokens * schedule.ii});
  for (const UserConstraint& c : constraints)
    if (c.enabled && c.kind == ConstraintKind::Before && c.ops.size() == 2)
      gaps.push_back({problem.find_op(c.ops[0]).index(), problem.find_op(c.ops[1]).index(), c.low});
  return gaps;
}

/// Applies `step` to every gap until nothing changes; false when that does not end.
bool settle(const std::vector<Gap>& gaps, std::size_t ops, auto&& step) {
  for (std::size_t round = 0; round <= ops; ++round) {
    bool changed = false;
    for (const Gap& gap : gaps) changed |= step(gap);
    if (!changed) return true;
  }
  return false;
}

}  // namespace

bool push_starts(const Problem& problem, const Constraints& constraints, Schedule& schedule) {
  const std::vector<Gap> gaps = gaps_of(problem, constraints, schedule);
  std::vector<Placement>& at = schedule.ops;
  const auto each_limit = [&](auto&& apply) {
    for (const UserConstraint& c : constraints)
      if (c.enabled && (c.kind == ConstraintKind::Pin || c.kind == ConstraintKind::Range))
        for (const std::string& name : c.ops)
          apply(at[problem.find_op(name).index()].start, c.low, c.kind == ConstraintKind::Pin ? c.low : c.high);
  };
  each_limit([](Cycle& start, Cycle low, Cycle) { start = std::max(start, low); });
  if (!settle(gaps, at.size(), [&](const Gap& gap) {
        const Cycle earliest = at[gap.from].start + gap.cycles;
        const bool late = at[gap.to].start < earliest;
        if (late) at[gap.to].start = earliest;
        return late;
      }))
    return false;
  each_limit([](Cycle& start, Cycle, Cycle high) { start = std::min(start, high); });
  return settle(gaps, at.size(), [&](const Gap& gap) {
    const Cycle latest = at[gap.to].start - gap.cycles;
    const bool early = at[gap.from].start > latest;
    if (early) at[gap.from].start = latest;
    return early;
  });
}

bool adapt(const Problem& problem, const Constraints& constraints, const Schedule& schedule,
           const std::function<bool(const Schedule&)>& judge) {
  const auto judge_both = [&](Schedule proposal) {
    finish_schedule(problem, constraints, proposal);
    if (judge(proposal)) return true;
    const std::vector<Placement> before = proposal.ops;
    if (!push_starts(problem, constraints, proposal)) return false;
    const bool moved = !std::equal(before.begin(), before.end(), proposal.ops.begin(),
                                   [](const Placement& a, const Placement& b) { return a.start == b.start; });
    if (!moved || std::any_of(proposal.ops.begin(), proposal.ops.end(), [](const Placement& p) { return p.start < 0; })) return false;
    finish_schedule(problem, constraints, proposal);
    return judge(proposal);
  };
  if (judge_both(schedule)) return true;
  if (!names_groups(constraints)) return false;
  const std::size_t first = problem.has_producer_group() ? 1 : 0;
  const auto groups = static_cast<std::size_t>(std::max(1, problem.max_groups));
  if (groups < first + 2 || groups > first + kMostGroupsRenumbered || schedule.groups.size() > groups) return false;
  std::vector<std::size_t> number(groups);
  std::iota(number.begin(), number.end(), std::size_t{0});
  while (std::next_permutation(number.begin() + static_cast<std::ptrdiff_t>(first), number.end())) {
    Schedule renumbered = schedule;
    renumbered.groups.assign(groups, {});
    for (Placement& p : renumbered.ops) p.group = GroupId(number[p.group.index()]);
    if (judge_both(std::move(renumbered))) return true;
  }
  return false;
}

}  // namespace heddle::solver

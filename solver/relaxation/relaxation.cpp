// One part is decided after the other; then the parts are put together by multiples of II.
#include "solver/relaxation/relaxation.h"

#include <algorithm>
#include <optional>

#include "core/base/integer_division.h"
#include "solver/encoding/closure.h"
#include "solver/relaxation/group_model.h"
#include "solver/relaxation/order_search.h"
#include "solver/relaxation/relaxed_problem.h"

namespace heddle::solver {
namespace {

constexpr Cycle kBeyondEverything = Cycle{1} << 62;
constexpr Cycle kHopeless = Cycle{1} << 32;

struct Found {
  std::vector<std::optional<Cycle>> starts;  ///< relative within a part
  std::vector<int> groups;                   ///< -1: known from the op, or not decided
};

/// Ops without a rule follow the rest of their component.
std::vector<Cycle> complete(const RelaxedProblem& relaxed, const std::vector<std::optional<Cycle>>& known) {
  const std::size_t n = relaxed.op_count;
  const auto together = [&](std::size_t u, std::size_t v) { return relaxed.component[u] == relaxed.component[v]; };
  std::vector<Cycle> start(n, 0);
  for (std::size_t v = 0; v < n; ++v) {
    std::optional<Cycle> least = known[v];
    for (std::size_t u = 0; u < n && !known[v]; ++u)
      if (known[u] && together(u, v)) least = std::max(least.value_or(kNoPath), *known[u] + relaxed.path(u, v));
    for (std::size_t u = 0; u < n && !least; ++u)  // no rule in the whole component: as early as its first member allows
      if (together(u, v)) least = relaxed.path(u, v);
    start[v] = *least;
  }
  return start;
}

/// Everything that must hold between starts, hand-offs under the found groups included.
std::vector<StartDifference> differences(const Problem& problem, const RelaxedProblem& relaxed, const std::vector<int>& groups) {
  std::vector<StartDifference> all;
  for (std::size_t u = 0; u < relaxed.op_count; ++u)
    for (std::size_t v = 0; v < relaxed.op_count; ++v)
      if (u != v && relaxed.path(u, v) != kNoPath) all.push_back({OpId(u), OpId(v), relaxed.path(u, v)});
  for (const Edge& e : problem.edges)
    if (groups[e.from.index()] >= 0 && groups[e.to.index()] >= 0 && groups[e.from.index()] != groups[e.to.index()])
      all.push_back({e.from, e.to, e.latency + e.handoff - e.distance * relaxed.ii});
  return all;
}

/// Components move apart by multiples of II until every difference holds. Nothing where no such move exists.
std::optional<std::vector<Cycle>> assemble(const Problem& problem, const RelaxedProblem& relaxed, const Found& found) {
  std::vector<Cycle> start = complete(relaxed, found.starts);
  const std::vector<StartDifference> all = differences(problem, relaxed, found.groups);
  std::vector<Cycle> move(relaxed.op_count, 0);  // per component, in multiples of II
  bool moved = true;
  for (std::size_t round = 0; moved; ++round) {
    moved = false;
    for (const StartDifference& d : all) {
      const std::size_t u = relaxed.component[d.from.index()], v = relaxed.component[d.to.index()];
      const Cycle least = move[u] + ceil_div(d.apart - (start[d.to.index()] - start[d.from.index()]), relaxed.ii);
      if (move[v] >= least) continue;
      if (u == v || round > relaxed.op_count) return {};
      move[v] = least;
      moved = true;
    }
  }
  for (std::size_t v = 0; v < start.size(); ++v) start[v] += move[relaxed.component[v]] * relaxed.ii;
  const Cycle least = *std::min_element(start.begin(), start.end());
  for (Cycle& s : start) s -= least;
  return start;
}

RelaxationAnswer decide(const Problem& problem, const RelaxedProblem& relaxed, bool with_groups, const Effort& effort,
                        const GroupRegisters* registers = nullptr) {
  RelaxationAnswer result;
  result.effort_left = effort.left;
  result.answer = relaxed.refuted ? Answer::No : Answer::Yes;
  Found found{std::vector<std::optional<Cycle>>(relaxed.op_count), std::vector<int>(relaxed.op_count, -1)};
  for (const RelaxedPart& part : relaxed.parts) {
    OrderModel model = make_order_model(part, relaxed.ii);
    if (with_groups && !model.refuted && !model.too_large) add_groups(model, problem, part, registers);
    OrderSearch search(part, std::move(model));
    const Answer answer = search.run(result.effort_left, effort.limits);
    result.conflicts += search.conflicts();
    if (answer == Answer::Yes) {
      const std::vector<Cycle> starts = search.starts();
      const std::vector<int> groups = search.groups();
      for (std::size_t i = 0; i < part.ops.size(); ++i) {
        found.starts[part.ops[i].index()] = starts[i];
        found.groups[part.ops[i].index()] = groups[i];
      }
      continue;
    }
    result.answer = answer;
    if (answer == Answer::No) return result;
  }
  if (result.answer != Answer::Yes || relaxed.op_count == 0) return result;
  const auto starts = assemble(problem, relaxed, found);
  if (!starts) {
    result.answer = Answer::Unknown;
    return result;
  }
  result.starts = *starts;
  const int first = problem.has_producer_group() ? 1 : 0;
  if (with_groups || !has_group_choice(problem))
    for (std::size_t v = 0; v < relaxed.op_count; ++v)
      result.groups.push_back(
          GroupId(static_cast<std::size_t>(problem.ops[v].variable_latency ? 0 : first + std::max(0, found.groups[v]))));
  return result;
}

}  // namespace

RelaxationAnswer decide_relaxation(const Problem& problem, const Constraints& constraints, Cycle ii, Relaxation relaxation,
                                   const Effort& effort) {
  const QueryLimits& limits = effort.limits;
  RelaxationAnswer result;
  result.effort_left = effort.left;
  // Ops that can move against each other by more than an II are first decided as if nothing held them together; their
  // differences come in only if what is found cannot be shifted into place.
  const bool with_groups = relaxation == Relaxation::Groups && has_group_choice(problem);
  const Kept kept = with_groups ? Kept::Whole : relaxation == Relaxation::FullestUnit ? Kept::FullestUnit : Kept::Units;
  for (const Cycle widest : {ii, 3 * ii, kAnyWidth}) {
    const std::int64_t before = result.conflicts;
    result = decide(problem, relax(problem, constraints, ii, {widest, kept}), with_groups, {result.effort_left, limits});
    result.conflicts += before;
    if (result.answer != Answer::Unknown || result.effort_left == 0 || limits.stop.stop_requested() || Clock::now() >= limits.deadline)
      break;
  }
  return result;
}

RelaxationAnswer decide_whole(const Problem& problem, const Constraints& constraints, Cycle ii, const WholeCaps& caps,
                              const Effort& effort) {
  return decide(problem, relax(problem, constraints, ii, {kAnyWidth, Kept::Whole, caps.stages}), true, effort, &caps.registers);
}

RelaxationBound relaxation_bound(const Problem& problem, const Constraints& constraints, const BoundSearch& search, const Effort& effort,
                                 const RelaxationFound& found) {
  RelaxationBound result{search.from, {}, 0};
  Cycle open = search.below.value_or(kBeyondEverything);  // not refuted, there or above
  for (Cycle step = 1; result.bound < open;) {
    const Cycle ii = std::min(result.bound + step - 1, result.bound + (open - result.bound) / 2);
    const RelaxationAnswer answer = decide_relaxation(problem, constraints, ii, search.relaxation, effort);
    result.conflicts += answer.conflicts;
    if (answer.answer == Answer::No && ii - search.from > kHopeless) {  // at no II, it seems: others say that better
      result.bound = search.from;
      break;
    }
    if (answer.answer == Answer::No) {
      result.bound = ii + 1;
      step *= 2;
    } else {
      open = ii;
      if (answer.answer == Answer::Yes) {
        if (found) open = std::min(open, found(answer, ii));
        result.feasible = open;
      }
    }
    if (effort.limits.stop.stop_requested() || Clock::now() >= effort.limits.deadline) break;
  }
  return result;
}

}  // namespace heddle::solver

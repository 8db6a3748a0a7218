// One part after the other; then the parts are put together by multiples of II.
#include "solver/relaxation/relaxation.h"

#include <algorithm>
#include <optional>

#include "core/base/integer_division.h"
#include "solver/relaxation/order_search.h"
#include "solver/relaxation/relaxed_problem.h"

namespace heddle::solver {
namespace {

constexpr Cycle kBeyondEverything = Cycle{1} << 62;

/// Starts of all ops from those of the parts: ops without a rule follow the rest of their component, then components move
/// apart by multiples of II until every difference holds. Nothing where no such move exists.
std::optional<std::vector<Cycle>> assemble(const RelaxedProblem& relaxed, const std::vector<std::optional<Cycle>>& known) {
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
  // In multiples of II: move[component of v] - move[component of u] >= ceil((path - (start[v] - start[u])) / II).
  std::vector<Cycle> move(n, 0);
  for (std::size_t round = 0;; ++round) {
    bool moved = false;
    for (std::size_t u = 0; u < n; ++u)
      for (std::size_t v = 0; v < n; ++v) {
        if (relaxed.path(u, v) == kNoPath) continue;
        const Cycle least = move[relaxed.component[u]] + ceil_div(relaxed.path(u, v) - (start[v] - start[u]), relaxed.ii);
        if (move[relaxed.component[v]] >= least) continue;
        if (together(u, v) || round > n) return {};
        move[relaxed.component[v]] = least;
        moved = true;
      }
    if (!moved) break;
  }
  for (std::size_t v = 0; v < n; ++v) start[v] += move[relaxed.component[v]] * relaxed.ii;
  const Cycle least = *std::min_element(start.begin(), start.end());
  for (Cycle& s : start) s -= least;
  return start;
}

RelaxationAnswer decide(const RelaxedProblem& relaxed, std::uint64_t effort, const SearchLimits& limits) {
  RelaxationAnswer result;
  result.effort_left = effort;
  result.answer = relaxed.refuted ? Answer::No : Answer::Yes;
  std::vector<std::optional<Cycle>> known(relaxed.op_count);
  for (const RelaxedPart& part : relaxed.parts) {
    OrderSearch search(part, relaxed.ii);
    const Answer answer = search.run(result.effort_left, limits);
    result.conflicts += search.conflicts();
    if (answer == Answer::Yes) {
      const std::vector<Cycle> starts = search.starts();
      for (std::size_t i = 0; i < part.ops.size(); ++i) known[part.ops[i].index()] = starts[i];
      continue;
    }
    result.answer = answer;
    if (answer == Answer::No) return result;
  }
  if (result.answer == Answer::Yes && relaxed.op_count > 0) {
    const auto starts = assemble(relaxed, known);
    if (starts)
      result.starts = *starts;
    else
      result.answer = Answer::Unknown;
  }
  return result;
}

}  // namespace

RelaxationAnswer decide_relaxation(const Problem& problem, const Constraints& constraints, Cycle ii, std::uint64_t effort,
                                   const SearchLimits& limits) {
  RelaxationAnswer result;
  result.effort_left = effort;
  // Ops that can move against each other by more than an II are first decided as if nothing held them together; their
  // differences come in only if what is found cannot be shifted into place.
  for (const Cycle widest : {ii, 3 * ii, -2 * kNoPath}) {
    const std::int64_t before = result.conflicts;
    result = decide(relax(problem, constraints, ii, widest), result.effort_left, limits);
    result.conflicts += before;
    if (result.answer != Answer::Unknown || result.effort_left == 0 || limits.stop.stop_requested() || Clock::now() >= limits.deadline) break;
  }
  return result;
}

RelaxationBound relaxation_bound(const Problem& problem, const Constraints& constraints, Cycle from, std::uint64_t effort,
                                 const SearchLimits& limits) {
  RelaxationBound result{from, {}, 0};
  Cycle open = kBeyondEverything;  // not refuted, there or above
  for (Cycle step = 1; result.bound < open;) {
    const Cycle ii = std::min(result.bound + step - 1, result.bound + (open - result.bound) / 2);
    const RelaxationAnswer answer = decide_relaxation(problem, constraints, ii, effort, limits);
    result.conflicts += answer.conflicts;
    if (answer.answer == Answer::No) {
      result.bound = ii + 1;
      if (ii >= kBeyondEverything / 4) break;
      step *= 2;
    } else {
      open = ii;
      if (answer.answer == Answer::Yes) result.feasible = ii;
    }
    if (limits.stop.stop_requested() || Clock::now() >= limits.deadline) break;
  }
  return result;
}

}  // namespace heddle::solver

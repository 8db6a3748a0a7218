// The longest chain of one iteration and the orders of stages that are demanded decide, or the bound on stages where it is small.
#include "solver/search/stage_range.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "core/analysis/stage_bound.h"
#include "core/base/saturate.h"

namespace heddle::solver {
namespace {

// Stage numbers cost little in refutations, but not nothing (layernorm: 0.05 s with 8, 0.10 with 20, 0.14 with 30).
constexpr int kFewStages = 12, kMostStages = 64;
// Small graphs can afford more: so many literals for stage numbers are no burden.
constexpr std::size_t kStageLiterals = 4000, kMostEver = 1024;

int most_stages(const Problem& problem) {
  return static_cast<int>(std::clamp<std::size_t>(kStageLiterals / std::max<std::size_t>(1, problem.ops.size()), kMostStages, kMostEver));
}

/// Longest chain of one iteration with every hand-off paid.
Cycle longest_chain(const Problem& problem) {
  std::vector<Cycle> ready(problem.ops.size(), 0);
  Cycle longest = 0;
  for (std::size_t round = 0; round <= problem.ops.size(); ++round) {
    bool changed = false;
    for (const Edge& e : problem.edges) {
      if (e.distance > 0) continue;
      const Cycle at = ready[e.from.index()] + e.latency + e.handoff;
      if (at > ready[e.to.index()]) {
        ready[e.to.index()] = at;
        longest = std::max(longest, at);
        changed = true;
      }
    }
    if (!changed) break;
  }
  return longest;
}

/// The most stages that demanded orders alone set apart; 0 where they go round in a circle, which no schedule can.
int stages_demanded(const Problem& problem, const Constraints& constraints) {
  struct Step {
    std::size_t from, to;
    std::int64_t stages;
  };
  std::vector<Step> steps;
  for (const UserConstraint& c : constraints)
    if (c.enabled && c.kind == ConstraintKind::EarlierStage && c.ops.size() == 2)
      steps.push_back({problem.find_op(c.ops[0]).index(), problem.find_op(c.ops[1]).index(), c.low});
  if (steps.empty()) return 0;
  for (const Edge& e : problem.edges) steps.push_back({e.from.index(), e.to.index(), -e.distance});
  std::vector<std::int64_t> stage(problem.ops.size(), 0);
  for (std::size_t round = 0; round <= problem.ops.size(); ++round) {
    bool changed = false;
    for (const Step& step : steps)
      if (const std::int64_t least = sat_add(stage[step.from], step.stages); least > stage[step.to]) stage[step.to] = least, changed = true;
    if (!changed) return static_cast<int>(std::min<std::int64_t>(*std::max_element(stage.begin(), stage.end()), kMostEver));
  }
  return 0;
}

}  // namespace

std::string StageRange::text() const { return covers_all ? "any number of stages" : fmt::format("at most {} stages", stages); }

StageRange stage_range(const Problem& problem, const Constraints& constraints, int asked, Cycle ii, bool any) {
  const Cycle needed = longest_chain(problem) / std::max<Cycle>(1, ii) + 2;
  asked = std::clamp(asked, 1, 256);
  const int demanded = stages_demanded(problem, constraints);
  const int usual =
      std::max(demanded + 1, static_cast<int>(std::clamp<Cycle>(needed + demanded, asked, std::max(asked, most_stages(problem) / 2))));
  const std::optional<int> enough = stage_bound(problem, constraints, ii);
  if (enough && *enough <= std::max(usual, any ? most_stages(problem) : kFewStages)) return {*enough, true};
  return {usual, false};
}

int capped_stages(const Constraints& constraints, int stages) {
  for (const UserConstraint& c : constraints)
    if (c.enabled && c.kind == ConstraintKind::MaxStages && c.high >= 1) stages = static_cast<int>(std::min<std::int64_t>(stages, c.high));
  return stages;
}

}  // namespace heddle::solver

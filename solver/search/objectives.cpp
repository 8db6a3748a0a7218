// Each objective is a number and a literal "at most b"; the search between the best value seen and an arithmetic lower
// bound is the same for all of them.

#include "solver/search/objectives.h"

#include <algorithm>

#include "solver/encoding/families.h"

namespace heddle::solver {
namespace {

std::int64_t memory_in_use(const Problem& problem, const Schedule& schedule, Space space) {
  std::int64_t total = space == Space::Smem ? problem.resident_smem : problem.resident_columns;
  for (std::size_t c = 0; c < problem.channels.size(); ++c)
    if (problem.channels[c].space == space) total += problem.channels[c].size * schedule.depths[c];
  return total;
}

std::int64_t lower_bound(const Problem& problem, Objective objective) {
  switch (objective) {
    case Objective::Stages:
    case Objective::Warps: return 1;
    case Objective::Smem:
    case Objective::Tmem: {
      const Space space = objective == Objective::Smem ? Space::Smem : Space::Tmem;
      std::int64_t total = space == Space::Smem ? problem.resident_smem : problem.resident_columns;
      for (const Channel& c : problem.channels)
        if (c.space == space && !c.only_if_crossing) total += c.size;
      return total;
    }
    case Objective::Registers: return 0;
  }
  return 0;
}

/// A literal that, when assumed, keeps the objective at or below `bound`.
Lit at_most(LiveModel& live, Objective objective, std::int64_t bound) {
  Model& model = live.model();
  Backend& backend = model.backend();
  const Problem& problem = model.problem();
  if (objective == Objective::Registers) return live.registers().budget_at_most(bound);
  const Lit assumed = backend.new_lit();
  switch (objective) {
    case Objective::Stages:
      for (std::size_t v = 0; v < model.op_count(); ++v)
        backend.add_clause({-assumed, -model.stage_at_least(OpId(v), static_cast<int>(bound))});
      break;
    case Objective::Warps: backend.add_at_most(warp_terms(model), bound, assumed); break;
    case Objective::Smem:
      backend.add_at_most(memory_terms(model, Space::Smem), bound - problem.resident_smem, assumed);
      break;
    case Objective::Tmem:
      backend.add_at_most(memory_terms(model, Space::Tmem), bound - problem.resident_columns, assumed);
      break;
    case Objective::Registers: break;
  }
  return assumed;
}

}  // namespace

const char* to_string(Objective objective) {
  switch (objective) {
    case Objective::Stages: return "stages";
    case Objective::Warps: return "warps";
    case Objective::Smem: return "smem";
    case Objective::Tmem: return "tmem";
    case Objective::Registers: return "registers";
  }
  return "";
}

std::int64_t objective_value(const Problem& problem, const Schedule& schedule, Objective objective) {
  std::int64_t value = 0;
  switch (objective) {
    case Objective::Stages: return stage_count(schedule);
    case Objective::Warps:
      for (const ScheduleGroup& g : schedule.groups) value += g.warps;
      return value;
    case Objective::Smem: return memory_in_use(problem, schedule, Space::Smem);
    case Objective::Tmem: return memory_in_use(problem, schedule, Space::Tmem);
    case Objective::Registers:
      for (const ScheduleGroup& g : schedule.groups) value = std::max<std::int64_t>(value, g.registers);
      return value;
  }
  return value;
}

Lit objective_at_most(LiveModel& live, Objective objective, std::int64_t bound) { return at_most(live, objective, bound); }

std::vector<ObjectiveValue> optimize_objectives(LiveModel& live, const std::vector<Objective>& order, Schedule& best,
                                                const std::function<void(const Schedule&)>& improved,
                                                const std::function<void(const ObjectiveValue&)>& settled) {
  const Problem& problem = live.model().problem();
  std::vector<ObjectiveValue> values;
  std::vector<Lit> fixed;
  std::optional<std::int64_t> register_cap;
  bool out_of_time = false;
  for (Objective objective : order) {
    std::int64_t low = lower_bound(problem, objective);
    std::int64_t value = objective_value(problem, best, objective);
    const std::int64_t step = objective == Objective::Registers ? std::max<std::int64_t>(1, problem.limits.register_granule) : 1;
    while (value > low && !out_of_time) {
      // One below first: most often the incumbent is the optimum already, and then a single refutation ends it. Memory has
      // many steps between, so it is bisected.
      const bool bisect = objective == Objective::Smem || objective == Objective::Tmem;
      const std::int64_t bound = bisect ? low + (value - 1 - low) / 2 : value - step;
      std::vector<Lit> assumptions = fixed;
      assumptions.push_back(at_most(live, objective, bound));
      std::optional<std::int64_t> cap = register_cap;
      if (objective == Objective::Registers) cap = bound;
      Schedule better;
      const Answer answer = live.check(assumptions, better, cap);
      if (answer == Answer::Yes) {
        best = better;
        value = objective_value(problem, best, objective);
        improved(best);
      } else if (answer == Answer::No) {
        low = bound + step;
      } else {
        out_of_time = true;
      }
    }
    values.push_back({to_string(objective), value, value <= low && !out_of_time});
    settled(values.back());
    if (out_of_time) continue;
    fixed.push_back(at_most(live, objective, value));
    if (objective == Objective::Registers) register_cap = value;
  }
  return values;
}

}  // namespace heddle::solver

// Each objective is a number and a literal "at most b"; the search between the best value seen and an arithmetic lower
// bound is the same for all of them.

#include "solver/search/objectives.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/analysis/usage.h"
#include "solver/encoding/families.h"

namespace heddle::solver {
namespace {

constexpr std::uint64_t kGuessEffort = kEffortPerSecond / 2;

std::int64_t lower_bound(const Model& model, Objective objective) {
  const Problem& problem = model.problem();
  switch (objective) {
    case Objective::Stages:
    case Objective::Warps: return 1;
    case Objective::Smem:
    case Objective::Tmem: {
      const Space space = objective == Objective::Smem ? Space::Smem : Space::Tmem;
      std::int64_t total = space == Space::Smem ? problem.resident_smem : problem.resident_columns;
      for (const Channel& c : problem.channels)
        if (c.space == space) total += c.size * least_depth(problem, model.closure(), model.ii(), c);
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
  const auto make = [&] {
    const Lit assumed = backend.new_lit();
    switch (objective) {
      case Objective::Stages:
        for (std::size_t v = 0; v < model.op_count(); ++v)
          backend.add_clause({-assumed, -model.stage_at_least(OpId(v), static_cast<int>(bound))});
        break;
      case Objective::Warps: require_warps_at_most(model, bound, assumed); break;
      case Objective::Smem: backend.add_at_most(memory_terms(model, Space::Smem), bound - problem.resident_smem, assumed); break;
      case Objective::Tmem: backend.add_at_most(memory_terms(model, Space::Tmem), bound - problem.resident_columns, assumed); break;
      case Objective::Registers: break;
    }
    return assumed;
  };
  return live.switch_named(fmt::format("{} {}", to_string(objective), bound), make);
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
  return heddle::objective_value(problem, schedule, to_string(objective)).value_or(0);
}

Lit objective_at_most(LiveModel& live, Objective objective, std::int64_t bound) { return at_most(live, objective, bound); }

std::vector<ObjectiveValue> optimize_objectives(LiveModel& live, const ObjectiveSearch& search, Schedule& best) {
  const Problem& problem = live.model().problem();
  const std::vector<std::int64_t>& floor = search.floor;
  std::vector<ObjectiveValue> values;
  std::vector<Lit> fixed;
  std::optional<std::int64_t> register_cap;
  bool out_of_time = false;
  std::size_t at_floor = 0;  // this many values are the floor's: then it bounds the next one too
  for (Objective objective : search.order) {
    std::int64_t low = lower_bound(live.model(), objective);
    if (at_floor == values.size() && at_floor < floor.size()) low = std::max(low, floor[at_floor]);
    std::int64_t value = objective_value(problem, best, objective);
    const std::int64_t step = objective == Objective::Registers ? std::max<std::int64_t>(1, problem.limits.register_granule) : 1;
    // One below first: most often the incumbent is the optimum already, and then a single refutation ends it. Memory has many
    // steps between, so it is bisected; but a schedule whose rings are all as short as can be is often there, and found
    // several times faster than one half way (attention backward on H100: 0.2 s against 1.7 s).
    const bool memory = objective == Objective::Smem || objective == Objective::Tmem;
    bool shortest = memory;
    while (value > low && !out_of_time) {
      const bool guess = std::exchange(shortest, false);
      const std::int64_t bound = guess ? low : memory ? low + (value - 1 - low) / 2 : value - step;
      if (search.refuted) {
        std::vector<std::int64_t> bounds;
        for (const ObjectiveValue& known : values) bounds.push_back(known.value);
        bounds.push_back(bound);
        if (search.refuted(bounds)) {
          low = bound + step;
          continue;
        }
      }
      std::vector<Lit> assumptions = fixed;
      assumptions.push_back(at_most(live, objective, bound));
      std::optional<std::int64_t> cap = register_cap;
      if (objective == Objective::Registers) cap = bound;
      Schedule better;
      const Answer answer = live.check(assumptions, better, cap, guess ? kGuessEffort : 0);
      if (answer == Answer::Yes) {
        best = better;
        value = objective_value(problem, best, objective);
        if (search.improved) search.improved(best);
      } else if (answer == Answer::No) {
        low = bound + step;
      } else {
        out_of_time = !guess;
      }
    }
    values.push_back({to_string(objective), value, value <= low && !out_of_time});
    if (at_floor + 1 == values.size() && at_floor < floor.size() && value == floor[at_floor]) ++at_floor;
    if (search.settled) search.settled(values.back());
    if (out_of_time) continue;
    fixed.push_back(at_most(live, objective, value));
    if (objective == Objective::Registers) register_cap = value;
  }
  return values;
}

}  // namespace heddle::solver

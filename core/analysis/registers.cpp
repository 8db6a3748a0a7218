#include "core/analysis/registers.h"

#include <algorithm>
#include <set>

#include "core/analysis/usage_curve.h"
#include "core/base/saturate.h"

namespace heddle {
namespace {

bool is_register_edge(const Problem& problem, const Edge& edge) {
  return edge.value.valid() && problem.value(edge.value).space == Space::Register;
}

}  // namespace

std::vector<Cycle> register_deaths(const Problem& problem, const Schedule& schedule) {
  std::vector<Cycle> deaths(problem.values.size(), 0);
  for (std::size_t x = 0; x < problem.values.size(); ++x) {
    if (problem.values[x].producer.valid()) deaths[x] = schedule.start(problem.values[x].producer) + 1;
  }
  for (const Edge& e : problem.edges) {
    if (!is_register_edge(problem, e)) continue;
    if (schedule.group(e.to) != schedule.group(problem.value(e.value).producer)) continue;
    const Cycle end = sat_add(sat_add(schedule.start(e.to), sat_mul(e.distance, schedule.ii)), e.hold);
    deaths[e.value.index()] = std::max(deaths[e.value.index()], end);
  }
  return deaths;
}

std::vector<std::int64_t> foreign_registers(const Problem& problem, const Schedule& schedule) {
  std::vector<std::int64_t> foreign(problem.ops.size(), 0);
  std::set<std::tuple<OpId, ValueId, int>> counted;
  for (const Edge& e : problem.edges) {
    if (!is_register_edge(problem, e)) continue;
    const Value& value = problem.value(e.value);
    if (schedule.group(e.to) == schedule.group(value.producer)) continue;
    if (counted.insert({e.to, e.value, e.distance}).second) foreign[e.to.index()] += value.registers;
  }
  return foreign;
}

std::vector<RegisterUse> register_use(const Problem& problem, const Schedule& schedule) {
  struct Live {
    Cycle begin, end;
    std::int64_t registers;
  };
  std::vector<RegisterUse> uses(schedule.groups.size());
  std::vector<std::vector<Live>> lives(schedule.groups.size());
  const auto deaths = register_deaths(problem, schedule);
  for (std::size_t x = 0; x < problem.values.size(); ++x) {
    const Value& value = problem.values[x];
    if (value.space != Space::Register || !value.producer.valid()) continue;
    const std::size_t group = schedule.group(value.producer).index();
    uses[group].touched = true;
    lives[group].push_back({schedule.start(value.producer), deaths[x], value.registers});
  }
  for (const Edge& e : problem.edges)
    if (is_register_edge(problem, e)) uses[schedule.group(e.to).index()].touched = true;
  const auto foreign = foreign_registers(problem, schedule);
  for (std::size_t y = 0; y < problem.ops.size(); ++y) {
    const Placement& place = schedule.ops[y];
    RegisterUse& use = uses[place.group.index()];
    if (!use.touched) continue;
    std::int64_t sum = foreign[y] + problem.resident_registers + problem.limits.register_overhead;
    for (const Live& live : lives[place.group.index()])
      sum = sat_add(sum, sat_mul(live.registers, copies_alive(live.begin, live.end, place.start, schedule.ii)));
    if (!use.at.valid() || sum > use.peak) {
      use.peak = sum;
      use.at = OpId(y);
    }
  }
  for (RegisterUse& use : uses)
    if (!use.touched) use.peak = problem.limits.producer_registers;
  return uses;
}

std::int64_t register_budget(const Limits& limits, std::int64_t use) {
  const std::int64_t granule = std::max<std::int64_t>(1, limits.register_granule);
  return sat_mul(ceil_div(use, granule), granule);
}

void set_least_budgets(const Problem& problem, Schedule& schedule) {
  const std::vector<RegisterUse> uses = register_use(problem, schedule);
  for (std::size_t g = 0; g < uses.size(); ++g)
    schedule.groups[g].registers = static_cast<int>(register_budget(problem.limits, uses[g].peak));
}

}  // namespace heddle

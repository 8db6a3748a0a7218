// Measures of schedules, and which steps make the front.
#include "core/answers/pareto.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/analysis/channels.h"
#include "core/analysis/registers.h"
#include "core/base/saturate.h"

namespace heddle {
namespace {

int width_of(const Op& op) { return op.aligned ? (op.warps + 3) / 4 * 4 : op.warps; }

/// One slot of every ring that is always there.
std::int64_t one_slot_each(const Problem& problem, Space space) {
  std::int64_t total = space == Space::Tmem ? problem.resident_columns : problem.resident_smem;
  for (const Channel& c : problem.channels)
    if (c.space == space && !c.only_if_crossing) total += c.size;
  return total;
}

/// As good in everything, and not the same.
bool beats(const ParetoStep& a, const ParetoStep& b) {
  return a.schedule->ii <= b.schedule->ii && within(a.values, b.values) && (a.schedule->ii < b.schedule->ii || a.values != b.values);
}

}  // namespace

bool within(const std::vector<std::int64_t>& values, const std::vector<std::int64_t>& caps) {
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i] > caps[i]) return false;
  return true;
}

const char* to_string(Resource resource) {
  switch (resource) {
    case Resource::Warps: return "warps";
    case Resource::Registers: return "registers";
    case Resource::Smem: return "smem";
    case Resource::Stages: return "stages";
    case Resource::Tmem: return "tmem";
  }
  return "";
}

std::string amount_text(std::int64_t amount, Resource resource) {
  const char* plural = amount == 1 ? "" : "s";
  switch (resource) {
    case Resource::Warps: return fmt::format("{} warp{}", amount, plural);
    case Resource::Registers: return fmt::format("{} register{} per thread", amount, plural);
    case Resource::Smem: return fmt::format("{} byte{} of shared memory", amount, plural);
    case Resource::Stages: return fmt::format("{} stage{}", amount, plural);
    case Resource::Tmem: return fmt::format("{} column{} of tensor memory", amount, plural);
  }
  return "";
}

std::int64_t resource_value(const Problem& problem, const Schedule& schedule, Resource resource) {
  switch (resource) {
    case Resource::Stages: return stage_count(schedule);
    case Resource::Smem: return allocated(problem, schedule, Space::Smem);
    case Resource::Tmem: return rounded_columns(allocated(problem, schedule, Space::Tmem));
    case Resource::Warps:
    case Resource::Registers: break;
  }
  std::int64_t warps = 0, registers = 0;
  const std::vector<RegisterUse> use = register_use(problem, schedule);
  for (std::size_t g = 0; g < schedule.groups.size(); ++g) {
    if (schedule.groups[g].warps == 0) continue;
    warps += schedule.groups[g].warps;
    registers = std::max(registers, register_budget(problem.limits, use[g].peak));
  }
  return resource == Resource::Warps ? warps : registers;
}

std::int64_t least_possible(const Problem& problem, Resource resource) {
  switch (resource) {
    case Resource::Stages: return 1;
    case Resource::Smem: return one_slot_each(problem, Space::Smem);
    case Resource::Tmem: return rounded_columns(one_slot_each(problem, Space::Tmem));
    case Resource::Warps: {
      int producer = 0, consumer = 0;
      for (const Op& op : problem.ops) (op.variable_latency ? producer : consumer) = std::max(op.variable_latency ? producer : consumer, width_of(op));
      return producer + consumer;
    }
    case Resource::Registers: {
      std::vector<std::int64_t> defined(problem.ops.size(), 0);
      for (const Value& v : problem.values) defined[v.producer.index()] += v.registers;
      const std::int64_t most = defined.empty() ? 0 : *std::max_element(defined.begin(), defined.end());
      return most > 0 ? register_budget(problem.limits, most + problem.resident_registers + problem.limits.register_overhead) : 0;
    }
  }
  return 0;
}

std::int64_t next_below(const Problem& problem, std::int64_t amount, Resource resource) {
  constexpr std::int64_t kFewestColumns = 32;
  if (amount <= 0) return -1;
  if (resource == Resource::Registers) return std::max<std::int64_t>(0, amount - std::max<std::int64_t>(1, problem.limits.register_granule));
  if (resource == Resource::Tmem) return amount > kFewestColumns ? amount / 2 : 0;
  return amount - 1;
}

Cycle ii_limit(const Pareto& front) {
  if (front.steps.empty() || !front.steps[0].schedule) return 0;
  return sat_mul(front.steps[0].schedule->ii, front.max_ii_factor);
}

bool settled(const Pareto& front, const ParetoStep& step) {
  if (step.status == Status::Optimal || step.status == Status::Infeasible) return true;
  return ii_limit(front) > 0 && step.lower_bound > ii_limit(front);
}

std::vector<std::size_t> front_points(const Pareto& front) {
  const std::vector<ParetoStep>& steps = front.steps;
  std::vector<std::size_t> points;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (!steps[i].schedule) continue;
    bool on_front = true;
    for (std::size_t j = 0; j < steps.size() && on_front; ++j) {
      if (i == j || !steps[j].schedule) continue;
      const bool same = steps[i].schedule->ii == steps[j].schedule->ii && steps[i].values == steps[j].values;
      on_front = !beats(steps[j], steps[i]) && !(same && j < i);
    }
    if (on_front) points.push_back(i);
  }
  std::sort(points.begin(), points.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(steps[a].schedule->ii, steps[a].values) < std::pair(steps[b].schedule->ii, steps[b].values);
  });
  return points;
}

}  // namespace heddle

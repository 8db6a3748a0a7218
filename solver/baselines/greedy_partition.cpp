// Schedule first, partition afterwards, as Meta's fork of Triton does (facebookexperimental/triton,
// ModuloSchedulePass.cpp): a modulo schedule by Rau's method, one group per unit, and then the pair with the strongest
// coupling is merged while the merged group can still run within II.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/base/integer_division.h"
#include "solver/baselines/agents.h"
#include "solver/baselines/methods.h"
#include "solver/baselines/rau.h"

namespace heddle::solver {
namespace {

constexpr double kCoupling = 30;  // per edge, divided by the cycles between its ends

/// The unit an op holds longest, ports left aside.
UnitId home_unit(const Problem& problem, const Op& op) {
  const UnitUse* longest = nullptr;
  const auto weight = [&](const UnitUse& use) {
    const UnitRole role = problem.unit(use.unit).role;
    return std::pair(role != UnitRole::Smem && role != UnitRole::Sync, role == UnitRole::Tensor ? use.duration + 1 : use.duration);
  };
  for (const UnitUse& use : op.uses)
    if (!longest || weight(use) > weight(*longest)) longest = &use;
  return longest ? longest->unit : UnitId{};
}

class Partition {
 public:
  Partition(const Problem& problem, const ModuloSchedule& found) : problem_(problem), found_(found), group_(problem.ops.size(), 0) {
    const RowBlocks blocks = row_blocks(problem, static_cast<int>(problem.ops.size()));
    std::map<std::pair<int, int>, int> numbers;
    const int first = problem.has_producer_group() ? 1 : 0;
    for (std::size_t v = 0; v < problem.ops.size(); ++v) {
      if (problem.ops[v].variable_latency) continue;
      const UnitId unit = home_unit(problem, problem.ops[v]);
      const std::pair key{unit.valid() ? static_cast<int>(unit.index()) : -1, blocks.of[v]};
      const auto [entry, fresh] = numbers.try_emplace(key, first + static_cast<int>(numbers.size()));
      group_[v] = entry->second;
      if (fresh)
        names_.push_back(fmt::format("{}{}", unit.valid() ? problem.unit(unit).name : "other",
                                     blocks.count > 1 ? fmt::format("/{}", blocks.of[v]) : ""));
    }
    first_ = first;
  }

  const std::vector<int>& groups() const { return group_; }
  int count() const {
    return first_ + static_cast<int>(std::count_if(names_.begin(), names_.end(), [](const std::string& name) { return !name.empty(); }));
  }

  /// The pair with the strongest coupling that may be merged; `forced`: even if it does not run within II.
  bool merge(bool forced, std::vector<std::string>& log) {
    std::map<std::pair<int, int>, double> coupling;
    for (const Edge& e : problem_.edges) {
      const int a = group_[e.from.index()], b = group_[e.to.index()];
      if (a == b || a < first_ || b < first_) continue;
      const Cycle gap = std::max<Cycle>(1, found_.starts[e.to.index()] + e.distance * found_.ii - found_.starts[e.from.index()]);
      coupling[std::minmax(a, b)] += kCoupling / static_cast<double>(gap);
    }
    if (forced)  // groups without an edge between them too
      for (std::size_t a = 0; a < names_.size(); ++a)
        for (std::size_t b = a + 1; b < names_.size(); ++b)
          if (!names_[a].empty() && !names_[b].empty())
            coupling.try_emplace({first_ + static_cast<int>(a), first_ + static_cast<int>(b)}, 0);
    const std::pair<const std::pair<int, int>, double>* best = nullptr;
    for (const auto& entry : coupling)
      if ((!best || entry.second > best->second) && (forced || makespan(entry.first.first, entry.first.second) <= found_.ii)) best = &entry;
    if (!best) return false;
    const auto [a, b] = best->first;
    std::string& name_a = names_[static_cast<std::size_t>(a - first_)];
    std::string& name_b = names_[static_cast<std::size_t>(b - first_)];
    log.push_back(fmt::format("merge {} and {}: coupling {:.2f}, together {} of II {}{}", name_a, name_b, best->second, makespan(a, b),
                              found_.ii, forced ? fmt::format("; forced, the kernel allows {} groups", problem_.max_groups) : ""));
    std::replace(group_.begin(), group_.end(), b, a);
    name_a += "+" + name_b;
    name_b.clear();
    return true;
  }

 private:
  /// One stream in the order of the starts, each op after those of the same group that it needs.
  Cycle makespan(int a, int b) const {
    std::vector<std::size_t> ops;
    for (std::size_t v = 0; v < group_.size(); ++v)
      if (group_[v] == a || group_[v] == b) ops.push_back(v);
    std::stable_sort(ops.begin(), ops.end(), [&](std::size_t x, std::size_t y) { return found_.starts[x] < found_.starts[y]; });
    std::vector<Cycle> start(group_.size(), 0);
    std::vector<bool> done(group_.size(), false);
    Cycle now = 0, end = 0;
    for (const std::size_t v : ops) {
      for (const Edge& e : problem_.edges)
        if (e.to.index() == v && e.distance == 0 && done[e.from.index()]) now = std::max(now, start[e.from.index()] + e.latency);
      start[v] = now;
      done[v] = true;
      now += problem_.ops[v].window;
      end = std::max(end, start[v] + std::max(problem_.ops[v].window, problem_.ops[v].latency));
    }
    return end;
  }

  const Problem& problem_;
  const ModuloSchedule& found_;
  std::vector<int> group_;
  std::vector<std::string> names_;
  int first_ = 0;
};

}  // namespace

Result<BaselineOutcome> run_greedy_partition(const BaselineInput& input) {
  std::vector<std::string> log;
  const auto found =
      rau_schedule(input.problem, {input.setting("budget"), input.setting("window") != 0}, groups_by_block(input.problem), input.stop, log);
  if (!found) return Error::input("greedy-partition finds no schedule: " + log.back());
  Partition partition(input.problem, *found);
  log.push_back(fmt::format("{} groups to begin with, one per unit and row block", partition.count()));
  while (partition.merge(false, log)) {
  }
  while (partition.count() > input.problem.max_groups && partition.merge(true, log)) {
  }
  return partitioned(input, *found, partition.groups(),
                     {"greedy-partition",
                      "Rau's modulo schedule first, warp groups afterwards by merging the most strongly coupled pair; hand-offs "
                      "between the groups were not "
                      "known when ops were placed. Groups begin per unit and row block; ring depths are those that help and fit.",
                      std::move(log)});
}

}  // namespace heddle::solver

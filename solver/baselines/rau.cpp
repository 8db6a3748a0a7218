// Iterative modulo scheduling (B. R. Rau, "Iterative modulo scheduling", MICRO 27, 1994): ops by height, each in the first free slot of one
// II; where there is none the op is placed all the same and what is in its way is scheduled again.
#include "solver/baselines/rau.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text_style.h"
#include "solver/baselines/agents.h"
#include "solver/baselines/methods.h"

namespace heddle::solver {
namespace {

std::optional<ModuloSchedule> at_ii(const Problem& problem, Cycle ii, std::int64_t budget) {
  const std::size_t n = problem.ops.size();
  ModuloTable table(problem, ii);
  for (std::size_t v = 0; v < n; ++v)
    if (!table.fits(v, 0)) return std::nullopt;
  const std::vector<Cycle> height = heights_at(problem, ii);
  std::vector<std::optional<Cycle>> before(n);
  ModuloSchedule found{ii, {}, 0};
  for (std::int64_t left = budget; left >= 0; --left) {
    std::size_t op = n;
    for (std::size_t v = 0; v < n; ++v)
      if (!table.placed(v) && (op == n || height[v] > height[op])) op = v;
    if (op == n) {
      found.starts = table.starts();
      return found;
    }
    const Cycle earliest = table.earliest(op).value_or(0);
    Cycle at = 0;
    if (const auto free = table.free_start(op, earliest, earliest + ii - 1)) {
      at = *free;
    } else {
      at = before[op] && *before[op] >= earliest ? *before[op] + 1 : earliest;
      for (const std::size_t v : table.in_the_way(op, at)) {
        table.remove(v);
        ++found.ejections;
      }
    }
    table.place(op, at);
    before[op] = at;
    for (const Edge& e : problem.edges) {
      const std::size_t to = e.to.index();
      if (e.from.index() != op || to == op || !table.placed(to) || table.start(to) >= at + e.latency - e.distance * ii) continue;
      table.remove(to);
      ++found.ejections;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<ModuloSchedule> rau_schedule(const Problem& problem, const RauOptions& options, const std::vector<int>& group,
                                           const std::stop_token& stop, std::vector<std::string>& log) {
  const std::optional<Cycle> least = modulo_min_ii(problem);
  if (!least) {
    log.push_back("no II is possible: a unit is too small or a dependence cycle closes within one iteration");
    return std::nullopt;
  }
  Cycle last = std::max(*least, serial_length(problem));
  if (options.short_window) last = std::min(last, std::min(2 * *least, *least + std::max<Cycle>(10, *least / 8)));
  log.push_back(fmt::format("II window {} to {}", *least, last));
  const auto budget = options.budget * static_cast<std::int64_t>(problem.ops.size());
  std::optional<ModuloSchedule> best;
  for (Cycle ii = *least; ii <= last && !stop.stop_requested();) {
    std::optional<ModuloSchedule> found = at_ii(problem, ii, budget);
    if (!found) {
      ii = next_ii(ii, *least);
      continue;
    }
    log.push_back(fmt::format("II {} with {}", ii, count_of(found->ejections, "ejection")));
    best = std::move(found);
    const std::optional<Cycle> larger = ii_for_memory(problem, *best, group, log);
    if (!larger || *larger > serial_length(problem)) return best;
    if (*larger > last && options.short_window) log.push_back("that is beyond the window");
    ii = *larger;
  }
  if (!best) log.push_back(stop.stop_requested() ? "stopped before its end" : "no modulo schedule in the window");
  return best;
}

Result<BaselineOutcome> run_rau(const BaselineInput& input) {
  std::vector<std::string> log;
  const std::vector<int> group = groups_by_block(input.problem);
  const auto found = rau_schedule(input.problem, {input.setting("budget"), input.setting("window") != 0}, group, input.stop, log);
  if (!found) return Error::input("rau finds no schedule: " + log.back());
  return partitioned(input, *found, group,
                     {"rau",
                      "Iterative modulo scheduling over dependences and units; it knows no warp groups, so ops that "
                      "share registers are put "
                      "together afterwards and starts follow the order.",
                      std::move(log)});
}

}  // namespace heddle::solver

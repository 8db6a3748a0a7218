// The order is: graph, normalization, Algorithm 1, and then the comparison with native cycles.
#include "solver/paper/ask.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "core/analysis/order_worth.h"
#include "solver/paper/ablation.h"
#include "solver/paper/graph.h"
#include "solver/paper/joint.h"
#include "solver/paper/normalize.h"
#include "solver/search/solve.h"

namespace heddle::solver::paper {
namespace {

/// Of the time limit; the rest is kept for the native optimum.
constexpr double kSearchShare = 0.9;

/// Nothing that was asked for is open.
bool settled(const Request& request, const PaperAnswer& answer) {
  if (answer.status != Status::Optimal && answer.status != Status::Infeasible) return false;
  if (request.native && answer.worth && !answer.worth->native_proved) return false;
  return answer.ablations.size() == request.ablations.size() &&
         std::none_of(answer.ablations.begin(), answer.ablations.end(), [](const PaperAblation& a) { return a.status == Status::Unknown; });
}

/// Groups of the pool as ops see them: W_vl first, then in op order; a set of warps inside another joins it.
std::vector<PaperGroup> groups_of(const PaperGraph& graph, const JointSchedule& schedule) {
  std::vector<PaperGroup> groups;
  std::vector<std::size_t> order(graph.nodes.size());
  for (std::size_t v = 0; v < order.size(); ++v) order[v] = v;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (graph.nodes[a].variable_latency != graph.nodes[b].variable_latency) return graph.nodes[a].variable_latency;
    return schedule.warps[a].size() > schedule.warps[b].size();
  });
  for (const std::size_t v : order) {
    const std::vector<int>& warps = schedule.warps[v];
    auto group = std::find_if(groups.begin(), groups.end(), [&](const PaperGroup& g) {
      return std::includes(g.warps.begin(), g.warps.end(), warps.begin(), warps.end());
    });
    if (group == groups.end()) group = groups.insert(groups.end(), {warps, graph.nodes[v].variable_latency, {}});
    group->ops.push_back(OpId(v));
  }
  for (PaperGroup& group : groups) std::sort(group.ops.begin(), group.ops.end());
  std::stable_sort(groups.begin(), groups.end(), [](const PaperGroup& a, const PaperGroup& b) {
    if (a.variable_latency != b.variable_latency) return a.variable_latency;
    return a.ops.front() < b.ops.front();
  });
  return groups;
}

PaperWorth worth_of(const Problem& problem, const PaperAnswer& answer) {
  Schedule order;
  order.name = "paper mode";
  order.kernel = problem.kernel;
  order.machine = problem.machine;
  order.params = problem.params;
  order.ii = answer.ii;
  order.ops.resize(problem.ops.size());
  for (std::size_t g = 0; g < answer.groups.size(); ++g)
    for (const OpId op : answer.groups[g].ops) order.ops[op.index()] = {answer.starts[op.index()], GroupId(g)};
  order.provenance = {"baseline", answer.solver, "groups and order of the Twill formulation, retimed at native cycles"};
  OrderWorth native = order_worth(problem, order);
  PaperWorth worth;
  worth.deadlock = native.period.deadlock;
  worth.period = worth.deadlock ? 0 : std::max<Cycle>(1, native.period.cycles());
  worth.limit = native.period.sentence;
  worth.schedule = std::move(native.schedule);
  return worth;
}

void compare_native(const Request& request, PaperAnswer& answer, Clock::time_point deadline, std::stop_token stop) {
  const double left = seconds_between(Clock::now(), deadline);
  if (!request.native || left <= 0) return;
  const Clock::time_point begin = Clock::now();
  SolveRequest native;
  native.problem = request.problem;
  native.objectives = {};
  native.timeout_seconds = left;
  native.seed = request.seed;
  const SolveOutcome outcome = solve(native, std::move(stop));
  answer.seconds.native = seconds_since(begin);
  if (!outcome.schedule) return;
  answer.worth->native_ii = outcome.schedule->ii;
  answer.worth->native_proved = outcome.status == Status::Optimal;
}

void describe(const PaperGraph& native, const PaperGraph& small, PaperAnswer& answer) {
  for (std::size_t v = 0; v < native.nodes.size(); ++v) answer.costs.push_back({OpId(v), native.nodes[v].cycles, small.nodes[v].cycles});
  int unit_uses = 0, lost = 0;
  for (std::size_t v = 0; v < native.nodes.size(); ++v) {
    unit_uses += static_cast<int>(native.nodes[v].table.size());
    lost += static_cast<int>(native.nodes[v].table.size() - small.nodes[v].table.size());
  }
  if (lost > 0)
    answer.remarks.push_back(fmt::format("{} of {} uses of units became zero cycles long and no longer count", lost, unit_uses));
}

PaperNormalization facts(const Normalization& n, const Options& options) {
  PaperNormalization result;
  result.u = options.u;
  result.applied = true;
  result.entries = n.entries;
  result.zeros = n.zeros;
  result.error = n.error;
  result.sum = n.sum;
  result.largest = n.largest;
  result.largest_normalized = n.largest > 0 ? n.of.at(n.largest) : 0;
  result.tie_broken = n.tie_broken;
  return result;
}

void run(const Request& request, PaperAnswer& answer, const QueryLimits& limits, Clock::time_point end, const SearchListener& listener) {
  const Options& options = request.options;
  const PaperGraph native = make_graph(request.problem, options);
  const auto begin = Clock::now();
  PaperGraph small = native;
  if (options.normalize) {
    const Normalization normalization = normalize(cost_list(native, options), options, limits);
    answer.seconds.normalize = seconds_since(begin);
    if (!normalization.possible) {
      answer.explanation = normalization.why;
      return;
    }
    small = normalized(native, normalization);
    answer.normalization = facts(normalization, options);
  }
  describe(native, small, answer);

  const SearchRun how{request.seed, limits, listener};
  SearchResult found = algorithm1(small, options, how);
  answer.seconds.modulo = found.modulo_seconds;
  answer.seconds.joint = found.joint_seconds;
  answer.status = found.status;
  answer.explanation = found.why;
  answer.modulo_ii = found.modulo_ii;
  answer.modulo_length = found.modulo_length;
  answer.windows = std::move(found.windows);
  if (found.status == Status::Optimal || found.status == Status::Feasible) {
    answer.ii = found.ii;
    answer.length = found.length;
    answer.copies = static_cast<int>(copies_of(found.ii, found.length));
    answer.starts = found.schedule.starts;
    answer.groups = groups_of(small, found.schedule);
    answer.worth = worth_of(request.problem, answer);
    compare_native(request, answer, end, limits.stop);
  }
  for (const Ablation ablation : request.ablations) answer.ablations.push_back(ablate(ablation, native, options, answer, how));
}

}  // namespace

PaperAnswer ask(const Request& request, std::stop_token stop, const SearchListener& listener) {
  PaperAnswer answer;
  answer.settings = settings(request.options);
  answer.solver = solver_version();
  const auto begin = Clock::now();
  QueryLimits limits;
  limits.stop = stop;
  const auto after = [&](double share) { return deadline_after(begin, share * request.timeout_seconds); };
  limits.deadline = after(request.native ? kSearchShare : 1);
  try {
    run(request, answer, limits, after(1), listener);
  } catch (const Stopped&) {
  } catch (const std::exception& error) {
    answer.explanation = fmt::format("gave up: {}", error.what());
  }
  answer.seconds.total = seconds_since(begin);
  const bool open = !settled(request, answer);
  answer.cancelled = open && stop.stop_requested();
  answer.timed_out = open && !answer.cancelled && Clock::now() >= limits.deadline;
  return answer;
}

}  // namespace heddle::solver::paper

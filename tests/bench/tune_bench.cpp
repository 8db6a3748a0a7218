// tune-bench: how many evaluations each method of heddle tune needs until it is within 1 % of the true optimum. Run by hand:
//   tune-bench [--seeds N] [--only PART] [HISTORY.jsonl[:CHEAP.jsonl]]...
// A history of `heddle tune --method exhaustive --no-prune --no-ladder --history FILE` is the table that evaluations are read from, so that
// thirty seeds of every method take seconds; a second one of the same space at --fidelity simulator is the cheaper rung of the ladder.
// Without files, synthetic functions only: Branin (IEEE textbook form), a product of tiles with hidden failures, an order with a tile.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <map>
#include <numbers>

#include "core/formats/tuning_json.h"
#include "solver/tune/random.h"
#include "solver/tune/tune.h"
#include "tests/support/space_scope.h"

using namespace heddle;
using solver::TuneFacts;
using solver::TuneRequest;

namespace {

constexpr double kNear = 1.01;

struct Task {
  std::string name;
  SearchSpace space;
  std::map<Config, TuneEvaluation> table;  ///< everything that is known to be possible
  std::map<Config, double> cheap;          ///< of the cheaper rung; may be empty
  bool bounds = false;
};

struct Way {
  const char* name;
  TuneMethod method;
  bool prune, ratio, screen;
};
constexpr Way kWays[] = {{"random", TuneMethod::Random, false, false, false},
                         {"bandit", TuneMethod::Bandit, false, false, false},
                         {"exhaustive", TuneMethod::Exhaustive, false, false, false},
                         {"baco", TuneMethod::Baco, false, false, false},
                         {"random, bounds prune", TuneMethod::Random, true, false, false},
                         {"baco, bounds prune", TuneMethod::Baco, true, false, false},
                         {"baco, bounds prune and scale", TuneMethod::Baco, true, true, false},
                         {"baco, bounds and ladder", TuneMethod::Baco, true, true, true}};

double optimum_of(const Task& task) {
  double best = HUGE_VAL;
  for (const auto& [config, e] : task.table)
    if (e.value) best = std::min(best, *e.value);
  return best;
}

/// Evaluations until the value is near the optimum; the budget plus one where it never was.
std::int64_t evaluations_needed(const Task& task, const ChainOfTrees& tree, const Way& way, std::uint64_t seed, double target) {
  TuneRequest request;
  request.space = &tree;
  request.method = way.method;
  request.seed = seed;
  request.budget = static_cast<std::int64_t>(task.table.size());
  request.from_default = false;  // nobody gets the kernel's own choice for nothing
  request.prune = way.prune;
  request.ratio = way.ratio;
  request.known = [&](const Config& config) {
    const auto found = task.table.find(config);
    if (found == task.table.end()) return TuneFacts{false, {}, {}};
    return TuneFacts{true, way.prune || way.ratio ? found->second.bound : std::nullopt, {}};
  };
  request.evaluate = [&](const Config& config, std::optional<double>, const std::stop_token&) { return task.table.at(config); };
  if (way.screen)
    request.screen = [&](const Config& config) -> std::optional<double> {
      const auto found = task.cheap.find(config);
      return found == task.cheap.end() ? std::nullopt : std::optional<double>(found->second);
    };
  std::int64_t needed = request.budget + 1;
  std::stop_source found;
  solver::tune(request, found.get_token(), [&](const TuneEvaluation& e) {
    if (!e.value || *e.value > target || needed <= request.budget) return;
    needed = e.number;
    found.request_stop();
  });
  return needed;
}

void measure(const Task& task, int seeds, const std::string& only) {
  if (!only.empty() && task.name.find(only) == std::string::npos) return;
  const auto tree = ChainOfTrees::build(task.space);
  if (!tree) return;
  const double best = optimum_of(task);
  std::int64_t near = 0, with_value = 0;
  for (const auto& [config, e] : task.table) {
    with_value += e.value.has_value();
    near += e.value && *e.value <= kNear * best;
  }
  fmt::print(
      "\n{}: {} configurations, {} possible, {} with a value, {} within 1 % of the optimum\n\n| method | median | quarters | against "
      "random | ms per proposal |\n|---|---:|---:|---:|---:|\n",
      task.name, tree->size(), task.table.size(), with_value, near);
  double random_median = 0;
  for (const Way& way : kWays) {
    if ((way.prune || way.ratio) && !task.bounds) continue;
    if (way.screen && task.cheap.empty()) continue;
    const auto begin = std::chrono::steady_clock::now();
    std::vector<std::int64_t> needed;
    std::int64_t all = 0;
    const int runs = way.method == TuneMethod::Exhaustive ? 1 : seeds;
    for (int seed = 0; seed < runs; ++seed)
      needed.push_back(evaluations_needed(task, *tree, way, static_cast<std::uint64_t>(seed), kNear * best)), all += needed.back();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    std::sort(needed.begin(), needed.end());
    const auto at = [&](double part) {
      return static_cast<double>(needed[static_cast<std::size_t>(part * static_cast<double>(needed.size() - 1) + 0.5)]);
    };
    const double median = (at(0.5 - 1e-9) + static_cast<double>(needed[needed.size() / 2])) / 2;
    if (way.method == TuneMethod::Random && !way.prune) random_median = median;
    fmt::print("| {} | {:.1f} | {:.0f} to {:.0f} | {:.2f} | {:.1f} |\n", way.name, median, at(0.25), at(0.75), median / random_median,
               1000 * seconds / static_cast<double>(all));
    std::fflush(stdout);
  }
}

Result<Task> task_of(const std::string& argument) {
  const std::size_t colon = argument.find(':');
  const auto read = read_tuning(argument.substr(0, colon));
  if (!read) return read.error();
  Task task;
  const TuneSession& session = read->history.sessions.front();
  task.name =
      fmt::format("{} on {}, {} parameters, {}", session.kernel, session.machine, session.space.parameters.size(), session.space.name);
  task.space = session.space;
  task.bounds = true;
  for (const TuneEvaluation& e : read->history.evaluations) {
    task.table[e.config] = e;
    if (!e.bound) task.bounds = false;
  }
  if (colon != std::string::npos) {
    const auto cheap = read_tuning(argument.substr(colon + 1));
    if (!cheap) return cheap.error();
    for (const TuneEvaluation& e : cheap->history.evaluations)
      if (e.value) task.cheap[e.config] = *e.value;
  }
  return task;
}

Parameter integer_of(std::string name, std::int64_t low, std::int64_t high) {
  Parameter p;
  p.name = std::move(name);
  p.kind = ParameterKind::Integer;
  p.low = low;
  p.high = high;
  return p;
}

Parameter ordinal_of(std::string name, std::vector<std::int64_t> values) {
  Parameter p;
  p.name = std::move(name);
  p.values = std::move(values);
  p.log = true;
  return p;
}

/// Fills the table from a function; nothing: a hidden failure.
void fill(Task& task, const std::function<std::optional<double>(const Scope&, const Config&)>& function) {
  const auto tree = ChainOfTrees::build(task.space);
  for (std::int64_t n = 0; n < tree->size(); ++n) {
    TuneEvaluation e;
    e.config = tree->at(n);
    e.value = function(test::scope_of(task.space, e.config), e.config);
    e.status = e.value ? TuneStatus::Optimal : TuneStatus::Refused;
    task.table[e.config] = e;
  }
}

Task branin() {
  Task task;
  task.name = "Branin on a grid of 40 x 40";
  task.space.parameters = {integer_of("x", 0, 39), integer_of("y", 0, 39)};
  fill(task, [](const Scope& s, const Config&) {
    const double x = -5 + 15 * static_cast<double>(s.at("x")) / 39, y = 15 * static_cast<double>(s.at("y")) / 39, pi = std::numbers::pi;
    const double a = y - 5.1 / (4 * pi * pi) * x * x + 5 / pi * x - 6;
    return a * a + 10 * (1 - 1 / (8 * pi)) * std::cos(x) + 10 + 20;  // above 0, so that 1 % means something
  });
  return task;
}

/// Tiles that divide 1024 under a memory bound, and a hidden failure where accumulators spill: the shape of BaCO's constrained GPU tasks.
Task tiles() {
  Task task;
  task.name = "tiles with known and hidden constraints";
  const std::vector<std::int64_t> powers{8, 16, 32, 64, 128, 256, 512};
  task.space.parameters = {ordinal_of("M", powers), ordinal_of("N", powers), ordinal_of("K", {8, 16, 32, 64, 128}),
                           integer_of("stages", 1, 6), ordinal_of("warps", {1, 2, 4, 8, 16})};
  for (const char* text : {"(M + N) * K * stages * 2 <= 49152", "M * N % (warps * 32) == 0"})
    task.space.constraints.push_back(*Expr::parse(text));
  fill(task, [](const Scope& s, const Config&) -> std::optional<double> {
    const auto get = [&](const char* name) { return static_cast<double>(s.at(name)); };
    const double m = get("M"), n = get("N"), k = get("K"), registers = m * n / (32 * get("warps")) + 24;
    if (registers > 255) return std::nullopt;
    const double traffic = 1 / m + 1 / n, latency = 400 / (k * get("stages")) / get("warps"),
                 waste = std::max(0.0, get("warps") * 32 / (m * n) * 64);
    return 100 * (1 + 30 * traffic + latency + waste + 0.02 * get("warps") + 0.05 * std::abs(std::log2(m / n)));
  });
  return task;
}

Task orders() {
  Task task;
  task.name = "an order of five loops and a tile";
  Parameter p;
  p.name = "order";
  p.kind = ParameterKind::Permutation;
  p.words = {"i", "j", "k", "l", "m"};
  task.space.parameters = {p, ordinal_of("tile", {4, 8, 16, 32, 64})};
  fill(task, [](const Scope& s, const Config&) {
    const double displaced = std::abs(static_cast<double>(s.at("order_k")) - 0) + 2 * std::abs(static_cast<double>(s.at("order_i")) - 4) +
                             0.5 * std::abs(static_cast<double>(s.at("order_m")) - 2);
    return 10 + 3 * displaced + std::pow(std::log2(static_cast<double>(s.at("tile"))) - 4, 2);
  });
  return task;
}

}  // namespace

int main(int argc, char** argv) {
  int seeds = 30;
  std::string only;
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--seeds" && i + 1 < argc)
      seeds = std::max(1, std::atoi(argv[++i]));
    else if (word == "--only" && i + 1 < argc)
      only = argv[++i];
    else
      files.push_back(word);
  }
  for (const Task& task : {branin(), tiles(), orders()})
    if (files.empty() || !only.empty()) measure(task, seeds, only);
  for (const std::string& file : files) {
    const auto task = task_of(file);
    if (!task) {
      fmt::print(stderr, "{}\n", to_string(task.error()));
      return 1;
    }
    measure(*task, seeds, only);
  }
  return 0;
}

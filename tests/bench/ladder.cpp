// One solve per rung, one after the other; times are of one run.
#include "tests/bench/ladder.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>

#include "core/analysis/bounds.h"
#include "core/base/json.h"
#include "core/library/library.h"
#include "core/problem/resolve.h"
#include "solver/search/solve.h"
#include "tests/support/random_problem.h"
#include "tests/support/unroll.h"

namespace heddle::bench {
namespace {

std::optional<Problem> unrolled_attention(int ops) {
  const auto kernel = load_kernel("attention_forward_hopper");
  const auto machine = load_machine("h100");
  if (!kernel || !machine) return {};
  const auto problem = resolve(*kernel, *machine, {});
  if (!problem) return {};
  const double copies = static_cast<double>(ops) / static_cast<double>(problem->ops.size());
  return test::unrolled_problem(*problem, std::max(1, static_cast<int>(copies + 0.5)));
}

std::optional<Problem> graph(const std::string& kind, int ops, std::uint64_t seed) {
  if (kind == "unrolled") return unrolled_attention(ops);
  return kind == "layered" ? test::random_layered_problem(seed, ops) : test::random_mixed_problem(seed, ops);
}

struct Rung {
  std::string kind;
  Problem problem;
  Cycle min_ii = 0;
  SolveOutcome outcome;

  bool proved() const { return outcome.status == Status::Optimal; }
  Cycle ii() const { return outcome.schedule ? outcome.schedule->ii : 0; }
  double gap_percent() const {
    return 100.0 * static_cast<double>(ii() - outcome.lower_bound) / static_cast<double>(std::max<Cycle>(1, outcome.lower_bound));
  }
};

Line header() { return {"class", "ops", "edges", "MinII", "bound", "II", "gap %", "first s", "proof s", "queries", "conflicts"}; }

Line cells(const Rung& r) {
  const bool found = r.outcome.schedule.has_value();
  return {r.kind,
          fmt::format("{}", r.problem.ops.size()),
          fmt::format("{}", r.problem.edges.size()),
          fmt::format("{}", r.min_ii),
          fmt::format("{}", r.outcome.lower_bound),
          found ? fmt::format("{}", r.ii()) : to_string(r.outcome.status),
          !found       ? ""
          : r.proved() ? "0"
                       : fmt::format("{:.2f}", r.gap_percent()),
          found ? fmt::format("{:.2f}", r.outcome.seconds.first) : "",
          r.proved() ? fmt::format("{:.2f}", r.outcome.seconds.proof) : fmt::format("> {:.0f}", r.outcome.seconds.total),
          fmt::format("{}", r.outcome.queries),
          fmt::format("{}", r.outcome.conflicts)};
}

Json to_json(const Rung& r) {
  Json json = Json::object();
  json.set("class", r.kind).set("graph", r.problem.kernel).set("ops", r.problem.ops.size()).set("edges", r.problem.edges.size());
  json.set("min_ii", r.min_ii).set("lower_bound", r.outcome.lower_bound);
  json.set("ii", r.outcome.schedule ? Json(r.ii()) : Json()).set("status", to_string(r.outcome.status));
  json.set("seconds", Json::object()
                          .set("encode", r.outcome.seconds.encode)
                          .set("first", r.outcome.seconds.first)
                          .set("proof", r.outcome.seconds.proof)
                          .set("total", r.outcome.seconds.total));
  json.set("queries", r.outcome.queries).set("conflicts", r.outcome.conflicts).set("solver", r.outcome.solver);
  return json;
}

/// Log lines, bounds and schedules as they come, each with its second.
solver::SolveListener reporter() {
  const auto begin = std::chrono::steady_clock::now();
  return [begin](const solver::SolveEvent& event) {
    const double now = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (const auto* line = std::get_if<solver::LogLine>(&event)) fmt::print(stderr, "{:8.2f}  {}\n", now, line->text);
    if (const auto* bound = std::get_if<solver::BoundRaised>(&event))
      fmt::print(stderr, "{:8.2f}  II >= {}: {}\n", now, bound->lower_bound, bound->why);
    if (const auto* found = std::get_if<solver::Incumbent>(&event)) fmt::print(stderr, "{:8.2f}  II <= {}\n", now, found->schedule.ii);
  };
}

}  // namespace

bool run_ladder(const LadderOptions& options, Format format) {
  std::vector<Line> table{header()};
  std::vector<int> sizes = options.ops;
  if (sizes.empty()) sizes = {25, 50, 100, 200, 400};
  for (const char* kind : {"unrolled", "layered", "mixed"}) {
    if (!options.kind.empty() && options.kind != kind) continue;
    for (const int ops : sizes) {
      std::optional<Problem> problem = graph(kind, ops, options.seed);
      if (!problem) return false;
      fmt::print(stderr, "{} {} ...\n", kind, problem->ops.size());
      Rung rung{kind, std::move(*problem), 0, {}};
      rung.min_ii = compute_bounds(rung.problem).min_ii();
      solver::SolveRequest request;
      request.problem = rung.problem;
      request.timeout_seconds = options.limit;
      request.objectives = {};
      rung.outcome = solver::solve(request, {}, options.log ? reporter() : solver::SolveListener{});
      table.push_back(cells(rung));
      if (format == Format::Json) {
        fmt::print("{}\n", to_json(rung).line());
        std::fflush(stdout);
      }
    }
  }
  print_table(table, {0}, format);
  return true;
}

}  // namespace heddle::bench

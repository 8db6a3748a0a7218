// heddle-bench: what the solver needs for every shipped kernel on every machine that it is written for, next to the times
// published for the same loops; with --ladder instead for ever larger graphs (ladder.h).
//
// Published: "Twill", OSDI '26, Table 1: joint optimum of pipelining and warp specialization with proof, one Xeon core,
// costs normalized to small integers. Heddle solves the same loops at native cycles. Each time is the median of several runs.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "core/analysis/bounds.h"
#include "core/base/json.h"
#include "core/library/library.h"
#include "core/problem/resolve.h"
#include "solver/search/solve.h"
#include "tests/bench/ladder.h"
#include "tests/bench/table.h"
#include "tests/bench/warm_bench.h"

namespace {

using namespace heddle;
using namespace heddle::bench;

struct Case {
  std::string kernel, machine;
  Scope params;
  double published = 0;  ///< seconds; 0: none published
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {"toy_fig1", "toy", {}},
      {"layernorm", "h100", {}},
      {"gemm_hopper", "h100", {}},
      {"swiglu_dual_gemm_hopper", "h100", {}},
      {"gemm_fp8_hopper", "h100", {}},
      {"gemm_w4a16_hopper", "h100", {}},
      {"attention_forward_hopper", "h100", {{"KV", 128}}, 28},
      {"attention_forward_hopper", "h100", {{"KV", 176}}, 28},
      {"attention_backward_hopper", "h100", {}, 84},
      {"gemm_blackwell", "b200", {}},
      {"attention_forward_blackwell", "b200", {}, 18},
      {"attention_backward_blackwell", "b200", {}, 242},
      {"attention_backward_causal_hopper", "h100", {}},
      {"attention_backward_causal_blackwell", "b200", {}},
      {"attention_forward_causal_blackwell", "b200", {}},
      {"swiglu_dual_gemm_blackwell", "b200", {}},
  };
  return all;
}

std::string label(const Case& c) {
  std::string text = c.kernel;
  for (const auto& [name, value] : c.params) text += fmt::format(" {}={}", name, value);
  return text + " / " + c.machine;
}

struct Row {
  Case spec;
  std::string fault;  ///< why there is no result; empty when there is one
  std::size_t ops = 0, edges = 0;
  Bounds bounds;
  SolveOutcome outcome;  ///< of the last run
  SolveSeconds seconds;  ///< medians, each on its own

  bool proved() const { return outcome.status == Status::Optimal; }
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// "resource", "recurrence", "refill" or "issue": what makes MinII as large as it is.
const char* binding_bound(const Bounds& b) {
  if (b.min_ii() == b.res_mii) return "resource";
  if (b.min_ii() == b.rec_mii) return "recurrence";
  return b.min_ii() == b.credit_mii ? "refill" : "issue";
}

/// What single edits cost, for every kernel; false when some kernel could not be loaded.
bool run_warm(const std::string& filter, const WarmOptions& options, Format format) {
  std::vector<Line> table{warm_header()};
  bool good = true;
  for (const Case& spec : cases()) {
    if (label(spec).find(filter) == std::string::npos) continue;
    fmt::print(stderr, "{} ...\n", label(spec));
    const auto kernel = load_kernel(spec.kernel);
    const auto machine = load_machine(spec.machine);
    good &= kernel.ok() && machine.ok();
    if (!kernel || !machine) continue;
    const auto problem = resolve(*kernel, *machine, spec.params);
    good &= problem.ok();
    if (!problem) continue;
    for (Line& line : warm_lines(label(spec), *problem, options)) table.push_back(std::move(line));
  }
  print_table(table, {0, 1}, format);
  return good;
}

Row measure(const Case& spec, int runs, double timeout) {
  Row row;
  row.spec = spec;
  const auto kernel = load_kernel(spec.kernel);
  if (!kernel) return row.fault = to_string(kernel.error()), row;
  const auto machine = load_machine(spec.machine);
  if (!machine) return row.fault = to_string(machine.error()), row;
  const auto problem = resolve(*kernel, *machine, spec.params);
  if (!problem) return row.fault = to_string(problem.error()), row;

  row.ops = problem->ops.size();
  row.edges = problem->edges.size();
  row.bounds = compute_bounds(*problem);
  std::vector<double> encode, first, proof, total;
  for (int run = 0; run < runs; ++run) {
    solver::SolveRequest request;
    request.problem = *problem;
    request.timeout_seconds = timeout;
    row.outcome = solver::solve(request);
    encode.push_back(row.outcome.seconds.encode);
    first.push_back(row.outcome.seconds.first);
    proof.push_back(row.outcome.seconds.proof);
    total.push_back(row.outcome.seconds.total);
  }
  row.seconds = {median(encode), median(first), median(proof), median(total)};
  return row;
}

Line header() {
  return {"kernel / machine", "ops", "edges", "MinII", "by", "II", "status", "first s", "proof s", "all s", "published s", "ratio"};
}

Line cells(const Row& row) {
  if (!row.fault.empty()) return {label(row.spec), "", "", "", "", "", "invalid", "", "", "", "", ""};
  const bool compared = row.spec.published > 0;
  return {label(row.spec),
          fmt::format("{}", row.ops),
          fmt::format("{}", row.edges),
          fmt::format("{}", row.bounds.min_ii()),
          binding_bound(row.bounds),
          row.outcome.schedule ? fmt::format("{}", row.outcome.schedule->ii) : "",
          to_string(row.outcome.status),
          row.outcome.schedule ? fmt::format("{:.3f}", row.seconds.first) : "",
          row.proved() ? fmt::format("{:.3f}", row.seconds.proof) : "",
          fmt::format("{:.3f}{}", row.seconds.total, row.outcome.timed_out ? " (limit)" : ""),
          compared ? fmt::format("{:g}", row.spec.published) : "",
          compared && row.proved() ? fmt::format("{:.0f}x", row.spec.published / row.seconds.proof) : ""};
}

Json to_json(const Row& row) {
  Json json = Json::object();
  json.set("kernel", row.spec.kernel).set("machine", row.spec.machine);
  Json params = Json::object();
  for (const auto& [name, value] : row.spec.params) params.set(name, value);
  json.set("params", std::move(params));
  if (!row.fault.empty()) return std::move(json.set("fault", row.fault));
  json.set("ops", row.ops).set("edges", row.edges).set("min_ii", row.bounds.min_ii()).set("bound", binding_bound(row.bounds));
  json.set("ii", row.outcome.schedule ? Json(row.outcome.schedule->ii) : Json()).set("lower_bound", row.outcome.lower_bound);
  json.set("status", to_string(row.outcome.status)).set("timed_out", row.outcome.timed_out);
  json.set("seconds", Json::object()
                          .set("encode", row.seconds.encode)
                          .set("first", row.seconds.first)
                          .set("proof", row.seconds.proof)
                          .set("total", row.seconds.total));
  Json objectives = Json::array();
  for (const auto& o : row.outcome.objectives) {
    objectives.push(Json::object().set("name", o.name).set("value", o.value).set("proved", o.proved));
  }
  json.set("objectives", std::move(objectives));
  json.set("published_seconds", row.spec.published > 0 ? Json(row.spec.published) : Json());
  json.set("solver", row.outcome.solver);
  return json;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Measures the solver on every shipped kernel.", "heddle-bench"};
  int runs = 3;
  double timeout = 60;
  std::string filter;
  bool markdown = false, json = false;
  app.add_option("--runs", runs, "runs per kernel; times are medians")->check(CLI::Range(1, 1000))->capture_default_str();
  app.add_option("--timeout", timeout, "seconds per run")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--filter", filter, "only kernels whose \"kernel / machine\" contains this");
  LadderOptions ladder;
  bool climb = false;
  app.add_flag("--ladder", climb, "graphs of 25 to 400 ops instead of kernels; one run each");
  app.add_option("--ops", ladder.ops, "with --ladder: only these sizes")->delimiter(',')->check(CLI::Range(8, 2000));
  app.add_option("--class", ladder.kind, "with --ladder: only this class")->check(CLI::IsMember({"unrolled", "layered", "mixed"}));
  app.add_option("--seed", ladder.seed, "with --ladder: which random graph")->capture_default_str();
  app.add_option("--limit", ladder.limit, "with --ladder: seconds per graph")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_flag("--log", ladder.log, "with --ladder or --warm: what happens, with times");
  WarmOptions warm;
  bool edit = false;
  app.add_flag("--warm", edit, "single edits of solved kernels: median and worst times");
  app.add_flag("--compare", warm.compare, "with --warm: solve every edit from scratch too");
  app.add_flag("--markdown", markdown, "a Markdown table");
  app.add_flag("--json", json, "one JSON object per line");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }

  const Format format = json ? Format::Json : markdown ? Format::Markdown : Format::Aligned;
  warm.log = ladder.log;
  warm.timeout = timeout;
  if (edit) return run_warm(filter, warm, format) ? 0 : 3;
  if (climb) return run_ladder(ladder, format) ? 0 : 3;

  std::vector<Line> table{header()};
  bool failed = false;
  for (const Case& spec : cases()) {
    if (label(spec).find(filter) == std::string::npos) continue;
    fmt::print(stderr, "{} ...\n", label(spec));
    const Row row = measure(spec, runs, timeout);
    if (!row.fault.empty()) fmt::print(stderr, "{}\n", row.fault);
    failed |= !row.fault.empty();
    table.push_back(cells(row));
    if (json) fmt::print("{}\n", to_json(row).line());
  }
  print_table(table, {0, 4, 6}, format);
  return failed ? 3 : 0;
}

#include "core/chart/op_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/analysis/slack.h"
#include "core/base/text_style.h"
#include "core/chart/chart_layout.h"

namespace heddle {
namespace {

constexpr std::size_t kMostDependences = 6;

void add_dependences(const Problem& problem, const Schedule& schedule, OpId op, bool inputs, std::vector<FactLine>& lines) {
  std::vector<std::pair<Cycle, EdgeId>> edges;
  for (std::size_t e = 0; e < problem.edges.size(); ++e)
    if ((inputs ? problem.edges[e].to : problem.edges[e].from) == op)
      edges.emplace_back(edge_slack(problem, schedule, EdgeId(e)), EdgeId(e));
  std::sort(edges.begin(), edges.end());
  for (std::size_t i = 0; i < std::min(kMostDependences, edges.size()); ++i) {
    const auto [slack, id] = edges[i];
    const Edge& edge = problem.edge(id);
    std::string line = fmt::format("{} {}", inputs ? "from" : "to", problem.op(inputs ? edge.from : edge.to).name);
    if (edge.distance > 0) line += fmt::format(" ({} {})", count_of(edge.distance, "iteration"), inputs ? "back" : "on");
    if (schedule.group(edge.from) != schedule.group(edge.to)) line += ", other group";
    line += slack < 0    ? fmt::format(": {} cycles too early", grouped(-slack))
            : slack == 0 ? ": tight"
                         : fmt::format(": slack {}", grouped(slack));
    lines.push_back({std::move(line), slack < 0 ? FactLine::Tone::Bad : slack == 0 ? FactLine::Tone::Tight : FactLine::Tone::Dim});
  }
  if (edges.size() > kMostDependences) lines.push_back({fmt::format("and {} more", edges.size() - kMostDependences), FactLine::Tone::Dim});
}

}  // namespace

std::string iteration_text(GanttMode mode, int iteration) {
  if (mode == GanttMode::Pipeline || mode == GanttMode::Contended) return fmt::format("iteration {}", iteration);
  return iteration == 0 ? "iteration k" : fmt::format("iteration k{:+}", iteration);
}

std::string bar_text(const GanttModel& model, const GanttBar& bar) {
  Cycle length = bar.end - bar.begin;
  if (bar.wraps_left || bar.wraps_right) {
    length = 0;
    for (const GanttBar& piece : model.bars)
      if (piece.op == bar.op) length += piece.end - piece.begin;
  }
  return fmt::format("{} cycles on {} from {}{}", grouped(length), model.rows[bar.row].label, grouped(bar.begin),
                     bar.wraps_left    ? " (goes on from the right edge)"
                     : bar.wraps_right ? " (goes on at the left edge)"
                                       : "");
}

std::vector<FactLine> start_facts(const Problem& problem, const Schedule& schedule, OpId id, Cycle shift) {
  const Op& op = problem.op(id);
  const Cycle start = schedule.start(id) - shift, ii = schedule.ii;
  return {{fmt::format("start {} = {} × {} + {}", grouped(start), floor_div(start, ii), grouped(ii), grouped(modulo(start, ii))),
           FactLine::Tone::Dim},
          {fmt::format("latency {}, issue window {}", grouped(op.latency), grouped(op.window)), FactLine::Tone::Dim}};
}

std::string latency_source(const Machine& machine, const Problem& problem, OpId id) {
  const Op& op = problem.op(id);
  const std::string begin = op.name + ".latency=", rule_begin = op.rule + ".latency=";
  const bool changed = std::any_of(problem.changes.begin(), problem.changes.end(), [&](const std::string& change) {
    return change.starts_with(begin) || (!op.rule.empty() && change.starts_with(rule_begin));
  });
  const std::string end = changed ? " · changed" : "";
  if (op.rule.empty()) return "the kernel gives it" + end;
  const CostRule* rule = machine.find_rule(op.rule);
  if (!rule) return {};
  return fmt::format("rule {} of {}{}{}{}", rule->kind, machine.name, rule->source.empty() ? "" : ": ", rule->source, end);
}

std::vector<FactLine> dependence_facts(const Problem& problem, const Schedule& schedule, OpId op) {
  std::vector<FactLine> lines;
  add_dependences(problem, schedule, op, true, lines);
  add_dependences(problem, schedule, op, false, lines);
  return lines;
}

}  // namespace heddle

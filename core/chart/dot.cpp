// Nodes are named by index and carry the op's name as a quoted label, so no name can break the syntax.
#include "core/chart/dot.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/analysis/bounds.h"
#include "core/base/text_style.h"

namespace heddle {
namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (char c : printable(text)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

const char* fill_of(UnitRole role) {
  switch (role) {
    case UnitRole::Tensor: return "#9ecae1";
    case UnitRole::Copy: return "#a1d99b";
    case UnitRole::Special: return "#fdd0a2";
    case UnitRole::Float: return "#dadaeb";
    case UnitRole::Alu: return "#e7cb94";
    case UnitRole::Smem: return "#c7e9c0";
    case UnitRole::Tmem: return "#bcbddc";
    case UnitRole::Sync: return "#fcbba1";
    case UnitRole::Other: return "#eeeeee";
  }
  return "#eeeeee";
}

std::string node(const Problem& problem, const Schedule* schedule, std::size_t v) {
  const Op& op = problem.ops[v];
  // "\\n" stays outside the quoting of names: it is Graphviz's own line break.
  std::string label = quoted(op.name);
  label.pop_back();
  label += "\\n" + quoted(op.kind).substr(1);
  label.pop_back();
  if (schedule)
    label += fmt::format("\\n{} = {}*{} + {}", schedule->ops[v].start, schedule->stage(OpId(v)), schedule->ii, schedule->slot(OpId(v)));
  const UnitRole role = op.uses.empty() ? UnitRole::Other : problem.unit(op.uses[0].unit).role;
  return fmt::format("n{} [label={}\", fillcolor=\"{}\"];\n", v, label, fill_of(role));
}

}  // namespace

namespace {

std::string end_node(const EndOps& ends, const EndOp& end) {
  const Op& op = ends.problem.op(end.op);
  std::string label = quoted(op.name);
  label.pop_back();
  const UnitRole role = op.uses.empty() ? UnitRole::Other : ends.problem.unit(op.uses[0].unit).role;
  return fmt::format("n{} [label={}\\n{}, once per tile\", style=\"rounded,dashed\", color=\"{}\"];\n", end.op.index(), label,
                     to_string(end.section), fill_of(role));
}

}  // namespace

std::string dependence_dot(const Problem& problem, const Schedule* schedule, const EndOps* ends) {
  const Bounds bounds = compute_bounds(problem);
  std::string text = "digraph " + quoted(problem.kernel) + " {\n";
  text +=
      "  rankdir=TB;\n  node [shape=box, style=\"rounded,filled\", fontname=\"Helvetica\"];\n  edge "
      "[fontname=\"Helvetica\", fontsize=10];\n";
  text += "  label=" + quoted(problem.kernel + " on " + machine_title(problem)) + ";\n";
  if (schedule) {
    for (std::size_t g = 0; g < schedule->groups.size(); ++g) {
      const ScheduleGroup& group = schedule->groups[g];
      text += fmt::format("  subgraph cluster_g{} {{\n    label={};\n    color=\"#888888\";\n", g,
                          quoted(fmt::format("{} ({} warps)", group.role, group.warps)));
      for (std::size_t v = 0; v < problem.ops.size(); ++v) {
        if (schedule->ops[v].group == GroupId(g)) text += "    " + node(problem, schedule, v);
      }
      if (ends)
        for (const EndOp& end : ends->ops)
          if (end.group == GroupId(g)) text += "    " + end_node(*ends, end);
      text += "  }\n";
    }
  } else {
    for (std::size_t v = 0; v < problem.ops.size(); ++v) text += "  " + node(problem, nullptr, v);
  }
  if (ends)
    for (const EndOp& end : ends->ops)
      if (!schedule || end.group.index() >= schedule->groups.size()) text += "  " + end_node(*ends, end);
  for (std::size_t e = 0; e < problem.edges.size(); ++e) {
    const Edge& edge = problem.edges[e];
    const bool critical = std::find(bounds.critical.edges.begin(), bounds.critical.edges.end(), EdgeId(e)) != bounds.critical.edges.end();
    std::string style = edge.distance > 0 ? "dashed" : "solid";
    if (critical) style += ",bold";
    text += fmt::format("  n{} -> n{} [label=\"{}/{}\", style=\"{}\"{}];\n", edge.from.index(), edge.to.index(), edge.latency,
                        edge.distance, style, critical ? ", penwidth=2.5, color=\"#c00000\"" : "");
  }
  if (ends)
    for (const EndLink& link : ends->links)
      text += fmt::format("  n{} -> n{} [label=\"{}\", style=\"dotted\"];\n", link.from.index(), link.to.index(), link.latency);
  return text + "}\n";
}

}  // namespace heddle

// The reasons are the inspector's (inspector_model.h), put into one sentence.
#include "app/window/chart/why_here.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/window/chart/inspector_model.h"
#include "core/analysis/slack.h"
#include "core/chart/chart_layout.h"

namespace heddle::app {
namespace {

/// "a, b and 2 more"
std::string some_of(const std::vector<InspectorReason>& reasons) {
  constexpr std::size_t kMost = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(reasons.size(), kMost); ++i) text += (i == 0 ? "" : ", ") + reasons[i].sentence;
  return reasons.size() > kMost ? text + fmt::format(" and {} more", reasons.size() - kMost) : text;
}

}  // namespace

Highlight why_here(const Problem& problem, const Schedule& schedule, const Constraints& constraints, OpId op) {
  const InspectorModel model = inspect(problem, op, &schedule, nullptr, nullptr);
  Highlight out;
  out.ops.push_back(op);
  const auto point_at = [&](OpId other) {
    if (other.valid() && std::find(out.ops.begin(), out.ops.end(), other) == out.ops.end()) out.ops.push_back(other);
  };
  for (const auto* side : {&model.earlier, &model.later})
    for (const InspectorReason& reason : *side) point_at(reason.other);
  for (std::size_t e = 0; e < problem.edges.size(); ++e)
    if ((problem.edges[e].from == op || problem.edges[e].to == op) && edge_slack(problem, schedule, EdgeId(e)) == 0)
      out.edges.push_back(EdgeId(e));
  std::string demands;
  for (const UserConstraint& c : constraints) {
    if (!c.enabled || std::find(c.ops.begin(), c.ops.end(), model.name) == c.ops.end()) continue;
    demands += (demands.empty() ? "; you demand " : ", ") + c.name;
    for (const std::string& name : c.ops) point_at(problem.find_op(name));
  }
  out.why = fmt::format("{} starts at {}", model.name, grouped(schedule.start(op)));
  if (model.earlier.empty() && model.later.empty())
    out.why += ": nothing touches it there, it could start a little earlier or later";
  else
    out.why += (model.earlier.empty() ? "; nothing keeps it from starting earlier" : ", not earlier: " + some_of(model.earlier)) +
               (model.later.empty() ? "; nothing keeps it from starting later" : "; not later: " + some_of(model.later));
  out.why += demands;
  return out;
}

}  // namespace heddle::app

// The event graph of a schedule (core/analysis/period.h) has an edge for everything that orders two ops in time; those
// that are tight are the reasons why an op is where it is.
#include "app/window/chart/inspector_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/analysis/period.h"
#include "core/analysis/slack.h"
#include "core/base/text_style.h"
#include "core/chart/chart_layout.h"
#include "core/chart/gantt_facts.h"

namespace heddle::app {
namespace {

/// Cycles by which an event edge is not tight.
Cycle room(const Schedule& s, const EventEdge& e) { return s.start(e.to) - s.start(e.from) - e.weight + e.tokens * s.ii; }

std::string tile(const Problem& problem, ValueId id) {
  const Value& value = problem.value(id);
  std::string text = fmt::format("{} ({} B {}", value.name, grouped(value.bytes), to_string(value.space));
  if (value.registers > 0) text += fmt::format(", {}", count_of(value.registers, "reg"));
  return text + ")";
}

std::string joined(std::vector<std::string> parts) {
  std::sort(parts.begin(), parts.end());
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string other_iteration(std::int64_t tokens) {
  if (tokens == 0) return {};
  if (tokens == 1 || tokens == -1) return tokens > 0 ? " of the previous iteration" : " of the next iteration";
  return tokens > 0 ? fmt::format(" of {} iterations before", tokens) : fmt::format(" of {} iterations later", -tokens);
}

std::string why_not_earlier(const Problem& p, const EventEdge& e) {
  const std::string from = p.op(e.from).name + other_iteration(e.tokens);
  switch (e.kind) {
    case EventEdge::Kind::Data: return fmt::format("waits for {} ({} cycle{})", from, grouped(e.weight), e.weight == 1 ? "" : "s");
    case EventEdge::Kind::Stream: return fmt::format("the warps are busy with {} until then", from);
    case EventEdge::Kind::Unit: return fmt::format("{} is taken by {} until then", e.what, from);
    case EventEdge::Kind::Credit: return fmt::format("its slot is freed by {} ({})", from, e.what);
  }
  return {};
}

std::string why_not_later(const Problem& p, const EventEdge& e) {
  const std::string to = p.op(e.to).name + other_iteration(-e.tokens);
  switch (e.kind) {
    case EventEdge::Kind::Data: return fmt::format("{} waits for it", to);
    case EventEdge::Kind::Stream: return fmt::format("{} is next on the same warps", to);
    case EventEdge::Kind::Unit: return fmt::format("{} needs {} right after it", to, e.what);
    case EventEdge::Kind::Credit: return fmt::format("{} needs the slot it frees ({})", to, e.what);
  }
  return {};
}

void add_links(const Problem& problem, const Schedule* schedule, InspectorModel& model) {
  for (std::size_t i = 0; i < problem.edges.size(); ++i) {
    const Edge& edge = problem.edges[i];
    if (edge.from != model.op && edge.to != model.op) continue;
    InspectorLink link;
    link.incoming = edge.to == model.op;
    link.other = link.incoming ? edge.from : edge.to;
    if (edge.value.valid()) link.value = problem.value(edge.value).name;
    link.latency = edge.latency;
    link.distance = edge.distance;
    if (schedule) {
      if (schedule->group(edge.from) != schedule->group(edge.to)) link.latency += edge.handoff;
      link.slack = edge_slack(problem, *schedule, EdgeId(i));
    }
    model.links.push_back(std::move(link));
  }
  std::stable_sort(model.links.begin(), model.links.end(), [](const InspectorLink& a, const InspectorLink& b) {
    if (a.incoming != b.incoming) return a.incoming;
    return a.slack.value_or(0) < b.slack.value_or(0);
  });
}

void add_reasons(const Problem& problem, const Schedule& schedule, InspectorModel& model) {
  for (const EventEdge& e : event_graph(problem, schedule)) {
    if (e.from == e.to) continue;
    const Cycle left = room(schedule, e);
    if (left > 0) continue;
    if (e.to == model.op) model.earlier.push_back({why_not_earlier(problem, e), e.from});
    if (e.from == model.op) model.later.push_back({why_not_later(problem, e), e.to});
  }
  const auto unique_sentences = [](std::vector<InspectorReason>& reasons) {
    std::vector<InspectorReason> kept;
    for (InspectorReason& reason : reasons)
      if (std::none_of(kept.begin(), kept.end(), [&](const auto& k) { return k.sentence == reason.sentence; }))
        kept.push_back(std::move(reason));
    reasons = std::move(kept);
  };
  unique_sentences(model.earlier);
  unique_sentences(model.later);
}

}  // namespace

bool counts_registers(const Problem& problem) {
  return problem.resident_registers > 0 ||
         std::any_of(problem.values.begin(), problem.values.end(), [](const Value& value) { return value.registers > 0; });
}

void add_range(const SlackRanges& slack, InspectorModel& model) {
  const auto found = std::find_if(slack.ops.begin(), slack.ops.end(), [&](const OpRange& r) { return r.op == model.op; });
  if (found == slack.ops.end()) return;
  const OpRange& r = *found;
  if (model.op == slack.anchor && !slack.absolute) {
    model.range.push_back("held still: slack of all others is measured against it");
    return;
  }
  if (slack.exact && r.earliest.seen && r.latest.seen) {
    if (r.settled() && r.earliest.bound == r.latest.bound)
      model.range.push_back(fmt::format("every schedule at II {} starts it at {}: proved", grouped(slack.ii), grouped(r.earliest.bound)));
    else
      model.range.push_back(fmt::format("over all schedules at II {}: {} .. {}, {}", grouped(slack.ii), grouped(*r.earliest.seen),
                                        grouped(*r.latest.seen),
                                        r.settled()           ? "proved"
                                        : r.earliest.proved() ? "the earliest proved"
                                        : r.latest.proved()   ? "the latest proved"
                                                              : "as far as found"));
  }
  if (!slack.exact || !r.settled())
    model.range.push_back(fmt::format("dependences and refills allow {} to {} at most", grouped(r.path_earliest), grouped(r.path_latest)));
}

InspectorModel inspect(const Problem& problem, OpId id, const Schedule* schedule, const Usage* usage, const Verdict* verdict) {
  const Op& op = problem.op(id);
  InspectorModel model;
  model.op = id;
  model.name = op.name;
  model.kind = op.kind;
  Cycle occupancy = 0;
  if (const UnitUse* use = primary_use(problem, op)) {
    model.unit = problem.unit(use->unit).name;
    model.role = problem.unit(use->unit).role;
    occupancy = use->duration;
  }
  add_links(problem, schedule, model);
  const auto fact = [&](std::string label, std::string value, bool warn = false) {
    model.facts.push_back({std::move(label), std::move(value), warn});
  };
  if (schedule) {
    model.group = schedule->groups[schedule->group(id).index()].role;
    const Cycle start = schedule->start(id);
    fact("start",
         fmt::format("{} = {} × {} + {}", grouped(start), schedule->stage(id), grouped(schedule->ii), grouped(schedule->slot(id))));
  }
  fact("latency / occupancy", fmt::format("{} / {} cycles", grouped(op.latency), grouped(occupancy)));
  fact("issue window", fmt::format("{} cycles, {}", grouped(op.window), count_of(op.warps, "warp")));
  if (op.asynchronous || op.variable_latency) fact("completion", op.variable_latency ? "asynchronous, variable" : "asynchronous");
  if (const std::string access = access_words(problem, id); !access.empty()) {
    fact("shared memory", access, conflict_ways(problem, id) > 1);
    model.layout = true;
  }
  if (schedule) {
    add_reasons(problem, *schedule, model);
    const Cycle start = schedule->start(id);
    const Slack slack = compute_slack(problem, *schedule)[id.index()];
    const auto bound = [](Cycle room, Cycle at) { return room == kUnlimited ? std::string("any") : grouped(at); };
    fact("slack",
         fmt::format("-{} / +{}: {} to {}", bound(slack.earlier, slack.earlier), bound(slack.later, slack.later),
                     bound(slack.earlier, start - slack.earlier), bound(slack.later, start + slack.later)),
         slack.earlier < 0 || slack.later < 0);
  }
  std::vector<std::string> reads, writes;
  for (const Edge& edge : problem.edges)
    if (edge.to == id && edge.value.valid())
      reads.push_back(problem.value(edge.value).name + (edge.distance > 0 ? fmt::format("[-{}]", edge.distance) : ""));
  for (std::size_t v = 0; v < problem.values.size(); ++v)
    if (problem.values[v].producer == id) writes.push_back(tile(problem, ValueId(v)));
  if (!reads.empty()) fact("reads", joined(reads));
  if (!writes.empty()) fact("writes", joined(writes));
  if (schedule && usage && counts_registers(problem)) {
    const std::size_t g = schedule->group(id).index();
    const int budget = schedule->groups[g].registers > 0 ? schedule->groups[g].registers : usage->register_budget[g];
    const std::int64_t live = value_at(usage->registers[g], schedule->slot(id));
    fact("registers live", fmt::format("{} of {}", live, budget), live > budget);
  }
  if (verdict)
    for (const Violation& violation : verdict->violations)
      if (std::find(violation.ops.begin(), violation.ops.end(), id) != violation.ops.end()) model.violations.push_back(violation.message);
  return model;
}

}  // namespace heddle::app

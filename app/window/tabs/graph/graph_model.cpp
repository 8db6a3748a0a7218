#include "app/window/tabs/graph/graph_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <tuple>

#include "app/window/kit/pretty_text.h"
#include "core/base/saturate.h"
#include "core/base/text_style.h"
#include "core/chart/chart_layout.h"

namespace heddle::app {
namespace {

constexpr float kNodeHeight = 38, kLeastNode = 92, kMostNode = 190, kLetter = 7.4f;
constexpr std::size_t kMostHops = 8;

/// All edges of a pair of ops, in the order in which the pairs are first met.
struct Pair {
  OpId from, to;
  std::vector<EdgeId> edges;
  bool carried = true;
};

std::vector<Pair> pairs_of(const Problem& problem) {
  std::vector<Pair> pairs;
  std::map<std::pair<OpId, OpId>, std::size_t> index;
  for (std::size_t e = 0; e < problem.edges.size(); ++e) {
    const Edge& edge = problem.edges[e];
    const auto [found, fresh] = index.try_emplace({edge.from, edge.to}, pairs.size());
    if (fresh) pairs.push_back({edge.from, edge.to, {}, true});
    pairs[found->second].edges.push_back(EdgeId(e));
    pairs[found->second].carried &= edge.distance > 0;
  }
  return pairs;
}

/// What links prologue and epilogue with each other and with the loop; nodes of a graph have the numbers of EndOps::problem.
std::vector<EndLink> links_of(const EndOps& ends) {
  std::vector<EndLink> links;
  for (const EndLink& link : ends.links)
    if (std::none_of(links.begin(), links.end(), [&](const EndLink& l) { return l.from == link.from && l.to == link.to; }))
      links.push_back(link);
  return links;
}

/// Position of every op along the dependences inside one iteration.
std::vector<std::size_t> positions(const Problem& problem) {
  const std::size_t count = problem.ops.size();
  std::vector<int> open(count, 0);
  std::vector<std::vector<std::size_t>> next(count);
  for (const Edge& e : problem.edges)
    if (e.distance == 0) {
      next[e.from.index()].push_back(e.to.index());
      ++open[e.to.index()];
    }
  std::vector<std::size_t> ready, position(count, count);
  for (std::size_t v = 0; v < count; ++v)
    if (open[v] == 0) ready.push_back(v);
  for (std::size_t done = 0; done < ready.size(); ++done) {
    position[ready[done]] = done;
    for (const std::size_t w : next[ready[done]])
      if (--open[w] == 0) ready.push_back(w);
  }
  return position;
}

std::string group_letter(const std::vector<ScheduleGroup>& groups, std::size_t group) {
  const std::string& role = groups[group].role;
  const std::size_t space = role.find_last_of(' ');
  const char first = role.empty() ? '\0' : role[space == std::string::npos ? 0 : std::min(space + 1, role.size() - 1)];
  const auto letter = static_cast<unsigned char>(first);
  return std::isalnum(letter) ? std::string(1, static_cast<char>(std::toupper(letter))) : std::to_string(group);
}

GraphNode make_node(const Problem& problem, std::size_t v, GraphPoint centre, float width) {
  const Op& op = problem.ops[v];
  GraphNode node;
  node.name = printable(op.name);
  const auto longest =
      std::max_element(op.uses.begin(), op.uses.end(), [](const UnitUse& a, const UnitUse& b) { return a.duration < b.duration; });
  if (longest != op.uses.end()) {
    node.role = problem.unit(op.uses.front().unit).role;
    node.detail = fmt::format("{} {}", printable(problem.unit(longest->unit).name), grouped(longest->duration));
  } else {
    node.detail = fmt::format("latency {}", grouped(op.latency));
  }
  node.low = {centre.x - width / 2, centre.y - kNodeHeight / 2};
  node.high = {centre.x + width / 2, centre.y + kNodeHeight / 2};
  return node;
}

void put_into_group(GraphNode& node, const std::vector<ScheduleGroup>& groups, GroupId group) {
  node.group_index = group.index();
  node.group = group_letter(groups, group.index());
}

void mark_recurrence(GraphModel& model, const Problem& problem, const Bounds& bounds) {
  for (const EdgeId e : bounds.critical.edges) {
    const Edge& edge = problem.edge(e);
    model.nodes[edge.from.index()].critical = true;
    for (GraphArc& arc : model.arcs)
      if (std::find(arc.edges.begin(), arc.edges.end(), e) != arc.edges.end()) arc.critical = true;
  }
  if (!bounds.critical.edges.empty())
    model.limit = fmt::format("Critical recurrence: {} cycles over {}, RecMII {}", grouped(bounds.critical.latency),
                              count_of(bounds.critical.distance, "iteration"), grouped(bounds.critical.bound));
  else
    model.limit = "No recurrence: nothing is carried around a cycle";
}

void mark_period(GraphModel& model, const Period& period) {
  for (const EventEdge& e : period.cycle) {
    model.nodes[e.from.index()].critical = true;
    const auto arc = std::find_if(model.arcs.begin(), model.arcs.end(),
                                  [&](const GraphArc& a) { return a.from == e.from.index() && a.to == e.to.index(); });
    if (e.kind == EventEdge::Kind::Data && arc != model.arcs.end())
      arc->critical = true;
    else
      model.hops.push_back({e.from.index(), e.to.index(), printable(e.what)});
  }
  model.limit = "Limiting cycle: " + pretty(printable(period.sentence));
  // A unit that many ops take in turns would be a ball of thread: their outlines and the sentence say it.
  if (model.hops.size() > kMostHops) model.hops.clear();
}

}  // namespace

GraphInput graph_input(const Problem& problem, const EndOps& ends, bool downwards) {
  GraphInput input;
  input.downwards = downwards;
  input.node_height = kNodeHeight;
  const auto width = [](const Op& op) {
    return std::clamp(static_cast<float>(display_width(op.name)) * kLetter + 30, kLeastNode, kMostNode);
  };
  for (const Op& op : problem.ops) input.node_widths.push_back(width(op));
  for (const EndOp& end : ends.ops) input.node_widths.push_back(width(ends.problem.op(end.op)));
  const std::vector<std::size_t> position = positions(problem);
  for (const Pair& pair : pairs_of(problem)) {
    const std::size_t from = pair.from.index(), to = pair.to.index();
    input.arcs.push_back({from, to, pair.carried && from != to && position[to] <= position[from], 30});
  }
  for (const EndLink& link : links_of(ends)) input.arcs.push_back({link.from.index(), link.to.index(), false, 30});
  return input;
}

GraphModel build_graph(const GraphSubject& of, GraphCycle cycle, const GraphLayout& layout) {
  const Problem& problem = of.problem;
  const EndOps& ends = of.ends;
  const Bounds& bounds = of.bounds;
  const Schedule* schedule = of.schedule;
  const Period* period = of.period;
  GraphModel model;
  model.width = layout.width;
  model.height = layout.height;
  const GraphInput input = graph_input(problem, ends, false);
  for (std::size_t v = 0; v < problem.ops.size(); ++v) {
    GraphNode& node = model.nodes.emplace_back(make_node(problem, v, layout.nodes[v], input.node_widths[v]));
    node.op = OpId(v);
    if (schedule) put_into_group(node, schedule->groups, schedule->ops[v].group);
  }
  for (const EndOp& end : ends.ops) {
    const std::size_t v = model.nodes.size();
    GraphNode& node = model.nodes.emplace_back(make_node(ends.problem, end.op.index(), layout.nodes[v], input.node_widths[v]));
    node.once = to_string(end.section);
    if (schedule) put_into_group(node, ends.groups, end.group);
  }
  const std::vector<Pair> pairs = pairs_of(problem);
  for (std::size_t a = 0; a < pairs.size(); ++a) {
    GraphArc arc;
    arc.from = pairs[a].from.index();
    arc.to = pairs[a].to.index();
    arc.edges = pairs[a].edges;
    arc.carried = pairs[a].carried;
    arc.crosses = schedule && schedule->group(pairs[a].from) != schedule->group(pairs[a].to);
    const Edge& longest = problem.edge(*std::max_element(
        arc.edges.begin(), arc.edges.end(), [&](EdgeId x, EdgeId y) { return problem.edge(x).latency < problem.edge(y).latency; }));
    arc.text = fmt::format("{}/{}", longest.latency, longest.distance);
    arc.curve = layout.arcs[a].curve;
    arc.label = layout.arcs[a].label;
    model.arcs.push_back(std::move(arc));
  }
  for (const EndLink& link : links_of(ends)) {
    const GraphLayout::Arc& drawn = layout.arcs[model.arcs.size()];
    GraphArc arc;
    arc.from = link.from.index();
    arc.to = link.to.index();
    arc.text = grouped(link.latency);
    arc.crosses = schedule && model.nodes[arc.from].group_index != model.nodes[arc.to].group_index;
    arc.curve = drawn.curve;
    arc.label = drawn.label;
    model.arcs.push_back(std::move(arc));
  }
  if (cycle == GraphCycle::Period && period && !period->cycle.empty())
    mark_period(model, *period);
  else
    mark_recurrence(model, problem, bounds);
  return model;
}

// ---- table -----------------------------------------------------------------------------------------------------------

std::vector<EdgeRow> edge_rows(const Problem& problem, const Schedule* schedule) {
  std::vector<EdgeRow> rows;
  for (std::size_t e = 0; e < problem.edges.size(); ++e) {
    const Edge& edge = problem.edges[e];
    EdgeRow row{EdgeId(e),    edge.from, edge.to,       edge.value.valid() ? printable(problem.value(edge.value).name) : "order",
                edge.latency, 0,         edge.distance, {}};
    if (schedule) {
      if (schedule->group(edge.from) != schedule->group(edge.to)) row.handoff = edge.handoff;
      row.slack = sat_add(sat_add(schedule->start(edge.to), sat_mul(edge.distance, schedule->ii)),
                          -sat_add(schedule->start(edge.from), sat_add(edge.latency, row.handoff)));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<Column<EdgeRow>> edge_columns(const Problem& problem) {
  using Row = EdgeRow;
  const auto from = [&](const Row& r) { return printable(problem.op(r.from).name); };
  const auto to = [&](const Row& r) { return printable(problem.op(r.to).name); };
  const auto value = [](const Row& r) { return r.value; };
  return {
      Column<Row>{"from", false, from}.sorted_by(from),
      Column<Row>{"to", false, to}.sorted_by(to),
      Column<Row>{"value", false, value}.sorted_by(value),
      {"latency", true, [](const Row& r) { return grouped(r.latency); }, [](const Row& r) { return r.latency; }},
      {"distance", true, [](const Row& r) { return grouped(r.distance); }, [](const Row& r) { return r.distance; }},
      {"hand-off", true, [](const Row& r) { return r.handoff > 0 ? grouped(r.handoff) : "-"; }, [](const Row& r) { return r.handoff; }},
      {"slack", true, [](const Row& r) { return r.slack ? grouped(*r.slack) : "-"; }, [](const Row& r) { return r.slack; }},
  };
}

// ---- looking at it ---------------------------------------------------------------------------------------------------

GraphView fit_graph(const GraphModel& model, CanvasSize canvas, float most) {
  constexpr float kMargin = 10;
  const float x = (canvas.width - 2 * kMargin) / std::max(model.width, 1.0f);
  const float y = (canvas.height - 2 * kMargin) / std::max(model.height, 1.0f);
  return {model.width / 2, model.height / 2, std::clamp(std::min({x, y, most}), kLeastGraphZoom, kMostGraphZoom)};
}

GraphPoint to_pixels(const GraphView& view, CanvasSize canvas, GraphPoint at) {
  return {(at.x - view.x) * view.zoom + canvas.width / 2, (at.y - view.y) * view.zoom + canvas.height / 2};
}

GraphPoint to_points(const GraphView& view, CanvasSize canvas, float px, float py) {
  return {(px - canvas.width / 2) / view.zoom + view.x, (py - canvas.height / 2) / view.zoom + view.y};
}

void zoom_graph(GraphView& view, CanvasSize canvas, float px, float py, float factor) {
  const GraphPoint under = to_points(view, canvas, px, py);
  view.zoom = std::clamp(view.zoom * factor, kLeastGraphZoom, kMostGraphZoom);
  const GraphPoint now = to_points(view, canvas, px, py);
  view.x += under.x - now.x;
  view.y += under.y - now.y;
}

void centre_graph(GraphView& view, const GraphModel& model, const std::vector<OpId>& ops, float least) {
  float x = 0, y = 0, count = 0;
  for (const OpId op : ops) {
    if (op.index() >= model.nodes.size()) continue;
    const GraphNode& node = model.nodes[op.index()];
    x += (node.low.x + node.high.x) / 2;
    y += (node.low.y + node.high.y) / 2;
    ++count;
  }
  if (count == 0) return;
  view.x = x / count;
  view.y = y / count;
  view.zoom = std::max(view.zoom, std::min(least, kMostGraphZoom));
}

void hold_graph(GraphView& view, const GraphModel& model, CanvasSize canvas) {
  const float x = canvas.width / 2 / view.zoom, y = canvas.height / 2 / view.zoom;
  view.x = std::clamp(view.x, std::min(0.0f, -x + 40), std::max(model.width, model.width + x - 40));
  view.y = std::clamp(view.y, std::min(0.0f, -y + 40), std::max(model.height, model.height + y - 40));
}

std::optional<std::size_t> node_at(const GraphModel& model, GraphPoint at) {
  for (std::size_t v = model.nodes.size(); v-- > 0;) {
    const GraphNode& node = model.nodes[v];
    if (at.x >= node.low.x && at.x < node.high.x && at.y >= node.low.y && at.y < node.high.y) return v;
  }
  return std::nullopt;
}

std::optional<std::size_t> arc_at(const GraphModel& model, GraphPoint at, float reach) {
  std::optional<std::size_t> best;
  float nearest = reach;
  for (std::size_t a = 0; a < model.arcs.size(); ++a) {
    const std::vector<GraphPoint>& c = model.arcs[a].curve;
    for (std::size_t i = 0; i + 3 < c.size(); i += 3)
      for (int step = 0; step <= 12; ++step) {
        const float t = static_cast<float>(step) / 12, u = 1 - t;
        const float w[4] = {u * u * u, 3 * u * u * t, 3 * u * t * t, t * t * t};
        float x = 0, y = 0;
        for (int k = 0; k < 4; ++k) x += w[k] * c[i + static_cast<std::size_t>(k)].x, y += w[k] * c[i + static_cast<std::size_t>(k)].y;
        const float distance = std::hypot(x - at.x, y - at.y);
        if (distance < nearest) {
          nearest = distance;
          best = a;
        }
      }
  }
  return best;
}

std::optional<OpId> follow(const Problem& problem, const GraphModel& model, OpId from, int direction) {
  std::optional<OpId> best;
  std::tuple<bool, bool, Cycle> most{};
  for (const GraphArc& arc : model.arcs) {
    const std::size_t here = direction > 0 ? arc.from : arc.to, there = direction > 0 ? arc.to : arc.from;
    if (here != from.index() || there == here || there >= problem.ops.size()) continue;
    Cycle latency = 0;
    for (const EdgeId e : arc.edges) latency = std::max(latency, problem.edge(e).latency);
    const std::tuple rank{arc.critical, !arc.carried, latency};
    if (best && rank <= most) continue;
    best = OpId(there);
    most = rank;
  }
  return best;
}

}  // namespace heddle::app

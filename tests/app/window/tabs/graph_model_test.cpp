// The graph's layout by a child process, and the model of the picture: what is bold, what is hit, where zooming leads.
#include "app/window/tabs/graph/graph_model.h"
#include "app/session/environment.h"

#include <catch2/catch.hpp>
#include <chrono>

#include "tests/support/gantt_fixture.h"
#include "tests/support/random_problem.h"
#include "tests/support/wait.h"

using namespace heddle;
using namespace heddle::app;

namespace {

bool has_graphviz() {
  static const bool found = lay_out({false, 38, {90}, {}}, "dot", {}).ok();
  return found;
}

/// Boxes in a row, every line straight; for what needs no Graphviz.
GraphLayout row_layout(const GraphInput& input) {
  GraphLayout layout;
  for (std::size_t v = 0; v < input.node_widths.size(); ++v) layout.nodes.push_back({100 + 200 * static_cast<float>(v), 50});
  layout.width = 200 * static_cast<float>(layout.nodes.size());
  layout.height = 100;
  for (const GraphInput::Arc& arc : input.arcs) {
    const GraphPoint a = layout.nodes[arc.from], b = layout.nodes[arc.to];
    layout.arcs.push_back({{a, {a.x, 20}, {b.x, 20}, b}, {(a.x + b.x) / 2, 27}});
  }
  return layout;
}

GraphModel toy_model(GraphCycle cycle = GraphCycle::Recurrence) {
  const test::GanttCase c = test::toy_case();
  const Period period = sustainable_period(c.problem, c.schedule);
  return build_graph({c.problem, {}, compute_bounds(c.problem), &c.schedule, &period}, cycle,
                     row_layout(graph_input(c.problem, {}, false)));
}

}  // namespace

TEST_CASE("what Graphviz is given holds sizes and numbers only", "[app]") {
  test::GanttCase c = test::toy_case();
  for (Op& op : c.problem.ops) op.name = "evil\"]; } \n\x1b" + op.name;
  for (Value& value : c.problem.values) value.name = "evil";
  const std::string text = layout_request(graph_input(c.problem, {}, true));
  CHECK(text.find("evil") == std::string::npos);
  CHECK(text.find("n0 -> n1") != std::string::npos);
  CHECK(text.find("rankdir=TB") != std::string::npos);
}

TEST_CASE("latencies do not move boxes, names and edges do", "[app]") {
  test::GanttCase c = test::toy_case();
  const GraphInput before = graph_input(c.problem, {}, false);
  for (Edge& e : c.problem.edges) e.latency += 1000;
  CHECK(graph_input(c.problem, {}, false) == before);
  c.problem.ops[0].name = "a_name_that_is_a_good_deal_longer";
  CHECK_FALSE(graph_input(c.problem, {}, false) == before);
}

TEST_CASE("Graphviz lays out graphs with loops, parallel edges and back edges", "[app]") {
  if (!has_graphviz()) return;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const Problem problem = test::random_mixed_problem(seed, 24);
    for (const bool down : {false, true}) {
      const GraphInput input = graph_input(problem, {}, down);
      const auto layout = lay_out(input, "dot", {});
      REQUIRE(layout);
      for (const GraphPoint& p : layout->nodes) {
        CHECK((p.x >= 0 && p.x <= layout->width && p.y >= 0 && p.y <= layout->height));
      }
      for (std::size_t a = 0; a < input.arcs.size(); ++a) {
        // Ends lie at the boxes they belong to.
        const auto near = [&](GraphPoint p, std::size_t node) {
          const GraphPoint n = layout->nodes[node];
          return std::abs(p.x - n.x) <= input.node_widths[node] / 2 + 4 && std::abs(p.y - n.y) <= input.node_height / 2 + 4;
        };
        CHECK(near(layout->arcs[a].curve.front(), input.arcs[a].from));
        CHECK(near(layout->arcs[a].curve.back(), input.arcs[a].to));
      }
    }
  }
}

TEST_CASE("a layout is refused when Graphviz is missing, fails, hangs or talks nonsense", "[app]") {
  const GraphInput input = graph_input(test::toy_case().problem, {}, false);
  const auto missing = lay_out(input, "no-such-program-anywhere", {});
  REQUIRE_FALSE(missing);
  CHECK(missing.error().kind == ErrorKind::Environment);
  CHECK(to_string(missing.error()).find("Graphviz") != std::string::npos);
  CHECK_FALSE(lay_out(input, "false", {}));
  CHECK_FALSE(lay_out(input, "true", {}));
  CHECK_FALSE(lay_out(input, "yes", {}, std::chrono::milliseconds(300)));
  std::stop_source stopped;
  stopped.request_stop();
  CHECK_FALSE(lay_out(input, "cat", stopped.get_token()));
  for (const char* plain : {"", "graph 1 2", "graph 1 a b\n", "graph 1 2 2\nnode n9 1 1\nstop\n", "graph 1 nan 2\n",
                            "graph 1 2 2\nedge n0 n1 99999999 0 0\n", "graph 1 2 2\nedge n0 n1 4 1 1 1 1 1 1 1\n", "\"", "node"})
    CHECK_FALSE(read_layout(input, plain));
}

TEST_CASE("a layout runs beside the caller and can be left alone", "[app]") {
  const GraphInput input = graph_input(test::toy_case().problem, {}, false);
  {
    LayoutJob forgotten(input, "yes");  // never ends by itself
  }
  if (!has_graphviz()) return;
  LayoutJob job(input, "dot");
  std::unique_ptr<Result<GraphLayout>> answer;
  REQUIRE(test::wait_until([&] { return answer != nullptr; }, [&] { answer = job.take(); }));
  CHECK(answer->ok());
  CHECK_FALSE(job.take());
}

TEST_CASE("the graph says what is critical, carried and crossing", "[app]") {
  const GraphModel toy = toy_model();
  REQUIRE(toy.nodes.size() == 3);
  const auto self = std::find_if(toy.arcs.begin(), toy.arcs.end(), [](const GraphArc& a) { return a.from == a.to; });
  REQUIRE(self != toy.arcs.end());
  CHECK(self->carried);
  CHECK(self->critical);
  CHECK(self->text == "1/1");
  CHECK(toy.nodes[2].critical);
  CHECK_FALSE(toy.nodes[0].critical);
  const GraphModel limiting = toy_model(GraphCycle::Period);
  CHECK(limiting.limit.find("Limiting cycle") == 0);
  CHECK_FALSE(limiting.hops.empty());  // S and O take turns on the tensor core

  const test::GanttCase c = test::attention_case();
  const GraphModel attention = build_graph({c.problem, {}, compute_bounds(c.problem), &c.schedule, nullptr}, GraphCycle::Recurrence,
                                           row_layout(graph_input(c.problem, {}, false)));
  for (const GraphArc& arc : attention.arcs) CHECK(arc.crosses == (c.schedule.group(OpId(arc.from)) != c.schedule.group(OpId(arc.to))));
}

TEST_CASE("following a dependence leads to a neighbour, or nowhere", "[app]") {
  const test::GanttCase c = test::toy_case();
  const GraphModel model = toy_model();
  CHECK(follow(c.problem, model, OpId(0), 1) == OpId(1));
  CHECK(follow(c.problem, model, OpId(1), 1) == OpId(2));
  CHECK_FALSE(follow(c.problem, model, OpId(2), 1));
  CHECK(follow(c.problem, model, OpId(2), -1) == OpId(1));
  CHECK_FALSE(follow(c.problem, model, OpId(0), -1));
}

TEST_CASE("zooming keeps the point under the mouse, and boxes and lines are hit where they are", "[app]") {
  const GraphModel model = toy_model();
  const CanvasSize canvas{800, 200};
  GraphView view = fit_graph(model, canvas, 1.5f);
  CHECK(view.zoom > 0);
  const GraphPoint before = to_points(view, canvas, 123, 45);
  for (const float factor : {1.5f, 0.3f, 4.0f, 1000.0f, 1e-6f}) {
    GraphView zoomed = view;
    zoom_graph(zoomed, canvas, 123, 45, factor);
    const GraphPoint after = to_points(zoomed, canvas, 123, 45);
    CHECK(after.x == Approx(before.x).margin(0.05));
    CHECK(after.y == Approx(before.y).margin(0.05));
    CHECK((zoomed.zoom >= kLeastGraphZoom && zoomed.zoom <= kMostGraphZoom));
  }
  const GraphNode& node = model.nodes[1];
  CHECK(node_at(model, {(node.low.x + node.high.x) / 2, (node.low.y + node.high.y) / 2}) == std::size_t{1});
  CHECK_FALSE(node_at(model, {-50, -50}));
  REQUIRE_FALSE(model.arcs.empty());
  CHECK(arc_at(model, {200, 27.5f}, 4));
  CHECK_FALSE(arc_at(model, {200, -100}, 4));
  centre_graph(view, model, {OpId(2)}, 2);
  CHECK(view.x == Approx(500));
  CHECK(view.zoom >= 2);
  view.x = 1e9f;
  hold_graph(view, model, canvas);
  CHECK(view.x < 2000);
}

TEST_CASE("the table of edges can be sorted and copied", "[app]") {
  const test::GanttCase c = test::toy_case();
  std::vector<EdgeRow> rows = edge_rows(c.problem, &c.schedule);
  REQUIRE(rows.size() == c.problem.edges.size());
  for (const EdgeRow& row : rows) CHECK(row.slack.value_or(-1) >= 0);
  const std::vector<Column<EdgeRow>> columns = edge_columns(c.problem);
  sort_by(rows, std::span(columns), {"distance", true});
  CHECK(rows.front().distance == 1);
  const std::string text = table_as_text(std::span(columns), rows);
  CHECK(text.starts_with("from\tto\tvalue\tlatency\tdistance\thand-off\tslack\n"));
  CHECK(std::count(text.begin(), text.end(), '\n') == static_cast<std::ptrdiff_t>(rows.size()) + 1);
  for (const auto& column : columns) sort_by(rows, column, false);
}

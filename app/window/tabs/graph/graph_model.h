// The dataflow graph as it is drawn: boxes and lines at their places, what they say, and which of them limit II. Lengths
// are points of the layout; a view maps them to pixels.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/jobs/graph_layout.h"
#include "app/window/kit/column.h"
#include "core/analysis/bounds.h"
#include "core/analysis/period.h"
#include "core/problem/problem.h"
#include "core/schedule/schedule.h"
#include "core/simulate/end_ops.h"

namespace heddle::app {

struct GraphNode {
  OpId op;             ///< invalid: of the prologue or the epilogue
  std::string once;    ///< "prologue", "epilogue": once per tile, not scheduled
  std::string name;    ///< made printable
  std::string detail;  ///< "TC 512", its longest use
  std::string group;   ///< "A": of the shown schedule; empty without one
  std::size_t group_index = 0;
  UnitRole role = UnitRole::Other;
  GraphPoint low, high;  ///< corners
  bool critical = false;
};

/// All dependences from one op to another.
struct GraphArc {
  std::size_t from = 0, to = 0;
  std::vector<EdgeId> edges;
  std::string text;      ///< "512/0", latency and distance of the longest
  bool carried = false;  ///< every one of them reaches a later iteration
  bool crosses = false;  ///< its ends are in different groups of the shown schedule
  bool critical = false;
  std::vector<GraphPoint> curve;
  GraphPoint label;
};

/// A step of the limiting cycle that is not a dependence: order on a unit or in a stream, a ring that is full.
struct GraphHop {
  std::size_t from = 0, to = 0;
  std::string what;
};

struct GraphModel {
  float width = 0, height = 0;
  std::vector<GraphNode> nodes;  ///< in op order, then prologue and epilogue
  std::vector<GraphArc> arcs;
  std::vector<GraphHop> hops;  ///< of a short cycle
  std::string limit;           ///< one line on what is drawn bold; empty: nothing
};

/// Which cycle is drawn bold: the recurrence with the greatest bound, or what limits the shown schedule's period.
enum class GraphCycle { Recurrence, Period };

/// Sizes do not depend on numbers, so that a change of latencies leaves everything in its place.
GraphInput graph_input(const Problem& problem, const EndOps& ends, bool downwards);

/// What is drawn.
struct GraphSubject {
  const Problem& problem;
  const EndOps& ends;
  const Bounds& bounds;
  const Schedule* schedule = nullptr;  ///< given with its period, or neither
  const Period* period = nullptr;
};

/// Pre: the layout is of graph_input(problem, ends).
GraphModel build_graph(const GraphSubject& of, GraphCycle cycle, const GraphLayout& layout);

// ---- the edges as a table --------------------------------------------------------------------------------------------

struct EdgeRow {
  EdgeId edge;
  OpId from, to;
  std::string value;
  Cycle latency = 0, handoff = 0;  ///< hand-off: where it applies
  int distance = 0;
  std::optional<Cycle> slack;  ///< of the shown schedule
};
std::vector<EdgeRow> edge_rows(const Problem& problem, const Schedule* schedule);
/// They look up names in the problem, which must stay.
std::vector<Column<EdgeRow>> edge_columns(const Problem& problem);

// ---- looking at it ---------------------------------------------------------------------------------------------------

/// What part of the graph is seen: the point at the middle of the canvas, and pixels per point.
struct GraphView {
  float x = 0, y = 0;
  float zoom = 0;  ///< 0: not yet fitted
};

struct CanvasSize {
  float width = 0, height = 0;  ///< pixels
};

constexpr float kLeastGraphZoom = 0.02f, kMostGraphZoom = 6;

/// Everything, with a margin, but no larger than `most`.
GraphView fit_graph(const GraphModel& model, CanvasSize canvas, float most);
/// `factor` > 1 zooms in; the point under (px, py), in pixels from the canvas's corner, stays where it is.
void zoom_graph(GraphView& view, CanvasSize canvas, float px, float py, float factor);
/// The middle of these ops; zooms in to `least` where names could not be read.
void centre_graph(GraphView& view, const GraphModel& model, const std::vector<OpId>& ops, float least);
/// Keeps some of the graph on the canvas.
void hold_graph(GraphView& view, const GraphModel& model, CanvasSize canvas);
GraphPoint to_pixels(const GraphView& view, CanvasSize canvas, GraphPoint at);
GraphPoint to_points(const GraphView& view, CanvasSize canvas, float px, float py);

std::optional<std::size_t> node_at(const GraphModel& model, GraphPoint at);
/// The arc that passes nearest, within `reach` points.
std::optional<std::size_t> arc_at(const GraphModel& model, GraphPoint at, float reach);
/// Along a dependence: the consumer (+1) or producer (-1), a critical one first, then one of the same iteration, then the
/// one with the longest latency. Reflexive edges do not count.
std::optional<OpId> follow(const Problem& problem, const GraphModel& model, OpId from, int direction);

}  // namespace heddle::app

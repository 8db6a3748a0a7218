// The scatter and the convergence plot of a sweep.

#include <algorithm>
#include <cmath>

#include "app/session/sweep_state.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/widgets.h"
#include "app/window/parts/ui_state.h"
#include "app/window/tabs/tune/sweep_state.h"
#include "app/window/tabs/tune/sweep_views.h"
#include "core/chart/chart_layout.h"

namespace heddle::app {
namespace {

/// Where there is a value it is one; of what was stopped only a bound is known. The others are in no plot of values.
std::optional<PlotPoint> plotted(const SweepTable& table, const SweepTabState& s, std::uint32_t index, double x) {
  const SweepPoint& point = table.points[index];
  if (!point.has_value() && !point.has_bound()) return std::nullopt;
  PlotPoint made;
  made.x = x;
  made.y = point.has_value() ? point.value : point.bound;
  made.mark = !point.has_value() ? PlotMark::AtLeast : point.standing == SweepStanding::Proved ? PlotMark::Filled : PlotMark::Hollow;
  made.color = sweep_ink(point);
  made.current = s.chosen == index;
  if (table.best == index) made.label = "best";
  made.about = drawable(about_point(table, point)) + "\nClick: show its schedule. Right click: compare with it as B.";
  return made;
}

void add_bound(const SweepTable& table, double from, double to, PlotModel& plot) {
  const auto bound = table.lower_bound();
  if (!bound) return;
  PlotCurve line;
  line.name = "bound " + grouped(static_cast<std::int64_t>(std::llround(*bound)));
  line.color = theme().warning;
  line.pieces.push_back({from, to, *bound, *bound, true});
  plot.curves.push_back(std::move(line));
}

struct PickedPlot {
  const char* name;
  const PlotModel& model;
  const std::vector<std::uint32_t>& points;  ///< of the sweep, parallel to the model's
};
void draw_picked(const Session& session, UiState& ui, const PickedPlot& plot, ImVec2 size, PlotState& state) {
  const std::vector<std::uint32_t>& points = plot.points;
  const PlotAnswer answer = draw_plot(plot.name, plot.model, size, state);
  if (answer.hovered && *answer.hovered < points.size()) ui.of<SweepTabState>().hovered = points[*answer.hovered];
  if (answer.picked && *answer.picked < points.size()) {
    ui.of<SweepTabState>().go_to = points[*answer.picked];
    pick_point(session, ui, points[*answer.picked], answer.secondary);
  }
}

}  // namespace

void draw_sweep_scatter(const Session& session, UiState& ui, ImVec2 size) {
  SweepTabState& s = ui.of<SweepTabState>();
  const SweepTable& table = session.sweep().table();
  if (table.axes.empty()) return ImGui::Dummy(size);
  const SweepAxis& axis = table.axes[s.across];
  PlotModel plot;
  plot.y.title = table.unit();
  plot.x.title = axis.name;
  plot.x.whole = plot.y.whole = table.head.unit != "us";
  if (axis.listed())
    for (const SweepValue& value : axis.values) plot.x.words.push_back(drawable(sweep_text(value)));
  const double last = static_cast<double>(axis.values.size()) - 1;
  std::vector<std::uint32_t> points;
  for (const std::uint32_t index : s.drawn) {
    const double coordinate = table.points[index].coordinate(s.across);
    if (coordinate != coordinate) continue;
    // What would lie on one spot stands side by side, by its number.
    const double aside = 0.5 * (std::fmod(static_cast<double>(table.points[index].number) * 0.618033988, 1.0) - 0.5);
    const double x = axis.listed() ? (last <= 0 ? 0 : axis.position(coordinate) * last) + aside : coordinate;
    if (auto made = plotted(table, s, index, x)) {
      plot.points.push_back(std::move(*made));
      points.push_back(index);
    }
  }
  const double from = axis.listed() ? -0.5 : axis.low, to = axis.listed() ? last + 0.5 : std::max(axis.high, axis.low + 1e-9);
  add_bound(table, from, to, plot);
  draw_picked(session, ui, {"sweep/scatter", plot, points}, size, s.scatter);
}

void draw_sweep_convergence(const Session& session, UiState& ui, ImVec2 size) {
  SweepTabState& s = ui.of<SweepTabState>();
  const SweepTable& table = session.sweep().table();
  const Convergence& c = s.convergence_curve;
  PlotModel plot;
  plot.y.title = table.unit();
  plot.x.title = table.kind == SweepKind::Tuning ? "evaluations" : "jobs";
  plot.y.whole = table.head.unit != "us";
  PlotCurve best;
  best.name = "best so far";
  for (std::size_t i = 0; i < c.steps.size(); ++i) {
    const double to = i + 1 < c.steps.size() ? c.steps[i + 1].evaluation : std::max(c.evaluations, c.steps[i].evaluation + 1);
    best.pieces.push_back({c.steps[i].evaluation, to, c.steps[i].value, c.steps[i].value, false});
  }
  std::vector<std::uint32_t> points;
  for (const std::uint32_t index : s.drawn) {
    const double x = table.kind == SweepKind::Tuning ? static_cast<double>(table.points[index].number) : static_cast<double>(index) + 1;
    if (auto made = plotted(table, s, index, x)) {
      plot.points.push_back(std::move(*made));
      points.push_back(index);
    }
  }
  plot.curves.push_back(std::move(best));
  add_bound(table, 1, std::max(c.evaluations, 2.0), plot);
  draw_picked(session, ui, {"sweep/convergence", plot, points}, size, s.convergence);
}

}  // namespace heddle::app

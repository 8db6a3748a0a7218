// The chart's view without drawing: zoom, pan, hit, snap, steps through bars.
#include "app/window/chart/chart_view.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "core/analysis/slack.h"
#include "core/chart/gantt_model.h"
#include "tests/support/gantt_fixture.h"

using namespace heddle;
using namespace heddle::app;

namespace {

GanttModel model_of(GanttMode mode = GanttMode::Steady, int iterations = 3) {
  const test::GanttCase c = test::attention_case();
  GanttOptions options;
  options.mode = mode;
  options.iterations = iterations;
  return build_gantt(c.problem, c.schedule, options);
}

std::size_t bar_index(const GanttModel& model, const std::string& label, int iteration) {
  for (std::size_t b = 0; b < model.bars.size(); ++b)
    if (model.bars[b].label == label && model.bars[b].iteration == iteration) return b;
  FAIL("no bar " << label << "@" << iteration);
  return 0;
}

void settle(GanttViewState& view, const GanttModel& model) { update_view(view, model, 10); }

GanttViewState fitted(const GanttModel& model) {
  GanttViewState view;
  update_view(view, model, 0);
  return view;
}

TimeAxis axis_of(const GanttViewState& view) { return {100, 1100, view.visible}; }

}  // namespace

TEST_CASE("a new model is fitted at once, with a margin", "[app]") {
  const GanttModel model = model_of();
  const GanttViewState view = fitted(model);
  CHECK(view.visible == whole(model));
  CHECK(view.visible.begin < 0);
  CHECK(view.visible.end > 2048);
}

TEST_CASE("the same extent keeps the view, another mode fits anew", "[app]") {
  const GanttModel model = model_of();
  GanttViewState view = fitted(model);
  go_to(view, model, {100, 600});
  settle(view, model);
  update_view(view, model_of(), 1);
  CHECK(view.visible == TimeRange{100, 600});
  const GanttModel unrolled = model_of(GanttMode::Unrolled);
  update_view(view, unrolled, 0);
  CHECK(view.visible == whole(unrolled));
  CHECK(view.zoom_stack.empty());
}

TEST_CASE("cycles and pixels map back and forth", "[app]") {
  const TimeAxis axis{100, 1100, {-50, 1950}};
  CHECK(axis.to_x(-50) == Approx(100));
  CHECK(axis.to_x(1950) == Approx(1100));
  for (const double cycle : {0.0, 17.0, 1024.5, 1900.0}) CHECK(axis.to_cycle(axis.to_x(cycle)) == Approx(cycle).margin(0.01));
  CHECK(std::isfinite(axis.to_x(1e18)));
}

TEST_CASE("zooming keeps the cycle under the cursor, during the animation too", "[app]") {
  const GanttModel model = model_of();
  GanttViewState view = fitted(model);
  const double cycle = 700;
  const float x = axis_of(view).to_x(cycle);
  zoom_at(view, model, cycle, 2);
  for (int frame = 0; frame < 20; ++frame) {
    update_view(view, model, 0.016);
    CHECK(axis_of(view).to_x(cycle) == Approx(x).margin(0.01));
  }
  CHECK(view.visible.length() == Approx(whole(model).length() / 2));
}

TEST_CASE("turns of the wheel during the animation add up", "[app]") {
  const GanttModel model = model_of();
  GanttViewState view = fitted(model);
  for (int i = 0; i < 3; ++i) {
    zoom_at(view, model, 1000, 2);
    update_view(view, model, 0.01);
  }
  settle(view, model);
  CHECK(view.visible.length() == Approx(whole(model).length() / 8));
  CHECK(view.zoom_stack.size() == 1);  // one turn of the wheel, one entry
}

TEST_CASE("zoom and pan stop at sensible limits", "[app]") {
  const GanttModel model = model_of();
  GanttViewState view = fitted(model);
  for (int i = 0; i < 100; ++i) zoom_at(view, model, 1000, 3, false);
  CHECK(view.visible.length() == Approx(8));
  for (int i = 0; i < 100; ++i) zoom_at(view, model, 1000, 0.3, false);
  CHECK(view.visible.length() <= 4 * 2048 + 1);
  for (const double far : {1e9, -1e9}) {
    fit_all(view, model);
    settle(view, model);
    pan_by(view, model, far);
    CHECK(view.visible.end > static_cast<double>(model.begin));
    CHECK(view.visible.begin < static_cast<double>(model.end));
  }
}

TEST_CASE("the zoom stack leads back, view by view", "[app]") {
  const GanttModel model = model_of();
  GanttViewState view = fitted(model);
  CHECK_FALSE(undo_zoom(view, model));
  go_to(view, model, {100, 1100});
  go_to(view, model, {200, 400});
  settle(view, model);
  CHECK(view.visible == TimeRange{200, 400});
  REQUIRE(undo_zoom(view, model));
  settle(view, model);
  CHECK(view.visible == TimeRange{100, 1100});
  REQUIRE(undo_zoom(view, model));
  settle(view, model);
  CHECK(view.visible == whole(model));
  CHECK_FALSE(undo_zoom(view, model));
}

TEST_CASE("the first F centres the selection, the second fits", "[app]") {
  const GanttModel model = model_of();
  GanttViewState view = fitted(model);
  go_to(view, model, {0, 300});
  settle(view, model);
  const OpId op = model.bars[bar_index(model, "QK", 0)].op;
  centre_or_fit(view, model, {op});
  settle(view, model);
  CHECK((view.visible.begin + view.visible.end) / 2 == Approx(720 + 256));
  centre_or_fit(view, model, {op});
  settle(view, model);
  CHECK(view.visible == whole(model));
  go_to(view, model, {0, 300});
  centre_or_fit(view, model, {});
  settle(view, model);
  CHECK(view.visible == whole(model));
}

TEST_CASE("zooming to a bar shows all of it", "[app]") {
  const GanttModel model = model_of();
  GanttViewState view = fitted(model);
  const std::size_t bar = bar_index(model, "row max", 0);
  zoom_to_bar(view, model, bar);
  settle(view, model);
  CHECK(view.visible.begin < 1280);
  CHECK(view.visible.end > 1408);
  CHECK(view.visible.length() < 600);
}

TEST_CASE("every bar is found under its middle, narrow ones a little beside it", "[app]") {
  const GanttModel model = model_of(GanttMode::Unrolled);
  const GanttViewState view = fitted(model);
  const ChartLayout layout = layout_rows(model, {});
  const TimeAxis axis = axis_of(view);
  for (std::size_t b = 0; b < model.bars.size(); ++b) {
    const GanttBar& bar = model.bars[b];
    const float x = (axis.to_x(static_cast<double>(bar.begin)) + axis.to_x(static_cast<double>(bar.end))) / 2;
    const float y = layout.lane_top(bar) + layout.lane / 2;
    CHECK(bar_at(model, layout, axis, x, y) == b);
  }
  const std::size_t narrow = bar_index(model, "arrive", 0);
  const float edge = axis.to_x(static_cast<double>(model.bars[narrow].end));
  const float y = layout.lane_top(model.bars[narrow]) + 3;
  CHECK(bar_at(model, layout, axis, edge + 2, y) == narrow);
  CHECK_FALSE(bar_at(model, layout, axis, edge + 9, y).has_value());
  CHECK_FALSE(bar_at(model, layout, axis, edge, layout.height + 5).has_value());
}

TEST_CASE("rows are found by height, padding belongs to the nearest row", "[app]") {
  const GanttModel model = model_of();
  const ChartLayout layout = layout_rows(model, {});
  for (std::size_t r = 0; r < model.rows.size(); ++r) CHECK(layout.row_at(model, layout.rows[r].top + layout.rows[r].height / 2) == r);
  CHECK(layout.row_at(model, layout.groups[0].top + 1) == 0);
  CHECK_FALSE(layout.row_at(model, -1).has_value());
  CHECK_FALSE(layout.row_at(model, layout.height + 1).has_value());
  for (std::size_t g = 1; g < layout.groups.size(); ++g)
    CHECK(layout.groups[g].top >= layout.groups[g - 1].top + layout.groups[g - 1].height);
}

TEST_CASE("snapping prefers the hovered row, then other rows, then boundaries, then cycles", "[app]") {
  const GanttModel model = model_of(GanttMode::Unrolled);
  const TimeAxis axis{0, 1000, {0, 4000}};  // 4 cycles per pixel: 6 pixels are 24 cycles
  const std::size_t tensor = model.bars[bar_index(model, "QK", 0)].row;
  const auto at = [&](double cycle) { return axis.to_x(cycle); };

  // QK ends at 1232 and row max begins at 1280: at 1262 only the latter is near, in another row.
  Snap hit = snap(model, axis, at(1262), tensor);
  CHECK(hit.at == 1280);
  CHECK(hit.to == Snap::To::OtherRow);
  // The row's own edge wins although the other one is nearer.
  hit = snap(model, axis, at(1256), tensor);
  CHECK(hit.at == 1232);
  CHECK(hit.to == Snap::To::Row);
  REQUIRE(hit.bar);
  CHECK(model.bars[*hit.bar].label == "QK");
  // Without a row all bars are other rows and the nearest one wins.
  CHECK(snap(model, axis, at(1262), std::nullopt).at == 1280);

  const GanttModel toy = [] {
    const test::GanttCase c = test::toy_case();
    GanttModel m = build_gantt(c.problem, c.schedule);
    m.bars.clear();
    m.arrows.clear();
    m.ii = 1000;
    return m;
  }();
  hit = snap(toy, axis, at(1020), std::nullopt);
  CHECK(hit.at == 1000);
  CHECK(hit.to == Snap::To::Boundary);
  hit = snap(toy, axis, at(1100.3), std::nullopt);
  CHECK(hit.at == 1100);
  CHECK(hit.to == Snap::To::Cycle);
  // Alt: nothing attracts.
  hit = snap(model, axis, at(1256), tensor, false);
  CHECK(hit.at == 1256);
  CHECK(hit.to == Snap::To::Cycle);
}

TEST_CASE("the cut of a wrapped bar attracts as a boundary, not as the op's edge", "[app]") {
  test::GanttCase c = test::attention_case();
  c.schedule.ops[c.problem.find_op("QK").index()].start = 1900;
  const GanttModel model = build_gantt(c.problem, c.schedule);
  const TimeAxis axis{0, 2048, {0, 2048}};
  CHECK(snap(model, axis, 2047, model.bars[bar_index(model, "QK", 0)].row).to == Snap::To::Boundary);
}

TEST_CASE("the keyboard walks along a row and back", "[app]") {
  const GanttModel model = model_of(GanttMode::Unrolled);
  const std::size_t first = bar_index(model, "QK", 0);
  std::size_t bar = first;
  int steps = 0;
  while (const auto next = step_in_row(model, bar, 1)) {
    CHECK(model.bars[*next].row == model.bars[first].row);
    CHECK(model.bars[*next].begin >= model.bars[bar].begin);
    CHECK(step_in_row(model, *next, -1) == bar);
    bar = *next;
    ++steps;
  }
  CHECK(steps == 5);  // QK and PV, three iterations
  CHECK_FALSE(step_in_row(model, first, -1).has_value());
}

TEST_CASE("up and down go to the nearest bar of the next row and stop at the ends", "[app]") {
  const GanttModel model = model_of();
  const std::size_t qk = bar_index(model, "QK", 0);
  const auto down = step_to_row(model, qk, 1);
  REQUIRE(down);
  CHECK(model.bars[*down].label == "exp2");
  const auto up = step_to_row(model, qk, -1);
  REQUIRE(up);
  CHECK(model.bars[*up].label == "load V");
  CHECK_FALSE(step_to_row(model, *up, -1).has_value());
}

TEST_CASE("brackets follow dependences to the first reader and the last producer", "[app]") {
  const GanttModel model = model_of(GanttMode::Unrolled);
  const auto reader = follow(model, bar_index(model, "row max", 1), 1);
  REQUIRE(reader);
  CHECK(model.bars[*reader].label == "exp2");
  CHECK(model.bars[*reader].iteration == 1);
  // PV waits for load V, rescale and exp2; in time, rescale ends last.
  const auto producer = follow(model, bar_index(model, "PV", 1), -1);
  REQUIRE(producer);
  CHECK(model.bars[*producer].label == "rescale");
  CHECK_FALSE(follow(model, bar_index(model, "load K", 0), -1).has_value());
}

TEST_CASE("an op is found near where the user looks", "[app]") {
  const GanttModel model = model_of(GanttMode::Unrolled);
  const OpId op = model.bars[bar_index(model, "QK", 0)].op;
  CHECK(bar_of_op(model, op, {4500, 5500}) == bar_index(model, "QK", 2));
  CHECK(bar_of_op(model, op, {4500, 5500}, bar_index(model, "QK", 0)) == bar_index(model, "QK", 0));
}

TEST_CASE("a short pulse in a long view stays short", "[app]") {
  // 4 cycles of 1 in 4 000 on 1 000 pixels, between long stretches of 0.
  const UsageCurve profile{{0, 0}, {1001, 1}, {1005, 0}, {3001, 2}, {3002, 1}, {3003, 0}};
  const std::vector<ProfilePiece> pieces = profile_pieces(profile, {0, 1000, {0, 4000}}, 0, 4000);
  float x = 0, full = 0;
  std::int64_t most = 0;
  for (const ProfilePiece& piece : pieces) {
    CHECK(piece.x0 == x);
    x = piece.x1;
    most = std::max(most, piece.value);
    if (piece.value > 0) full += piece.x1 - piece.x0;
  }
  CHECK(x == 1000);
  CHECK(most == 2);  // no peak is lost
  CHECK(full <= 3.01f);
  CHECK(pieces.size() == 5);
}

TEST_CASE("pieces of random profiles cover the view, and no step of a pixel or more loses its value", "[app]") {
  const unsigned seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const auto number = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  for (int round = 0; round < 200; ++round) {
    UsageCurve profile{{0, number(0, 9)}};
    while (profile.back().at < 1000) profile.push_back({profile.back().at + number(1, 60), number(0, 9)});
    const int begin = number(0, 900), end = number(begin + 1, 1100);
    const TimeAxis axis{0, 100, {static_cast<double>(begin), static_cast<double>(end)}};
    const auto pieces = profile_pieces(profile, axis, begin, end);
    REQUIRE(!pieces.empty());
    CHECK(pieces.front().x0 == 0);
    CHECK(pieces.back().x1 == Approx(100));
    CHECK(pieces.size() <= profile.size() + 101);
    for (std::size_t i = 1; i < pieces.size(); ++i) REQUIRE(pieces[i].x0 == pieces[i - 1].x1);
    for (const ProfilePiece& piece : pieces) {
      // The largest value of the steps that the piece touches.
      std::int64_t most = 0;
      for (std::size_t s = 0; s < profile.size(); ++s) {
        const float x0 = axis.to_x(static_cast<double>(profile[s].at));
        const float x1 = s + 1 < profile.size() ? axis.to_x(static_cast<double>(profile[s + 1].at)) : 100;
        if (x0 < piece.x1 && x1 > piece.x0) most = std::max(most, profile[s].value);
      }
      REQUIRE(piece.value == most);
    }
  }
}

TEST_CASE("the minimap maps the whole model, whatever is visible", "[app]") {
  const GanttModel model = model_of(GanttMode::Pipeline, 8);
  const TimeAxis axis = minimap_axis(GanttViewState{}, model, 0, 500);
  CHECK(axis.to_x(static_cast<double>(model.begin)) > 0);
  CHECK(axis.to_x(static_cast<double>(model.end)) < 500);
}

TEST_CASE("a measured stretch reads as from, to, length", "[app]") {
  CHECK(describe(range_between(1160, 648)) == "648 → 1 160 = 512 cycles");
  CHECK(describe(CycleRange{7, 8}) == "7 → 8 = 1 cycle");
}

TEST_CASE("slack of a dependence counts latency, distance and hand-off", "[app]") {
  test::GanttCase c = test::attention_case();
  c.problem.edges[0].handoff = 15;  // load K -> QK, in different groups
  CHECK(edge_slack(c.problem, c.schedule, EdgeId(0)) == 720 - 0 - 700 - 15);
  for (std::size_t e = 0; e < c.problem.edges.size(); ++e)
    if (c.problem.edges[e].distance == 1 && c.problem.op(c.problem.edges[e].from).name == "PV")
      CHECK(edge_slack(c.problem, c.schedule, EdgeId(e)) == 2048 + 600 + 2048 - (2048 + 1300) - 560);
}

// Sliders, fronts and wrong numbers, driven by names in the real window.
#include <catch2/catch.hpp>

#include "app/session/commands.h"
#include "app/session/question_state.h"
#include "app/window/parts/what_if_state.h"
#include "app/window/tabs/pareto/pareto_state.h"
#include "tests/support/fake_solver.h"
#include "tests/support/wait.h"
#include "tests/support/window/harness.h"

using namespace heddle;
using namespace heddle::app;
using test::Harness;

namespace {

void wait_for_answer(Harness& h) {
  h.wait_while([&] { return h.session().asking(); });
  h.frame(2);
}

struct Solved : Harness {
  explicit Solved(int width = 1600, int height = 900) : Harness(test::solve_toy, width, height) {
    session().apply(OpenPair{"toy_fig1", "toy", true});
    wait_for_solver();
  }
};

}  // namespace

TEST_CASE("a number dragged in the inspector is tried at once and in force when it is let go", "[ui]") {
  Solved h;
  h.click("ops/O");
  REQUIRE(h.has("inspector/slider/latency"));
  const probe::Rect slider = h.at("inspector/slider/latency");
  // Held: nothing is in force, and the chart says what it shows.
  h.move_to(slider.center_x(), slider.center_y());
  feed_mouse_button(0, true);
  h.frame(2);
  for (int i = 1; i <= 6; ++i) h.move_to(slider.center_x() + static_cast<float>(i) * 5, slider.center_y());
  CHECK(h.has("center/what_if"));
  CHECK(h.session().content().changes.empty());
  CHECK(h.window().ui().of<WhatIfState>().trial);
  h.key(Key::Escape);
  CHECK_FALSE(h.has("center/what_if"));
  feed_mouse_button(0, false);
  h.frame(2);
  CHECK(h.session().content().changes.empty());
  // Let go: a change, a step of undo, and a new solve.
  h.drag("inspector/slider/latency", 30, 0);
  REQUIRE(h.session().content().changes.size() == 1);
  CHECK(h.session().content().changes[0].op == "O");
  h.wait_for_solver();
  CHECK_FALSE(h.has("center/what_if"));
  CHECK(h.session().content().schedules.size() == 2);
  h.double_click("inspector/slider/latency");
  CHECK(h.session().content().changes.empty());
  h.wait_for_solver();
  // Each gesture is one step of undo, with the schedule that came of it.
  h.key(Key::Z, {.ctrl = true});
  CHECK(h.session().content().changes.size() == 1);
  CHECK(h.session().content().schedules.size() == 2);
  h.key(Key::Z, {.ctrl = true});
  CHECK(h.session().content().changes.empty());
  CHECK(h.session().content().schedules.size() == 1);
}

TEST_CASE("changes are written, switched, edited and taken back in the What if tab", "[ui]") {
  Solved h;
  h.click("tab/what_if");
  h.click("what_if/solve_at_once");
  h.click("what_if/sentence");
  h.type("TC.capcity=+1");
  h.key(Key::Enter);
  CHECK(h.session().content().changes.empty());
  CHECK_FALSE(h.window().ui().of<WhatIfState>().complaint.empty());
  h.click("what_if/sentence");
  h.key(Key::A, {.ctrl = true});
  h.type("TC.capacity=+1");
  h.click("what_if/set");
  REQUIRE(h.session().content().changes.size() == 1);
  CHECK(h.window().ui().of<WhatIfState>().complaint.empty());
  CHECK_FALSE(h.session().live().active());
  h.click("what_if/on/0");
  CHECK_FALSE(h.session().content().changes[0].enabled);
  h.click("what_if/value/0");
  h.key(Key::A, {.ctrl = true});
  h.type("+2");
  h.key(Key::Enter);
  REQUIRE(h.session().content().changes.size() == 1);
  CHECK(describe(h.session().content().changes[0]) == "TC.capacity=+2");
  h.click("what_if/remove/0");
  CHECK(h.session().content().changes.empty());
}

#ifdef HEDDLE_HAS_SOLVER
TEST_CASE("flow 5: sweep, watch, and click the knee", "[ui]") {
  Solved h;
  h.click("tab/pareto");
  h.click("pareto/against/stages");
  h.click("pareto/ask");
  wait_for_answer(h);
  REQUIRE(h.session().answered(Topic::Pareto));
  REQUIRE(h.has("pareto/plot/point/1"));
  h.click("pareto/plot/point/1");
  REQUIRE(h.session().content().entry());
  CHECK(h.session().content().entry()->schedule.ii == 3);
  CHECK(h.session().content().entry()->verdict.valid());
  h.click("pareto/row/0");
  CHECK(h.session().content().entry()->schedule.ii == 2);
  h.click("pareto/row/1", 1);
  REQUIRE(h.session().content().baseline_entry());
  CHECK(h.session().content().baseline_entry()->schedule.ii == 3);
  // The keyboard walks over the points of the plot that was clicked.
  h.click("pareto/plot/point/0");
  h.key(Key::PageDown);
  h.key(Key::Enter);
  CHECK(h.session().content().entry()->schedule.ii == 3);
  h.click("pareto/copy");
  CHECK(std::string(ImGui::GetClipboardText()).find("stages") != std::string::npos);
  h.click("pareto/command");
  CHECK(std::string(ImGui::GetClipboardText()) == "heddle pareto toy_fig1 toy --against stages");
}

TEST_CASE("flow 6: what if an op took longer, and II as a function of it", "[ui]") {
  Solved h;
  h.click("tab/what_if");
  h.click("ops/O");
  h.click("latency/ask");
  wait_for_answer(h);
  REQUIRE(h.session().answered(Topic::Latency));
  CHECK(h.has("latency/plot"));
  h.click("latency/copy");
  CHECK(std::string(ImGui::GetClipboardText()).find("why not smaller") != std::string::npos);
  h.drag("what_if/slider/latency", 60, 0);
  CHECK(h.session().content().changes.size() == 1);
  h.wait_for_solver();
  // About the number as it was; it is there again after an undo.
  CHECK_FALSE(h.session().answered(Topic::Latency));
}

TEST_CASE("a front against two resources: either can be the axis, and the table sorts by each", "[ui]") {
  Solved h(1600, 1200);
  h.click("tab/pareto");
  h.click("pareto/against/stages");
  h.click("pareto/against/warps", 0, {.ctrl = true});
  h.click("pareto/ask");
  wait_for_answer(h);
  REQUIRE(h.session().answered(Topic::Pareto));
  REQUIRE(h.has("pareto/axis/warps"));
  REQUIRE(h.has("pareto/axis/stages"));
  const probe::Rect axis = h.at("pareto/axis/stages"), plot = h.at("pareto/plot");
  CHECK(axis.y1 <= plot.y0 + 1);
  CHECK(h.window().ui().of<ParetoState>().axis == 0);
  h.click("pareto/axis/stages");
  CHECK(h.window().ui().of<ParetoState>().axis == 1);
  for (const char* column : {"II", "warps", "stages", "status"}) {
    INFO(column);
    h.click(std::string("pareto/sort/") + column);
    CHECK_FALSE(h.window().ui().of<ParetoState>().order.descending);
    h.click(std::string("pareto/sort/") + column);
    CHECK(h.window().ui().of<ParetoState>().order.descending);
    CHECK(h.has("pareto/row/0"));
  }
}

TEST_CASE("wrong numbers: a row selects its ops, and what it tries is in force", "[ui]") {
  Solved h(1600, 1600);
  h.click("tab/sensitivity");
  h.click("sensitivity/percent/20");
  h.click("sensitivity/ask");
  wait_for_answer(h);
  REQUIRE(h.session().answered(Topic::Sensitivity));
  CHECK(h.session().question(Topic::Sensitivity).options.sensitivity.percent == 20);
  h.click("sensitivity/all");
  REQUIRE(h.has("sensitivity/row/limits.smem_bytes"));
  const auto rows = h.names("sensitivity/row/");
  CHECK(rows.size() > 4);
  h.click("sensitivity/row/limits.smem_bytes");
  CHECK(h.session().selection().empty());
  REQUIRE(h.has("sensitivity/try/limits.smem_bytes/more"));
  h.click("sensitivity/try/limits.smem_bytes/more");
  REQUIRE(h.session().content().changes.size() == 1);
  CHECK(describe(h.session().content().changes[0]) == "limits.smem_bytes=+20%");
}
#endif

TEST_CASE("the tabs for numbers fit into small windows and large scales", "[ui]") {
  for (const auto& [width, height, scale] : {std::tuple{1280, 720, 100}, std::tuple{1280, 720, 200}, std::tuple{1600, 900, 200}}) {
    Solved h(width, height);
    h.session().apply(use_scale(scale, false));
    h.session().apply(SelectOp{OpId(2)});
    for (const char* tab : {"what_if", "pareto", "sensitivity"}) {
      for (const BottomTab t : {BottomTab::WhatIf, BottomTab::Pareto, BottomTab::Sensitivity}) {
        h.session().apply(show_tab(t));
        h.frame(3);
      }
      CAPTURE(width, height, scale, tab);
      CHECK(h.has("pane/center"));
    }
  }
}

// Dragging bars and editing constraints in the real window, on the real solver where there is one.
#include <catch2/catch.hpp>
#include <cmath>

#include "app/session/commands.h"
#include "app/session/proposal.h"
#include "app/session/question_state.h"
#include "app/window/parts/constraints_state.h"
#include "core/chart/gantt_model.h"
#include "tests/support/fake_solver.h"
#include "tests/support/wait.h"
#include "tests/ui/person.h"

using namespace heddle;
using namespace heddle::app;
using test::Harness;

namespace {

struct Open : Harness {
  Open(const char* kernel, const char* machine, SolveFunction solve) : Harness(std::move(solve), 1600, 1000) {
    session().apply(OpenPair{kernel, machine, true});
    wait_for_solver();
    frame(40);  // animations end
    REQUIRE(session().content().entry());
  }
  const Content& content() { return session().content(); }
  Cycle start(const char* op) { return content().entry()->schedule.start(content().problem->find_op(op)); }
  const UserConstraint* find(ConstraintKind kind, const char* op) {
    for (const UserConstraint& c : content().constraints)
      if (c.kind == kind && !is_frame(c) && c.ops == std::vector<std::string>{op}) return &c;
    return nullptr;
  }
  /// Presses a bar and takes it along, without letting go.
  void take(const std::string& bar, float dx, float dy = 0) {
    const probe::Rect r = at(bar);
    const float x = r.center_x(), y = r.center_y();
    move_to(x, y);
    feed_mouse_button(0, true);
    frame(2);
    for (int i = 1; i <= 5; ++i) move_to(x + dx * static_cast<float>(i) / 5, y + dy * static_cast<float>(i) / 5);
    frame();
  }
  void let_go() {
    feed_mouse_button(0, false);
    frame(2);
    wait_for_all();
  }
  void wait_for_all() {
    wait_while([this] { return session().live().active() || session().asking(); });
    frame(2);
  }
};

/// The toy with a solver that knows its answer and looks at no constraint.
struct Toy : Open {
  Toy() : Open("toy_fig1", "toy", test::solve_toy) {}
};

}  // namespace

TEST_CASE("a small movement selects, and nothing is asked", "[ui]") {
  Toy h;
  h.take("gantt/bar/P@0", 3);
  CHECK_FALSE(h.has("gantt/move/ghost"));
  h.let_go();
  CHECK(h.content().constraints.empty());
  CHECK(h.session().selection().primary() == OpId(1));
}

TEST_CASE("Escape puts a dragged bar back, and so does letting go outside the chart", "[ui]") {
  Toy h;
  h.take("gantt/bar/P@0", 200);
  CHECK(h.has("gantt/move/ghost"));
  CHECK(h.has("gantt/move/label"));
  h.key(Key::Escape);
  CHECK_FALSE(h.has("gantt/move/ghost"));
  h.let_go();
  CHECK(h.content().constraints.empty());
  const probe::Rect bar = h.at("gantt/bar/P@0"), left = h.at("pane/left");
  h.take("gantt/bar/P@0", left.center_x() - bar.center_x());
  CHECK_FALSE(h.has("gantt/move/ghost"));
  CHECK(h.has("gantt/move/label"));
  h.let_go();
  CHECK(h.content().constraints.empty());
}

TEST_CASE("a dropped bar becomes a pin and a new row that is compared with the old one", "[ui]") {
  Toy h;
  h.session().apply(SetMode{GanttMode::Unrolled});
  h.frame(40);
  const probe::Rect bar = h.at("gantt/bar/O@0");
  h.take("gantt/bar/O@0", bar.x1 - bar.x0);
  h.let_go();
  REQUIRE(h.find(ConstraintKind::Pin, "O"));
  CHECK(h.find(ConstraintKind::Pin, "O")->low == 4);
  CHECK(h.content().schedules.size() == 2);
  CHECK(h.content().baseline == std::size_t{0});
  CHECK(h.has("constraints/1"));
  h.key(Key::Z, {.ctrl = true});
  CHECK(h.content().constraints.empty());
  CHECK(h.content().schedules.size() == 1);
  h.key(Key::Y, {.ctrl = true});
  CHECK(h.content().constraints.size() == 2);
  CHECK(h.content().schedules.size() == 2);
}

TEST_CASE("P pins what is selected, and takes the pins away again", "[ui]") {
  Toy h;
  h.click("ops/S");
  h.click("ops/O", 0, {.ctrl = true});
  h.key(Key::P);
  CHECK(h.content().constraints.size() == 2);
  h.key(Key::P);
  CHECK(h.content().constraints.empty());
}

TEST_CASE("the menu of a bar pins, moves and explains", "[ui]") {
  Toy h;
  h.click("gantt/bar/P@0", 1);
  REQUIRE(h.has("chart_menu/pin"));
  h.click("chart_menu/pin");
  CHECK(h.find(ConstraintKind::Pin, "P"));
  h.click("gantt/bar/P@0", 1);
  h.click("chart_menu/unpin");
  CHECK(h.content().constraints.empty());
  h.click("gantt/bar/P@0", 1);
  h.click("chart_menu/why");
  CHECK(h.session().selection().primary() == OpId(1));
  CHECK(h.session().view().highlight.why.find("P starts at ") == 0);
  CHECK(h.session().view().highlight.ops.front() == OpId(1));
  h.click("gantt/bar/P@0", 1);
  h.click("chart_menu/graph");
  CHECK(h.session().view().tab == BottomTab::Graph);
}

TEST_CASE("constraints are typed, edited, switched and removed in the list", "[ui]") {
  Toy h;
  h.click("constraints/add");
  h.type("at most 3 stages");
  h.key(Key::Enter);
  h.wait_for_all();
  REQUIRE(h.content().constraints.size() == 1);
  CHECK(h.content().constraints[0].high == 3);
  h.click("constraints/0/switch");
  CHECK_FALSE(h.content().constraints[0].enabled);
  h.click("constraints/0/switch");
  h.click("constraints/0/text");
  REQUIRE(h.has("constraints/0/edit"));
  h.key(Key::A, {.ctrl = true});
  h.type("at most 5 stages");
  h.key(Key::Enter);
  h.wait_for_all();
  CHECK(h.content().constraints[0].high == 5);
  h.click("constraints/add");
  h.type("make it faster");
  h.key(Key::Enter);
  CHECK(h.content().constraints.size() == 1);
  CHECK_FALSE(h.window().ui().of<ConstraintsState>().add_fault.empty());
  h.key(Key::Escape);
  h.move_to("constraints/0");
  h.click("constraints/0/remove");
  CHECK(h.content().constraints.empty());
  h.click("ops/S");
  h.click("ops/P", 0, {.ctrl = true});
  h.click("constraints/common");
  REQUIRE(h.has("constraints/common/same_group"));
  h.click("constraints/common/same_group");
  h.wait_for_all();
  REQUIRE(h.content().constraints.size() == 1);
  CHECK(h.content().constraints[0].kind == ConstraintKind::SameGroup);
  h.click("tab/constraints");
  h.click("constraint_table/copy");
  CHECK(std::string(ImGui::GetClipboardText()).find("S and P in one group") != std::string::npos);
  h.click("constraint_table/0/remove");
  CHECK(h.content().constraints.empty());
}

#ifdef HEDDLE_HAS_SOLVER
TEST_CASE("a bar lands where it was dropped, in every view", "[ui]") {
  Open h("attention_forward_hopper", "h100", test::least_ii_solver());
  for (const GanttMode mode : {GanttMode::Steady, GanttMode::Unrolled, GanttMode::Pipeline}) {
    INFO(to_string(mode));
    h.session().apply(SetMode{mode});
    h.frame(40);
    const std::string name = mode == GanttMode::Steady ? "gantt/bar/load_v@0" : "gantt/bar/load_v@1";
    const probe::Rect bar = h.at(name);
    const Cycle before = h.start("load_v");
    const float pixels_per_cycle = (bar.x1 - bar.x0) / 512;
    const float dx = std::round(100 * pixels_per_cycle);
    feed_modifiers(false, false, true);  // no snapping
    h.take(name, dx);
    CHECK(h.has("gantt/move/ghost"));
    CHECK(h.has("gantt/move/alone"));
    const probe::Rect ghost = h.at("gantt/move/ghost");
    CHECK(std::abs(ghost.x0 - bar.x0 - dx) <= 2 + pixels_per_cycle);
    h.let_go();
    feed_modifiers(false, false, false);
    const UserConstraint* pin = h.find(ConstraintKind::Pin, "load_v");
    REQUIRE(pin);
    CHECK(std::abs(static_cast<float>(pin->low - before) * pixels_per_cycle - dx) <= 1.5f * std::max(1.0f, pixels_per_cycle));
    REQUIRE_FALSE(h.session().live().refuted());
    CHECK(h.start("load_v") == pin->low);
    CHECK(h.start("load_k") == 0);
    CHECK(h.content().entry()->verdict.valid());
    h.session().apply(Undo{});
    h.frame(40);
    CHECK(h.content().constraints.empty());
  }
}

TEST_CASE("a bar dropped on another group's rows asks for that group", "[ui]") {
  Open h("attention_forward_hopper", "h100", test::least_ii_solver());
  // Of which iteration the bars in view are is the schedule's affair.
  const std::string bar = h.has("gantt/bar/exp0@0") ? "gantt/bar/exp0@0" : "gantt/bar/exp0@-1";
  const probe::Rect from = h.at(bar), to = h.at("gantt/bar/exp1@-1");
  h.take(bar, 3, to.center_y() - from.center_y());
  CHECK(h.has("gantt/move/ghost"));
  h.let_go();
  REQUIRE(h.find(ConstraintKind::InGroup, "exp0"));
  CHECK_FALSE(h.find(ConstraintKind::Pin, "exp0"));
  if (!h.session().live().refuted()) {
    const Schedule& made = h.content().entry()->schedule;
    CHECK(static_cast<std::int64_t>(made.group(h.content().problem->find_op("exp0")).index()) ==
          h.find(ConstraintKind::InGroup, "exp0")->low);
  }
}

TEST_CASE("a drop that nothing can meet is refused with a reason, and one click takes it back", "[ui]") {
  Open h("toy_fig1", "toy", warm_solver());
  h.session().apply(SetMode{GanttMode::Unrolled});
  h.frame(40);
  const probe::Rect bar = h.at("gantt/bar/P@0");
  h.take("gantt/bar/P@0", bar.x0 - bar.x1);  // P needs what S computes
  h.let_go();
  REQUIRE(h.session().live().refuted());
  CHECK(h.content().schedules.size() == 1);
  CHECK(h.session().view().tab == BottomTab::Explain);
  CHECK(h.session().question(Topic::Explain).phase == QuestionState::Phase::Done);
  CHECK(h.has("gantt/proposed/P"));
  REQUIRE(h.has("constraints/undo"));
  CHECK(h.has("constraints/switch_off"));
  h.click("constraints/undo");
  CHECK(h.content().constraints.empty());
  CHECK_FALSE(h.session().live().refuted());
  CHECK(h.content().entry()->status == Status::Optimal);
}
#endif

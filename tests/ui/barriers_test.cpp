// Lanes of barriers in the chart: shown and hidden by a key, named by the line that draws the same, and linked with the bars.
#include <catch2/catch.hpp>

#include "app/window/kit/actions.h"
#include "core/chart/gantt_model.h"
#include "tests/ui/person.h"

#ifdef HEDDLE_HAS_SOLVER
using namespace heddle;
using namespace heddle::app;
using test::Person;

TEST_CASE("H shows lanes of barriers; a click on a stretch selects the op that began it; the line says what is shown", "[ui]") {
  Person p("attention_forward_hopper", test::least_ii_solver());  // whose groups take turns on the tensor core
  CHECK_FALSE(p.has("gantt/barrier/k"));
  p.key(Key::H);
  p.frame(4);
  for (const char* lane : {"gantt/barrier/k", "gantt/barrier/v", "gantt/barrier/turn on TC"}) CHECK(p.has(lane));
  REQUIRE(p.has("legend/barriers"));
  REQUIRE(p.session().selection().empty());
  // The middle of the product that has its turn.
  const probe::Rect lane = p.at("gantt/barrier/turn on TC"), bar = p.at("gantt/bar/QK1@0");
  p.click_at(bar.center_x(), lane.center_y());
  p.frame(4);
  REQUIRE(p.session().selection().primary().valid());
  CHECK(p.content().problem->op(p.session().selection().primary()).name == "QK1");
  perform(*find_action("copy_shown"), p.session(), p.window().ui());
  p.frame(2);
  CHECK(p.clipboard() == "heddle show attention_forward_hopper h100 --mode steady --barriers");
  for (const GanttMode mode : {GanttMode::Unrolled, GanttMode::Pipeline}) {
    p.session().apply(SetMode{mode});
    p.frame(4);
    CHECK(p.has("gantt/barrier/k"));
  }
  p.click("legend/barriers/end");
  p.frame(4);
  CHECK_FALSE(p.has("gantt/barrier/k"));
  CHECK_FALSE(p.has("legend/barriers"));
}
#endif

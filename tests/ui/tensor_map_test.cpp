// Lanes of tensor memory in the chart: shown and hidden by a key, named by the line that draws the same, and linked with the bars.
#include <catch2/catch.hpp>

#include "app/window/kit/actions.h"
#include "core/chart/gantt_model.h"
#include "tests/ui/person.h"

#ifdef HEDDLE_HAS_SOLVER
using namespace heddle;
using namespace heddle::app;
using test::Person;

TEST_CASE("V shows who holds tensor memory; a click on a stretch selects its writer; the line says what is shown", "[ui]") {
  Person p;
  p.session().apply(OpenPair{"gemm_blackwell", "b200", true});
  p.settle();
  p.session().apply(show_tab(BottomTab::Log));
  p.frame(2);
  CHECK_FALSE(p.has("gantt/tensor/c"));
  p.key(Key::V);
  p.frame(4);
  REQUIRE(p.has("gantt/tensor/c"));
  REQUIRE(p.has("legend/tensor"));
  CHECK_FALSE(p.has("gantt/barrier/a"));
  REQUIRE(p.session().selection().empty());
  const probe::Rect lane = p.at("gantt/tensor/c");
  p.click_at(lane.center_x(), lane.center_y());
  p.frame(4);
  REQUIRE(p.session().selection().primary().valid());
  CHECK(p.content().problem->op(p.session().selection().primary()).name == "MMA");
  perform(*find_action("copy_shown"), p.session(), p.window().ui());
  p.frame(2);
  CHECK(p.clipboard() == "heddle show gemm_blackwell b200 --mode steady --tensor-memory");
  // Beside barriers, and in every view.
  p.key(Key::H);
  for (const GanttMode mode : {GanttMode::Unrolled, GanttMode::Pipeline}) {
    p.session().apply(SetMode{mode});
    p.frame(4);
    for (const char* both : {"gantt/tensor/c", "gantt/barrier/a"}) CHECK(p.has(both));
  }
  p.click("legend/tensor/end");
  p.frame(4);
  CHECK_FALSE(p.has("gantt/tensor/c"));
  CHECK_FALSE(p.has("legend/tensor"));
  CHECK(p.has("gantt/barrier/a"));
}
#endif

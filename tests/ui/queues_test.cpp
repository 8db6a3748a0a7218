// Rings as queues: lanes in the chart, shown and hidden by a key, and what the whole-kernel tab says of them.
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "app/window/kit/actions.h"
#include "core/chart/gantt_model.h"
#include "tests/support/wait.h"
#include "tests/ui/person.h"

#ifdef HEDDLE_HAS_SOLVER
using namespace heddle;
using namespace heddle::app;
using test::Person;

TEST_CASE("Q shows how full rings are on the chart's own axis, and the line says what is shown", "[ui]") {
  Person p("gemm_hopper");
  CHECK_FALSE(p.has("gantt/queue/b"));
  p.key(Key::Q);
  p.frame(4);
  for (const char* there : {"gantt/queue/a0", "gantt/queue/b", "legend/queues"}) REQUIRE(p.has(there));
  const probe::Rect lane = p.at("gantt/queue/b"), rows = p.at("gantt/rows");
  CHECK(lane.x0 == rows.x0);
  CHECK(lane.x1 == rows.x1);
  CHECK(lane.y0 >= rows.y1);
  perform(*find_action("copy_shown"), p.session(), p.window().ui());
  p.frame(2);
  CHECK(p.clipboard() == "heddle show gemm_hopper h100 --mode steady --queues");
  // In every view, and beside barriers.
  p.key(Key::H);
  for (const GanttMode mode : {GanttMode::Unrolled, GanttMode::Pipeline}) {
    p.session().apply(SetMode{mode});
    p.frame(4);
    for (const char* both : {"gantt/queue/b", "gantt/barrier/b"}) REQUIRE(p.has(both));
    CHECK(p.at("gantt/queue/b").y0 > p.at("gantt/barrier/b").y1);
  }
  // Under the mouse it says what the ring holds there.
  const probe::Rect there = p.at("gantt/queue/b");
  p.move_to(there.center_x(), there.center_y());
  p.frame(30);
  p.key(Key::W);
  p.frame(40);
  CHECK(p.has("gantt/queue/b"));
  p.click("legend/queues/end");
  p.frame(4);
  CHECK_FALSE(p.has("gantt/queue/b"));
  CHECK(p.has("gantt/barrier/b"));
}

TEST_CASE("the whole-kernel tab has the verdict, a row for every queue and the balance of the schedules", "[ui]") {
  Environment environment;
  environment.predict = [](const PredictionSubject& of, std::stop_token stop) { return built_in_prediction()(of, std::move(stop)); };
  Person p("gemm_hopper", environment);
  p.session().apply(show_tab(BottomTab::Simulate));
  p.window().ui().maximized = true;
  REQUIRE(test::wait_until([&] { return p.has("simulate/verdict"); }, [&] { p.frame(); }));
  p.frame(10);
  for (const char* there : {"simulate/verdict", "simulate/queue/b", "simulate/balance", "simulate/balance/point/0"}) CHECK(p.has(there));
  p.click("simulate/queue/b");
  p.frame(4);
  REQUIRE(p.session().selection().primary().valid());
  CHECK(p.content().problem->op(p.session().selection().primary()).name == "load_b");
}
#endif

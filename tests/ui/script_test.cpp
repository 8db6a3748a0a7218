// Steps of heddle-gui --do.
#include "app/window/frame/script.h"
#include "app/command/command_table.h"
#include "app/window/parts/tabs.h"

#include <catch2/catch.hpp>

#include "core/chart/gantt_model.h"
#include "tests/support/fake_solver.h"
#include "tests/support/window/harness.h"

using namespace heddle;
using namespace heddle::app;
using test::Harness;

TEST_CASE("the steps of a script do what a hand would do, and wait for the solver", "[ui]") {
  Harness h(test::solve_toy);
  const auto step = [&](const char* text) { return run_step(h.window(), text); };
  REQUIRE(step("click:welcome/toy"));
  REQUIRE(step("unrolled"));
  CHECK(h.session().view().mode == GanttMode::Unrolled);
  REQUIRE(step("steady"));
  REQUIRE(step("solve"));
  CHECK_FALSE(h.session().live().active());
  CHECK(h.session().content().schedules.size() == 1);  // it is proved: there is nothing to solve again
  REQUIRE(step("click:ops/P"));
  CHECK(h.session().selection().primary() == OpId(1));
  REQUIRE(step("find"));
  REQUIRE(step("type:light"));
  REQUIRE(step("click:palette/action/light"));
  CHECK(h.session().content().schedules.size() == 1);
  REQUIRE(step("hover:gantt/bar/P@0"));
  CHECK(h.window().ui().chart.hovered_cycle);
}

TEST_CASE("a step that cannot be done says why", "[ui]") {
  Harness h(test::solve_toy);
  const auto why = [&](const char* step) {
    const auto done = run_step(h.window(), step);
    REQUIRE_FALSE(done);
    return to_string(done.error());
  };
  CHECK_THAT(why("nonsense"), Catch::Contains("no action nonsense"));
  CHECK_THAT(why("undo"), Catch::Contains("nothing to undo"));
  CHECK_THAT(why("click:no/such/thing"), Catch::Contains("nothing on the screen"));
  CHECK_THAT(why("click:welcome"), Catch::Contains("more than one"));
  CHECK_THAT(why("drag:welcome/toy"), Catch::Contains("drag:NAME:DX:DY"));
  CHECK_THAT(why("drag:"), Catch::Contains("drag:NAME:DX:DY"));
}

TEST_CASE("heddle gui can begin with every tab", "[ui]") {
  std::vector<std::string> ids;
  for (const Tab& tab : tabs()) ids.emplace_back(tab.id);
  for (const OptionSpec& option : find_command("gui")->options)
    if (option.flag == "--tab") CHECK(option.choices == ids);
}

// The chart of a program's periodic run: whole, without overlaps, and with a reason for every wait.
#include "core/chart/contended_gantt.h"

#include <catch2/catch.hpp>

#include "core/chart/svg.h"
#include "core/motion/motion.h"
#include "core/timing/program.h"
#include "tests/core/motion/measured_loops.h"

using namespace heddle;
using namespace heddle::test;

TEST_CASE("the chart with contention shows whole periods, and why warps wait", "[core]") {
  const Problem problem = problem_of(measured_loops()[2], machine_of("h100"));
  const timing::LoopTiming timing = timing::earliest_schedule(problem, flash_attention(problem));
  REQUIRE_FALSE(timing.deadlock);
  GanttOptions options;
  options.mode = GanttMode::Contended;
  options.iterations = 2;
  const GanttModel model = build_gantt(problem, timing.schedule, options);
  const motion::Motion motion = motion::motion_of(problem, timing.schedule);
  REQUIRE_FALSE(motion.stuck);
  CHECK(model.mode == GanttMode::Contended);
  CHECK(model.end >= static_cast<Cycle>(2 * motion.period.cycles()));
  REQUIRE_FALSE(model.bars.empty());
  for (std::size_t b = 0; b < model.bars.size(); ++b) {
    const GanttBar& bar = model.bars[b];
    CHECK((bar.begin >= 0 && bar.begin < bar.end && bar.row < model.rows.size() && bar.lane < model.rows[bar.row].lanes));
    if (b > 0 && model.bars[b - 1].row == bar.row && model.bars[b - 1].lane == bar.lane) CHECK(model.bars[b - 1].end <= bar.begin);
  }
  bool waits = false;
  for (std::size_t p = 0; p < model.pauses.size(); ++p) {
    const GanttPause& pause = model.pauses[p];
    CHECK((pause.begin >= 0 && pause.begin < pause.end && pause.end <= model.end));
    CHECK(model.rows[pause.row].label == "warps");
    if (p > 0 && model.pauses[p - 1].row == pause.row) CHECK(model.pauses[p - 1].end <= pause.begin);
    if (pause.kind == GanttPause::Kind::Issue) continue;
    waits = true;
    CHECK_FALSE(pause.why.empty());
  }
  CHECK(waits);
  CHECK(gantt_svg(model).find("runs until then") != std::string::npos);
  std::size_t rows = 0;
  for (const GanttGroup& group : model.groups) {
    CHECK(group.first_row == rows);
    rows += group.rows;
  }
  CHECK(rows == model.rows.size());
}

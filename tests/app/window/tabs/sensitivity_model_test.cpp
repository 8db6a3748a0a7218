// Which number matters, as rows.
#include "app/window/tabs/sensitivity/sensitivity_model.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "app/window/kit/plot_scale.h"
#include "tests/support/small_problem.h"

using namespace heddle;
using namespace heddle::app;

namespace {

SensitivitySide at(Cycle ii) {
  SensitivitySide side;
  side.lower_bound = side.ii = ii;
  side.in_order = ii;
  side.order_bound = ii;
  return side;
}

Sensitivity handmade() {
  Sensitivity answer;
  answer.percent = 10;
  answer.status = Status::Optimal;
  answer.ii = answer.lower_bound = 2048;
  answer.schedule = Schedule{};
  SensitivityRow none{"exp2.latency", {56, 552}, {"A"}, at(2048), at(2048)};
  SensitivityRow tensor{"mma.ss.TC.duration", {512}, {"A", "B"}, at(1946), at(2150)};
  tensor.less.in_order = 2024;
  SensitivityRow memory{"limits.smem_bytes", {232448}, {}, at(2048), at(2048)};
  memory.less = {};
  memory.less.lower_bound = kNoFiniteII;
  SensitivityRow open{"add.latency", {30}, {"B"}, at(2048), at(2048)};
  open.more.lower_bound = 2048;
  open.more.ii = 2060;
  answer.rows = {none, tensor, memory, open};
  return answer;
}

}  // namespace

TEST_CASE("rows come by effect, with both ends in words and the scale of the bars", "[app]") {
  Problem problem = test::empty_problem();
  test::add_op(problem, "A", 1);
  test::add_op(problem, "B", 1);
  const SensitivityModel model = build_sensitivity(problem, handmade());
  REQUIRE(model.lines.size() == 4);
  CHECK(model.lines[0].number == "limits.smem_bytes");
  CHECK(model.lines[0].less.text == "no schedule");
  CHECK(model.lines[1].number == "mma.ss.TC.duration");
  CHECK(model.lines[1].less.text == "1 946 (-102)");
  CHECK(model.lines[1].more.text == "2 150 (+102)");
  CHECK(model.lines[1].order == "needs 2 024 at -10 %");
  CHECK(model.lines[1].ops == std::vector<OpId>{OpId(0), OpId(1)});
  CHECK(model.reach == 102);
  CHECK(model.without_effect == 1);
  const auto open =
      std::find_if(model.lines.begin(), model.lines.end(), [](const SensitivityLine& l) { return l.number == "add.latency"; });
  REQUIRE(open != model.lines.end());
  CHECK_FALSE(open->proved());
  CHECK(open->more.text == "2 048 to 2 060");
  CHECK(std::any_of(model.lines.begin(), model.lines.end(), [](const SensitivityLine& l) { return l.now == "56 to 552"; }));
  const std::string table = sensitivity_as_text(model);
  CHECK(std::count(table.begin(), table.end(), '\n') == 5);
  CHECK(table.find("not proved") != std::string::npos);
}

TEST_CASE("rows are sorted by name and by either end", "[app]") {
  const Problem problem = test::empty_problem();
  SensitivityModel model = build_sensitivity(problem, handmade());
  const std::vector<Column<SensitivityLine>> columns = sensitivity_columns(model);
  const auto sort = [&](const char* column, bool descending) { sort_by(model.lines, std::span(columns), {column, descending}); };
  sort("number", false);
  CHECK(model.lines.front().number == "add.latency");
  sort("II at -10 %", false);
  CHECK(model.lines.front().number == "mma.ss.TC.duration");
  CHECK(model.lines.back().number == "limits.smem_bytes");
  sort("II at +10 %", true);
  CHECK(model.lines.front().number == "mma.ss.TC.duration");
}

TEST_CASE("without a schedule there is a sentence and no rows", "[app]") {
  Sensitivity answer;
  answer.status = Status::Infeasible;
  const SensitivityModel model = build_sensitivity(test::empty_problem(), answer);
  CHECK(model.lines.empty());
  CHECK(model.headline == "no schedule exists at present, proved");
}

TEST_CASE("ticks are 1, 2 or 5 times a power of ten and lie within the axis", "[app]") {
  CHECK(nice_step(100, 5, true) == 20);
  CHECK(nice_step(7, 10, true) == 1);
  CHECK(nice_step(0.7, 7, false) == Approx(0.1));
  CHECK(nice_step(0, 7, true) == 1);
  const PlotScale scale = plot_scale(2048, 2160, 5, true);
  CHECK(scale.low < 2048);
  CHECK(scale.high > 2160);
  REQUIRE(scale.ticks.size() >= 2);
  CHECK(scale.ticks.size() <= 6);
  for (const double tick : scale.ticks) {
    CHECK(tick >= scale.low);
    CHECK(tick <= scale.high);
  }
  const PlotScale one = plot_scale(5, 5, 4, true);
  CHECK(one.low < one.high);
  CHECK(plot_scale(0, 10, 4, true).low == 0);
  const double nothing = std::numeric_limits<double>::infinity();
  CHECK(plot_scale(nothing, -nothing, 4, true).high > 0);
  CHECK(plot_scale(0, 1e18, 4, true).ticks.size() <= 6);
  const PlotScale log = log_scale(100, 1000, 6, 0);
  CHECK(log.ticks == std::vector<double>{100, 200, 300, 500, 700, 1000});
  CHECK(log.share(100) == Approx(0));
  CHECK(log.share(std::sqrt(1e5)) == Approx(0.5));
  CHECK(log.value(log.share(250)) == Approx(250));
  CHECK(log.share(0) < 0);
  CHECK(log_scale(450, 620, 6).ticks.size() >= 3);
  CHECK(log_scale(1, 1e12, 5).ticks.size() >= 1);
  CHECK(log_scale(0, 5, 5).low > 0);
  CHECK(log_scale(7, 7, 5).high > 7);
  CHECK(tick_text(2048) == "2 048");
  CHECK(tick_text(0.25) == "0.25");
}

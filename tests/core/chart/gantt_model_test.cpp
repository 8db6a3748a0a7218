// The timeline as data: rows, bars, wrap, lanes, arrows, marks.
#include "core/chart/gantt_model.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "core/chart/gantt_facts.h"
#include "tests/support/gantt_fixture.h"

using namespace heddle;
using heddle::test::GanttCase;

namespace {

const GanttBar* find_bar(const GanttModel& model, const std::string& label, int iteration, bool tail = false) {
  for (const GanttBar& bar : model.bars)
    if (bar.label == label && bar.iteration == iteration && bar.wraps_left == tail) return &bar;
  return nullptr;
}

bool overlap(const GanttBar& a, const GanttBar& b) { return a.row == b.row && a.lane == b.lane && a.begin < b.end && b.begin < a.end; }

}  // namespace

TEST_CASE("the toy in its steady window shows every op once, older work negative", "[core]") {
  const GanttCase toy = heddle::test::toy_case();
  const GanttModel model = build_gantt(toy.problem, toy.schedule);
  CHECK(model.begin == 0);
  CHECK(model.end == 2);
  REQUIRE(model.bars.size() == 3);
  CHECK(find_bar(model, "S", 0)->begin == 0);
  CHECK(find_bar(model, "P", 0)->begin == 1);
  CHECK(find_bar(model, "O", -1)->begin == 1);
  REQUIRE(model.rows.size() == 2);
  CHECK(model.rows[0].label == "TC");
  CHECK(model.rows[1].label == "EXP");
  CHECK(model.groups[0].detail == "1 warp");
}

TEST_CASE("a bar that crosses II is two pieces of one identity with continuation flags", "[core]") {
  GanttCase c = heddle::test::attention_case();
  c.schedule.ops[c.problem.find_op("QK").index()].start = 1900;
  const GanttModel model = build_gantt(c.problem, c.schedule);
  const GanttBar* head = find_bar(model, "QK", 0);
  const GanttBar* tail = find_bar(model, "QK", 0, true);
  REQUIRE(head);
  REQUIRE(tail);
  CHECK(head->begin == 1900);
  CHECK(head->end == 2048);
  CHECK(head->wraps_right);
  CHECK_FALSE(head->wraps_left);
  CHECK(tail->begin == 0);
  CHECK(tail->end == 1900 + 512 - 2048);
  CHECK(tail->wraps_left);
  CHECK_FALSE(tail->wraps_right);
  CHECK(head->row == tail->row);
  CHECK(head->lane == tail->lane);
  CHECK(model.bars.size() == c.problem.ops.size() + 1);
}

TEST_CASE("rows follow the data: copy, tensor, special, arithmetic; arithmetic pipes share a row", "[core]") {
  const GanttCase c = heddle::test::attention_case();
  const GanttModel model = build_gantt(c.problem, c.schedule);
  std::vector<std::string> labels;
  for (const GanttRow& row : model.rows) labels.push_back(row.label);
  CHECK(labels == std::vector<std::string>{"TMA", "TC", "MUFU", "FMA+ALU", "issue"});
  CHECK(model.groups[0].rows == 1);
  CHECK(model.groups[1].first_row == 1);
  CHECK(model.groups[1].rows == 4);
  CHECK(model.groups[1].detail == "4 warps · 240 regs");
}

TEST_CASE("an mma is drawn on the tensor core even where its operand port is busy longer", "[core]") {
  GanttCase c = heddle::test::attention_case();
  Op& qk = c.problem.ops[c.problem.find_op("QK").index()];
  for (UnitUse& use : qk.uses)
    if (c.problem.unit(use.unit).role == UnitRole::Smem) use.duration = 600;
  const UnitUse* use = primary_use(c.problem, qk);
  REQUIRE(use);
  CHECK(c.problem.unit(use->unit).name == "TC");
}

TEST_CASE("unrolled bars are the steady bars shifted by whole windows", "[core]") {
  const GanttCase c = heddle::test::attention_case();
  GanttOptions options;
  const GanttModel steady = build_gantt(c.problem, c.schedule, options);
  options.mode = GanttMode::Unrolled;
  options.iterations = 4;
  const GanttModel unrolled = build_gantt(c.problem, c.schedule, options);
  CHECK(unrolled.bars.size() == 4 * c.problem.ops.size());
  for (const GanttBar& bar : unrolled.bars) {
    const auto same =
        std::find_if(steady.bars.begin(), steady.bars.end(), [&](const GanttBar& s) { return s.op == bar.op && !s.wraps_left; });
    REQUIRE(same != steady.bars.end());
    CHECK((bar.begin - same->begin) % c.schedule.ii == 0);
    CHECK(bar.row == same->row);
    CHECK(bar.lane == same->lane);
    CHECK(bar.begin - c.schedule.ii * bar.iteration == c.schedule.start(bar.op));
  }
}

TEST_CASE("carried dependences point into a later iteration and only where it is shown", "[core]") {
  const GanttCase c = heddle::test::attention_case();
  GanttOptions options;
  options.mode = GanttMode::Unrolled;
  options.iterations = 3;
  const GanttModel model = build_gantt(c.problem, c.schedule, options);
  std::size_t expected = 0;
  for (const Edge& edge : c.problem.edges) expected += static_cast<std::size_t>(std::max(0, 3 - edge.distance));
  CHECK(model.arrows.size() == expected);
  for (const GanttArrow& arrow : model.arrows) {
    const Edge& edge = c.problem.edge(arrow.edge);
    CHECK(model.bars[arrow.from_bar].op == edge.from);
    CHECK(model.bars[arrow.to_bar].op == edge.to);
    CHECK(model.bars[arrow.to_bar].iteration - model.bars[arrow.from_bar].iteration == edge.distance);
    CHECK(arrow.carried == (edge.distance > 0));
    CHECK(arrow.crosses_groups == (c.schedule.group(edge.from) != c.schedule.group(edge.to)));
  }
}

TEST_CASE("a pipeline marks where it fills, runs steadily and drains", "[core]") {
  const GanttCase c = heddle::test::attention_case();
  GanttOptions options;
  options.mode = GanttMode::Pipeline;
  options.iterations = 5;
  const GanttModel model = build_gantt(c.problem, c.schedule, options);
  std::map<std::string, Cycle> at;
  for (const GanttMark& mark : model.marks)
    if (!mark.strong) at[mark.label] = mark.at;
  CHECK(at.at("fill") == 0);
  CHECK(at.at("steady state") == (stage_count(c.schedule) - 1) * c.schedule.ii);
  CHECK(at.at("drain") == 5 * c.schedule.ii);
  CHECK(model.end > 5 * c.schedule.ii);
}

TEST_CASE("an op that outlasts II takes lanes of its own and stays visible", "[core]") {
  GanttCase c = heddle::test::toy_case();
  c.problem.ops[0].uses[0].duration = 5;
  for (const GanttMode mode : {GanttMode::Steady, GanttMode::Unrolled}) {
    GanttOptions options;
    options.mode = mode;
    options.iterations = 8;
    const GanttModel model = build_gantt(c.problem, c.schedule, options);
    for (std::size_t a = 0; a < model.bars.size(); ++a)
      for (std::size_t b = a + 1; b < model.bars.size(); ++b) CHECK_FALSE(overlap(model.bars[a], model.bars[b]));
  }
  c.problem.ops[0].uses[0].duration = 4'000'000'000;
  CHECK(build_gantt(c.problem, c.schedule).bars.size() < 100);
}

TEST_CASE("violating ops are flagged in every iteration", "[core]") {
  const GanttCase c = heddle::test::toy_case();
  Verdict verdict;
  verdict.violations.push_back({"unit", "TC is used twice", {OpId(0), OpId(2)}, 0, 2, 1});
  GanttOptions options;
  options.mode = GanttMode::Unrolled;
  options.verdict = &verdict;
  for (const GanttBar& bar : build_gantt(c.problem, c.schedule, options).bars) CHECK(bar.violating == (bar.op != OpId(1)));
}

TEST_CASE("random schedules: bars of a lane never overlap, lengths add up, the same input gives the same picture", "[core]") {
  const unsigned seed = 20260;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 200; ++round) {
    const GanttCase c = heddle::test::random_case(random);
    for (const GanttMode mode : {GanttMode::Steady, GanttMode::Unrolled, GanttMode::Pipeline}) {
      GanttOptions options;
      options.mode = mode;
      const GanttModel model = build_gantt(c.problem, c.schedule, options);
      const GanttModel again = build_gantt(c.problem, c.schedule, options);
      REQUIRE(model.bars.size() == again.bars.size());
      std::map<std::pair<OpId, int>, Cycle> length;
      for (std::size_t a = 0; a < model.bars.size(); ++a) {
        const GanttBar& bar = model.bars[a];
        CHECK(bar.op == again.bars[a].op);
        CHECK(bar.lane == again.bars[a].lane);
        CHECK(bar.begin < bar.end);
        CHECK(bar.begin >= model.begin);
        CHECK(bar.end <= model.end);
        REQUIRE(bar.row < model.rows.size());
        CHECK(bar.lane < model.rows[bar.row].lanes);
        CHECK(model.rows[bar.row].group == c.schedule.group(bar.op));
        length[{bar.op, bar.iteration}] += bar.end - bar.begin;
        for (std::size_t b = a + 1; b < model.bars.size(); ++b) REQUIRE_FALSE(overlap(bar, model.bars[b]));
      }
      for (const auto& [key, cycles] : length) {
        const UnitUse* use = primary_use(c.problem, c.problem.op(key.first));
        if (use) CHECK(cycles == std::min(use->duration, 15 * c.schedule.ii));
      }
      std::size_t rows = 0;
      for (const GanttGroup& group : model.groups) {
        CHECK(group.first_row == rows);
        rows += group.rows;
      }
      CHECK(rows == model.rows.size());
    }
  }
}

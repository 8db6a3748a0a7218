// What instruction streams do in a stretch of a schedule, and how busy units are in it.
#include "core/analysis/stream_time.h"

#include <catch2/catch.hpp>
#include <numeric>
#include <random>

#include "core/chart/range_statistics.h"
#include "tests/support/gantt_fixture.h"

using namespace heddle;

namespace {

Cycle sum(const std::array<Cycle, kStreamTimes>& times) { return std::accumulate(times.begin(), times.end(), Cycle{0}); }
Cycle of(const std::array<Cycle, kStreamTimes>& times, StreamTime what) { return times[static_cast<std::size_t>(what)]; }

/// An asynchronous copy of 100 cycles in one group, and an op of 30 that reads it and one of 10 that needs nothing in another; II 200.
test::GanttCase copy_and_read() {
  test::GanttCase c;
  Problem& p = c.problem;
  p.units = {{"TMA", UnitRole::Copy, 1, "", ""}, {"FMA", UnitRole::Float, 1, "", ""}};
  const auto add = [&](const char* name, const char* kind, UnitId unit, Cycle busy, Cycle latency, Cycle window, int warps) {
    Op& op = p.ops.emplace_back();
    op.name = name;
    op.kind = kind;
    op.uses = {{unit, 0, busy, 1}};
    op.latency = latency;
    op.window = window;
    op.warps = warps;
  };
  add("copy", "tma_load", UnitId(0), 50, 100, 5, 1);
  add("read", "elementwise", UnitId(1), 30, 30, 30, 4);
  add("free", "elementwise", UnitId(1), 10, 10, 10, 4);
  p.values = {{"K", Space::Smem, OpId(0), 1024, 0}};
  p.edges = {{OpId(0), OpId(1), ValueId(0), 100, 0}};
  c.schedule.ii = 200;
  c.schedule.ops = {{0, GroupId(0)}, {100, GroupId(1)}, {150, GroupId(1)}};
  c.schedule.groups = {{"producer", 1, 0}, {"consumer", 4, 0}};
  return c;
}

}  // namespace

TEST_CASE("a stream waits for what lets its next op start last, and is free from then on", "[core]") {
  const test::GanttCase c = copy_and_read();
  const StreamPieces steady = steady_streams(c.problem, c.schedule);
  REQUIRE(steady.size() == 2);
  const auto consumer = stream_times(steady[1], 0, 200);
  CHECK(of(consumer, StreamTime::Issuing) == 40);
  CHECK(of(consumer, StreamTime::Data) == 140);  // from 160 to 100 of the next window, when the copy is there
  CHECK(of(consumer, StreamTime::Spare) == 20);  // nothing holds `free` at 130
  CHECK(sum(consumer) == 200);
  // 130 to 150 belongs to an op that nothing holds.
  const auto gap = stream_times(steady[1], 130, 150);
  CHECK(of(gap, StreamTime::Spare) == 20);
  CHECK(of(stream_times(steady[1], 90, 110), StreamTime::Data) == 10);
  CHECK(of(stream_times(steady[1], 90, 110), StreamTime::Issuing) == 10);
}

TEST_CASE("in a run the first iteration waits only for what there is, and after the last op nothing is left", "[core]") {
  const test::GanttCase c = copy_and_read();
  const StreamPieces run = run_streams(c.problem, c.schedule, 2, 0, 400);
  CHECK(run[1].front().what == StreamTime::Data);
  CHECK(run[1].front().op == OpId(1));
  CHECK(run[1].front().behind == OpId(0));
  CHECK(run[1].back().what == StreamTime::Spare);
  CHECK_FALSE(run[1].back().op.valid());
  CHECK(run[1].back().begin == 360);
}

TEST_CASE("the times of a group sum to the range, whatever the schedule", "[core]") {
  const unsigned seed = 172;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 80; ++round) {
    const test::GanttCase c = test::random_case(random);
    for (const GanttMode mode : {GanttMode::Steady, GanttMode::Unrolled, GanttMode::Pipeline}) {
      const GanttModel model = build_gantt(c.problem, c.schedule, {mode, 3, nullptr});
      const StreamPieces streams = streams_of(c.problem, c.schedule, model, 3);
      const Cycle middle = model.begin + (model.end - model.begin) / 3;
      const RangeStatistics left = range_statistics(model, streams, model.begin - 10, middle),
                            right = range_statistics(model, streams, middle, model.end + 10),
                            all = range_statistics(model, streams, model.begin, model.end);
      REQUIRE(left.length() + right.length() == model.end - model.begin);
      for (std::size_t g = 0; g < all.groups.size(); ++g) {
        REQUIRE(sum(all.groups[g].times) == all.length());
        for (std::size_t k = 0; k < kStreamTimes; ++k)
          REQUIRE(left.groups[g].times[k] + right.groups[g].times[k] == all.groups[g].times[k]);
      }
      for (std::size_t u = 0; u < all.units.size(); ++u) REQUIRE(left.units[u].busy + right.units[u].busy == all.units[u].busy);
    }
  }
}

TEST_CASE("the statistics of a range say what is busy in it, as text too", "[core]") {
  const test::GanttCase c = copy_and_read();
  const GanttModel model = build_gantt(c.problem, c.schedule);
  const StreamPieces streams = streams_of(c.problem, c.schedule, model, 1);
  const RangeStatistics range = range_statistics(model, streams, 0, 100);
  REQUIRE(range.units.size() == 2);
  for (const UnitStatistics& unit : range.units) {
    CHECK(unit.busy == (unit.label == "TMA" ? 50 : 0));
    CHECK(unit.share == (unit.label == "TMA" ? 0.5 : 0.0));
  }
  const std::string text = range_text(range);
  CHECK(text.find("cycles 0 to 100: 100 cycles") == 0);
  CHECK(text.find("100 100 %") != std::string::npos);
  // Outside of what is drawn there is nothing.
  CHECK(range_statistics(model, streams, 300, 900).length() == 0);
  CHECK(range_text(range_statistics(model, streams, 300, 900)).find("0 cycles") != std::string::npos);
}

// The map of tensor memory against what the schedule says of its rings, and against the kernel's own columns.
#include "core/chart/tensor_map.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "core/analysis/channels.h"
#include "core/answers/chart_page.h"
#include "core/answers/summary.h"
#include "core/chart/gantt_model.h"
#include "core/chart/svg.h"
#include "core/chart/text_timeline.h"
#include "core/check/checker.h"
#include "core/library/library.h"
#include "core/problem/resolve.h"
#include "tests/support/paths.h"

using namespace heddle;

namespace {

using State = BarrierSpan::State;

struct Case {
  Kernel kernel;
  Problem problem;
  Schedule schedule;
};

/// A shipped hand schedule.
Case hand(const std::string& kernel, const std::string& schedule) {
  Case c;
  c.kernel = load_kernel(kernel).value();
  c.problem = resolve(c.kernel, load_machine("b200").value(), {}).value();
  c.schedule = read_schedule(test::repository_path("kernels/schedules/" + kernel + "/" + schedule + ".json"), c.problem).value();
  return c;
}

std::vector<BarrierLane> steady(const Case& c) { return tensor_map(c.kernel, c.problem, c.schedule, {0, c.schedule.ii, std::nullopt}); }

const BarrierLane& lane_of(const std::vector<BarrierLane>& lanes, const std::string& label) {
  const auto lane = std::find_if(lanes.begin(), lanes.end(), [&](const BarrierLane& l) { return l.label == label; });
  REQUIRE(lane != lanes.end());
  return *lane;
}

bool holds(const BarrierLane& lane, const std::string& value) {
  return std::any_of(lane.spans.begin(), lane.spans.end(), [&](const BarrierSpan& s) { return s.name == value; });
}

}  // namespace

TEST_CASE("rings come first, then accumulators, and together they take the columns that the schedule allocates", "[core]") {
  const Case c = hand("attention_forward_blackwell", "fa4-noemu-nosplit");
  const std::vector<BarrierLane> lanes = steady(c);
  REQUIRE(lanes.size() == 4);
  std::int64_t next = 0;
  for (const BarrierLane& lane : lanes) {
    CHECK(lane.first_column == next);
    next += std::int64_t{lane.columns} * lane.slots;
  }
  CHECK(next == allocated(c.problem, c.schedule, Space::Tmem));
  CHECK(lanes[0].label == "S0");
  CHECK(lanes[1].label == "S1");
  CHECK(lanes[2].label == "O0");
  CHECK(lanes[3].label == "O1");
  CHECK(lanes[3].detail == "columns 384 to 511");
  for (const char* value : {"S0", "P0"}) CHECK(holds(lane_of(lanes, "S0"), value));
  for (const char* value : {"O1", "R1"}) CHECK(holds(lane_of(lanes, "O1"), value));
}

TEST_CASE("no two values of a legal schedule hold the same column of tensor memory at once", "[core]") {
  for (const auto& [kernel, schedule] :
       {std::pair("attention_forward_blackwell", "fa4-noemu-nosplit"), {"attention_forward_parts_blackwell", "fa4-noemu"}}) {
    const Case c = hand(kernel, schedule);
    REQUIRE(check(c.problem, c.schedule).valid());
    for (const BarrierLane& lane : tensor_map(c.kernel, c.problem, c.schedule, {0, 6 * c.schedule.ii, std::nullopt}))
      for (const BarrierSpan& a : lane.spans)
        for (const BarrierSpan& b : lane.spans) {
          if (&a == &b || a.slot != b.slot || a.end <= b.begin || b.end <= a.begin) continue;
          if (a.first_column + a.columns <= b.first_column || b.first_column + b.columns <= a.first_column) continue;
          CAPTURE(kernel, lane.label, a.name, a.iteration, a.begin, a.end, b.name, b.iteration, b.begin, b.end);
          // Parts of a score are overwritten by parts of P as soon as these have been read; the whole tile has one entry.
          const bool in_place = a.iteration == b.iteration && a.name != b.name;
          CHECK(in_place);
        }
  }
}

TEST_CASE("a stretch of tensor memory says value, iteration, columns, writer and readers", "[core]") {
  const Case c = hand("attention_forward_blackwell", "fa4-noemu-nosplit");
  const std::vector<BarrierLane> lanes = tensor_map(c.kernel, c.problem, c.schedule, {-10'000, 40'000, 3});
  const BarrierLane& lane = lane_of(lanes, "S1");
  const auto written = std::find_if(lane.spans.begin(), lane.spans.end(),
                                    [](const BarrierSpan& s) { return s.name == "P1" && s.iteration == 2 && s.state == State::Filling; });
  REQUIRE(written != lane.spans.end());
  const std::string text = span_text(c.problem, c.schedule, lane, *written, false);
  for (const char* part : {"P1 of iteration 2", "columns 128 to 191", "write_p1 writes it", "readers: PV1"})
    CHECK_THAT(text, Catch::Contains(part));
  CHECK(written->begin == c.schedule.start(c.problem.find_op("write_p1")) + 2 * c.schedule.ii);
  // Nothing is there before the first iteration or after the last.
  for (const BarrierSpan& span : lane.spans) CHECK((span.iteration >= 0 && span.iteration < 3));
}

TEST_CASE("a sum that only mmas touch is being written all the time", "[core]") {
  const Case c = hand("gemm_blackwell", "cutlass-sm100");
  const std::vector<BarrierLane> lanes = steady(c);
  REQUIRE(lanes.size() == 1);
  Cycle covered = 0;
  for (const BarrierSpan& span : lanes[0].spans) covered += span.end - span.begin;
  CHECK(covered == c.schedule.ii);
}

TEST_CASE("kernels without tensor memory have no map of it", "[core]") {
  const Kernel kernel = load_kernel("gemm_hopper").value();
  const Problem problem = resolve(kernel, load_machine("h100").value(), {}).value();
  Schedule schedule;
  schedule.depths.assign(problem.channels.size(), 1);
  schedule.ii = 1;
  CHECK(tensor_map(kernel, problem, schedule, {}).empty());
}

TEST_CASE("every picture of a schedule can show who holds tensor memory", "[core]") {
  const Case c = hand("attention_forward_blackwell", "fa4-noemu-nosplit");
  const Verdict verdict = check(c.problem, c.schedule);
  GanttOptions options;
  options.verdict = &verdict;
  options.tensor = &c.kernel;
  const GanttModel model = build_gantt(c.problem, c.schedule, options);
  REQUIRE(model.barriers.size() == 4);
  const std::string text = timeline_page(c.problem, c.schedule, model, {});
  for (const char* part : {"tensor memory\n", "columns 0 to 127", "tensor memory: . being written"})
    CHECK_THAT(text, Catch::Contains(part));
  CHECK(text.find("barriers") == std::string::npos);
  CHECK_THAT(gantt_svg(model, {}), Catch::Contains("<title>P0 of iteration"));
  ChartPage page{c.problem, c.schedule, verdict, GanttMode::Steady, 3};
  page.tensor = &c.kernel;
  CHECK_THAT(chart_html(page), Catch::Contains("readers: PV0"));
}

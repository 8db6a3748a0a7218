// The kernel's prologue and epilogue beside a schedule: where they are placed, and how pictures and tables show them.
#include "core/simulate/end_ops.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "core/chart/chrome_trace.h"
#include "core/chart/csv.h"
#include "core/chart/dot.h"
#include "core/chart/gantt_model.h"
#include "core/chart/pipeline_text.h"
#include "core/chart/svg.h"
#include "core/chart/text_timeline.h"
#include "core/library/library.h"
#include "core/problem/resolve.h"
#include "tests/support/paths.h"

using namespace heddle;

namespace {

/// Attention forward on H100 as FlashAttention-3 schedules it.
struct Case {
  Kernel kernel = *load_kernel(test::repository_path("kernels/attention_forward_hopper.json"));
  Machine machine = *load_machine(test::repository_path("assets/machines/h100.json"));
  Problem problem = *resolve(kernel, machine);
  Schedule schedule = *read_schedule(test::repository_path("kernels/schedules/attention_forward_hopper/fa3.json"), problem);
  EndOps ends = end_ops(spec_of(kernel, machine), problem, schedule);

  const EndOp& end(const std::string& name, CtaSection section) const {
    const auto found = std::find_if(ends.ops.begin(), ends.ops.end(),
                                    [&](const EndOp& e) { return e.section == section && ends.problem.op(e.op).name == name; });
    REQUIRE(found != ends.ops.end());
    return *found;
  }
};

}  // namespace

TEST_CASE("prologue ops end before what needs them, epilogue ops begin after what they need", "[core]") {
  const Case c;
  REQUIRE(c.ends.ops.size() == c.kernel.prologue.size() + c.kernel.epilogue.size());
  const EndOp& load = c.end("load_q0", CtaSection::Prologue);
  CHECK(load.group == GroupId(0));
  CHECK(load.start + c.ends.problem.op(load.op).latency <= c.schedule.start(c.problem.find_op("QK0")));
  const EndOp& store = c.end("store_o0", CtaSection::Epilogue);
  const OpId product = c.problem.find_op("PV0");
  CHECK(store.group == c.schedule.group(product));
  CHECK(store.start >= c.schedule.start(product) + c.problem.op(product).latency);
  for (const EndLink& link : c.ends.links) {
    const std::size_t loop = c.problem.ops.size();
    if (link.from.index() < loop || link.to.index() < loop) continue;
    const EndOp &from = c.ends.ops[link.from.index() - loop], &to = c.ends.ops[link.to.index() - loop];
    if (from.section == to.section) CHECK(to.start >= from.start + link.latency);
  }
}

TEST_CASE("no unit does more than it can while prologue and epilogue run", "[core]") {
  const Case c;
  GanttOptions options;
  options.mode = GanttMode::Pipeline;
  options.iterations = 5;
  options.ends = &c.ends;
  const GanttModel model = build_gantt(c.problem, c.schedule, options);
  for (const GanttLane& lane : model.lanes)
    if (lane.measure == LaneMeasure::Unit) CHECK(lane.peak <= lane.capacity);
}

TEST_CASE("the whole pipeline draws prologue and epilogue around its iterations, other views do not", "[core]") {
  const Case c;
  GanttOptions options;
  options.ends = &c.ends;
  CHECK(build_gantt(c.problem, c.schedule, options).ends.empty());
  options.mode = GanttMode::Pipeline;
  options.iterations = 5;
  const GanttModel with = build_gantt(c.problem, c.schedule, options);
  options.ends = nullptr;
  const GanttModel without = build_gantt(c.problem, c.schedule, options);
  CHECK(with.ends.size() == c.ends.ops.size());
  CHECK(with.bars.size() == without.bars.size());
  CHECK(with.begin < 0);
  CHECK(with.end >= without.end);
  std::vector<std::string> phases;
  for (const GanttMark& mark : with.marks)
    if (!mark.strong) phases.push_back(mark.label);
  CHECK(phases == std::vector<std::string>{"prologue", "fill", "steady state", "drain", "epilogue"});
  for (std::size_t a = 0; a < with.ends.size(); ++a) {
    const GanttEndBar& bar = with.ends[a];
    CHECK(bar.lane < with.rows[bar.row].lanes);
    for (const GanttBar& other : with.bars)
      CHECK_FALSE((other.row == bar.row && other.lane == bar.lane && other.begin < bar.end_at && bar.begin < other.end));
  }
}

TEST_CASE("every text of a pipeline has prologue and epilogue, and says that they are not scheduled", "[core]") {
  const Case c;
  GanttOptions options;
  options.mode = GanttMode::Pipeline;
  options.ends = &c.ends;
  const GanttModel model = build_gantt(c.problem, c.schedule, options);
  const std::string svg = gantt_svg(model), text = text_timeline(model, {.width = 200});
  CHECK(svg.find("store_o0") != std::string::npos);
  CHECK(svg.find("epilogue, once per tile, predicted") != std::string::npos);
  CHECK(text.find("not scheduled") != std::string::npos);
  const std::string page = pipeline_page(pipeline_text(c.problem, c.schedule, &c.ends), {});
  CHECK(page.find("prologue (once per tile, predicted)") < page.find("load_q0"));
  CHECK(page.find("epilogue (once per tile, predicted)") < page.find("store_o0"));
  const std::string csv = op_csv(c.problem, &c.schedule, &c.ends);
  CHECK(csv.find(",prologue,h100") < csv.find("\nstore_o0,"));
  CHECK(csv.find(",epilogue,h100", csv.find("\nstore_o0,")) != std::string::npos);
  CHECK(dependence_dot(c.problem, &c.schedule, &c.ends).find("epilogue, once per tile") != std::string::npos);
  const std::string trace = chrome_trace(c.problem, c.schedule, {.ends = &c.ends});
  CHECK(trace.find("once per tile (predicted)") != std::string::npos);
  CHECK(trace.find("load_q0") != std::string::npos);
}

TEST_CASE("without a schedule prologue and epilogue are known, but not where they are", "[core]") {
  const Case c;
  const EndOps ends = end_ops(spec_of(c.kernel, c.machine), c.problem);
  CHECK(ends.ops.size() == c.ends.ops.size());
  CHECK(ends.links.size() == c.ends.links.size());
}

// The pipeline as pseudocode: goldens of small cases, and names that try to steer the terminal.
#include "core/chart/pipeline_text.h"

#include <catch2/catch.hpp>

#include "tests/support/gantt_fixture.h"
#include "tests/support/golden.h"
#include "tests/support/pipeline_machine.h"
#include "tests/support/problem_builder.h"
#include "tests/support/small_problem.h"

using namespace heddle;

namespace {

/// Two loads, a product, and an epilogue in another group, with rings two deep.
test::GanttCase gemm_case() {
  test::ProblemBuilder b({"TC", "TMA", "FMA"});
  const OpId load_a = b.load("load_a", "TMA", 100, 300), load_b = b.load("load_b", "TMA", 100, 300);
  const OpId mma = b.async_op("mma", "TC", 200, 230, 32), sum = b.op("sum", "FMA", 64, 64);
  b.ring(load_a, 16384, {{mma, 0}}, 20);
  b.ring(load_b, 16384, {{mma, 0}}, 20);
  b.registers(mma, 64, {{sum, 0}, {sum, 1}}, 40);
  test::GanttCase c{b.problem, {}};
  c.problem.kernel = "gemm";
  c.problem.machine = "small";
  c.schedule = test::place(c.problem, 200, {{0, 0}, {100, 0}, {400, 1}, {700, 2}});
  for (std::size_t g = 0; g < c.schedule.groups.size(); ++g)
    c.schedule.groups[g].role = std::vector<std::string>{"producer", "consumer A", "consumer B"}[g];
  return c;
}

}  // namespace

TEST_CASE("the pipeline of the toy and of a small gemm reads as expected", "[core]") {
  const test::GanttCase toy = test::toy_case();
  CHECK(test::golden_difference("pipeline_toy.txt", pipeline_page(pipeline_text(toy.problem, toy.schedule), {})) == "");
  const test::GanttCase gemm = gemm_case();
  CHECK(test::golden_difference("pipeline_gemm.txt", pipeline_page(pipeline_text(gemm.problem, gemm.schedule), {})) == "");
}

TEST_CASE("the small gemm's pipeline runs for every trip count", "[core]") {
  const test::GanttCase c = gemm_case();
  const PipelineProgram program = pipeline_program(c.problem, c.schedule);
  std::mt19937 random(1);
  for (int iterations = 4; iterations < 12; ++iterations)
    for (int t = 0; t < 20; ++t) {
      CAPTURE(iterations);
      CHECK(test::run_pipeline(c.problem, c.schedule, program, iterations, random) == "");
    }
}

TEST_CASE("every op stands once in the steady state, and prologue and epilogue make up one whole for each stage", "[core]") {
  std::mt19937 random(5);
  for (int t = 0; t < 200; ++t) {
    const test::GanttCase c = test::random_case(random);
    const PipelineProgram program = pipeline_program(c.problem, c.schedule);
    std::size_t issues = 0, steady = 0;
    for (const PipelineGroup& group : program.groups)
      for (const PipelineWindow& window : pipeline_windows(group))
        for (const PipelineStep& step : window.steps) {
          if (group.lines[step.line].kind != PipelineLine::Kind::Issue) continue;
          (window.part == PipelineWindow::Part::Steady ? steady : issues) += 1;
        }
    std::size_t expected = 0;
    for (const PipelineGroup& group : program.groups)
      for (const PipelineLine& line : group.lines)
        if (line.kind == PipelineLine::Kind::Issue) expected += static_cast<std::size_t>(group.stages) - 1;
    CHECK(steady == c.problem.ops.size());
    CHECK(issues == expected);
  }
}

TEST_CASE("hostile names cannot steer a terminal through the pipeline's text", "[core]") {
  test::GanttCase c = gemm_case();
  for (Op& op : c.problem.ops) op.name = "\x1b[31m\n" + op.name, op.kind = "\x07kind";
  for (Channel& channel : c.problem.channels) channel.name = "\x1b]0;x";
  for (Value& value : c.problem.values) value.name = "\xe2\x80\xae";
  for (ScheduleGroup& group : c.schedule.groups) group.role = "\r";
  TextStyle ascii;
  ascii.utf8 = false;
  for (const TextStyle& style : {TextStyle{}, ascii}) {
    const std::string page = pipeline_page(pipeline_text(c.problem, c.schedule), style);
    for (const char ch : page) CHECK((static_cast<unsigned char>(ch) >= 0x20 || ch == '\n'));
    CHECK(page.find("\xe2\x80\xae") == std::string::npos);
  }
}

TEST_CASE("a loop of a million stages is not written out window by window", "[core]") {
  test::GanttCase c = gemm_case();
  c.schedule.ops[0].start += 1'000'000 * c.schedule.ii;
  const PipelineText text = pipeline_text(c.problem, c.schedule);
  std::size_t sections = 0;
  for (const PipelineTextGroup& group : text.groups) sections += group.sections.size();
  CHECK(sections < 2 * kMostStagesWritten * text.groups.size());
  CHECK(pipeline_page(text, TextStyle{}).find("not written out") != std::string::npos);
  c.schedule.ops[0].start = Cycle{1} << 40;
  c.schedule.ii = 1;
  for (const PipelineGroup& group : pipeline_program(c.problem, c.schedule).groups) CHECK(group.stages >= 1);
}

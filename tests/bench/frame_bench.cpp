// Prints what one frame of the timeline costs with 20 000 bars: without a renderer (our drawing and Dear ImGui's), and with
// software OpenGL off screen (LIBGL_ALWAYS_SOFTWARE is set; processor time of the drawing thread, of all threads, and time
// on the clock until the picture is there). Built with the tests, never run by them.
#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>

#include "app/platform/imgui_compat.h"
#include "app/platform/offscreen_platform.h"
#include "app/window/chart/gantt_view.h"
#include "app/window/kit/theme.h"
#include "core/chart/gantt_model.h"
#include "tests/bench/table.h"
#include "tests/support/gantt_fixture.h"

using namespace heddle;
using namespace heddle::app;
using bench::Line;

namespace {

double ms(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

struct Scene {
  const char* name;
  void (*set)(GanttViewState&, const GanttModel&);
  bool focus = false, whiskers = false;
  ImVec2 mouse{-100, -100};
};

void nothing_special(GanttViewState&, const GanttModel&) {}
void show(GanttViewState& view, const GanttModel& model, double cycles) {
  const double middle = static_cast<double>(model.end) / 2;
  go_to(view, model, {middle - cycles / 2, middle + cycles / 2});
  view.moved = 1;
  view.visible = view.target;
}

const Scene kScenes[] = {
    {"everything in view", nothing_special},
    {"60 000 cycles in view", [](GanttViewState& v, const GanttModel& m) { show(v, m, 60000); }},
    {"4 000 cycles in view", [](GanttViewState& v, const GanttModel& m) { show(v, m, 4000); }},
    {"everything, mouse over a bar", nothing_special, false, false, {800, 170}},
    {"everything, half of it highlighted", nothing_special, true},
    {"everything, whiskers", nothing_special, false, true},
    {"60 000 cycles, whiskers", [](GanttViewState& v, const GanttModel& m) { show(v, m, 60000); }, false, true},
    {"everything, all dependences", [](GanttViewState& v, const GanttModel&) { v.all_arrows = true; }},
};

struct Subject {
  const GanttModel& model;
  const test::GanttCase& large;
};

ChartOverlay overlay_of(const Subject& subject, const Scene& scene) {
  ChartOverlay overlay;
  const std::size_t ops = subject.large.problem.ops.size();
  if (scene.focus) {
    overlay.focus.why = "a test";
    overlay.focus.ops.resize(ops);
    for (std::size_t i = 0; i < ops; i += 2) overlay.focus.ops[i] = true;
  }
  if (scene.whiskers) {
    overlay.whiskers = true;
    SlackRanges& slack = overlay.slack.emplace();
    slack.ii = subject.large.schedule.ii;
    for (std::size_t i = 0; i < ops; ++i) {
      const Cycle start = subject.large.schedule.ops[i].start;
      OpRange range;
      range.op = OpId(i);
      range.start = start;
      range.path_earliest = range.earliest.bound = start - 150;
      range.path_latest = range.latest.bound = start + 250;
      slack.ops.push_back(range);
    }
  }
  return overlay;
}

/// Mean and worst milliseconds of one frame on each clock.
struct Cost {
  double mean = 0, worst = 0, all_threads = 0, clock = 0;
  int vertices = 0;
};

Cost run(HeadlessPlatform& platform, OffscreenPlatform* pictures, const Subject& subject, const Scene& scene, int count) {
  const ChartOverlay overlay = overlay_of(subject, scene);
  GanttViewState view;
  const Selection nothing;
  CommandQueue commands;
  Cost cost;
  feed_mouse_position(scene.mouse.x, scene.mouse.y);
  const auto frame = [&] {
    platform.begin_frame(Pace::Animating);
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize(ImGui::GetIO().DisplaySize);
    ImGui::Begin("bench", nullptr, ImGuiWindowFlags_NoDecoration);
    draw_gantt({&subject.model, &subject.large.problem, &subject.large.schedule, &nothing, &overlay, &view, &commands});
    ImGui::End();
    platform.end_frame();
    if (pictures) pictures->finish();
  };
  for (int i = 0; i < 8; ++i) {
    if (i == 3) scene.set(view, subject.model);
    frame();
  }
  const double all = ms(CLOCK_PROCESS_CPUTIME_ID), clock = ms(CLOCK_MONOTONIC);
  for (int i = 0; i < count; ++i) {
    const double before = ms(CLOCK_THREAD_CPUTIME_ID);
    frame();
    const double took = ms(CLOCK_THREAD_CPUTIME_ID) - before;
    cost.mean += took / count;
    cost.worst = std::max(cost.worst, took);
  }
  cost.all_threads = (ms(CLOCK_PROCESS_CPUTIME_ID) - all) / count;
  cost.clock = (ms(CLOCK_MONOTONIC) - clock) / count;
  cost.vertices = ImGui::GetDrawData()->TotalVtxCount;
  return cost;
}

std::string number(double value) { return fmt::format("{:.2f}", value); }

}  // namespace

int main() {
  ::setenv("LIBGL_ALWAYS_SOFTWARE", "1", 1);
  const test::GanttCase large = test::large_case(400);
  GanttOptions options;
  options.mode = GanttMode::Unrolled;
  options.iterations = 50;
  const double before = ms(CLOCK_PROCESS_CPUTIME_ID);
  const GanttModel model = build_gantt(large.problem, large.schedule, options);
  fmt::print("{} bars, {} arrows; model built in {:.1f} ms\n\n", model.bars.size(), model.arrows.size(),
             ms(CLOCK_PROCESS_CPUTIME_ID) - before);
  const Subject subject{model, large};
  std::vector<Line> table{
      {"1600 x 900", "vertices", "no renderer: ms", "worst", "with OpenGL: ms", "worst", "all threads", "on the clock"}};
  std::vector<Cost> drawn;
  {
    HeadlessPlatform platform(1600, 900, false);
    platform.set_scale(1);
    apply_theme(ThemeName::Dark);
    for (const Scene& scene : kScenes) drawn.push_back(run(platform, nullptr, subject, scene, 30));
  }
  auto platform = OffscreenPlatform::create(1600, 900, false);
  if (platform) {
    (*platform)->set_scale(1);
    apply_theme(ThemeName::Dark);
  } else {
    fmt::print("no software OpenGL here: {}\n", to_string(platform.error()));
  }
  for (std::size_t i = 0; i < std::size(kScenes); ++i) {
    table.push_back({kScenes[i].name, std::to_string(drawn[i].vertices), number(drawn[i].mean), number(drawn[i].worst)});
    if (!platform) continue;
    const Cost cost = run(**platform, platform->get(), subject, kScenes[i], 12);
    for (const double value : {cost.mean, cost.worst, cost.all_threads, cost.clock}) table.back().push_back(number(value));
  }
  bench::print_table(table, {0}, bench::Format::Aligned);
}

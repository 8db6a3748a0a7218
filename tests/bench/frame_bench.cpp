// Prints what one frame of the timeline costs the CPU with 20 000 bars, in three situations. No renderer: this is the
// cost of our drawing and of Dear ImGui. Built with the tests, never run by them.
#include <fmt/format.h>
#include <imgui.h>

#include <ctime>

#include "app/platform/fonts.h"
#include "app/platform/imgui_compat.h"
#include "app/ui/gantt_view.h"
#include "app/ui/theme.h"
#include "tests/support/gantt_fixture.h"

using namespace heddle;
using namespace heddle::app;

namespace {

double cpu_ms() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

}  // namespace

int main() {
  const test::GanttCase large = test::large_case(400);
  GanttOptions options;
  options.mode = GanttMode::Unrolled;
  options.iterations = 50;
  const double before = cpu_ms();
  const GanttModel model = build_gantt(large.problem, large.schedule, options);
  fmt::print("{} bars, {} arrows; model built in {:.1f} ms\n", model.bars.size(), model.arrows.size(),
             cpu_ms() - before);

  ImGui::CreateContext();
  ImGuiIO& io = ImGui::GetIO();
  io.DisplaySize = {1600, 900};
  io.IniFilename = nullptr;
  setup_headless_io();
  load_fonts(1, false);
  unsigned char* pixels = nullptr;
  int width = 0, height = 0;
  io.Fonts->GetTexDataAsRGBA32(&pixels, &width, &height);
  apply_theme(ThemeName::Dark);

  GanttViewState view;
  const Selection nothing;
  CommandQueue commands;
  const auto frames = [&](const char* what, int count) {
    double worst = 0, sum = 0;
    int vertices = 0;
    for (int i = 0; i < count; ++i) {
      io.DeltaTime = 1.0f / 60;
      const double start = cpu_ms();
      ImGui::NewFrame();
      ImGui::SetNextWindowPos({0, 0});
      ImGui::SetNextWindowSize(io.DisplaySize);
      ImGui::Begin("bench", nullptr, ImGuiWindowFlags_NoDecoration);
      draw_gantt(model, large.problem, large.schedule, nothing, ChartOverlay{}, view, commands);
      ImGui::End();
      ImGui::Render();
      const double took = cpu_ms() - start;
      if (i > 2) worst = std::max(worst, took);
      sum += took;
      vertices = ImGui::GetDrawData()->TotalVtxCount;
    }
    fmt::print("{:<32} {:6.2f} ms mean, {:6.2f} ms worst, {} vertices\n", what, sum / count, worst, vertices);
  };
  feed_mouse_position(-100, -100);
  frames("everything in view", 60);
  const double middle = static_cast<double>(model.end) / 2;
  go_to(view, model, {middle - 30000, middle + 30000});
  view.moved = 1;
  view.visible = view.target;
  frames("60 000 cycles in view", 60);
  go_to(view, model, {middle - 2000, middle + 2000});
  view.moved = 1;
  view.visible = view.target;
  frames("4 000 cycles in view", 60);
  fit_all(view, model);
  feed_mouse_position(800, 170);
  frames("everything, mouse over a bar", 60);
  view.all_arrows = true;
  frames("everything, all dependences", 20);
  ImGui::DestroyContext();
}

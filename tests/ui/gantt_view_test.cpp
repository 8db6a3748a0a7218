// Gestures and keys of the timeline on real Dear ImGui frames without a renderer. Time passes only when a test says so.
#include "app/window/chart/gantt_view.h"
#include "app/session/commands.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "app/platform/fonts.h"
#include "app/platform/imgui_compat.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/theme.h"
#include "core/chart/gantt_model.h"
#include "tests/support/gantt_fixture.h"

using namespace heddle;
using namespace heddle::app;

namespace {

/// One chart in a window of its own; selection commands are applied at once, the others are kept.
struct Chart {
  explicit Chart(test::GanttCase from = test::attention_case(), GanttMode mode = GanttMode::Steady) : c(std::move(from)) {
    GanttOptions options;
    options.mode = mode;
    model = build_gantt(c.problem, c.schedule, options);
    context = ImGui::CreateContext();
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.DisplaySize = {1200, 700};
    setup_headless_io();
    load_fonts(1, true);
    unsigned char* pixels = nullptr;
    int width = 0, height = 0;
    io.Fonts->GetTexDataAsRGBA32(&pixels, &width, &height);
    apply_theme(ThemeName::Dark);
    probe::enable(true);
    move(-500, -500);
    frame(3);
  }
  ~Chart() {
    probe::enable(false);
    ImGui::DestroyContext(context);
  }
  Chart(const Chart&) = delete;

  void frame(int count = 1, float seconds = 1.0f / 60) {
    for (int i = 0; i < count; ++i) {
      ImGui::GetIO().DeltaTime = seconds;
      ImGui::NewFrame();
      probe::begin_frame();
      ImGui::SetNextWindowPos({0, 0});
      ImGui::SetNextWindowSize(ImGui::GetIO().DisplaySize);
      ImGui::Begin("window", nullptr, ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove);
      draw_gantt({&model, &c.problem, &c.schedule, &selection, &overlay, &view, &commands});
      ImGui::End();
      ImGui::Render();
      vertices = ImGui::GetDrawData()->TotalVtxCount;
      for (const Command& command : commands.take()) {
        if (const auto* select = command.as<SelectOp>()) {
          if (!select->extend) selection.ops.clear();
          selection.ops.push_back(select->op);
        } else if (command.is<ClearSelection>()) {
          selection.ops.clear();
        } else if (const auto* flag = command.as<ToggleFlag>()) {
          if (std::erase(overlay.flags, flag->at) == 0) overlay.flags.push_back(flag->at);
        } else {
          others.push_back(command);
        }
      }
    }
  }
  /// Lets animations finish.
  void settle() { frame(30); }

  probe::Rect rect(const std::string& name) {
    // What was drawn last is handed over by the next frame.
    frame();
    const auto found = probe::last_frame().find(name);
    if (found == probe::last_frame().end()) FAIL("nothing is called " << name);
    return found->second;
  }
  bool shows(const std::string& name) {
    frame();
    return probe::last_frame().count(name) > 0;
  }

  void move(float x, float y) {
    mouse_x = x;
    mouse_y = y;
    feed_mouse_position(x, y);
  }
  void move(const std::string& name) {
    const probe::Rect r = rect(name);
    move(r.center_x(), r.center_y());
    frame();
  }
  void press(int button = 0) {
    feed_mouse_button(button, true);
    frame();
  }
  void release(int button = 0) {
    feed_mouse_button(button, false);
    frame(2);
  }
  void click(int button = 0) {
    // Far enough from the last click not to be taken for a double click.
    frame(1, 1.0f);
    press(button);
    release(button);
  }
  void double_click() {
    frame(1, 1.0f);
    for (int i = 0; i < 2; ++i) {
      press();
      release();
    }
  }
  void drag(float x0, float y0, float x1, float y1, int button = 0) {
    frame(1, 1.0f);
    move(x0, y0);
    frame();
    press(button);
    for (int step = 1; step <= 4; ++step) {
      move(x0 + (x1 - x0) * static_cast<float>(step) / 4, y0 + (y1 - y0) * static_cast<float>(step) / 4);
      frame();
    }
    release(button);
  }
  void wheel(float amount) {
    feed_wheel(amount);
    frame(2);
  }
  void key(Key which) {
    feed_key(which, true);
    frame();
    feed_key(which, false);
    frame();
  }
  void modifiers(bool ctrl, bool shift, bool alt) { feed_modifiers(ctrl, shift, alt); }

  TimeAxis axis() {
    const probe::Rect r = rect("gantt/rows");
    return {r.x0, r.x1, view.visible};
  }
  std::string selected() {
    std::string names;
    for (const OpId op : selection.ops) names += (names.empty() ? "" : " ") + c.problem.op(op).name;
    return names;
  }
  /// A place in the rows where no bar is.
  std::pair<float, float> empty_place() {
    const probe::Rect r = rect("gantt/rows");
    return {(r.x0 + r.x1) / 2, r.y1 - 20};
  }

  test::GanttCase c;
  GanttModel model;
  ChartOverlay overlay;
  GanttViewState view;
  Selection selection;
  CommandQueue commands;
  std::vector<Command> others;
  ImGuiContext* context = nullptr;
  float mouse_x = 0, mouse_y = 0;
  int vertices = 0;
};

}  // namespace

TEST_CASE("every op is on screen, and ruler, minimap and lanes have their places", "[ui]") {
  Chart chart;
  for (const Op& op : chart.c.problem.ops) {
    bool found = false;
    for (int iteration = -3; iteration <= 0; ++iteration) found |= chart.shows("gantt/bar/" + op.name + "@" + std::to_string(iteration));
    CHECK(found);
  }
  CHECK(chart.rect("gantt/minimap").y1 <= chart.rect("gantt/ruler").y0);
  CHECK(chart.rect("gantt/ruler").y1 <= chart.rect("gantt/rows").y0);
  CHECK(chart.rect("gantt/rows").y1 <= chart.rect("gantt/lanes").y0);
  CHECK(chart.shows("gantt/lane/TC"));
  CHECK(chart.vertices > 100);
}

TEST_CASE("the wheel zooms at the cursor, with Ctrl finely; with Shift it pans", "[ui]") {
  Chart chart;
  chart.move("gantt/bar/QK@0");
  const double before = chart.view.visible.length(), cycle = chart.axis().to_cycle(chart.mouse_x);
  chart.wheel(1);
  chart.settle();
  CHECK(chart.view.visible.length() < before * 0.85);
  CHECK(chart.axis().to_cycle(chart.mouse_x) == Approx(cycle).margin(0.5));

  const double coarse = chart.view.visible.length();
  chart.modifiers(true, false, false);
  chart.wheel(1);
  chart.settle();
  CHECK(chart.view.visible.length() < coarse);
  CHECK(chart.view.visible.length() > coarse * 0.9);

  const TimeRange seen = chart.view.visible;
  chart.modifiers(false, true, false);
  chart.wheel(-1);
  chart.settle();
  chart.modifiers(false, false, false);
  CHECK(chart.view.visible.begin > seen.begin);
  CHECK(chart.view.visible.length() == Approx(seen.length()));
}

TEST_CASE("Alt and wheel change the height of rows", "[ui]") {
  Chart chart;
  chart.move("gantt/bar/QK@0");
  const float before = chart.rect("gantt/bar/QK@0").y1 - chart.rect("gantt/bar/QK@0").y0;
  chart.modifiers(false, false, true);
  chart.wheel(2);
  chart.modifiers(false, false, false);
  const probe::Rect after = chart.rect("gantt/bar/QK@0");
  CHECK(after.y1 - after.y0 > before);
}

TEST_CASE("a click selects, Ctrl adds, a click on nothing clears", "[ui]") {
  Chart chart;
  chart.move("gantt/bar/QK@0");
  chart.click();
  CHECK(chart.selected() == "QK");
  chart.move("gantt/bar/exp2@0");
  chart.modifiers(true, false, false);
  chart.click();
  chart.modifiers(false, false, false);
  CHECK(chart.selected() == "QK exp2");
  const auto [x, y] = chart.empty_place();
  chart.move(x, y);
  chart.click();
  CHECK(chart.selected() == "");
}

TEST_CASE("Shift and click extend along the row", "[ui]") {
  Chart chart(test::attention_case(), GanttMode::Unrolled);
  chart.move("gantt/bar/QK@0");
  chart.click();
  chart.move("gantt/bar/PV@0");
  chart.modifiers(false, true, false);
  chart.click();
  chart.modifiers(false, false, false);
  CHECK(chart.selected() == "QK PV");
}

TEST_CASE("dragging a bar selects it and moves nothing", "[ui]") {
  Chart chart;
  const probe::Rect bar = chart.rect("gantt/bar/QK@0");
  const TimeRange before = chart.view.visible;
  chart.drag(bar.center_x(), bar.center_y(), bar.center_x() + 150, bar.center_y());
  CHECK(chart.selected() == "QK");
  CHECK(chart.view.visible == before);
  CHECK_FALSE(chart.view.range.has_value());
  CHECK(chart.others.empty());
}

TEST_CASE("dragging empty canvas measures, snapped to bar edges; its edges can be dragged on", "[ui]") {
  Chart chart;
  const TimeAxis axis = chart.axis();
  const auto [middle, y] = chart.empty_place();
  (void)middle;
  // QK runs from 720 to 1232; the mouse misses both edges by 3 pixels.
  chart.drag(axis.to_x(720) + 3, y, axis.to_x(1232) - 3, y);
  REQUIRE(chart.view.range);
  CHECK(*chart.view.range == CycleRange{720, 1232});
  CHECK(chart.selected() == "");

  chart.drag(axis.to_x(1232), y, axis.to_x(2048) + 2, y);
  REQUIRE(chart.view.range);
  CHECK(*chart.view.range == CycleRange{720, 2048});
  // Past the other edge the stretch turns over.
  chart.drag(axis.to_x(2048), y, axis.to_x(640), y);
  CHECK(*chart.view.range == CycleRange{640, 720});

  chart.key(Key::Escape);
  CHECK_FALSE(chart.view.range.has_value());
}

TEST_CASE("with Alt a range is not snapped", "[ui]") {
  Chart chart;
  const TimeAxis axis = chart.axis();
  const auto [middle, y] = chart.empty_place();
  (void)middle;
  chart.modifiers(false, false, true);
  chart.drag(axis.to_x(725), y, axis.to_x(1000), y);
  chart.modifiers(false, false, false);
  REQUIRE(chart.view.range);
  CHECK(std::abs(chart.view.range->begin - 725) <= 2);
}

TEST_CASE("Escape in the middle of a drag takes the range back", "[ui]") {
  Chart chart;
  const auto [x, y] = chart.empty_place();
  chart.move(x, y);
  chart.frame();
  chart.press();
  chart.move(x + 100, y);
  chart.frame(2);
  CHECK(chart.view.range.has_value());
  chart.key(Key::Escape);
  chart.release();
  CHECK_FALSE(chart.view.range.has_value());
}

TEST_CASE("the right button pans, Space and Shift with the left one too", "[ui]") {
  Chart chart;
  const auto [x, y] = chart.empty_place();
  chart.view.visible = chart.view.target = {500, 1500};
  chart.frame();
  const double per_pixel = chart.axis().cycles_per_pixel();
  chart.drag(x, y, x - 100, y, 1);
  CHECK(chart.view.visible.begin == Approx(500 + 100 * per_pixel));
  CHECK(chart.view.visible.length() == Approx(1000));

  chart.modifiers(false, true, false);
  chart.drag(x, y, x + 100, y);
  chart.modifiers(false, false, false);
  CHECK(chart.view.visible.begin == Approx(500));

  feed_key(Key::Space, true);
  chart.drag(x, y, x - 50, y);
  feed_key(Key::Space, false);
  CHECK(chart.view.visible.begin == Approx(500 + 50 * per_pixel));
  CHECK_FALSE(chart.view.range.has_value());
}

TEST_CASE("the middle button zooms to a range, with Ctrl out; Backspace goes back", "[ui]") {
  Chart chart;
  const TimeRange fitted = chart.view.visible;
  const TimeAxis axis = chart.axis();
  const auto [middle, y] = chart.empty_place();
  (void)middle;
  chart.drag(axis.to_x(400), y, axis.to_x(900), y, 2);
  chart.settle();
  CHECK(chart.view.visible.begin == Approx(400).margin(3));
  CHECK(chart.view.visible.end == Approx(900).margin(3));
  chart.key(Key::Backspace);
  chart.settle();
  CHECK(chart.view.visible == fitted);
  chart.modifiers(true, false, false);
  chart.drag(axis.to_x(400), y, axis.to_x(1600), y, 2);
  chart.modifiers(false, false, false);
  chart.settle();
  CHECK(chart.view.visible.length() > fitted.length() * 1.5);
}

TEST_CASE("double click fits on nothing and zooms to a bar", "[ui]") {
  Chart chart;
  const TimeRange fitted = chart.view.visible;
  chart.move("gantt/bar/exp2@0");
  chart.double_click();
  chart.settle();
  CHECK(chart.view.visible.begin < 1420);
  CHECK(chart.view.visible.end > 1932);
  CHECK(chart.view.visible.length() < 1300);
  const auto [x, y] = chart.empty_place();
  chart.move(x, y);
  chart.double_click();
  chart.settle();
  CHECK(chart.view.visible == fitted);
}

TEST_CASE("a middle click zooms to the bar", "[ui]") {
  Chart chart;
  chart.move("gantt/bar/row max@0");
  chart.click(2);
  chart.settle();
  CHECK(chart.view.visible.length() < 400);
}

TEST_CASE("the minimap moves the view", "[ui]") {
  Chart chart;
  chart.view.visible = chart.view.target = {0, 500};
  chart.frame();
  const probe::Rect map = chart.rect("gantt/minimap");
  chart.drag(map.x0 + 50, map.center_y(), map.center_x(), map.center_y());
  CHECK((chart.view.visible.begin + chart.view.visible.end) / 2 == Approx(1024).margin(5));
  CHECK(chart.view.visible.length() == Approx(500));
}

TEST_CASE("a click on the ruler plants a flag, another one takes it away; dragging it pans", "[ui]") {
  Chart chart;
  const probe::Rect ruler = chart.rect("gantt/ruler");
  const TimeAxis axis = chart.axis();
  chart.move(axis.to_x(720) + 2, ruler.center_y());
  chart.frame();
  chart.click();
  REQUIRE(chart.overlay.flags.size() == 1);
  CHECK(chart.overlay.flags[0] == 720);
  chart.click();
  CHECK(chart.overlay.flags.empty());
  const double begin = chart.view.visible.begin;
  chart.drag(ruler.center_x(), ruler.center_y(), ruler.center_x() - 80, ruler.center_y());
  CHECK(chart.view.visible.begin > begin);
  CHECK(chart.overlay.flags.empty());
}

TEST_CASE("hovering shows the cycle at once and the tooltip after 0.15 s", "[ui]") {
  Chart chart;
  chart.move("gantt/bar/QK@0");
  REQUIRE(chart.view.hovered);
  CHECK(chart.model.bars[*chart.view.hovered].label == "QK");
  REQUIRE(chart.view.hovered_cycle);
  CHECK(std::abs(*chart.view.hovered_cycle - 976) <= 2);
  CHECK(chart.view.hovered_for < 0.1);
  const int before = chart.vertices;
  chart.frame(1, 0.05f);
  CHECK(chart.vertices <= before + 50);
  chart.frame(3, 0.1f);
  CHECK(chart.view.hovered_for > 0.15);
  CHECK(chart.vertices > before + 200);  // its text
}

TEST_CASE("zooming takes between 0.15 and 0.3 s", "[ui]") {
  Chart chart;
  chart.move("gantt/bar/QK@0");
  const double before = chart.view.visible.length();
  feed_wheel(1);
  chart.frame(1, 0.001f);
  chart.frame(1, 0.1f);
  const double halfway = chart.view.visible.length(), there = chart.view.target.length();
  CHECK(halfway < before);
  CHECK(halfway > there);
  chart.frame(1, 0.2f);
  CHECK(chart.view.visible.length() == Approx(there));
}

TEST_CASE("letters zoom and pan, Home and 0 fit", "[ui]") {
  Chart chart;
  const TimeRange fitted = chart.view.visible;
  chart.key(Key::W);
  chart.settle();
  CHECK(chart.view.visible.length() < fitted.length());
  const double begin = chart.view.visible.begin;
  chart.key(Key::D);
  chart.settle();
  CHECK(chart.view.visible.begin > begin);
  chart.key(Key::A);
  chart.settle();
  CHECK(chart.view.visible.begin == Approx(begin));
  chart.key(Key::Right);
  chart.key(Key::Left);
  chart.key(Key::S);
  chart.settle();
  CHECK(chart.view.visible.length() == Approx(fitted.length()));
  for (const Key key : {Key::Home, Key::Num0}) {
    chart.key(Key::W);
    chart.settle();
    chart.key(key);
    chart.settle();
    CHECK(chart.view.visible == fitted);
  }
}

TEST_CASE("keys walk through bars: along the row, between rows, along dependences", "[ui]") {
  Chart chart(test::attention_case(), GanttMode::Unrolled);
  chart.move("gantt/bar/QK@0");
  chart.click();
  chart.key(Key::Period);
  CHECK(chart.selected() == "QK");  // of the next iteration
  REQUIRE(chart.view.current);
  CHECK(chart.model.bars[*chart.view.current].iteration == 1);
  chart.key(Key::Comma);
  CHECK(chart.model.bars[*chart.view.current].iteration == 0);
  chart.key(Key::RightBracket);
  CHECK(chart.selected() == "row max");
  chart.key(Key::LeftBracket);
  CHECK(chart.selected() == "QK");
  chart.key(Key::Down);
  CHECK(chart.selected() == "exp2");
  chart.key(Key::Up);
  chart.key(Key::Up);
  CHECK(chart.selected() == "load V");
  chart.key(Key::Escape);
  CHECK(chart.selected() == "");
}

TEST_CASE("a bar that the keyboard reaches is brought into view", "[ui]") {
  Chart chart(test::attention_case(), GanttMode::Unrolled);
  chart.move("gantt/bar/QK@0");
  chart.click();
  chart.view.visible = chart.view.target = {600, 1300};
  for (int i = 0; i < 3; ++i) chart.key(Key::Period);
  chart.settle();
  const GanttBar& bar = chart.model.bars[*chart.view.current];
  CHECK(static_cast<double>(bar.begin) > chart.view.visible.begin);
  CHECK(static_cast<double>(bar.end) < chart.view.visible.end);
}

TEST_CASE("F centres what is selected, again fits; U asks for the next mode", "[ui]") {
  Chart chart;
  const TimeRange fitted = chart.view.visible;
  chart.move("gantt/bar/QK@0");
  chart.click();
  chart.view.visible = chart.view.target = {0, 600};
  chart.key(Key::F);
  chart.settle();
  CHECK((chart.view.visible.begin + chart.view.visible.end) / 2 == Approx(976));
  chart.key(Key::F);
  chart.settle();
  CHECK(chart.view.visible == fitted);

  chart.key(Key::U);
  REQUIRE(chart.others.size() == 1);
  CHECK(chart.others[0].as<SetMode>()->mode == GanttMode::Unrolled);
}

TEST_CASE("a click of the right button opens a menu for the bar and does not pan", "[ui]") {
  Chart chart;
  const TimeRange before = chart.view.visible;
  chart.move("gantt/bar/QK@0");
  chart.click(1);
  CHECK(ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopup));
  CHECK(chart.view.visible == before);
  REQUIRE(chart.view.pressed);
  CHECK(chart.model.bars[*chart.view.pressed].label == "QK");
}

TEST_CASE("the splitter shares the height between rows and lanes", "[ui]") {
  Chart chart;
  const probe::Rect grip = chart.rect("gantt/splitter");
  const float before = grip.y0;
  chart.drag(grip.center_x(), grip.center_y(), grip.center_x(), grip.center_y() - 60);
  CHECK(chart.rect("gantt/splitter").y0 == Approx(before - 60).margin(4));
}

TEST_CASE("both pieces of a wrapped bar are one when hovered", "[ui]") {
  test::GanttCase c = test::attention_case();
  c.schedule.ops[c.problem.find_op("QK").index()].start = 1900;
  Chart chart(c);
  chart.move("gantt/bar/QK@0");
  REQUIRE(chart.view.hovered);
  CHECK(chart.model.bars[*chart.view.hovered].label == "QK");
}

TEST_CASE("random input on random schedules never breaks the chart", "[ui]") {
  const unsigned seed = 4711;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 12; ++round) {
    Chart chart(test::random_case(random), static_cast<GanttMode>(round % 3));
    chart.view.all_arrows = round % 2 == 0;
    for (int step = 0; step < 60; ++step) {
      chart.move(static_cast<float>(random() % 1200), static_cast<float>(random() % 700));
      feed_modifiers(random() % 4 == 0, random() % 4 == 0, random() % 4 == 0);
      feed_mouse_button(static_cast<int>(random() % 3), random() % 2 == 0);
      if (random() % 3 == 0) feed_wheel(static_cast<float>(random() % 7) - 3);
      const Key key = static_cast<Key>(random() % static_cast<unsigned>(Key::Count));
      feed_key(key, true);
      chart.frame(1, 0.02f);
      feed_key(key, false);
    }
    CHECK(chart.view.visible.length() > 0);
    CHECK(chart.view.visible.end > static_cast<double>(chart.model.begin));
    CHECK(chart.view.visible.begin < static_cast<double>(chart.model.end));
  }
}

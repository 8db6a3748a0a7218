// The sweep tab: one row per gesture and key; files that are dropped; every size; 100 000 points.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <functional>

#include "app/session/commands.h"
#include "app/session/sweep_state.h"
#include "app/window/kit/focus.h"
#include "app/window/tabs/tune/sweep_state.h"
#include "tests/support/fake_solver.h"
#include "tests/support/sweep_files.h"
#include "tests/support/wait.h"
#include "tests/support/window/harness.h"
#include "tests/support/window/invariants.h"

using namespace heddle;
using namespace heddle::app;
using test::Harness;
namespace fs = std::filesystem;

namespace {

struct SweepWindow : Harness {
  fs::path folder = fs::temp_directory_path() / ("heddle_sweep_" + std::to_string(::getpid()));
  explicit SweepWindow(int width = 1920, int height = 1080, const std::string& text = {}) : Harness(test::solve_toy, width, height) {
    session().apply(OpenPair{"toy_fig1", "toy", false});
    fs::create_directories(folder);
    std::ofstream(file()) << (text.empty() ? test::toy_history(*session().content().problem) : text);
    drop(file());
    settle();
    window().ui().maximized = true;
    frame(4);
  }
  ~SweepWindow() {
    CHECK(test::broken_invariants(session()) == std::vector<std::string>());
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  }
  std::string file() const { return (folder / "h.jsonl").string(); }
  void settle() {
    std::error_code ignored;
    const auto size = fs::file_size(file(), ignored);
    REQUIRE(test::wait_until([&] { return session().sweep().bytes() >= size; }, [&] { frame(); }));
    wait_for_solver();
    frame(4);
  }
  SweepTabState& state() { return window().ui().of<SweepTabState>(); }
  const SweepTable& table() { return session().sweep().table(); }
  std::vector<std::int64_t> order() {
    frame(2);
    std::vector<std::int64_t> numbers;
    for (const std::uint32_t i : state().order) numbers.push_back(table().points[i].number);
    return numbers;
  }
  Cycle shown_ii() { return session().content().entry() ? session().content().entry()->schedule.ii : 0; }
  /// Where a share of an axis is on the screen.
  std::pair<float, float> on_axis(const std::string& name, float share) {
    const auto axis = at("sweep/axis/" + name);
    return {axis.center_x(), axis.y1 - share * (axis.y1 - axis.y0)};
  }
  void brush(const std::string& name, float from, float to) {
    const auto [x, y0] = on_axis(name, from);
    const float y1 = on_axis(name, to).second;
    move_to(x, y0);
    feed_mouse_button(0, true);
    frame(2);
    for (int i = 1; i <= 6; ++i) move_to(x, y0 + (y1 - y0) * static_cast<float>(i) / 6);
    feed_mouse_button(0, false);
    frame(3);
  }
};

using Numbers = std::vector<std::int64_t>;

struct SweepGesture {
  const char* name;
  std::function<void(SweepWindow&)> input;
  std::function<bool(SweepWindow&)> effect;
};

const SweepGesture kSweepGestures[] = {
    {"drop: the file is opened, its tab is shown", [](SweepWindow&) {},
     [](SweepWindow& w) { return w.session().view().tab == BottomTab::Sweep && w.table().points.size() == 4; }},
    {"click, row: its schedule is shown", [](SweepWindow& w) { w.click("sweep/row/1"); }, [](SweepWindow& w) { return w.shown_ii() == 2; }},
    {"right click, row: it becomes B",
     [](SweepWindow& w) {
       w.click("sweep/row/0");
       w.click("sweep/row/1", 1);
     },
     [](SweepWindow& w) {
       return w.shown_ii() == 3 && w.session().content().baseline_entry() && w.session().content().baseline_entry()->schedule.ii == 2;
     }},
    {"Ctrl+Z: takes the point away again",
     [](SweepWindow& w) {
       w.click("sweep/row/1");
       w.key(Key::Z, {.ctrl = true});
     },
     [](SweepWindow& w) { return w.shown_ii() == 0; }},
    {"click, heading: sorts", [](SweepWindow& w) { w.click("sweep/sort/cycles"); },
     [](SweepWindow& w) {
       return w.order() == Numbers{2, 1, 3, 4};
     }},
    {"click, heading again: the other way round",
     [](SweepWindow& w) {
       w.click("sweep/sort/TILE");
       w.click("sweep/sort/TILE");
     },
     [](SweepWindow& w) {
       return w.order() == Numbers{2, 3, 1, 4};
     }},
    {"filter: words and comparisons",
     [](SweepWindow& w) {
       w.click("sweep/filter");
       w.type("TILE=256 refused");
     },
     [](SweepWindow& w) { return w.order() == Numbers{3}; }},
    {"drag, axis: only that range", [](SweepWindow& w) { w.brush("TILE", 0.9f, 1.0f); },
     [](SweepWindow& w) {
       return w.order() == Numbers{2, 3};
     }},
    {"drag, axis of values: only those", [](SweepWindow& w) { w.brush("value", 0.0f, 0.5f); },
     [](SweepWindow& w) { return w.order() == Numbers{2}; }},
    {"drag, range on an axis: moves it",
     [](SweepWindow& w) {
       w.brush("value", 0.0f, 0.3f);
       w.brush("value", 0.15f, 0.97f);
     },
     [](SweepWindow& w) {
       return w.order() == Numbers{1, 3, 4};
     }},
    {"click, axis: takes its range away",
     [](SweepWindow& w) {
       w.brush("TILE", 0.9f, 1.0f);
       const auto [x, y] = w.on_axis("TILE", 0.3f);
       w.click_at(x, y);
     },
     [](SweepWindow& w) { return w.order().size() == 4; }},
    {"Clear ranges: all of them",
     [](SweepWindow& w) {
       w.brush("TILE", 0.9f, 1.0f);
       w.click("sweep/unbrush");
     },
     [](SweepWindow& w) { return w.order().size() == 4; }},
    {"click, line: its schedule is shown",
     [](SweepWindow& w) {
       const auto [x0, y0] = w.on_axis("TILE", 0.5f);
       const auto [x1, y1] = w.on_axis("stages", 1.0f / 3);
       w.click_at(x0 + (x1 - x0) * 0.4f, y0 + (y1 - y0) * 0.4f);
     },
     [](SweepWindow& w) { return w.shown_ii() == 3; }},
    {"scatter: another picture, over the next parameter at a click",
     [](SweepWindow& w) {
       w.click("sweep/picture/Scatter");
       w.click("sweep/across");
     },
     [](SweepWindow& w) { return w.has("sweep/scatter") && w.state().across == 1; }},
    {"click, point of the scatter plot: its schedule is shown",
     [](SweepWindow& w) {
       w.click("sweep/picture/Scatter");
       w.click("sweep/scatter/point/1");
     },
     [](SweepWindow& w) { return w.shown_ii() == 2; }},
    {"convergence: the curve and its bound", [](SweepWindow& w) { w.click("sweep/picture/Convergence"); },
     [](SweepWindow& w) { return w.has("sweep/convergence") && w.state().convergence_curve.steps.size() == 2; }},
    {"Page Down and Enter in a plot: walks over its points and shows one",
     [](SweepWindow& w) {
       w.click("sweep/picture/Convergence");
       const auto box = w.at("sweep/convergence");
       w.click_at(box.x1 - 8, box.y0 + 8);
       w.key(Key::PageDown);
       w.key(Key::PageDown);
       w.key(Key::Enter);
     },
     [](SweepWindow& w) { return w.shown_ii() == 2; }},
    {"Up, Enter in the table: rows without the mouse",
     [](SweepWindow& w) {
       focus::set(FocusPane::Bottom);
       w.frame(2);
       w.key(Key::End);
       for (int i = 0; i < 12 && w.shown_ii() == 0; ++i) {
         w.key(Key::Up);
         w.key(Key::Enter);
         w.settle();
       }
     },
     [](SweepWindow& w) { return w.shown_ii() != 0; }},
    {"Copy: the table", [](SweepWindow& w) { w.click("sweep/copy"); },
     [](SweepWindow&) { return std::string(ImGui::GetClipboardText()).find("#\tstatus\tcycles") == 0; }},
    {"Copy as command: what made the history", [](SweepWindow& w) { w.click("sweep/command"); },
     [](SweepWindow&) { return std::string(ImGui::GetClipboardText()) == "heddle tune toy_fig1 toy --budget 8 --history h.jsonl"; }},
    {"evaluations and method: of the next run",
     [](SweepWindow& w) {
       w.click("sweep/budget");
       w.key(Key::A, {.ctrl = true});
       w.type("7");
       w.click("sweep/method/random");
     },
     [](SweepWindow& w) {
       return w.state().tune == TuneOptions{7, "random", 0};
     }},
    {"Close: the sweep is gone", [](SweepWindow& w) { w.click("sweep/close"); },
     [](SweepWindow& w) { return !w.session().sweep().file() && !w.has("sweep/row/0"); }},
};

}  // namespace

TEST_CASE("every gesture and key of the sweep tab does what is said", "[ui]") {
  for (const SweepGesture& row : kSweepGestures) {
    INFO(row.name);
    SweepWindow w;
    row.input(w);
    w.frame(4);
    CHECK(row.effect(w));
  }
}

TEST_CASE("the best point of a sweep is shown by typing its name", "[ui]") {
  SweepWindow w;
  w.key(Key::P, {.ctrl = true});
  w.type(">best point");
  w.key(Key::Enter);
  w.frame(4);
  CHECK(w.shown_ii() == 2);
}

TEST_CASE("a broken line is said in the tab, and lines that come later are shown", "[ui]") {
  SweepWindow w;
  std::ofstream(w.file(), std::ios::app) << "{\"line\":\n"
                                         << test::tuning_evaluation(5, R"("TILE":128,"stages":3,"form":"plain")", "optimal", 101);
  w.settle();
  CHECK(w.has("sweep/fault"));
  CHECK(w.has("sweep/row/4"));
}

TEST_CASE("the sweep tab has room at every size", "[ui]") {
  for (const auto& [width, height, scale] : {std::array{1920, 1080, 100}, {1280, 720, 100}, {1920, 1080, 200}, {1280, 720, 200}}) {
    INFO(width << " x " << height << " at " << scale);
    SweepWindow w(width, height);
    w.session().apply(use_scale(scale, false));
    w.frame(6);
    const auto pane = w.at("pane/bottom");
    for (const char* name : {"sweep/tune", "sweep/filter", "sweep/command", "sweep/picture/Convergence"}) {
      INFO(name);
      const auto rect = w.at(name);
      CHECK(rect.x1 <= pane.x1);
      CHECK(rect.y1 <= pane.y1);
    }
    for (const char* picture : {"Axes", "Scatter", "Convergence"}) w.click(std::string("sweep/picture/") + picture);
    w.window().ui().maximized = false;
    w.frame(6);
  }
}

TEST_CASE("100 000 points are drawn, sorted, filtered and brushed", "[ui]") {
  SweepWindow w(1600, 900, test::long_history(100'000));
  REQUIRE(w.table().points.size() == 100'000);
  for (const char* picture : {"Axes", "Scatter", "Convergence"}) {
    w.click(std::string("sweep/picture/") + picture);
    w.frame(3);
  }
  CHECK(w.names("sweep/row/").size() < 100);
  CHECK(w.state().drawn.size() <= 1500);
  w.click("sweep/sort/cycles");
  CHECK(w.order().front() == w.table().points[*w.table().best].number);
  w.click("sweep/picture/Axes");
  w.brush("TILE", 0.9f, 1.0f);
  CHECK(w.order().size() < 40'000);
  w.click("sweep/filter");
  w.type("stages=3 unrolled");
  CHECK(w.order().size() < 20'000);
  CHECK_FALSE(w.order().empty());
}

TEST_CASE("without a kernel that can be loaded the sweep is shown all the same", "[ui]") {
  Harness h(test::solve_toy);
  const std::string file = (fs::temp_directory_path() / ("heddle_sweep_none_" + std::to_string(::getpid()) + ".jsonl")).string();
  std::ofstream(file) << test::tuning_run("not here", "nowhere") << test::tuning_evaluation(1, R"("TILE":64)", "optimal", 110);
  h.drop(file);
  REQUIRE(test::wait_until([&] { return !h.session().sweep().table().points.empty(); }, [&] { h.frame(); }));
  CHECK(h.has("sweep/row/0"));
  h.click("sweep/row/0");
  h.frame(3);
  CHECK(h.session().error());
  h.session().apply(DismissError{});
  h.click("sweep/close");
  h.frame(3);
  CHECK_FALSE(h.has("sweep/row/0"));
  fs::remove(file);
}

// The window, driven by names: every flow a person goes through, and no assertion on any path.
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "app/session/commands.h"
#include "app/session/environment.h"
#include "app/session/solving.h"
#include "core/chart/gantt_model.h"
#include "tests/support/fake_solver.h"
#include "tests/support/paths.h"
#include "tests/support/wait.h"
#include "tests/support/window/harness.h"

using namespace heddle;
using namespace heddle::app;
using test::Harness;
namespace fs = std::filesystem;

namespace {

struct Folder {
  fs::path path = fs::temp_directory_path() / ("heddle_window_test_" + std::to_string(::getpid()));
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
  std::string write(const char* name, const std::string& text) const {
    std::ofstream(path / name) << text;
    return (path / name).string();
  }
};

/// The toy, solved.
struct Solved : Harness {
  Solved() : Harness(test::solve_toy) {
    session().apply(OpenPair{"toy_fig1", "toy", true});
    wait_for_solver();
  }
};

}  // namespace

TEST_CASE("a welcome card opens its kernel, solves it, and the chart appears", "[ui]") {
  Harness h(test::solve_toy);
  REQUIRE(h.has("welcome/toy"));
  CHECK_FALSE(h.has("schedules/0"));
  h.click("welcome/toy");
  h.wait_for_solver();
  CHECK(h.has("schedules/0"));
  CHECK(h.has("toolbar/header"));
  CHECK(h.names("gantt/bar/").size() >= 3);
  CHECK(h.session().content().entry()->status == Status::Optimal);
}

TEST_CASE("F5 solves, the frame goes on meanwhile, and Shift+F5 cancels", "[ui]") {
  Harness h(test::solve_until_cancelled);
  h.session().apply(OpenPair{"toy_fig1", "toy", false});
  h.frame(2);
  REQUIRE(h.has("center/solve"));
  h.key(Key::F5);
  REQUIRE(h.session().live().active());
  REQUIRE(test::wait_until([&] { return h.has("schedules/0"); }));
  CHECK(h.window().pace() != Pace::Idle);
  h.key(Key::F5, {.shift = true});
  h.wait_for_solver();
  CHECK(h.session().live().cancelled);
  CHECK(h.session().content().entry()->schedule.ii == 3);
}

TEST_CASE("the toolbar solves and cancels too", "[ui]") {
  Harness h(test::solve_until_cancelled);
  h.session().apply(OpenPair{"toy_fig1", "toy", false});
  h.frame();
  h.click("toolbar/solve");
  CHECK(h.session().live().active());
  h.click("toolbar/cancel");
  h.wait_for_solver();
  CHECK(h.session().live().cancelled);
}

TEST_CASE("list, table, chart and inspector share one selection", "[ui]") {
  Solved h;
  h.click("ops/P");
  CHECK(h.session().selection().primary() == OpId(1));
  REQUIRE(h.has("inspector/link/0"));
  h.click("inspector/link/0");
  CHECK(h.session().selection().primary() != OpId(1));
  h.click("ops/O", 0, {.ctrl = true});
  CHECK(h.session().selection().ops.size() == 2);
  h.click("tab/ops");
  h.click("table/op/S");
  CHECK(h.session().selection().ops == std::vector<OpId>{OpId(0)});
  const auto bars = h.names("gantt/bar/P");
  REQUIRE_FALSE(bars.empty());
  h.click(bars.front());
  CHECK(h.session().selection().primary() == OpId(1));
  h.key(Key::Escape);
  CHECK(h.session().selection().empty());
}

TEST_CASE("the list of ops is filtered and sorted", "[ui]") {
  Solved h;
  h.click("ops/filter");
  h.type("exp");
  CHECK(h.has("ops/P"));
  CHECK_FALSE(h.has("ops/S"));
  h.key(Key::Escape);
  h.click("ops/sort/name");
  h.click("ops/sort/name");
  CHECK(h.window().ui().list_sort == "op");
  CHECK(h.window().ui().list_descending);
}

TEST_CASE("the open dialog lists what ships and opens it", "[ui]") {
  Harness h(test::solve_toy);
  h.key(Key::O, {.ctrl = true});
  h.click("open/filter");
  h.type("toy");  // the list is longer than the dialog
  REQUIRE(h.has("open/kernel/toy_fig1"));
  h.click("open/kernel/toy_fig1");
  CHECK_FALSE(h.has("open/filter"));
  REQUIRE(h.session().content().kernel);
  REQUIRE(h.has("center/machine/toy"));
  h.click("center/machine/toy");
  CHECK(h.session().content().problem);
  h.click("toolbar/open");
  CHECK(h.has("open/filter"));
  h.type("b200");
  CHECK_FALSE(h.has("open/machine/toy"));
  h.click("open/close");
  CHECK_FALSE(h.has("open/filter"));
}

TEST_CASE("a path is a path in whichever field of the open dialog it is typed", "[ui]") {
  Harness h(test::solve_toy);
  h.key(Key::O, {.ctrl = true});
  h.click("open/filter");
  h.type(test::repository_path("kernels/toy_fig1.json"));
  h.key(Key::Enter);
  h.frame(2);
  CHECK_FALSE(h.has("open/filter"));
  REQUIRE(h.session().content().kernel);
  CHECK(h.session().content().kernel->name == "toy_fig1");
}

TEST_CASE("the open dialog walks folders and takes paths", "[ui]") {
  const Folder folder;
  fs::create_directories(folder.path / "inner");
  std::ofstream(folder.path / "inner" / "k.json") << std::ifstream(test::repository_path("kernels/toy_fig1.json")).rdbuf();
  Harness h(test::solve_toy);
  h.window().ui().open_dialog.folder = folder.path.string();
  h.key(Key::O, {.ctrl = true});
  h.click("open/file/inner");
  CHECK(h.has("open/up"));
  h.click("open/file/k.json");
  REQUIRE(h.session().content().kernel);
  h.key(Key::O, {.ctrl = true});
  h.click("open/path");
  h.type("/no/such/file.json");
  h.key(Key::Enter);
  h.frame(2);
  // Said where it was typed, which stays as it was.
  CHECK(h.has("open/complaint"));
  CHECK(std::string(h.window().ui().open_dialog.path) == "/no/such/file.json");
  CHECK_FALSE(h.session().error());
  h.click("open/path");
  h.key(Key::A, {.ctrl = true});
  h.type((folder.path / "inner" / "k").string());
  h.key(Key::Tab);
  CHECK(std::string(h.window().ui().open_dialog.path) == (folder.path / "inner" / "k.json").string());
  h.key(Key::Enter);
  h.frame(2);
  CHECK_FALSE(h.has("open/path"));
  CHECK_FALSE(h.session().error());
}

TEST_CASE("the error panel shows every fault and closes with Escape", "[ui]") {
  const Folder folder;
  Harness h(test::solve_toy);
  h.drop(folder.write("bad.json", R"({"schema": "heddle.kernel/1", "name": 5, "values": 3, "body": {"a": 1}})"));
  REQUIRE(h.session().error());
  const std::size_t faults = h.session().error()->error.faults.size();
  CHECK(faults >= 2);
  CHECK(h.has("error/fault/0"));
  CHECK(h.has("error/fault/1"));
  h.click("error/copy");
  h.key(Key::Escape);
  CHECK_FALSE(h.session().error());
  CHECK_FALSE(h.has("error/close"));
  h.drop("/no/such/file.json");
  REQUIRE(h.has("error/close"));
  h.click("error/close");
  CHECK_FALSE(h.session().error());
}

TEST_CASE("a dropped schedule is judged and shown", "[ui]") {
  const Folder folder;
  const std::string path = (folder.path / "toy.schedule.json").string();
  {
    Solved h;
    h.click("menu/File");
    h.click("menu/save_schedule");
    REQUIRE(h.has("write/path"));
    h.click("write/path");
    h.key(Key::A, {.ctrl = true});
    h.type(path);
    h.click("write/go");
    CHECK_FALSE(h.session().error());
  }
  REQUIRE(fs::exists(path));
  Harness h(test::solve_toy);
  h.drop(path);
  CHECK(h.has("schedules/0"));
  CHECK(h.session().content().entry()->verdict.valid());
}

TEST_CASE("menus do what they say", "[ui]") {
  Solved h;
  h.click("menu/View");
  REQUIRE(h.has("menu/light"));
  h.click("menu/light");
  CHECK(h.session().settings().theme == ThemeName::Light);
  h.click("menu/View");
  h.click("menu/unrolled");
  CHECK(h.session().view().mode == GanttMode::Unrolled);
  h.click("menu/Edit");
  h.click("menu/undo");
  CHECK(h.session().content().schedules.empty());
  h.click("menu/Edit");
  h.click("menu/redo");
  CHECK(h.session().content().schedules.size() == 1);
  h.click("menu/File");
  h.click("menu/close");
  CHECK(h.has("welcome/toy"));
}

TEST_CASE("the chart's modes are a click or a key away", "[ui]") {
  Solved h;
  h.click("mode/pipeline");
  CHECK(h.session().view().mode == GanttMode::Pipeline);
  CHECK(h.names("gantt/bar/").size() >= 9);
  const int enough = h.session().iterations();
  h.click("mode/more");
  CHECK(h.session().iterations() == enough + 1);
  h.click("mode/fewer");
  CHECK(h.session().iterations() == enough);
  h.move_to("gantt/rows");
  h.key(Key::U);
  CHECK(h.session().view().mode == GanttMode::Contended);
  h.key(Key::U);
  CHECK(h.session().view().mode == GanttMode::Steady);
  h.key(Key::U);
  CHECK(h.session().view().mode == GanttMode::Unrolled);
}

TEST_CASE("every tab and the keys overlay can be drawn", "[ui]") {
  Solved h;
  for (const char* tab : {"tab/log", "tab/explain", "tab/ops", "tab/units", "tab/constraints"}) h.click(tab);
  h.click("tab/log");
  h.click("log/copy");
  CHECK(std::string(ImGui::GetClipboardText()).find("solver #1") != std::string::npos);
  h.key(Key::F1);
  CHECK(h.has("keys/close"));
  h.key(Key::F1);
  CHECK_FALSE(h.has("keys/close"));
  h.key(Key::Slash, {.shift = true});
  h.click("keys/close");
  CHECK_FALSE(h.has("keys/close"));
  h.click("tab/explain");
  h.click("explain/show/0");
  CHECK(h.session().view().highlight.ops.size() == 2);
}

TEST_CASE("letters typed into a field are not commands", "[ui]") {
  Solved h;
  h.session().apply(show_tab(BottomTab::Log));
  h.click("log/filter");
  h.key(Key::E);
  h.key(Key::U);
  CHECK(h.session().view().tab == BottomTab::Log);
  CHECK(h.session().view().mode == GanttMode::Steady);
}

TEST_CASE("splitters move the panes, and the layout is kept for the next start", "[ui]") {
  const Folder folder;
  Environment environment;
  environment.settings_file = (folder.path / "settings.json").string();
  double left = 0;
  {
    Harness h(test::solve_toy, 1600, 900, environment);
    h.session().apply(OpenPair{"toy_fig1", "toy", true});
    h.wait_for_solver();
    const float before = h.at("pane/left").x1;
    h.drag("splitter/left", 100, 0);
    CHECK(h.at("pane/left").x1 > before + 60);
    h.drag("splitter/bottom", 0, -50);
    h.drag("splitter/right", -40, 0);
    h.click("menu/View");
    h.click("menu/high_contrast");
    left = h.session().settings().panes.left;
  }
  Harness h(test::solve_toy, 1600, 900, environment);
  CHECK(h.session().settings().panes.left == Approx(left));
  CHECK(h.session().settings().theme == ThemeName::HighContrast);
  CHECK(h.session().settings().recent.front() == "toy_fig1");
  CHECK(h.has("welcome/recent/0"));
}

TEST_CASE("without a solver the button says so", "[ui]") {
  Harness h({});
  h.session().apply(OpenPair{"toy_fig1", "toy", true});
  h.frame(2);
  h.click("toolbar/solve");
  h.key(Key::F5);
  CHECK_FALSE(h.session().live().active());
  CHECK(h.session().solving().why_no_solve() == "this build has no solver");
}

TEST_CASE("kernel, machine and parameters are chosen from the toolbar", "[ui]") {
  Solved h;
  h.click("toolbar/subject");
  REQUIRE(h.has("subject/param/T"));
  h.click("subject/machine/h100");
  CHECK(h.session().content().machine->name == "h100");
}

TEST_CASE("any size and scale can be drawn, with and without a document", "[ui]") {
  for (const auto& [width, height] : {std::pair{1, 1}, {120, 90}, {640, 400}, {3840, 2160}}) {
    INFO(width << " x " << height);
    Harness h(test::solve_toy, width, height);
    h.frame(2);
    h.session().apply(OpenPair{"toy_fig1", "toy", true});
    h.wait_for_solver();
    h.session().apply(SelectOp{OpId(1)});
    for (const int scale : {50, 100, 300}) {
      h.session().apply(use_scale(scale));
      for (const GanttMode mode : {GanttMode::Steady, GanttMode::Unrolled, GanttMode::Pipeline}) {
        h.session().apply(SetMode{mode});
        h.frame(2);
      }
      for (const BottomTab tab : {BottomTab::Log, BottomTab::Explain, BottomTab::Ops, BottomTab::Units, BottomTab::Constraints}) {
        h.session().apply(show_tab(tab));
        h.frame(2);
      }
    }
  }
}

TEST_CASE("every action can be performed at any time without an assertion", "[ui]") {
  for (const bool open : {false, true}) {
    Harness h(test::solve_toy);
    if (open) {
      h.session().apply(OpenPair{"toy_fig1", "toy", true});
      h.wait_for_solver();
    }
    for (const Action& action : actions()) {
      INFO(action.id);
      if (std::string_view(action.id) == "quit") continue;
      perform(action, h.session(), h.window().ui());
      h.frame(3);
      h.key(Key::Escape);
      h.frame(2);
    }
    h.wait_for_solver();
  }
}

TEST_CASE("shipped kernels are drawn at their bounds, unsolved", "[ui]") {
  Harness h(test::solve_toy);
  for (const char* kernel : {"attention_forward_hopper", "gemm_hopper", "layernorm"}) {
    INFO(kernel);
    h.session().apply(OpenPair{kernel, "h100", false});
    h.frame(2);
    CHECK(h.session().content().problem);
    CHECK(h.has("center/solve"));
    h.session().apply(SelectOp{OpId(0)});
    h.frame(2);
  }
}

TEST_CASE("after a search the window is as usable as before", "[ui]") {
  Solved h;
  h.key(Key::F, {.ctrl = true});
  h.type("p");
  h.key(Key::Enter);  // the only match: the palette closes by itself
  h.frame(3);
  REQUIRE(h.session().selection().primary() == OpId(1));
  CHECK_FALSE(ImGui::GetIO().WantTextInput);
  h.key(Key::U);
  CHECK(h.session().view().mode == GanttMode::Unrolled);
  h.click("toolbar/open");
  CHECK(h.has("open/filter"));
}

TEST_CASE("Escape leaves menus and nothing else; keys of commands work with a menu open", "[ui]") {
  Solved h;
  h.click("ops/P");
  h.click("menu/View");
  REQUIRE(h.has("menu/light"));
  h.key(Key::Escape);
  CHECK_FALSE(h.has("menu/light"));
  CHECK(h.session().selection().ops.size() == 1);
  const auto open_menu = [] { return ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel); };
  const std::string bar = h.names("gantt/bar/").front();
  h.click(bar, 1);
  CHECK(open_menu());
  h.key(Key::Escape);
  CHECK_FALSE(open_menu());
  CHECK(h.session().selection().ops.size() == 1);
  h.click("toolbar/subject");
  CHECK(h.has("subject/param/T"));
  h.key(Key::Escape);
  CHECK_FALSE(h.has("subject/param/T"));
  h.click("menu/View");
  h.key(Key::O, {.ctrl = true});
  CHECK(h.has("open/filter"));
  CHECK_FALSE(h.has("menu/light"));
}

TEST_CASE("a second right click opens the chart's menu where it lands", "[ui]") {
  Solved h;
  const std::vector<std::string> bars = h.names("gantt/bar/");
  REQUIRE(bars.size() >= 2);
  h.click(bars.front(), 1);
  const auto first = h.window().ui().chart.pressed;
  REQUIRE(first);
  const probe::Rect there = h.at(bars.back());
  h.click_at(there.x0 + 4, there.center_y(), 1);
  CHECK(ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel));
  REQUIRE(h.window().ui().chart.pressed);
  CHECK(h.window().ui().chart.pressed != first);
}

#if IMGUI_VERSION_NUM < 18700
TEST_CASE("quick key presses keep their modifiers and their number", "[ui]") {
  Harness h(test::solve_toy);
  ImGuiIO& io = ImGui::GetIO();
  constexpr int kHome = 268;
  note_key_event(kHome, true, false, false, false);
  note_key_event('O', true, true, false, false);
  note_key_event('O', true, true, false, false);
  CHECK(hold_quick_keys());
  CHECK(io.KeysDown[kHome]);
  CHECK_FALSE(io.KeysDown[int{'O'}]);
  CHECK_FALSE(io.KeyCtrl);
  hold_quick_keys();
  CHECK_FALSE(io.KeysDown[kHome]);
  CHECK(io.KeysDown[int{'O'}]);
  CHECK(io.KeyCtrl);
  hold_quick_keys();
  CHECK_FALSE(io.KeysDown[int{'O'}]);
  CHECK_FALSE(io.KeyCtrl);
}
#endif

TEST_CASE("nothing in the toolbar overlaps, and the chart keeps its place, at any scale", "[ui]") {
  for (const auto& [width, height, scale] :
       {std::array{640, 400, 100}, {1280, 720, 100}, {1280, 720, 200}, {1600, 900, 300}, {1920, 1080, 300}}) {
    INFO(width << " x " << height << " at " << scale);
    Harness h(test::solve_toy, width, height);
    h.session().apply(use_scale(scale));
    h.session().apply(OpenPair{"toy_fig1", "toy", true});
    h.wait_for_solver();
    h.frame(3);
    float right = 0;
    for (const char* name : {"toolbar/open", "toolbar/solve", "toolbar/header", "toolbar/subject", "toolbar/find"}) {
      INFO(name);
      const probe::Rect rect = h.at(name);
      CHECK(rect.x0 >= right);
      right = rect.x1;
    }
    CHECK(right <= static_cast<float>(width));
    const probe::Rect chart = h.at("pane/center");
    CHECK(chart.x1 - chart.x0 >= 4.0f * static_cast<float>(scale));
  }
}

// Keys that are rebound, panes reached with Tab, tabs of the strip.
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <map>
#include <set>

#include "app/jobs/ask_options.h"
#include "app/session/commands.h"
#include "app/session/environment.h"
#include "app/window/kit/focus.h"
#include "app/window/tabs/graph/graph_state.h"
#include "core/chart/gantt_model.h"
#include "tests/support/fake_solver.h"
#include "tests/support/paths.h"
#include "tests/support/wait.h"
#include "tests/support/window/harness.h"

using namespace heddle;
using namespace heddle::app;
using test::Harness;

namespace {

struct Solved : Harness {
  explicit Solved(int width = 1600, int height = 900, Environment environment = {})
      : Harness(test::solve_toy, width, height, std::move(environment)) {
    session().apply(OpenPair{"toy_fig1", "toy", true});
    wait_for_solver();
  }
};

}  // namespace

TEST_CASE("no two actions have the same built-in key", "[ui]") {
  Harness h(test::solve_toy);
  std::map<std::string, std::string> owners;
  for (const Action& action : actions())
    for (const Chord& chord : chords_of(action)) {
      INFO(action.id << " and " << owners[to_string(chord)] << ": " << to_string(chord));
      CHECK(owners[to_string(chord)].empty());
      owners[to_string(chord)] = action.id;
    }
}

TEST_CASE("every built-in key can be read", "[ui]") {
  for (const Action& action : actions()) {
    INFO(action.id << ": " << action.keys);
    const std::string text = action.keys;
    const auto words = text.empty() ? 0 : 1 + std::count(text.begin(), text.end(), ' ');
    CHECK(static_cast<std::ptrdiff_t>(parse_chords(text).size()) == words);
  }
}

TEST_CASE("a key is rebound in the overlay, shown in menus, kept in the settings, and reset", "[ui]") {
  const auto folder = std::filesystem::temp_directory_path() / ("heddle_keys_test_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  Environment environment;
  environment.settings_file = (folder / "settings.json").string();
  {
    Solved h(1600, 900, environment);
    h.key(Key::F1);
    h.click("keys/filter");
    h.type("Whole pipeline");
    h.click("keys/row/pipeline");
    h.key(Key::F7, {.shift = true});
    CHECK(keys_of("pipeline") == "Shift+F7");
    h.key(Key::Escape);
    CHECK_FALSE(h.has("keys/close"));
    h.key(Key::F7, {.shift = true});
    CHECK(h.session().view().mode == GanttMode::Pipeline);
  }
  {
    Solved h(1600, 900, environment);
    CHECK(keys_of("pipeline") == "Shift+F7");
    h.key(Key::F1);
    h.click("keys/reset_all");
    CHECK(keys_of("pipeline").empty());
  }
  std::filesystem::remove_all(folder);
}

TEST_CASE("a chord that belongs to another action is given away only when asked", "[ui]") {
  Solved h;
  const auto edit = [&](Key key, test::Modifiers m) {
    h.key(Key::F1);
    h.click("keys/filter");
    h.type("Table of ops");
    h.click("keys/row/ops");
    h.key(key, m);
  };
  edit(Key::F5, {});
  REQUIRE(h.has("keys/take"));
  h.click("keys/keep");
  CHECK(keys_of("solve") == "F5");
  CHECK(keys_of("ops").empty());
  h.click("keys/row/ops");
  h.key(Key::F5);
  h.click("keys/take");
  CHECK(keys_of("solve").empty());
  CHECK(keys_of("ops") == "F5");
  h.click("keys/row/ops");
  h.click("keys/reset");
  CHECK(keys_of("ops").empty());
  h.key(Key::Escape);
}

TEST_CASE("the chart's own keys can be changed too", "[ui]") {
  Solved h;
  h.session().apply(use_keys("critical", "K"));
  h.frame(2);
  h.key(Key::C);
  CHECK_FALSE(h.session().view().critical);
  h.key(Key::K);
  CHECK(h.session().view().critical);
  h.session().apply(use_built_in_keys());
  h.frame(2);
  h.key(Key::C);
  CHECK_FALSE(h.session().view().critical);
}

TEST_CASE("the chart's actions work from menus and the palette", "[ui]") {
  Solved h;
  perform(*find_action("critical"), h.session(), h.window().ui());
  h.frame(2);
  CHECK(h.session().view().critical);
  h.session().apply(SelectOp{OpId(0)});
  h.key(Key::M);
  REQUIRE(h.window().ui().chart.range);
  CHECK(h.window().ui().chart.range->end > h.window().ui().chart.range->begin);
}

TEST_CASE("Tab walks through the panes, arrows through the rows, Enter takes one", "[ui]") {
  Solved h;
  CHECK(focus::pane() == FocusPane::Chart);
  h.key(Key::Tab);
  CHECK(focus::pane() == FocusPane::Bottom);
  h.key(Key::Tab, {.shift = true});
  h.key(Key::Tab, {.shift = true});
  CHECK(focus::pane() == FocusPane::Left);
  for (int i = 0; i < 12 && h.session().selection().empty(); ++i) {
    h.key(Key::Down);
    h.key(Key::Enter);
    if (focus::pane() != FocusPane::Left) break;
    // A field that is written in, or a menu that has opened, has the keys until it is left.
    if (ImGui::GetIO().WantTextInput || ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel))
      h.key(Key::Escape);
  }
  CHECK_FALSE(h.session().selection().empty());
  h.key(Key::Escape);
  CHECK(focus::pane() == FocusPane::Chart);
  CHECK_FALSE(h.session().selection().empty());  // the first Escape only leaves the pane
}

TEST_CASE("the keyboard reaches the cards of the welcome screen, and what was open before", "[ui]") {
  Environment environment;
  Harness h(test::solve_toy, 1280, 900, environment);
  REQUIRE(h.has("welcome/toy"));
  CHECK(focus::pane() == FocusPane::Chart);
  h.key(Key::Down);
  CHECK(focus::pane() == FocusPane::Welcome);
  for (int i = 0; i < 7; ++i) h.key(Key::Right);  // the toy is the eighth
  h.key(Key::Enter);
  h.wait_for_solver();
  CHECK(h.session().content().kernel->name == "toy_fig1");
  CHECK(focus::pane() == FocusPane::Chart);
  h.session().apply(CloseDocument{});
  h.frame(2);
  REQUIRE(h.has("welcome/recent/0"));
  h.key(Key::Tab);
  CHECK(focus::pane() == FocusPane::Welcome);
  h.key(Key::End);
  h.key(Key::Enter);
  h.frame(2);
  CHECK(h.session().content().kernel->name == "toy_fig1");
}

TEST_CASE("a notice is dismissed with the keyboard", "[ui]") {
  Solved h;
  h.session().apply(show_notice("something has to be said"));
  h.frame(2);
  for (int i = 0; i < kFocusPanes && focus::pane() != FocusPane::Notices; ++i) h.key(Key::Tab);
  REQUIRE(focus::pane() == FocusPane::Notices);
  h.key(Key::Enter);
  CHECK_FALSE(h.has("notice/dismiss"));
  CHECK(focus::pane() != FocusPane::Notices);
}

TEST_CASE("menus open with Alt and their letter, arrows move through them, Enter takes", "[ui]") {
  Solved h;
  h.key(Key::V, {.alt = true});
  REQUIRE(h.has("menu/unrolled"));
  CHECK_FALSE(h.session().view().tensor);  // V alone would show tensor memory
  h.key(Key::Down);
  h.key(Key::Down);
  h.key(Key::Enter);
  CHECK_FALSE(h.has("menu/unrolled"));
  CHECK(h.session().view().mode != GanttMode::Steady);
  h.key(Key::H, {.alt = true});
  REQUIRE(h.has("menu/keys"));
  h.key(Key::Escape);
  CHECK_FALSE(h.has("menu/keys"));
  // Panes have their own keys again.
  h.key(Key::Tab);
  CHECK(focus::pane() == FocusPane::Bottom);
  CHECK((ImGui::GetIO().ConfigFlags & ImGuiConfigFlags_NavEnableKeyboard) == 0);
}

TEST_CASE("the arrows walk through all rows of a table, also those that have to be scrolled to", "[ui]") {
  for (const BottomTab tab : {BottomTab::Ops, BottomTab::Slack, BottomTab::Graph}) {
    Harness h(test::solve_toy, 1280, 720);
    h.session().apply(OpenSchedule{test::repository_path("tests/schedules/attention_ping_pong.json")});
    h.session().apply(show_tab(tab));
    if (tab == BottomTab::Graph) h.window().ui().of<GraphState>().table = true;
    h.frame(4);
    if (tab == BottomTab::Slack && !h.session().answered(Topic::Slack)) continue;  // a build without a solver
    const std::string prefix = tab == BottomTab::Ops ? "table/op/" : tab == BottomTab::Slack ? "slack/op/" : "graph/edge/";
    REQUIRE(test::wait_until([&] { return !(h.session().asking() || h.names(prefix).empty()); }, [&] { h.frame(); }));
    const std::size_t rows =
        tab == BottomTab::Graph ? h.session().content().problem->edges.size() : h.session().content().problem->ops.size();
    REQUIRE(h.names(prefix).size() < rows);  // not all are on the screen
    focus::set(FocusPane::Bottom);
    h.frame(2);
    h.key(Key::End);
    h.frame(4);
    // The kernel's prologue and epilogue come last in the table of ops, and are no part of the schedule that could be selected.
    const Kernel& kernel = *h.session().content().kernel;
    for (std::size_t i = 0; tab == BottomTab::Ops && i < kernel.prologue.size() + kernel.epilogue.size(); ++i) {
      h.key(Key::Up);
      h.frame(2);
    }
    std::set<std::string> reached;
    for (std::size_t i = 0; i < rows; ++i) {
      h.key(Key::Enter);
      h.frame(2);
      std::string picked;
      for (const OpId op : h.session().selection().ops) picked += h.session().content().problem->op(op).name + " ";
      if (tab == BottomTab::Graph)
        picked = h.session().view().highlight.edges.empty() ? "" : std::to_string(h.session().view().highlight.edges[0].index());
      CHECK_FALSE(picked.empty());
      reached.insert(picked);
      h.key(Key::Up);
      h.frame(2);
    }
    CHECK(reached.size() == rows);
  }
}

TEST_CASE("panes fold away and come back, and a double click resets a splitter", "[ui]") {
  Solved h;
  REQUIRE(h.has("pane/left"));
  h.key(Key::B, {.ctrl = true});
  CHECK_FALSE(h.has("pane/left"));
  h.key(Key::B, {.ctrl = true});
  CHECK(h.has("pane/left"));
  h.key(Key::J, {.ctrl = true});
  CHECK_FALSE(h.has("pane/bottom"));
  h.session().apply(show_tab(BottomTab::Log));
  CHECK(h.has("pane/bottom"));
  h.drag("splitter/left", 120, 0);
  CHECK(h.session().settings().panes.left != Approx(app::PaneSizes{}.left));
  h.double_click("splitter/left");
  CHECK(h.session().settings().panes.left == Approx(app::PaneSizes{}.left));
  // With the mouse alone: the handle on the pane's edge, and at the window's edge to bring it back.
  for (const char* pane : {"left", "bottom"}) {
    INFO(pane);
    const std::string handle = std::string("fold/") + pane, whole = std::string("pane/") + pane;
    h.click(handle);
    CHECK_FALSE(h.has(whole));
    h.click(handle);
    CHECK(h.has(whole));
  }
  h.click("fold/right");
  CHECK_FALSE(h.has("pane/inspector"));
  h.click("fold/right");
  CHECK(h.has("pane/inspector"));
}

TEST_CASE("every tab can be reached at any width", "[ui]") {
  for (const auto& [width, height, scale] : {std::array{1920, 1080, 100}, {1280, 720, 100}, {1280, 900, 150}, {1600, 1200, 200}}) {
    INFO(width << " x " << height << " at " << scale);
    Solved h(width, height);
    h.session().apply(use_scale(scale));
    h.frame(3);
    if (!h.has("pane/bottom")) continue;
    for (const Tab& tab : tabs()) {
      INFO(tab.id);
      const std::string name = std::string("tab/") + tab.id;
      h.click(name);  // in its group
      CHECK(h.session().view().tab == tab.tab);
      const auto there = h.at(name), pane = h.at("pane/bottom");
      CHECK(there.x1 <= pane.x1);
      CHECK(there.x0 >= pane.x0);
    }
    const BottomTab last = h.session().view().tab;
    h.key(Key::Tab, {.ctrl = true});
    CHECK(h.session().view().tab == tabs().front().tab);
    h.key(Key::Tab, {.ctrl = true, .shift = true});
    CHECK(h.session().view().tab == last);
    h.key(Key::Num3, {.ctrl = true});
    CHECK(h.session().view().tab == BottomTab::Slack);
  }
}

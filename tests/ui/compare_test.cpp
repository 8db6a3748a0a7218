// A and B in the window: the list, the keys, two charts on one axis, ghosts and the Compare tab.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "app/session/commands.h"
#include "app/window/tabs/schedules/compare_state.h"
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

std::string ping_pong() { return test::repository_path("tests/schedules/attention_ping_pong.json"); }

std::string with(std::string text, const std::string& from, const std::string& to) {
  REQUIRE(text.find(from) != std::string::npos);
  return text.replace(text.find(from), from.size(), to);
}

std::string ping_pong_text() {
  std::ostringstream text;
  text << std::ifstream(ping_pong()).rdbuf();
  return text.str();
}

struct Folder {
  fs::path path = fs::temp_directory_path() / ("heddle_compare_test_" + std::to_string(::getpid()));
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
  std::string write(const char* name, const std::string& text) const {
    std::ofstream(path / name) << text;
    return (path / name).string();
  }
};

/// The ping-pong schedule, and one that exchanges rescale0 and sum0; the second is shown.
struct Two : Folder, Harness {
  explicit Two(int width = 1600, int height = 900, Environment environment = {})
      : Harness(test::solve_toy, width, height, std::move(environment)) {
    session().apply(OpenSchedule{ping_pong()});
    std::string text = with(ping_pong_text(), "\"rescale0\", \"start\": 2826", "\"rescale0\", \"start\": 2896");
    text = with(text, "\"sum0\", \"start\": 2890", "\"sum0\", \"start\": 2826");
    session().apply(OpenSchedule{write("b.json", with(text, "FA3-like ping-pong", "exchanged"))});
    frame(3);
    REQUIRE(session().content().schedules.size() == 2);
  }
  std::size_t a() { return *session().content().shown; }
  std::optional<std::size_t> b() { return session().content().baseline; }
};

}  // namespace

TEST_CASE("flow 4: a schedule is made B, the first divergence found, and the run unrolled", "[ui]") {
  Two h;
  h.click("schedules/0");
  CHECK(h.a() == 0);
  h.key(Key::B);
  CHECK(h.b() == std::size_t{0});
  CHECK(h.a() == 1);
  h.frame(2);
  CHECK(h.has("gantt/pair"));
  CHECK(h.has("gantt/bar/QK0@0"));
  CHECK(h.has("gantt_b/bar/QK0@0"));
  h.click("tab/compare");
  h.frame(2);
  REQUIRE(h.has("compare/first"));
  CHECK(h.has("compare/op/rescale0"));
  CHECK_FALSE(h.has("compare/op/QK0"));
  h.click("compare/first");
  h.frame(20);
  const Problem& p = *h.session().content().problem;
  CHECK(h.session().selection().contains(p.find_op("rescale0")));
  CHECK_FALSE(h.session().view().highlight.why.empty());
  h.key(Key::U);
  CHECK(h.session().view().mode == GanttMode::Unrolled);
  h.frame(2);
  CHECK(h.has("gantt_b/bar/QK0@1"));
}

TEST_CASE("flow 8: a broken schedule that is dropped shows its verdict and its first violation", "[ui]") {
  const Folder folder;
  Harness h(test::solve_toy);
  h.drop(folder.write("broken.json", with(ping_pong_text(), "\"PV0\", \"start\": 3650", "\"PV0\", \"start\": 2000")));
  h.frame(3);
  REQUIRE(h.session().content().entry());
  CHECK_FALSE(h.session().content().entry()->verdict.valid());
  REQUIRE(h.has("center/violations"));
  CHECK_FALSE(h.session().selection().empty());
  h.key(Key::Escape);
  CHECK(h.session().view().highlight.why.empty());
  h.key(Key::Escape);
  CHECK(h.session().selection().empty());
  h.click("center/violations");
  CHECK_FALSE(h.session().selection().empty());
  const TimeRange before = h.window().ui().chart.target;
  h.wheel("gantt/rows", 6);
  h.frame(30);
  h.key(Key::F);
  h.frame(30);
  CHECK(h.window().ui().chart.target.length() < before.length());
}

TEST_CASE("X swaps, Ctrl+click and the badge choose B, and the letter ends the comparison", "[ui]") {
  Two h;
  h.click("schedules/0", 0, {.ctrl = true});
  CHECK(h.b() == std::size_t{0});
  CHECK(h.a() == 1);
  h.key(Key::X);
  CHECK(h.a() == 0);
  CHECK(h.b() == std::size_t{1});
  h.frame();
  h.click("schedules/chip/b");
  CHECK_FALSE(h.b());
  h.frame(2);
  CHECK_FALSE(h.has("gantt/pair"));
  h.click("schedules/1/badge");
  CHECK(h.b() == std::size_t{1});
  h.click("schedules/0", 1);
  h.frame(2);
  REQUIRE(h.has("schedules/menu/swap"));
  h.click("schedules/menu/swap");
  CHECK(h.a() == 1);
}

TEST_CASE("a row dragged onto the letter or onto a chart becomes A or B", "[ui]") {
  Two h;
  const auto drag = [&](const std::string& from, const std::string& to) {
    const auto a = h.at(from), b = h.at(to);
    h.drag(from, b.center_x() - a.center_x(), b.center_y() - a.center_y());
    h.frame(2);
  };
  drag("schedules/0", "schedules/chip/b");
  CHECK(h.b() == std::size_t{0});
  CHECK(h.a() == 1);
  drag("schedules/1", "gantt_b/rows");
  CHECK(h.b() == std::size_t{1});
  CHECK(h.a() == 0);
}

TEST_CASE("a double click renames in place, and the arrows walk through the list that has the focus", "[ui]") {
  Two h;
  h.double_click("schedules/1");
  h.frame(2);
  REQUIRE(h.has("schedules/rename"));
  h.key(Key::A, {.ctrl = true});
  h.type("mine");
  h.key(Key::Enter);
  h.frame(2);
  CHECK(h.session().content().schedules[1]->name == "mine");
  CHECK_FALSE(h.has("schedules/rename"));
  h.click("schedules/1");
  h.key(Key::Up);
  CHECK(h.a() == 0);
  CHECK(h.session().selection().empty());
  h.key(Key::Down);
  CHECK(h.a() == 1);
  h.key(Key::Delete);
  CHECK(h.session().content().schedules.size() == 1);
  h.key(Key::Z, {.ctrl = true});
  CHECK(h.session().content().schedules.size() == 2);
}

TEST_CASE("both charts share zoom, hair-line and selection; each has its own rows", "[ui]") {
  Two h;
  h.click("schedules/0", 0, {.ctrl = true});
  h.frame(2);
  const auto before = h.window().ui().chart.visible;
  h.wheel("gantt_b/rows", 5);
  h.frame(30);
  CHECK(h.window().ui().chart.visible.length() < before.length());
  CHECK(h.window().ui().chart_b.visible == h.window().ui().chart.visible);
  h.move_to("gantt_b/rows");
  h.frame();
  CHECK(h.window().ui().chart.hovered_cycle == h.window().ui().chart_b.hovered_cycle);
  CHECK(h.window().ui().chart.hovered_cycle.has_value());
  h.key(Key::Home);
  h.frame(30);
  h.click("gantt_b/bar/max0@0");
  const Problem& p = *h.session().content().problem;
  CHECK(h.session().selection().primary() == p.find_op("max0"));
}

TEST_CASE("single, split and ghost charts, alignment, and the table's switches", "[ui]") {
  Two h(1600, 1600);  // tall enough for the rows of the table
  h.click("schedules/0", 0, {.ctrl = true});
  h.click("tab/compare");
  h.frame(2);
  h.click("compare/ghost");
  h.frame(2);
  CHECK(h.session().view().chart_view == ChartView::Ghost);
  CHECK_FALSE(h.names("gantt/ghost/rescale0").empty());
  CHECK_FALSE(h.has("gantt/pair"));
  h.click("compare/a");
  h.frame(2);
  CHECK(h.names("gantt/ghost/").empty());
  h.key(Key::G);
  CHECK(h.session().view().chart_view == ChartView::Split);
  h.click("compare/align/most");
  CHECK(h.session().view().alignment.at == Alignment::At::Most);
  h.frame(2);
  h.click("compare/only");
  h.frame(2);
  REQUIRE(h.has("compare/op/load_k"));
  h.click("compare/op/load_k");
  CHECK(h.session().selection().primary() == OpId(0));
  h.click("compare/align/op");
  CHECK(h.session().view().alignment.op == OpId(0));
  h.frame(2);
  h.click("compare/sort/delta");
  h.frame();
  CHECK(h.window().ui().of<CompareTabState>().order.column == "delta");
  h.click("compare/copy");
  CHECK(std::string(ImGui::GetClipboardText()).find("rescale0\t") != std::string::npos);
  h.frame();
  h.click("compare/command");
  CHECK(std::string(ImGui::GetClipboardText()).find("heddle diff attention_forward_hopper h100") == 0);
}

TEST_CASE("without a B the tab teaches and offers the neighbour", "[ui]") {
  Two h;
  h.click("tab/compare");
  h.frame(2);
  REQUIRE(h.has("compare/previous"));
  h.click("compare/previous");
  CHECK(h.b() == std::size_t{0});
}

TEST_CASE("two charts hold out in small windows and at large scales", "[ui]") {
  for (const int percent : {100, 200, 300}) {
    Two h(1280, 720);
    h.session().apply(use_scale(percent));
    h.session().apply(show_tab(BottomTab::Compare));
    h.session().apply(SetBaseline{0});
    for (const GanttMode mode : {GanttMode::Steady, GanttMode::Unrolled, GanttMode::Pipeline}) {
      h.session().apply(SetMode{mode});
      h.frame(3);
      if (!h.has("gantt/pair")) continue;
      const auto a = h.at("gantt/rows"), b = h.at("gantt_b/rows"), pair = h.at("gantt/pair");
      CHECK(a.y1 <= b.y0);
      CHECK(b.y1 <= pair.y1 + 1);
      CHECK(a.y1 - a.y0 > 40);
    }
  }
}

TEST_CASE("A against B says what both are predicted to take, and which is faster", "[ui]") {
  Environment environment;
  environment.predict = [predict = built_in_prediction()](const PredictionSubject& of, std::stop_token stop) { return predict(of, stop); };
  Two h(1600, 900, std::move(environment));
  h.session().apply(SetBaseline{0});
  h.session().apply(show_tab(BottomTab::Compare));
  REQUIRE(test::wait_until([&] { return h.has("compare/metric/speed, predicted"); }, [&] { h.frame(); }));
  h.frame(3);
  CHECK(h.has("compare/metric/time, predicted"));
  CHECK(h.has("compare/metric/speed, predicted"));
}

// Graph and Pipeline tabs: pictures that select, pan and zoom; pseudocode that selects; the lower pane over the whole place.
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "app/session/commands.h"
#include "app/window/tabs/graph/graph_state.h"
#include "tests/support/fake_solver.h"
#include "tests/support/wait.h"
#include "tests/support/window/harness.h"

using namespace heddle;
using namespace heddle::app;
using test::Harness;

namespace {

struct Solved : Harness {
  explicit Solved(BottomTab tab) : Harness(test::solve_toy) {
    session().apply(OpenPair{"toy_fig1", "toy", true});
    wait_for_solver();
    session().apply(show_tab(tab));
    frame(2);
  }
  GraphState& graph() { return window().ui().of<GraphState>(); }
  /// False where Graphviz is missing.
  bool wait_for_graph() {
    REQUIRE(test::wait_until([&] { return !graph().working(); }, [&] { frame(); }));
    frame(2);
    return has("graph/node/S");
  }
};

}  // namespace

TEST_CASE("boxes of the graph share the window's selection", "[ui]") {
  Solved h(BottomTab::Graph);
  if (!h.wait_for_graph()) return;
  h.click("graph/node/P");
  CHECK(h.session().selection().primary() == OpId(1));
  h.click("graph/node/O", 0, {.ctrl = true});
  CHECK(h.session().selection().ops.size() == 2);
  h.click("ops/S");
  CHECK(h.graph().seen == OpId(0));
  h.move_to("graph/canvas");
  h.key(Key::RightBracket);
  CHECK(h.session().selection().ops == std::vector<OpId>{OpId(1)});
  h.key(Key::LeftBracket);
  CHECK(h.session().selection().ops == std::vector<OpId>{OpId(0)});
  h.key(Key::Escape);
  CHECK(h.session().selection().empty());
}

TEST_CASE("the graph zooms at the mouse, pans with the right button and fits on a double click", "[ui]") {
  Solved h(BottomTab::Graph);
  if (!h.wait_for_graph()) return;
  const GraphView fitted = h.graph().view;
  h.wheel("graph/canvas", 2);
  CHECK(h.graph().view.zoom > fitted.zoom);
  const GraphView before = h.graph().view;
  h.drag("graph/canvas", 60, 0, 1);
  CHECK(h.graph().view.x < before.x);
  CHECK_FALSE(h.graph().fitted);
  const probe::Rect canvas = h.at("graph/canvas");
  h.click_at(canvas.x0 + 3, canvas.y1 - 3);
  h.click_at(canvas.x0 + 3, canvas.y1 - 3);
  h.frame(2);
  h.key(Key::Home);
  CHECK(h.graph().fitted);
  // A selection made elsewhere comes into view.
  h.wheel("graph/canvas", 30);
  h.click("ops/O");
  h.frame(2);
  const probe::Rect node = h.at("graph/node/O");
  CHECK((node.center_x() > canvas.x0 && node.center_x() < canvas.x1));
  // F: the selection, then everything.
  h.move_to("graph/canvas");
  h.key(Key::F);
  CHECK(h.graph().centred);
  h.key(Key::F);
  CHECK(h.graph().fitted);
}

TEST_CASE("the graph's menu pins and copies, its bar copies the edges", "[ui]") {
  Solved h(BottomTab::Graph);
  if (!h.wait_for_graph()) return;
  h.click("graph/node/P", 1);
  REQUIRE(h.has("graph/menu/pin"));
  h.click("graph/menu/copy");
  CHECK(std::string(ImGui::GetClipboardText()) == "P");
  h.click("graph/copy");
  CHECK(std::string(ImGui::GetClipboardText()).find("from\tto\tvalue") == 0);
  h.click("graph/copy_dot");
  CHECK(std::string(ImGui::GetClipboardText()).find("digraph") == 0);
  h.click("graph/copy_command");
  CHECK(std::string(ImGui::GetClipboardText()).find("--format dot") != std::string::npos);
  h.click("graph/direction");
  CHECK(h.wait_for_graph());
  h.click("graph/cycle");
  h.click("graph/follow");
  h.click("graph/table");
  REQUIRE(h.has("graph/edge/0"));
  h.click("graph/edge/0");
  CHECK(h.session().selection().ops.size() == 2);
  h.click("graph/sort/latency");
  h.click("graph/sort/latency");
  CHECK(h.graph().order.descending);
}

TEST_CASE("without Graphviz the tab says so and the rest works", "[ui]") {
  Harness h(test::solve_toy);
  h.window().ui().of<GraphState>().program = "no-such-program-anywhere";
  h.session().apply(OpenPair{"toy_fig1", "toy", true});
  h.wait_for_solver();
  h.session().apply(show_tab(BottomTab::Graph));
  REQUIRE(test::wait_until([&] { return h.has("graph/as_table"); }, [&] { h.frame(); }));
  h.click("graph/as_table");
  CHECK(h.has("graph/edge/0"));
}

TEST_CASE("lines of the pipeline select their ops, sections fold, and words are found", "[ui]") {
  Solved h(BottomTab::Pipeline);
  const auto lines = h.names("pipeline/line/0/");
  REQUIRE(lines.size() >= 3);
  h.click(lines.front());
  CHECK(h.session().selection().ops.size() == 1);
  h.click("pipeline/section/0/1");  // 0 is the prologue, whose ops cannot be selected
  CHECK(h.names("pipeline/line/0/").size() < lines.size());
  h.click("pipeline/find");
  h.type("P[");
  h.key(Key::Enter);
  h.frame(2);
  h.click("pipeline/copy_text");
  CHECK(std::string(ImGui::GetClipboardText()).find("steady state") != std::string::npos);
  h.click("pipeline/copy");
  CHECK(std::string(ImGui::GetClipboardText()).find("group\tsection\tcycle") == 0);
  h.click("pipeline/copy_command");
  CHECK(std::string(ImGui::GetClipboardText()).find("--format pipeline") != std::string::npos);
}

TEST_CASE("the lower pane takes the whole place and gives it back", "[ui]") {
  Solved h(BottomTab::Pipeline);
  CHECK(h.has("pane/center"));
  h.key(Key::M, {.ctrl = true});
  h.frame(2);
  CHECK_FALSE(h.has("pane/center"));
  CHECK(h.has("tab/graph"));
  h.key(Key::F11);
  h.frame(2);
  CHECK(h.has("pane/center"));
  h.double_click("tab/graph");
  h.frame(2);
  CHECK_FALSE(h.has("pane/center"));
  if (h.wait_for_graph()) {
    h.key(Key::RightBracket);  // no chart: the graph hears it wherever the mouse is
    CHECK(h.session().selection().ops.size() == 1);
  }
  h.key(Key::F11);
}

TEST_CASE("graph and pipeline can be drawn at any size and scale, and without a document", "[ui]") {
  for (const BottomTab tab : {BottomTab::Graph, BottomTab::Pipeline})
    for (const auto& [width, height] : {std::pair{300, 200}, {1280, 720}, {3840, 2160}}) {
      Harness h(test::solve_toy, width, height);
      h.session().apply(show_tab(tab));
      h.frame(2);
      h.session().apply(OpenPair{"toy_fig1", "toy", false});
      h.frame(2);
      h.session().apply(OpenPair{"toy_fig1", "toy", true});
      h.wait_for_solver();
      for (const int scale : {50, 200, 300}) {
        h.session().apply(use_scale(scale));
        for (int i = 0; i < 60; ++i) h.frame(), std::this_thread::sleep_for(std::chrono::milliseconds(1));
        h.window().ui().maximized = !h.window().ui().maximized;
        h.frame(2);
      }
    }
}

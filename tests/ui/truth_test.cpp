// The truth tab: one row per gesture and key; what it says while it works and where files are wrong; every size.
#include <array>
#include <catch2/catch.hpp>
#include <functional>

#include "app/session/commands.h"
#include "app/session/truth_state.h"
#include "app/window/kit/focus.h"
#include "app/window/tabs/truth/truth_tab_state.h"
#include "tests/support/truth_files.h"
#include "tests/support/wait.h"
#include "tests/support/window/harness.h"
#include "tests/support/window/invariants.h"

using namespace heddle;
using namespace heddle::app;
using test::Harness;

namespace {

struct TruthWindow {
  test::TruthFiles files;
  Harness h;
  explicit TruthWindow(int width = 1920, int height = 1080, bool validated = true)
      : h(test::solve_toy, width, height, environment(files.tools())) {
    h.session().apply(OpenPair{"toy_fig1", "toy", false});
    h.session().apply(show_tab(BottomTab::Truth));
    h.frame(3);
    if (!validated) return;
    h.click("truth/validate");
    settle();
    h.window().ui().maximized = true;
    h.frame(4);
  }
  ~TruthWindow() { CHECK(test::broken_invariants(h.session()) == std::vector<std::string>()); }
  static Environment environment(TruthTools tools) {
    Environment e;
    e.truth = std::move(tools);
    return e;
  }
  void settle() {
    h.wait_while([this] { return h.session().truth().active() || h.session().live().active(); });
    h.frame(4);
  }
  TruthTabState& state() { return h.window().ui().of<TruthTabState>(); }
  std::optional<std::size_t> chosen() { return h.session().truth().chosen(); }
  Cycle shown_ii() { return h.session().content().entry() ? h.session().content().entry()->schedule.ii : 0; }
  std::string first() {
    h.frame(2);
    return state().rows.empty() ? "" : state().rows.front().id;
  }
};

struct TruthGesture {
  const char* name;
  std::function<void(TruthWindow&)> input;
  std::function<bool(TruthWindow&)> effect;
};

const TruthGesture kTruthGestures[] = {
    {"Validate: points, and rows under them", [](TruthWindow&) {},
     [](TruthWindow& w) { return w.h.has("truth/plot/point/2") && !w.h.has("truth/plot/point/3") && w.h.has("truth/row/4"); }},
    {"click, point: its row is chosen, with what its time is made of", [](TruthWindow& w) { w.h.click("truth/plot/point/1"); },
     [](TruthWindow& w) { return w.chosen() == 1u && w.h.has("truth/bar") && w.h.has("truth/open"); }},
    {"double click, point: its kernel and schedule are opened", [](TruthWindow& w) { w.h.double_click("truth/plot/point/1"); },
     [](TruthWindow& w) {
       return w.shown_ii() == 3 && w.h.session().content().overrides == Scope{{"T", 80}};
     }},
    {"Page Down, Enter, Enter in the plot: walks, chooses, opens",
     [](TruthWindow& w) {
       const auto box = w.h.at("truth/plot");
       w.h.click_at(box.x1 - 8, box.y0 + 8);
       w.h.key(Key::PageDown);
       w.h.key(Key::PageDown);
       w.h.key(Key::Enter);
       w.settle();
       w.h.key(Key::Enter);
     },
     [](TruthWindow& w) { return w.chosen() == 1u && w.shown_ii() == 3; }},
    {"click, row: it is chosen", [](TruthWindow& w) { w.h.click("truth/row/0"); }, [](TruthWindow& w) { return w.chosen() == 0u; }},
    {"click, row that nothing stands for: it says so, and cannot be opened",
     [](TruthWindow& w) {
       w.h.click("truth/row/3");
       w.settle();
       w.h.click("truth/open");
     },
     [](TruthWindow& w) { return w.chosen() == 3u && !w.h.has("truth/bar") && w.shown_ii() == 0; }},
    {"Open: the chosen row's kernel and schedule",
     [](TruthWindow& w) {
       w.h.click("truth/row/0");
       w.settle();
       w.h.click("truth/open");
     },
     [](TruthWindow& w) { return w.shown_ii() == 2; }},
    {"Ctrl+Z: what was open before",
     [](TruthWindow& w) {
       w.h.double_click("truth/plot/point/1");
       w.h.key(Key::Z, {.ctrl = true});
     },
     [](TruthWindow& w) { return w.shown_ii() == 0 && w.h.session().content().overrides.empty(); }},
    {"click, heading: sorts", [](TruthWindow& w) { w.h.click("truth/sort/measured"); },
     [](TruthWindow& w) { return w.first() == "closed"; }},
    {"click, heading again: the other way round",
     [](TruthWindow& w) {
       w.h.click("truth/sort/measured");
       w.h.click("truth/sort/measured");
     },
     [](TruthWindow& w) { return w.first() == "fast"; }},
    {"click, kind: it alone, in the plot and in the table", [](TruthWindow& w) { w.h.click("truth/kind/attention_forward"); },
     [](TruthWindow& w) { return w.first() == "made" && w.state().rows.size() == 1 && !w.h.has("truth/plot/point/1"); }},
    {"click, kind again: all",
     [](TruthWindow& w) {
       w.h.click("truth/kind/attention_forward");
       w.h.click("truth/kind/attention_forward");
     },
     [](TruthWindow& w) { return w.first() == "fast" && w.h.has("truth/plot/point/2"); }},
    {"Kinds: a table of them", [](TruthWindow& w) { w.h.click("truth/page/Kinds"); },
     [](TruthWindow& w) { return w.h.has("truth/kinds/0"); }},
    {"Pairs: a table of them; a click chooses the row that has something",
     [](TruthWindow& w) {
       w.h.click("truth/row/1");
       w.h.click("truth/page/Pairs");
       w.h.click("truth/pair/0");
     },
     [](TruthWindow& w) { return w.chosen() == 0u; }},
    {"Up, Enter in the table: rows without the mouse",
     [](TruthWindow& w) {
       focus::set(FocusPane::Bottom);
       w.h.frame(2);
       w.h.key(Key::End);
       for (int i = 0; i < 12 && !w.chosen(); ++i) {
         w.h.key(Key::Up);
         w.h.key(Key::Enter);
         w.settle();
       }
     },
     [](TruthWindow& w) { return w.chosen().has_value(); }},
    {"Copy: the table", [](TruthWindow& w) { w.h.click("truth/copy"); },
     [](TruthWindow&) { return std::string(ImGui::GetClipboardText()).find("id\tkind\timplementation\tmachine\tmeasured") == 0; }},
    {"Copy as command: the validation", [](TruthWindow& w) { w.h.click("truth/command"); },
     [](TruthWindow&) { return std::string(ImGui::GetClipboardText()).find("heddle validate ") == 0; }},
    {"Copy as command of a row: its simulation",
     [](TruthWindow& w) {
       w.h.click("truth/row/0");
       w.settle();
       w.h.click("truth/simulate");
     },
     [](TruthWindow&) { return std::string(ImGui::GetClipboardText()).find("heddle simulate toy_fig1 toy ") == 0; }},
};

}  // namespace

TEST_CASE("every gesture and key of the truth tab does what is said", "[ui]") {
  for (const TruthGesture& row : kTruthGestures) {
    INFO(row.name);
    TruthWindow w;
    row.input(w);
    w.settle();
    CHECK(row.effect(w));
  }
}

TEST_CASE("nothing is validated before it is asked for; then it can be cancelled", "[ui]") {
  TruthWindow w(1600, 900, false);
  CHECK_FALSE(w.h.session().truth().answer());
  CHECK(w.h.has("truth/validate"));
  CHECK_FALSE(w.h.has("truth/plot"));
  w.h.session().apply(Validate{});
  w.h.session().apply(CancelValidation{});
  w.settle();
  CHECK_FALSE(w.h.session().truth().answer());
  CHECK(w.h.has("truth/validate"));
}

TEST_CASE("faults of files are said in the tab", "[ui]") {
  TruthWindow w(1600, 900, false);
  w.files.write_rows("{\"id\": 1}\n");
  w.h.click("truth/validate");
  w.settle();
  CHECK(w.h.has("truth/fault"));
  CHECK_FALSE(w.h.has("truth/plot"));
}

TEST_CASE("the truth tab has room at every size", "[ui]") {
  for (const auto& [width, height, scale] : {std::array{1920, 1080, 100}, {1280, 720, 100}, {1920, 1080, 200}, {1280, 720, 200}}) {
    INFO(width << " x " << height << " at " << scale);
    TruthWindow w(width, height);
    w.h.session().apply(SelectPublished{0});
    w.h.session().apply(use_scale(scale, false));
    w.settle();
    for (const bool maximized : {true, false}) {
      w.h.window().ui().maximized = maximized;
      w.h.frame(6);
      const auto pane = w.h.at("pane/bottom");
      for (const char* name : {"truth/validate", "truth/copy", "truth/command", "truth/page/Pairs"}) {
        INFO(name);
        const auto rect = w.h.at(name);
        CHECK(rect.x1 <= pane.x1);
        CHECK(rect.y1 <= pane.y1);
      }
      for (const char* page : {"Rows", "Kinds", "Pairs"}) w.h.click(std::string("truth/page/") + page);
    }
  }
}

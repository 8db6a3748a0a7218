// Nothing moves under the hand: what comes and goes does so over the content, or in a place that is kept for it. And what lies over the
// chart: its legend, and the title of its picture.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <map>

#include "app/session/commands.h"
#include "app/session/prediction_state.h"
#include "app/window/kit/plot_scale.h"
#include "app/window/parts/header_model.h"
#include "core/chart/gantt_model.h"
#include "tests/support/fake_solver.h"
#include "tests/support/wait.h"
#include "tests/support/window/harness.h"

using namespace heddle;
using namespace heddle::app;
using test::Harness;
namespace fs = std::filesystem;

namespace {

SimulationAnswer predict_anything(const PredictionSubject&, std::stop_token) {
  SimulationAnswer answer;
  answer.kernel.cycles = 3000;
  answer.kernel.microseconds = 2;
  answer.kernel.tflops = 100;
  answer.kernel.ctas = 1;
  answer.kernel.clock.mhz = 1500;
  answer.trust.brief = "model, not validated";
  return answer;
}

Environment with_predictions() {
  Environment environment;
  environment.predict = [](const PredictionSubject& of, std::stop_token stop) { return predict_anything(of, std::move(stop)); };
  return environment;
}

struct Solved : Harness {
  Solved() : Harness(test::solve_toy) {
    session().apply(OpenPair{"toy_fig1", "toy", true});
    wait_for_solver();
  }
};

bool same(const probe::Rect& a, const probe::Rect& b) {
  return std::abs(a.x0 - b.x0) < 0.5f && std::abs(a.y0 - b.y0) < 0.5f && std::abs(a.x1 - b.x1) < 0.5f && std::abs(a.y1 - b.y1) < 0.5f;
}

}  // namespace

TEST_CASE("nothing in the toolbar moves while the solver works, and the place of time and speed is kept for them", "[ui]") {
  Harness h(test::solve_until_cancelled, 1600, 900, with_predictions());
  h.session().apply(OpenPair{"toy_fig1", "toy", true});
  REQUIRE(test::wait_until([&] { return h.has("schedules/0"); }, [&] { h.frame(); }));
  REQUIRE(h.session().live().active());
  std::map<std::string, probe::Rect> before;
  for (const char* name : {"toolbar/header", "toolbar/whole", "toolbar/subject", "toolbar/find"}) before[name] = h.at(name);
  h.session().apply(CancelSolve{});
  h.wait_for_solver();
  REQUIRE(test::wait_until([&] { return !h.session().predictions().active(); }, [&] { h.frame(); }));
  h.frame(3);
  for (const auto& [name, rect] : before) {
    CAPTURE(name);
    CHECK(same(h.at(name), rect));
  }
}

TEST_CASE("a notice lies over the content and moves nothing", "[ui]") {
  Solved h;
  const probe::Rect chart = h.at("pane/center"), tabs = h.at("pane/bottom");
  h.session().apply(show_notice("something has to be said"));
  REQUIRE(h.has("notice/dismiss"));
  CHECK(same(h.at("pane/center"), chart));
  CHECK(same(h.at("pane/bottom"), tabs));
  h.click("notice/dismiss");
  CHECK_FALSE(h.has("notice/dismiss"));
}

TEST_CASE("the buttons of the export dialog stay where they are while it writes", "[ui]") {
  const fs::path folder = fs::temp_directory_path() / ("heddle_still_test_" + std::to_string(::getpid()));
  fs::create_directories(folder);
  const fs::path before = fs::current_path();
  fs::current_path(folder);
  Solved h;
  h.key(Key::E, {.ctrl = true});
  const probe::Rect go = h.at("export/go");
  for (const char* kind : {"export/svg", "export/csv", "export/text"}) {
    h.click(kind);
    CHECK(std::abs(h.at("export/go").x0 - go.x0) < 0.5f);
    h.click("export/go");
  }
  h.click("export/svg");
  CHECK(same(h.at("export/go"), go));
  CHECK(h.session().view().exported.size() == 3);
  h.key(Key::Escape);
  fs::current_path(before);
  fs::remove_all(folder);
}

TEST_CASE("the legend of the chart is one key or one click away", "[ui]") {
  Solved h;
  CHECK_FALSE(h.has("pane/marks"));
  h.key(Key::K);
  CHECK(h.has("pane/marks"));
  h.key(Key::K);
  CHECK_FALSE(h.has("pane/marks"));
  h.click("mode/legend");
  const probe::Rect sheet = h.at("pane/marks"), center = h.at("pane/center");
  CHECK(sheet.x0 > center.x0);
  CHECK(sheet.x1 <= center.x1);
  CHECK(sheet.y1 <= center.y1);
  h.click("legend/close");
  CHECK_FALSE(h.has("pane/marks"));
}

TEST_CASE("a picture of the chart has a title instead of buttons", "[ui]") {
  Solved h;
  h.session().apply(toggle_legend());
  h.frame(2);
  h.session().requests().pictures.push_back(Export{ExportKind::Png, "/nowhere/at/all.png"});
  h.frame(2);  // the first takes the picture, the second makes what it drew the last frame
  std::string title;
  for (const probe::SeenLabel& label : probe::last_labels())
    if (label.text.find("toy_fig1 · toy · solver #1 · II 2") == 0) title = label.text;
  CHECK(title == "toy_fig1 · toy · solver #1 · II 2 · proved");
  for (const auto& [name, box] : probe::last_frame()) {
    CAPTURE(name);
    CHECK_FALSE(name.starts_with("mode/"));
    CHECK(name != "pane/marks");
  }
  h.session().apply(DismissError{});
}

TEST_CASE("time begins at zero, not at minus zero", "[ui]") {
  CHECK(seconds_text(-0.0) == "0.00 s");
  CHECK(seconds_text(0.0) == "0.00 s");
  for (const double tick : plot_scale(0, 0.02, 4, false).ticks) CHECK_FALSE(std::signbit(tick));
}

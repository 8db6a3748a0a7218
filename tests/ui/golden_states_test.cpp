// The main states of the window as pictures in the three themes: welcome, a schedule with its slack, no schedule and why, A
// over B, the whole pipeline beside its pseudocode, a front. Schedules come from files and the toy, so that the pictures
// change with the window and not with the solver. HEDDLE_UPDATE_GOLDENS=1 writes them anew.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "app/session/proposal_commands.h"
#include "app/session/sweep_state.h"
#include "app/window/tabs/layout/layout_state.h"
#include "core/chart/gantt_model.h"
#include "tests/support/fake_solver.h"
#include "tests/support/paths.h"
#include "tests/support/sweep_files.h"
#include "tests/support/wait.h"
#include "tests/support/window/pictures.h"

using namespace heddle;
using namespace heddle::app;
using test::Harness;
namespace fs = std::filesystem;

#ifdef HEDDLE_HAS_SOLVER
namespace {

constexpr std::pair<ThemeName, const char*> kThemes[] = {
    {ThemeName::Dark, "dark"}, {ThemeName::Light, "light"}, {ThemeName::HighContrast, "high_contrast"}};

void settle(Harness& h) {
  h.wait_while([&] { return h.session().live().active() || h.session().asking() || h.session().building(); });
  h.frame(3);
}

/// The toy's answer, or that there is none where a pin stands in the way; always in a quarter of a second.
SolveOutcome solve(const solver::SolveRequest& request, std::stop_token stop, const solver::SolveListener& listener) {
  if (request.constraints.empty()) return test::solve_toy(request, stop, listener);
  SolveOutcome outcome;
  outcome.solver = "fake";
  outcome.seconds.total = 0.25;
  outcome.status = Status::Infeasible;
  outcome.explanation = "no II is large enough, because these cannot hold together: S -> P takes 1, 'pin P at 0'";
  return outcome;
}

void ping_pong(Harness& h) { h.session().apply(OpenSchedule{test::repository_path("tests/schedules/attention_ping_pong.json")}); }

/// Brings the window into the state and takes its picture in every theme.
template <class Prepare>
void show(const std::string& name, Prepare prepare) {
  const auto h = test::offscreen(900, 560, solve);
  if (!h) return;
  prepare(*h);
  settle(*h);
  for (const auto& [theme, word] : kThemes) {
    h->session().apply(use_theme(theme));
    test::compare("state_" + name + "_" + word, test::picture(*h));
  }
}

}  // namespace

TEST_CASE("the welcome screen in three themes", "[ui]") {
  show("welcome", [](Harness&) {});
}

TEST_CASE("a schedule with its slack in three themes", "[ui]") {
  show("slack", [](Harness& h) {
    ping_pong(h);
    h.session().apply(SelectOp{h.session().content().problem->find_op("exp0")});
    h.session().apply(ToggleWhiskers{});
    h.session().apply(show_tab(BottomTab::Slack));
    h.frame(2);
  });
}

TEST_CASE("no schedule, and why, in three themes", "[ui]") {
  show("infeasible", [](Harness& h) {
    h.session().apply(OpenPair{"toy_fig1", "toy", true});
    settle(h);
    UserConstraint pin;
    pin.ops = {"P"};
    h.session().apply(AddConstraint{pin, true});
    h.session().apply(show_tab(BottomTab::Explain));
  });
}

TEST_CASE("A over B in three themes", "[ui]") {
  const std::string file = (fs::temp_directory_path() / ("heddle_golden_" + std::to_string(::getpid()) + ".json")).string();
  std::ostringstream text;
  text << std::ifstream(test::repository_path("tests/schedules/attention_ping_pong.json")).rdbuf();
  std::string other = text.str();
  for (const auto& [from, to] : {std::pair<std::string, std::string>{"\"rescale0\", \"start\": 2826", "\"rescale0\", \"start\": 2896"},
                                 {"\"sum0\", \"start\": 2890", "\"sum0\", \"start\": 2826"},
                                 {"FA3-like ping-pong", "exchanged"}}) {
    REQUIRE(other.find(from) != std::string::npos);
    other.replace(other.find(from), from.size(), to);
  }
  std::ofstream(file) << other;
  show("compare", [&](Harness& h) {
    ping_pong(h);
    h.session().apply(OpenSchedule{file});
    h.session().apply(SetBaseline{0});
    h.session().apply(show_tab(BottomTab::Compare));
    h.session().panes().bottom = 0.3;  // two charts need room
  });
  fs::remove(file);
}

TEST_CASE("the whole pipeline and its pseudocode in three themes", "[ui]") {
  show("pipeline", [](Harness& h) {
    ping_pong(h);
    h.session().apply(SetMode{GanttMode::Pipeline});
    h.session().apply(show_tab(BottomTab::Pipeline));
  });
}

TEST_CASE("the lines of an op in its CUDA text in three themes", "[ui]") {
  show("cuda", [](Harness& h) {
    ping_pong(h);
    h.session().apply(SelectOp{h.session().content().problem->find_op("exp0")});
    h.session().apply(show_tab(BottomTab::Cuda));
    h.window().ui().maximized = true;
  });
}

TEST_CASE("a layout whose lanes meet in three themes", "[ui]") {
  show("layout", [](Harness& h) {
    ping_pong(h);
    LayoutTabState& state = h.window().ui().of<LayoutTabState>();
    state.own = true;
    state.access = "ldmatrix.x4";
    state.colour = LayoutColour::Bank;
    std::snprintf(state.text, sizeof state.text, "(16,64):(64,1)");
    h.session().apply(show_tab(BottomTab::Layout));
    h.window().ui().maximized = true;
    REQUIRE(test::wait_until([&] { return state.a.view(); }, [&] { h.frame(); }));
  });
}

TEST_CASE("a sweep in three themes", "[ui]") {
  const std::string file = (fs::temp_directory_path() / ("heddle_golden_sweep_" + std::to_string(::getpid()) + ".jsonl")).string();
  std::ofstream(file) << test::long_history(60);
  show("sweep", [&](Harness& h) {
    h.session().apply(OpenPair{"toy_fig1", "toy", true});
    settle(h);
    h.session().apply(OpenSweep{file});
    REQUIRE(test::wait_until([&] { return h.session().sweep().table().points.size() >= 60; }, [&] { h.frame(); }));
    h.window().ui().maximized = true;
  });
  fs::remove(file);
}

TEST_CASE("a front in three themes", "[ui]") {
  show("pareto", [](Harness& h) {
    h.session().apply(OpenPair{"toy_fig1", "toy", true});
    settle(h);
    h.session().apply(show_tab(BottomTab::Pareto));
    Ask sweep{Topic::Pareto, {}};
    sweep.options.pareto.against = {Resource::Stages};
    h.session().apply(sweep);
  });
}
#endif

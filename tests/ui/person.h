// Somebody at the window with the real solver, whose clicks, drags and keys are counted; and a folder for what is written.
#pragma once

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "app/session/triton_state.h"
#include "tests/support/wait.h"
#include "tests/support/window/harness.h"
#include "tests/support/window/invariants.h"

#ifdef HEDDLE_HAS_SOLVER
namespace heddle::test {

/// Finds the first schedule of least II rather than the order that is predicted to be the fastest (`--least-ii` of the command line).
inline app::SolveFunction least_ii_solver() {
  return [solve = app::warm_solver()](const solver::SolveRequest& request, std::stop_token stop, const solver::SolveListener& listener) {
    solver::SolveRequest least = request;
    least.by_time.reset();
    return solve(least, std::move(stop), listener);
  };
}

/// Somebody at the window, whose clicks, drags and keys are counted.
struct Person : Harness {
  int gestures = 0;
  Person() : Harness(app::warm_solver(), 1600, 900) {}
  Person(const char* kernel, app::Environment environment) : Harness(app::warm_solver(), 1600, 900, std::move(environment)) {
    open(kernel);
  }
  explicit Person(std::unique_ptr<app::HeadlessPlatform> platform, app::SolveFunction solve = app::warm_solver())
      : Harness(std::move(solve), std::move(platform)) {}
  Person(const char* kernel, app::SolveFunction solve) : Harness(std::move(solve), 1600, 900) { open(kernel); }
  explicit Person(const char* kernel) : Person() { open(kernel); }
  void open(const char* kernel) {
    session().apply(app::OpenPair{kernel, "h100", true});
    settle();
    session().apply(app::show_tab(app::BottomTab::Log));
    frame(2);
  }
  ~Person() { CHECK(broken_invariants(session()) == std::vector<std::string>()); }

  void settle() {
    wait_while([this] { return working(); });
    REQUIRE_FALSE(session().live().active());
    REQUIRE_FALSE(session().asking());
    REQUIRE_FALSE(session().building());
    REQUIRE_FALSE(session().triton().active());
    frame(40);
  }
  bool working() { return session().live().active() || session().asking() || session().building() || session().triton().active(); }
  void click(const std::string& name) {
    ++gestures;
    Harness::click(name);
  }
  void key(app::Key which, Modifiers modifiers = {}) {
    ++gestures;
    Harness::key(which, modifiers);
  }
  void drag(const std::string& name, float dx) {
    ++gestures;
    Harness::drag(name, dx, 0);
  }
  const app::Content& content() { return session().content(); }
  const app::ScheduleEntry& a() {
    REQUIRE(content().entry());
    return *content().entry();
  }
  const app::ScheduleEntry& b() {
    REQUIRE(content().baseline_entry());
    return *content().baseline_entry();
  }
  /// Pixels of so many cycles in the chart.
  float pixels(Cycle cycles) {
    const app::probe::Rect rows = at("gantt/rows");
    return static_cast<float>(cycles) / static_cast<float>(window().ui().chart.visible.length()) * (rows.x1 - rows.x0);
  }
  std::string clipboard() { return ImGui::GetClipboardText(); }
};

struct FlowFolder {
  std::filesystem::path path = std::filesystem::temp_directory_path() / ("heddle_flow_" + std::to_string(::getpid()));
  FlowFolder() { std::filesystem::create_directories(path); }
  ~FlowFolder() { std::filesystem::remove_all(path); }
  std::string file(const char* name) const { return (path / name).string(); }
};

}  // namespace heddle::test
#endif

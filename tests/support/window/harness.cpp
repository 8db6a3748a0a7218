// The script driver.
#include "tests/support/window/harness.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "app/session/environment.h"
#include "app/window/parts/tabs.h"
#include "tests/support/last_inputs.h"
#include "tests/support/patient.h"
#include "tests/support/wait.h"

namespace heddle::test {

using namespace heddle::app;

namespace {

Environment filled(Environment environment, SolveFunction solve) {
  environment.solve = patient(std::move(solve));
  environment.ask = patient(std::move(environment.ask));
  environment.solver_name = environment.solve ? "fake 1.0" : "this build has no solver";
  environment.clock = [] { return 0.0; };
  // Predictions come when they come: tests that wait for them bring their own function (tests/app/session/prediction_test.cpp looks at the
  // rest).
  if (environment.predict.target<SimulationAnswer (*)(const PredictionSubject&, std::stop_token)>()) environment.predict = {};
  // No test depends on what is installed: those that want a compiler or a GPU bring their own, and a folder for runs.
  if (environment.run.folder.empty()) {
    environment.kernel.find_compiler = [] { return Result<std::string>(Error::environment("no compiler in tests")); };
    environment.kernel.compile = [](const std::string&, const std::string&) {
      return Result<codegen::Compiled>(Error::environment("no compiler in tests"));
    };
    environment.run = {"", "", "no GPU in tests"};
  }
  return environment;
}

std::string words_of(Modifiers m) { return fmt::format("{}{}{}", m.ctrl ? " ctrl" : "", m.shift ? " shift" : "", m.alt ? " alt" : ""); }

}  // namespace

Harness::Harness(SolveFunction solve, int width, int height, Environment environment)
    : platform_(std::make_unique<HeadlessPlatform>(width, height, true)),
      session_(std::make_unique<Session>(filled(std::move(environment), std::move(solve)))),
      window_(std::make_unique<AppWindow>(*session_, *platform_)) {
  begin();
}

Harness::Harness(SolveFunction solve, std::unique_ptr<HeadlessPlatform> platform)
    : platform_(std::move(platform)),
      session_(std::make_unique<Session>(filled({}, std::move(solve)))),
      window_(std::make_unique<AppWindow>(*session_, *platform_)) {
  begin();
}

void Harness::begin() {
  begin_inputs(Catch::getResultCapture().getCurrentTestName());
  probe::enable(true);
  feed_mouse_position(-100, -100);
  frame(3);
}

Harness::~Harness() {
  session_->close(kPatience);
  window_.reset();
  session_.reset();
  probe::enable(false);
}

void Harness::frame(int count) {
  for (int i = 0; i < count; ++i) window_->step();
}

void Harness::wait_while(const std::function<bool()>& working) {
  constexpr int kFrameMs = 16;
  int ms = 0;
  REQUIRE(wait_until([&] { return !working(); },
                     [&] {
                       session_->pump();
                       if (++ms % kFrameMs == 0 || !working()) frame();
                     }));
}

void Harness::wait_for_solver() {
  wait_while([this] { return session_->live().active(); });
  frame(2);
}

// The registry swaps at the beginning of a frame: one frame draws what is true now, another makes it the "last frame".
bool Harness::has(const std::string& name) const {
  window_->step();
  window_->step();
  return probe::last_frame().count(name) > 0;
}

probe::Rect Harness::at(const std::string& name) const {
  INFO("looking for " << name);
  REQUIRE(has(name));
  return probe::last_frame().find(name)->second;
}

std::vector<std::string> Harness::names(const std::string& prefix) const {
  window_->step();
  window_->step();
  std::vector<std::string> found;
  for (const auto& [name, rect] : probe::last_frame())
    if (name.compare(0, prefix.size(), prefix) == 0) found.push_back(name);
  return found;
}

void Harness::modifiers(Modifiers m) { feed_modifiers(m.ctrl, m.shift, m.alt); }

void Harness::move_to(float x, float y) {
  remember_input(fmt::format("move to ({:.0f}, {:.0f})", x, y));
  feed_mouse_position(x, y);
  frame();
}

void Harness::move_to(const std::string& name) {
  const probe::Rect rect = at(name);
  move_to(rect.center_x(), rect.center_y());
}

void Harness::click_at(float x, float y, int button, Modifiers m) {
  remember_input(fmt::format("click button {} at ({:.0f}, {:.0f}){}", button, x, y, words_of(m)));
  modifiers(m);
  move_to(x, y);
  feed_mouse_button(button, true);
  frame(2);
  feed_mouse_button(button, false);
  frame(2);
  modifiers({});
  frame();
}

void Harness::open_group_of(const std::string& name) {
  const Tab* tab = name.starts_with("tab/") ? find_tab(std::string_view(name).substr(4)) : nullptr;
  if (!tab || has(name)) return;
  if (has("tab/group")) click("tab/group");  // a list, where there is little room
  click(std::string("tab/group/") + id_of(tab->group));
}

void Harness::click(const std::string& name, int button, Modifiers m) {
  open_group_of(name);
  const probe::Rect rect = at(name);
  move_to(rect.center_x(), rect.center_y());
  INFO("clicking " << name);
  remember_input("click " + name);
  CHECK(ImGui::GetIO().WantCaptureMouse);
  click_at(rect.center_x(), rect.center_y(), button, m);
}

void Harness::double_click(const std::string& name) {
  open_group_of(name);
  remember_input("double click " + name);
  const probe::Rect rect = at(name);
  move_to(rect.center_x(), rect.center_y());
  for (int i = 0; i < 2; ++i) {
    feed_mouse_button(0, true);
    frame();
    feed_mouse_button(0, false);
    frame();
  }
  frame(2);
}

void Harness::drag(const std::string& name, float dx, float dy, int button, Modifiers m) {
  remember_input(fmt::format("drag {} by ({:.0f}, {:.0f}) with button {}{}", name, dx, dy, button, words_of(m)));
  const probe::Rect rect = at(name);
  modifiers(m);
  move_to(rect.center_x(), rect.center_y());
  feed_mouse_button(button, true);
  frame(2);
  constexpr int kSteps = 8;
  for (int i = 1; i <= kSteps; ++i) move_to(rect.center_x() + dx * i / kSteps, rect.center_y() + dy * i / kSteps);
  frame();
  feed_mouse_button(button, false);
  frame(2);
  modifiers({});
  frame();
}

void Harness::wheel(const std::string& name, float steps, Modifiers m) {
  remember_input(fmt::format("wheel {} at {}{}", steps, name, words_of(m)));
  modifiers(m);
  move_to(name);
  feed_wheel(steps);
  frame(2);
  modifiers({});
  frame();
}

void Harness::key(Key which, Modifiers m) {
  remember_input(fmt::format("key {}{}", static_cast<int>(which), words_of(m)));
  modifiers(m);
  feed_key(which, true);
  frame(2);
  feed_key(which, false);
  modifiers({});
  frame(2);
}

void Harness::type(const std::string& text) {
  remember_input("type " + text);
  feed_text(text.c_str());
  frame(2);
}

void Harness::drop(const std::string& path) {
  remember_input("drop " + path);
  platform_->drop_file(path);
  frame(3);
}

}  // namespace heddle::test

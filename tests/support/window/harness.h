// Drives the real window without a display: real ImGui frames, scripted input aimed at named rectangles, time that
// passes only frame by frame; a test that dies prints the last inputs (tests/support/last_inputs.h). A press is held for one whole frame,
// because ImGui 1.86 looks at input once per frame.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/platform/headless_platform.h"
#include "app/platform/imgui_compat.h"
#include "app/session/commands.h"
#include "app/session/environment.h"
#include "app/window/frame/app_window.h"
#include "app/window/kit/probe.h"

namespace heddle::test {

struct Modifiers {
  bool ctrl = false, shift = false, alt = false;
};

class Harness {
 public:
  explicit Harness(app::SolveFunction solve, int width = 1600, int height = 900, app::Environment environment = {});
  /// Draws on a platform of the caller's (pictures).
  Harness(app::SolveFunction solve, std::unique_ptr<app::HeadlessPlatform> platform);
  ~Harness();

  void frame(int count = 1);
  /// Until the session's work is done, with a frame drawn every now and then: who draws all the time takes the processor from what it
  /// waits for. What ends is drawn before it counts as ended, because a frame may begin something else. Fails when patience ends (wait.h).
  void wait_while(const std::function<bool()>& working);
  /// Until no solve runs; fails when patience ends, too.
  void wait_for_solver();
  bool has(const std::string& name) const;
  /// Where an item is; fails the test when it is not there.
  app::probe::Rect at(const std::string& name) const;
  /// Names that begin so.
  std::vector<std::string> names(const std::string& prefix) const;

  void move_to(float x, float y);
  void move_to(const std::string& name);
  void click(const std::string& name, int button = 0, Modifiers modifiers = {});
  void click_at(float x, float y, int button = 0, Modifiers modifiers = {});
  void double_click(const std::string& name);
  void drag(const std::string& name, float dx, float dy, int button = 0, Modifiers modifiers = {});
  void wheel(const std::string& name, float steps, Modifiers modifiers = {});
  void key(app::Key key, Modifiers modifiers = {});
  void type(const std::string& text);
  void drop(const std::string& path);

  app::Session& session() { return *session_; }
  app::AppWindow& window() { return *window_; }
  app::HeadlessPlatform& platform() { return *platform_; }

 private:
  void begin();
  /// A tab that is not on the strip is in another group: opens that.
  void open_group_of(const std::string& name);
  void modifiers(Modifiers m);

  std::unique_ptr<app::HeadlessPlatform> platform_;
  std::unique_ptr<app::Session> session_;
  std::unique_ptr<app::AppWindow> window_;
};

}  // namespace heddle::test

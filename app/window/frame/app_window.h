// The whole window: lays out the panels, keeps their models up to date, dispatches keys, and applies commands after the
// frame.
#pragma once

#include <array>
#include <cstdint>

#include "app/platform/platform.h"
#include "app/window/frame/panels.h"

namespace heddle::app {

class AppWindow {
 public:
  AppWindow(Session& session, Platform& platform);

  /// One round: takes in what the solver found, draws, applies commands. False when the window should close.
  bool step();
  /// What the next frame waits for.
  Pace pace() const;
  UiState& ui() { return ui_; }
  Session& session() { return session_; }
  Platform& platform() { return platform_; }

 private:
  void follow_settings();
  void rebuild_models();
  void measure_range();
  void draw();
  /// Between the session's view state and the chart's own.
  void keep_chart_view();
  /// PNGs that were asked for, once no dialog stands in front of what they are to show.
  void take_pictures();
  bool wants_picture() const;
  bool picture_is_light() const;
  void draw_panes(float top, float height);
  void draw_welcome_pane(float top, float height);
  void draw_launch_pane(float top, float height);
  /// True when open menus should close.
  bool dispatch_keys();

  Session& session_;
  Platform& platform_;
  UiState ui_;
  Models models_;
  std::uint64_t built_revision_ = 0;
  float scale_ = 0;
  std::array<float, 4> center_{};  ///< left, top, right, bottom of the chart's pane
  std::optional<ThemeName> theme_;
  std::optional<std::map<std::string, std::string>> keys_;
  std::string title_;
};

}  // namespace heddle::app

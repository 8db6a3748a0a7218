// Where frames come from and go to: a window on a display, nothing at all (tests), or an off-screen picture. A platform
// owns the Dear ImGui context; there is one at a time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/picture/picture.h"

namespace heddle::app {

/// How soon the next frame is wanted.
enum class Pace {
  Idle,       ///< when something happens
  Ticking,    ///< ten times a second: a clock is running
  Animating,  ///< at once
};

enum class Next { Draw, Skip, Close };

class Platform {
 public:
  virtual ~Platform() = default;

  /// Waits as long as the pace allows. After Draw an ImGui frame has begun and `end_frame` must follow.
  virtual Next begin_frame(Pace pace) = 0;
  /// Ends the ImGui frame and shows it.
  virtual void end_frame() = 0;
  /// Loads the fonts for this scale (of the display times the user's) and hands them to the renderer. Between frames
  /// only.
  virtual void set_scale(float scale) = 0;
  /// Of the display; 1 without one.
  virtual float display_scale() const { return 1; }
  /// Asks for a frame soon; safe from any thread.
  virtual void wake() {}
  virtual void set_title(const std::string&) {}
  /// Pictures of what is shown: ask for one before a frame ends, take it after. Nothing without a renderer.
  virtual bool can_take_pictures() const { return false; }
  /// `shown`: the frame is also one to look at; otherwise what was shown before it stays.
  virtual void want_picture(bool shown) { static_cast<void>(shown); }
  virtual std::optional<Picture> take_picture() { return std::nullopt; }
  /// After Close: the window stays open for now.
  virtual void stay_open() {}
  /// Files dropped on the window since the last call.
  virtual std::vector<std::string> take_dropped_files() { return {}; }
};

}  // namespace heddle::app

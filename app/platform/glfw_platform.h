// A window on the desktop: GLFW and OpenGL 3. Draws only when something happens: a few frames after every input, ten
// times a second while a clock runs, not at all otherwise.
#pragma once

#include <memory>

#include "app/platform/platform.h"

struct GLFWwindow;

namespace heddle::app {

class GlfwPlatform : public Platform {
 public:
  /// Environment error without a display or without OpenGL 3. Size in pixels at display scale 1. `number`: of the windows that
  /// stand side by side; a later one does not hide the first.
  static Result<std::unique_ptr<GlfwPlatform>> create(const std::string& title, int width, int height, int number = 1);
  ~GlfwPlatform() override;

  Next begin_frame(Pace pace) override;
  void end_frame() override;
  void set_scale(float scale) override;
  float display_scale() const override;
  void wake() override;
  void set_title(const std::string& title) override;
  std::vector<std::string> take_dropped_files() override;
  bool can_take_pictures() const override { return true; }
  void want_picture(bool shown) override { picture_wanted_ = true, swap_ = shown; }
  std::optional<Picture> take_picture() override;
  void stay_open() override;

  /// Called by GLFW's callbacks.
  void note_input() { frames_wanted_ = kFramesAfterInput; }
  void note_drop(int count, const char** paths);

 private:
  static constexpr int kFramesAfterInput = 3;
  explicit GlfwPlatform(GLFWwindow* window) : window_(window) {}

  GLFWwindow* window_;
  int frames_wanted_ = kFramesAfterInput;
  double last_input_ = 0;
  std::vector<std::string> dropped_;
  bool picture_wanted_ = false, swap_ = true;
  std::optional<Picture> picture_;
};

}  // namespace heddle::app

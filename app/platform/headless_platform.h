// Frames without a renderer, for tests: input is fed through imgui_compat.h, and time only passes when a test says so.
#pragma once

#include "app/platform/platform.h"

struct ImGuiContext;

namespace heddle::app {

class HeadlessPlatform : public Platform {
 public:
  /// Size of the display in pixels. `built_in_font`: pictures that must not depend on the machine.
  HeadlessPlatform(int width, int height, bool built_in_font);
  ~HeadlessPlatform() override;

  Next begin_frame(Pace pace) override;
  void end_frame() override;
  void set_scale(float scale) override;
  /// Seconds from one frame to the next.
  void set_frame_seconds(float seconds) { frame_seconds_ = seconds; }
  /// From the next frame on. The size of a picture is fixed.
  void resize(int width, int height) { width_ = width, height_ = height; }
  int width() const { return width_; }
  int height() const { return height_; }
  void drop_file(std::string path) { dropped_.push_back(std::move(path)); }
  std::vector<std::string> take_dropped_files() override;

 protected:
  /// After the font atlas was filled: hands the texture over. Here: only marks it as handed over.
  virtual void upload_fonts();
  virtual void new_render_frame() {}
  /// Draws ImGui's draw data somewhere.
  virtual void render() {}

 private:
  ImGuiContext* context_ = nullptr;
  int width_, height_;
  bool built_in_font_;
  float frame_seconds_ = 1.0f / 60;
  std::vector<std::string> dropped_;
};

}  // namespace heddle::app

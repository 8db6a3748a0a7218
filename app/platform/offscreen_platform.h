// Pictures without a display: the headless platform plus OpenGL on a surfaceless EGL context. Used for screenshots and
// for golden pictures.
#pragma once

#include <memory>

#include "app/picture/picture.h"
#include "app/platform/headless_platform.h"

namespace heddle::app {

class OffscreenPlatform : public HeadlessPlatform {
 public:
  /// Environment error where EGL or OpenGL 3 is missing.
  static Result<std::unique_ptr<OffscreenPlatform>> create(int width, int height, bool built_in_font);
  ~OffscreenPlatform() override;

  /// The last frame.
  Picture read_picture() const;
  /// Returns when the last frame is drawn; for measuring.
  void finish() const;
  bool can_take_pictures() const override { return true; }
  std::optional<Picture> take_picture() override { return read_picture(); }

 protected:
  void upload_fonts() override;
  void new_render_frame() override;
  void render() override;

 private:
  struct Gl;
  OffscreenPlatform(int width, int height, bool built_in_font, std::unique_ptr<Gl> gl);
  std::unique_ptr<Gl> gl_;
};

}  // namespace heddle::app

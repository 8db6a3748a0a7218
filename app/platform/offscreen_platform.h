// Pictures without a display: the headless platform plus OpenGL on a surfaceless EGL context. Used for screenshots and
// for golden pictures.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app/platform/headless_platform.h"

namespace heddle::app {

/// Rows from top to bottom, four bytes per pixel.
struct Picture {
  int width = 0, height = 0;
  std::vector<std::uint8_t> rgba;
};

class OffscreenPlatform : public HeadlessPlatform {
 public:
  /// Environment error where EGL or OpenGL 3 is missing.
  static Result<std::unique_ptr<OffscreenPlatform>> create(int width, int height, bool built_in_font);
  ~OffscreenPlatform() override;

  /// The last frame.
  Picture read_picture() const;

 protected:
  void upload_fonts() override;
  void new_render_frame() override;
  void render() override;

 private:
  struct Gl;
  OffscreenPlatform(int width, int height, bool built_in_font, std::unique_ptr<Gl> gl);
  std::unique_ptr<Gl> gl_;
};

/// Environment error when it cannot be written.
Result<Ok> write_png(const std::string& path, const Picture& picture);
Result<Picture> read_png(const std::string& path);

}  // namespace heddle::app

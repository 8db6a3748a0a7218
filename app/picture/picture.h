// Pixels, and PNG files of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace heddle::app {

/// Rows from top to bottom, four bytes per pixel.
struct Picture {
  int width = 0, height = 0;
  std::vector<std::uint8_t> rgba;
};

/// Environment error when it cannot be written. Seen complete or not at all.
Result<Ok> write_png(const std::string& path, const Picture& picture);
Result<Picture> read_png(const std::string& path);

/// The part inside a rectangle, cut to the picture; at least one pixel of a picture that is not empty.
Picture cropped(const Picture& picture, int x0, int y0, int x1, int y1);
/// OpenGL's rows go upwards, and what it calls alpha is of no use to a file.
void turn_over(Picture& picture);

}  // namespace heddle::app

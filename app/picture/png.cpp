// PNG files, by stb.
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_IMPLEMENTATION
#define STBI_ONLY_PNG
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#include <stb/stb_image.h>
#include <stb/stb_image_write.h>
#pragma GCC diagnostic pop

#include <algorithm>
#include <cstdlib>

#include "app/picture/picture.h"
#include "core/base/atomic_file.h"

namespace heddle::app {

Result<Ok> write_png(const std::string& path, const Picture& picture) {
  int length = 0;
  unsigned char* bytes = stbi_write_png_to_mem(picture.rgba.data(), picture.width * 4, picture.width, picture.height, 4, &length);
  if (bytes == nullptr) return Error::environment("cannot make a PNG of " + path);
  auto written = write_file(path, {reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(length)});
  std::free(bytes);
  return written;
}

Picture cropped(const Picture& picture, int x0, int y0, int x1, int y1) {
  x0 = std::clamp(x0, 0, std::max(0, picture.width - 1));
  y0 = std::clamp(y0, 0, std::max(0, picture.height - 1));
  x1 = std::clamp(x1, x0 + 1, std::max(x0 + 1, picture.width));
  y1 = std::clamp(y1, y0 + 1, std::max(y0 + 1, picture.height));
  Picture part{x1 - x0, y1 - y0, {}};
  for (int y = y0; y < y1; ++y) {
    const auto* row =
        picture.rgba.data() + (static_cast<std::size_t>(y) * static_cast<std::size_t>(picture.width) + static_cast<std::size_t>(x0)) * 4;
    part.rgba.insert(part.rgba.end(), row, row + static_cast<std::size_t>(part.width) * 4);
  }
  return part;
}

void turn_over(Picture& picture) {
  const auto row = static_cast<std::ptrdiff_t>(picture.width) * 4;
  for (int y = 0; y < picture.height / 2; ++y)
    std::swap_ranges(picture.rgba.begin() + row * y, picture.rgba.begin() + row * (y + 1),
                     picture.rgba.begin() + row * (picture.height - 1 - y));
  for (std::size_t i = 3; i < picture.rgba.size(); i += 4) picture.rgba[i] = 255;
}

Result<Picture> read_png(const std::string& path) {
  Picture picture;
  int channels = 0;
  unsigned char* pixels = stbi_load(path.c_str(), &picture.width, &picture.height, &channels, 4);
  if (pixels == nullptr) return Error::input("cannot read picture " + path, stbi_failure_reason());
  picture.rgba.assign(pixels, pixels + static_cast<std::ptrdiff_t>(picture.width) * picture.height * 4);
  stbi_image_free(pixels);
  return picture;
}

}  // namespace heddle::app

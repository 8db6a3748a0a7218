// PNG files, by stb.
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_IMPLEMENTATION
#define STBI_ONLY_PNG
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#include <stb/stb_image.h>
#include <stb/stb_image_write.h>
#pragma GCC diagnostic pop

#include "app/platform/offscreen_platform.h"

namespace heddle::app {

Result<Ok> write_png(const std::string& path, const Picture& picture) {
  if (stbi_write_png(path.c_str(), picture.width, picture.height, 4, picture.rgba.data(), picture.width * 4) == 0)
    return Error::environment("cannot write " + path, "does the folder exist, and may you write there?");
  return Ok{};
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

// Rendering and comparing.
#include "tests/support/window/pictures.h"

#include <catch2/catch.hpp>
#include <cstdlib>

#include "tests/support/paths.h"

namespace heddle::test {

using namespace heddle::app;

namespace {

/// Share of pixels of which a channel differs by more than 8; 1 when the sizes differ.
double difference(const Picture& a, const Picture& b, Picture& marked) {
  if (a.width != b.width || a.height != b.height) return 1;
  marked = a;
  std::size_t different = 0;
  for (std::size_t i = 0; i < a.rgba.size(); i += 4) {
    bool far = false;
    for (std::size_t c = 0; c < 3; ++c) far |= std::abs(int{a.rgba[i + c]} - int{b.rgba[i + c]}) > 8;
    different += far;
    for (std::size_t c = 0; c < 3; ++c) marked.rgba[i + c] = static_cast<std::uint8_t>(far ? (c == 0 ? 255 : 0) : a.rgba[i + c] / 4);
  }
  return static_cast<double>(different) / (static_cast<double>(a.rgba.size()) / 4);
}

}  // namespace

void compare(const std::string& name, const Picture& actual) {
  const std::string golden = repository_path("tests/golden/" + name + ".png");
  if (const char* update = std::getenv("HEDDLE_UPDATE_GOLDENS"); update && *update) {
    REQUIRE(write_png(golden, actual));
    return;
  }
  const auto expected = read_png(golden);
  REQUIRE(expected);
  Picture marked;
  const double share = difference(actual, *expected, marked);
  if (share > 0.005) {
    (void)write_png(name + ".actual.png", actual);
    (void)write_png(name + ".expected.png", *expected);
    if (!marked.rgba.empty()) (void)write_png(name + ".difference.png", marked);
  }
  INFO(name << ": actual, expected and difference are in the working folder");
  CHECK(share <= 0.005);
}

std::unique_ptr<Harness> offscreen(int width, int height, SolveFunction solve) {
  auto platform = OffscreenPlatform::create(width, height, true);
  if (!platform) {
    WARN("skipped: " << to_string(platform.error()));
    return nullptr;
  }
  return std::make_unique<Harness>(std::move(solve), std::move(*platform));
}

Picture picture(Harness& h) {
  h.frame(40);
  return dynamic_cast<OffscreenPlatform&>(h.platform()).read_picture();
}

}  // namespace heddle::test

// Boxes and letters on pixels: what lies outside is cut off, and no text is too strange.
#include "app/picture/canvas.h"

#include <catch2/catch.hpp>

using namespace heddle::app;

namespace {

/// Pixels that have not the colour.
int other_than(const Picture& picture, std::uint32_t colour) {
  int count = 0;
  for (std::size_t i = 0; i < picture.rgba.size(); i += 4)
    count += picture.rgba[i] != (colour >> 16 & 255) || picture.rgba[i + 1] != (colour >> 8 & 255) || picture.rgba[i + 2] != (colour & 255);
  return count;
}

}  // namespace

TEST_CASE("boxes are rounded to pixels and cut to the picture", "[app]") {
  Canvas canvas(20, 10, 0xffffff);
  canvas.box({1.2, 1.4, 4.6, 3.5}, 0x102030);
  canvas.box({-50, 8, 1e6, 1e6}, 0x102030);
  canvas.outline({30, 30, 40, 40}, 0);
  const Picture picture = canvas.take();
  CHECK(picture.width == 20);
  CHECK(other_than(picture, 0xffffff) == 4 * 3 + 20 * 2);
}

TEST_CASE("neighbouring boxes leave no gap and do not overlap", "[app]") {
  Canvas canvas(100, 1, 0xffffff);
  for (int i = 0; i < 7; ++i) canvas.box({100.0 / 7 * i, 0, 100.0 / 7 * (i + 1), 1}, i % 2 ? 0x000001 : 0x000002);
  CHECK(other_than(canvas.take(), 0xffffff) == 100);
}

TEST_CASE("a hatch covers a part of its box and nothing outside", "[app]") {
  Canvas canvas(40, 40, 0xffffff);
  canvas.hatch({10, 10, 30, 30}, 0, 6);
  const Picture picture = canvas.take();
  const int hatched = other_than(picture, 0xffffff);
  CHECK(hatched > 20);
  CHECK(hatched < 200);
}

TEST_CASE("letters are seen, end where they should, and bytes that are no UTF-8 are letters too", "[app]") {
  for (const TextAnchor anchor : {TextAnchor::Left, TextAnchor::Middle, TextAnchor::Right}) {
    Canvas canvas(200, 40, 0xffffff);
    canvas.text(100, 25, {12, 0, anchor}, "17:30");
    const Picture picture = canvas.take();
    CHECK(other_than(picture, 0xffffff) > 20);
    CHECK(other_than(cropped(picture, 0, 0, 50, 40), 0xffffff) == 0);
    CHECK(other_than(cropped(picture, 150, 0, 200, 40), 0xffffff) == 0);
    if (anchor == TextAnchor::Right) CHECK(other_than(cropped(picture, 102, 0, 200, 40), 0xffffff) == 0);
  }
  Canvas canvas(50, 20, 0xffffff);
  for (const char* text : {"", "\xff\xfe", "\xe2\x80", "\xf0\x9f\x98\x80 · …", "\x01\x02"})
    canvas.text(25, 15, {10, 0, TextAnchor::Middle, true, true}, text);
  canvas.text(-1000, 1e5, {300, 0}, "far away");
}

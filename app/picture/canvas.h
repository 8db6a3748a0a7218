// Boxes and letters on pixels, for pictures that are made where there is no window and no graphics library.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "app/picture/picture.h"

namespace heddle::app {

/// Of a picture, in pixels.
struct Area {
  double x0, y0, x1, y1;
};

enum class TextAnchor { Left, Middle, Right };

struct Letters {
  double size;
  std::uint32_t colour;
  TextAnchor anchor = TextAnchor::Left;
  bool bold = false, mono = false;
};

class Canvas {
 public:
  /// Pre: 0 < width, height <= kMostPixels on a side.
  Canvas(int width, int height, std::uint32_t back);
  ~Canvas();
  Canvas(const Canvas&) = delete;
  Canvas& operator=(const Canvas&) = delete;

  // Edges are rounded to pixels, so that neighbours neither overlap nor leave a gap; what lies outside is cut off. Colours: 0xRRGGBB.
  void box(const Area& area, std::uint32_t colour);
  void outline(const Area& area, std::uint32_t colour);
  /// Diagonal lines, `distance` pixels apart, half as strong as the colour.
  void hatch(const Area& area, std::uint32_t colour, int distance);
  /// `y`: of the base line. DejaVu where it is installed, else letters of straight lines.
  void text(double x, double y, const Letters& letters, std::string_view utf8);

  Picture take() { return std::move(picture_); }

  static constexpr int kMostPixels = 16'384;

 private:
  struct Fonts;
  void blend(int x, int y, std::uint32_t colour, int strength);

  Picture picture_;
  std::unique_ptr<Fonts> fonts_;
};

}  // namespace heddle::app

// Boxes and letters on pixels, for pictures that are made where there is no window and no graphics library.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "app/picture/picture.h"

namespace heddle::app {

enum class TextAnchor { Left, Middle, Right };

class Canvas {
 public:
  /// Pre: 0 < width, height <= kMostPixels on a side.
  Canvas(int width, int height, std::uint32_t back);
  ~Canvas();
  Canvas(const Canvas&) = delete;
  Canvas& operator=(const Canvas&) = delete;

  // Edges are rounded to pixels, so that neighbours neither overlap nor leave a gap; what lies outside is cut off. Colours: 0xRRGGBB.
  void box(double x0, double y0, double x1, double y1, std::uint32_t colour);
  void outline(double x0, double y0, double x1, double y1, std::uint32_t colour);
  /// Diagonal lines, `distance` pixels apart, half as strong as the colour.
  void hatch(double x0, double y0, double x1, double y1, std::uint32_t colour, int distance);
  /// `y`: of the base line. DejaVu where it is installed, else letters of straight lines.
  void text(double x, double y, double size, TextAnchor anchor, bool bold, bool mono, std::uint32_t colour, std::string_view utf8);

  Picture take() { return std::move(picture_); }

  static constexpr int kMostPixels = 16'384;

 private:
  struct Fonts;
  void blend(int x, int y, std::uint32_t colour, int strength);

  Picture picture_;
  std::unique_ptr<Fonts> fonts_;
};

}  // namespace heddle::app

// A layout as a picture: boxes and texts, which become SVG here and pixels elsewhere (app/cli/layout_png.h), so that both are the same.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/answers/layout_view.h"
#include "core/chart/svg.h"

namespace heddle {

struct DrawnBox {
  double x = 0, y = 0, width = 0, height = 0;
  std::uint32_t fill = 0;  ///< 0xRRGGBB
  bool hatched = false;    ///< with the drawing's hatch colour: lanes meet here
  bool outlined = false;   ///< with the drawing's line colour
  std::string title;       ///< tooltip of an SVG; may be empty
};

struct DrawnText {
  double x = 0, y = 0;  ///< of the base line
  double size = 12;     ///< of the letters, in pixels
  enum class Anchor { Left, Middle, Right } anchor = Anchor::Left;
  bool bold = false, mono = false;
  std::uint32_t colour = 0;
  std::string text;
};

struct LayoutDrawing {
  std::string title;
  double width = 0, height = 0;
  std::uint32_t back = 0xffffff, line = 0, hatch = 0;
  std::vector<DrawnBox> boxes;  ///< in the order of drawing; texts come after all of them
  std::vector<DrawnText> texts;
};

/// What a colour index is painted with, and the text colour that can be read on it. Neighbours differ in hue or in lightness.
struct LayoutPaint {
  std::uint32_t fill = 0, text = 0;
};
LayoutPaint layout_paint(LayoutColour colour, std::int64_t index, std::int64_t count);

/// How many columns, a power of two, hold one lane's neighbouring registers everywhere, side by side in memory and of one colour: what a
/// picture draws as one cell.
std::int64_t piece_columns(const LayoutView& view, LayoutColour colour);

LayoutDrawing draw_layout(const LayoutView& view, LayoutColour colour, SvgTheme theme);
/// A beside B, or above it where both together would be too wide.
LayoutDrawing drawing_pair(const LayoutDrawing& a, const LayoutDrawing& b);
/// The same drawing gives the same bytes.
std::string svg_of(const LayoutDrawing& drawing);

}  // namespace heddle

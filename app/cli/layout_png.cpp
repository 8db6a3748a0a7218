#include "app/cli/layout_png.h"

#include <fmt/format.h>

#include <cmath>

#include "app/picture/canvas.h"

namespace heddle::app {

Result<Picture> pixels_of(const LayoutDrawing& drawing) {
  double scale = 2;
  if (std::max(drawing.width, drawing.height) * scale > Canvas::kMostPixels) scale = 1;
  if (std::max(drawing.width, drawing.height) * scale > Canvas::kMostPixels)
    return Error::input(fmt::format("a picture of {:.0f} x {:.0f} is too large", drawing.width, drawing.height),
                        "--svg and --csv have no such limit");
  Canvas canvas(static_cast<int>(std::ceil(drawing.width * scale)), static_cast<int>(std::ceil(drawing.height * scale)), drawing.back);
  for (const DrawnBox& box : drawing.boxes) {
    const double x0 = box.x * scale, y0 = box.y * scale, x1 = (box.x + box.width) * scale, y1 = (box.y + box.height) * scale;
    canvas.box({x0, y0, x1, y1}, box.fill);
    if (box.hatched) canvas.hatch({x0, y0, x1, y1}, drawing.hatch, static_cast<int>(6 * scale));
    if (box.outlined) canvas.outline({x0, y0, x1, y1}, drawing.line);
  }
  for (const DrawnText& text : drawing.texts) {
    const TextAnchor anchor = text.anchor == DrawnText::Anchor::Left     ? TextAnchor::Left
                              : text.anchor == DrawnText::Anchor::Middle ? TextAnchor::Middle
                                                                         : TextAnchor::Right;
    canvas.text(text.x * scale, text.y * scale, {text.size * scale, text.colour, anchor, text.bold, text.mono}, text.text);
  }
  return canvas.take();
}

}  // namespace heddle::app

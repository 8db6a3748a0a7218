// A drawing of a layout as pixels.
#pragma once

#include "app/picture/picture.h"
#include "core/answers/layout_picture.h"

namespace heddle::app {

/// Twice as large as the drawing, where that is a picture that programs open; faults where even one pixel per unit is too large.
Result<Picture> pixels_of(const LayoutDrawing& drawing);

}  // namespace heddle::app

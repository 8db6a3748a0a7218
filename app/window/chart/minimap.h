// The whole timeline in a strip, with a box around what is seen.
#pragma once

namespace heddle::app {
struct ChartFrame;
void draw_minimap(ChartFrame& frame);
}  // namespace heddle::app

// Resource lanes under the rows: units, shared and tensor memory, registers, as filled steps against a dashed capacity.
#pragma once

namespace heddle::app {
struct ChartFrame;
void draw_lanes(ChartFrame& frame);
}  // namespace heddle::app

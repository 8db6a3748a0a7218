// Marks on bars that say something about the question instead of the schedule: pins, places asked for, differences.
#include <algorithm>
#include <cstdint>

#include "app/platform/fonts.h"
#include "app/window/chart/chart_drag.h"
#include "app/window/chart/gantt_parts.h"
#include "app/window/kit/probe.h"

namespace heddle::app {
namespace {

enum Mark : std::uint8_t { kPinned = 1, kFramed = 2, kDiffers = 4 };

std::vector<std::uint8_t> marks_of(const ChartFrame& f) {
  std::vector<std::uint8_t> marks(f.problem.ops.size());
  const auto mark = [&](const std::vector<OpId>& ops, std::uint8_t what) {
    for (const OpId op : ops)
      if (op.index() < marks.size()) marks[op.index()] |= what;
  };
  mark(f.overlay.pinned, kPinned);
  mark(f.overlay.framed, kFramed);
  // A pin that is not met is drawn where it was asked for.
  for (const ProposedPlace& place : f.overlay.proposed)
    if (place.op.index() < marks.size()) marks[place.op.index()] = 0;
  mark(f.overlay.differing, kDiffers);
  return marks;
}

/// A pin seen from the side: head and needle, on a dark rim so that it is seen on any fill. Hollow: only a frame.
void draw_pin(ChartFrame& f, float x, float y, bool hollow) {
  const float head = px(3.4f), needle = px(8);
  const Color ink = 0xffffffffu, rim = 0xff000000u;
  f.draw.AddLine({x, y}, {x, y + needle + px(1)}, rim, px(3.4f));
  f.draw.AddCircleFilled({x, y}, head + px(1.2f), rim);
  f.draw.AddLine({x, y}, {x, y + needle}, ink, px(1.4f));
  if (hollow)
    f.draw.AddCircle({x, y}, head - px(0.3f), ink, 0, px(1.5f));
  else
    f.draw.AddCircleFilled({x, y}, head, ink);
}

/// A folded corner.
void draw_difference(ChartFrame& f, const paint::Box& box) {
  const float size = std::min(px(10), std::max(px(5), box.width() * 0.6f));
  const ImVec2 corner(box.x1, box.y0), along(box.x1 - size, box.y0), down(box.x1, box.y0 + size);
  f.draw.AddTriangleFilled({along.x - px(2), along.y}, corner, {down.x, down.y + px(2)}, 0xff000000u);
  f.draw.AddTriangleFilled(along, corner, down, 0xffffffffu);
}

}  // namespace

void draw_marks(ChartFrame& f) {
  if (!f.overlay.pinned.empty() || !f.overlay.differing.empty()) {
    const std::vector<std::uint8_t> marks = marks_of(f);
    const double first = f.axis.range.begin, last = f.axis.range.end;
    for (const GanttBar& bar : f.model.bars) {
      const std::uint8_t mark = bar.op.index() < marks.size() ? marks[bar.op.index()] : 0;
      if (mark == 0 || static_cast<double>(bar.end) < first || static_cast<double>(bar.begin) > last) continue;
      const paint::Box box = f.bar_box(bar);
      if (box.width() < px(4)) continue;
      if ((mark & kDiffers) && !bar.wraps_right) draw_difference(f, box);
      if ((mark & kPinned) && !bar.wraps_left)
        draw_pin(f, std::max(box.x0, f.rows.x0) + std::min(px(6), box.width() / 2), box.y0 + px(1), mark & kFramed);
    }
  }
  for (const ProposedPlace& place : f.overlay.proposed) {
    if (place.op.index() >= f.problem.ops.size()) continue;
    const Cycle delta = place.start - f.schedule.start(place.op);
    // One instance is enough to say where it was asked to be.
    const auto bar = std::find_if(f.model.bars.begin(), f.model.bars.end(), [&](const GanttBar& b) { return b.op == place.op; });
    if (bar == f.model.bars.end()) continue;
    for (const GhostBar& ghost : ghost_bars(f.model, place.op, bar->iteration, delta, place.group)) {
      const float top = f.row_y(f.layout.rows[ghost.row].top + static_cast<float>(ghost.lane) * f.layout.lane);
      const float gap = std::min(px(3), f.layout.lane * 0.12f), x0 = f.axis.to_x(static_cast<double>(ghost.begin));
      const paint::Box box{x0, top + gap, std::max(f.axis.to_x(static_cast<double>(ghost.end)), x0 + px(3)), top + f.layout.lane - gap};
      if (box.x1 < f.rows.x0 || box.x0 > f.rows.x1) continue;
      f.draw.AddRectFilled(box.low(), box.high(), with_alpha(theme().accent, 0.15f));
      dashed_box(f.draw, box, 0xff000000u, px(3));
      dashed_box(f.draw, box, theme().light ? theme().accent : 0xffffffffu, px(2));
      if (!ghost.wraps_left) draw_pin(f, std::max(box.x0, f.rows.x0) + px(6), box.y0 + px(1), true);
      if (probe::on()) probe::item("gantt/proposed/" + bar->label, box.x0, box.y0, box.x1, box.y1);
    }
  }
}

}  // namespace heddle::app

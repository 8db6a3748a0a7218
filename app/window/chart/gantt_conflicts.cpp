// "x2" on bars of ops whose lanes meet in banks of shared memory: a plate at the bar's left end; a click on it leads to the layout.
#include <algorithm>
#include <cmath>

#include "app/platform/fonts.h"
#include "app/window/chart/gantt_parts.h"
#include "app/window/kit/probe.h"
#include "core/chart/gantt_model.h"

namespace heddle::app {
namespace {

/// The plate's place; nothing where the bar is too small or out of sight.
std::optional<paint::Box> plate_of(const ChartFrame& f, const GanttBar& bar) {
  if (bar.mark.empty()) return std::nullopt;
  const paint::Box box = f.bar_box(bar);
  const float width = conflict_plate_width(bar), x = std::max(box.x0, f.rows.x0);
  if (std::min(box.x1, f.rows.x1) - x < width || box.y1 < f.rows.y0 || box.y0 > f.rows.y1) return std::nullopt;
  const float middle = (box.y0 + box.y1) / 2, half = std::min(paint::text_height(fonts().small_bold) / 2 + px(1), box.height() / 2);
  return paint::Box{x + px(1), middle - half, x + width - px(1), middle + half};
}

}  // namespace

float conflict_plate_width(const GanttBar& bar) { return paint::text_width(fonts().small_bold, bar.mark) + px(9); }

void draw_conflict_marks(ChartFrame& f) {
  bool clipped = false;
  for (const GanttBar& bar : f.model.bars) {
    if (bar.mark.empty()) continue;
    const auto plate = plate_of(f, bar);
    if (!plate) continue;
    if (!clipped) f.draw.PushClipRect({f.rows.x0, f.rows.y0}, {f.rows.x1, f.rows.y1}, true);
    clipped = true;
    f.draw.AddRectFilled(plate->low(), plate->high(), theme().bad_fill, px(3));
    f.draw.AddRect(plate->low(), plate->high(), theme().bad, px(3));
    paint::text({f.draw, fonts().small_bold, theme().text},
                {plate->x0 + px(4), (plate->y0 + plate->y1 - paint::text_height(fonts().small_bold)) / 2}, bar.mark);
    if (probe::on()) probe::item(f.probe_name("ways/") + bar_probe(bar), plate->x0, plate->y0, plate->x1, plate->y1);
  }
  if (clipped) f.draw.PopClipRect();
}

std::optional<std::size_t> conflict_at(const ChartFrame& f, float x, float y) {
  for (std::size_t b = 0; b < f.model.bars.size(); ++b)
    if (const auto plate = plate_of(f, f.model.bars[b]); plate && plate->contains(x, y)) return b;
  return std::nullopt;
}

}  // namespace heddle::app

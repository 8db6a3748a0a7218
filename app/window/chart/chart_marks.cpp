// What is laid over bars and lanes: the cycle that limits II, framed lanes, and how far ops can move.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/platform/fonts.h"
#include "app/window/chart/gantt_parts.h"
#include "app/window/kit/probe.h"
#include "core/chart/chart_layout.h"
#include "core/chart/gantt_model.h"

namespace heddle::app {
namespace {

/// The piece of a bar that a step starts from (its end) or leads to (its beginning).
std::optional<std::size_t> piece_of(const GanttModel& model, OpId op, int iteration, bool end) {
  for (std::size_t b = 0; b < model.bars.size(); ++b) {
    const GanttBar& bar = model.bars[b];
    if (bar.op == op && bar.iteration == iteration && !(end ? bar.wraps_right : bar.wraps_left)) return b;
  }
  return std::nullopt;
}

void draw_step(ChartFrame& f, const CycleStep& step, const ArrowStyle& style) {
  if (f.model.mode == GanttMode::Steady) {
    std::optional<std::size_t> from, to;
    for (std::size_t b = 0; b < f.model.bars.size(); ++b) {
      const GanttBar& bar = f.model.bars[b];
      if (bar.op == step.from && !bar.wraps_right) from = b;
      if (bar.op == step.to && !bar.wraps_left) to = b;
    }
    if (from && to) draw_arrow_between(f, *from, *to, step.iterations, style);
    return;
  }
  for (std::size_t b = 0; b < f.model.bars.size(); ++b) {
    const GanttBar& bar = f.model.bars[b];
    if (bar.op != step.from) continue;
    if (const auto to = piece_of(f.model, step.to, bar.iteration + static_cast<int>(step.iterations), false))
      draw_arrow_between(f, b, *to, step.iterations, style);
  }
}

struct Whisker {
  const GanttBar& bar;
  const OpRange& range;
  float y;
  Color color;
};

/// A stretch of cycles as it lies in the window: in the steady view it may leave on one side and come back on the other.
template <class Draw>
void in_window(const ChartFrame& f, Cycle begin, Cycle end, const Draw& draw) {
  if (begin >= end) return;
  if (f.model.mode != GanttMode::Steady) return draw(begin, end, false, false);
  const Cycle low = f.model.begin, high = f.model.end, ii = f.model.ii;
  const auto shift = [&](Cycle by) {
    const Cycle a = std::max(begin + by, low), b = std::min(end + by, high);
    if (a < b) draw(a, b, begin + by<low, end + by> high);
  };
  for (const Cycle by : {-ii, Cycle{0}, ii}) shift(by);
}

struct Starts {
  Cycle earliest, latest;
};

void draw_range(ChartFrame& f, const Whisker& w, Starts starts, float thick, bool caps) {
  const auto& [earliest, latest] = starts;
  const Cycle length = w.bar.end - w.bar.begin;
  const Cycle begin = w.bar.begin + (earliest - w.range.start), end = w.bar.begin + (latest - w.range.start) + length;
  if (f.model.mode == GanttMode::Steady && end - begin >= f.model.ii) {
    // It can be anywhere in the window: a line across everything would say less than two chevrons at its ends.
    const paint::Box box = f.bar_box(w.bar);
    if (!caps || box.x1 < f.rows.x0 || box.x0 > f.rows.x1) return;
    const float stub = px(6), end_x = std::min(box.x1, f.axis.to_x(static_cast<double>(f.model.end)));
    f.draw.AddRectFilled({box.x0 - stub, w.y - thick / 2}, {end_x + stub, w.y + thick / 2}, w.color);
    paint::continues(f.draw, {box.x0 - stub, w.y}, px(3), false, w.color);
    paint::continues(f.draw, {end_x + stub, w.y}, px(3), true, w.color);
    return;
  }
  in_window(f, begin, end, [&](Cycle a, Cycle b, bool goes_on_left, bool goes_on_right) {
    const float x0 = std::max(f.axis.to_x(static_cast<double>(a)), f.rows.x0),
                x1 = std::min(f.axis.to_x(static_cast<double>(b)), f.rows.x1);
    if (x1 <= x0) return;
    f.draw.AddRectFilled({x0, w.y - thick / 2}, {x1, w.y + thick / 2}, w.color);
    if (x1 - x0 < px(6)) return;  // no room for ends
    const float half = px(2.5f);
    if (caps && !goes_on_left) f.draw.AddRectFilled({x0, w.y - half}, {x0 + px(1.5f), w.y + half}, w.color);
    if (caps && !goes_on_right) f.draw.AddRectFilled({x1 - px(1.5f), w.y - half}, {x1, w.y + half}, w.color);
    if (goes_on_left) paint::continues(f.draw, {x0, w.y}, px(2.5f), false, w.color);
    if (goes_on_right) paint::continues(f.draw, {x1, w.y}, px(2.5f), true, w.color);
  });
}

/// What is not drawn is said, at the right end of the band of marks, where no bar is covered.
void say_hidden(ChartFrame& f, std::size_t whiskers) {
  const std::string text =
      fmt::format("{} hidden whisker{}: zoom in", grouped(static_cast<std::int64_t>(whiskers)), whiskers == 1 ? "" : "s");
  ImFont* font = fonts().small;
  const float width = paint::text_width(font, text) + px(10), left = f.marks.x1 - width;
  if (f.marks.height() < paint::text_height(font) || left < f.marks.x0) return;
  f.draw.PushClipRect(f.marks.low(), f.marks.high(), false);
  f.draw.AddRectFilled({left, f.marks.y0}, f.marks.high(), theme().chart);
  paint::text({f.draw, font, theme().warning}, {left + px(5), f.marks.y1 - paint::text_height(font) - px(2)}, text);
  f.draw.PopClipRect();
  if (probe::on()) probe::item(f.probe_name("hidden_whiskers"), left, f.marks.y0, f.marks.x1, f.marks.y1);
}

}  // namespace

void draw_limiting_cycle(ChartFrame& f) {
  for (const CycleStep& step : f.overlay.focus.cycle) {
    // A dark halo keeps the line apart from the bars that it crosses.
    draw_step(f, step, {with_alpha(theme().chart, 0.8f), px(6), false});
    draw_step(f, step, {theme().accent, px(3), !step.data});
  }
}

void draw_lane_mark(ChartFrame& f, const GanttLane& lane, const paint::Box& box) {
  const auto& lanes = f.overlay.focus.lanes;
  if (std::find(lanes.begin(), lanes.end(), lane.label) == lanes.end()) return;
  f.draw.AddRect({box.x0 + 1, box.y0 + 1}, {box.x1 - 1, box.y1 - 1}, theme().accent, px(3), 0, px(2));
  f.draw.AddRectFilled({f.labels.x0, box.y0}, {f.labels.x0 + px(4), box.y1}, theme().accent);
  const bool critical = f.overlay.highlight.why.empty();
  const char* caption = critical ? "limits II" : "pointed at";
  ImFont* font = fonts().small_bold;
  const float width = paint::text_width(font, caption) + px(10), high = paint::text_height(font) + px(2);
  if (box.height() < high || box.width() < width * 2) return;
  const float right = std::min(box.x1, f.axis.to_x(static_cast<double>(f.model.end))) - px(6);
  f.draw.AddRectFilled({right - width, box.y0 + px(3)}, {right, box.y0 + px(3) + high}, theme().accent, px(3));
  paint::text({f.draw, font, theme().accent_text}, {right - width + px(5), box.y0 + px(4)}, caption);
}

void draw_whiskers(ChartFrame& f) {
  if (!f.overlay.whiskers || !f.overlay.slack) return;
  const SlackRanges& slack = *f.overlay.slack;
  if (slack.ii != f.schedule.ii) return;
  std::vector<const OpRange*> ranges(f.problem.ops.size());
  for (const OpRange& range : slack.ops)
    if (range.op.index() < ranges.size()) ranges[range.op.index()] = &range;
  const double first = f.axis.range.begin, last = f.axis.range.end;
  std::size_t nth = 0, hidden = 0;
  for (std::size_t b = 0; b < f.model.bars.size(); ++b) {
    const GanttBar& bar = f.model.bars[b];
    nth = b > 0 && f.model.bars[b - 1].row == bar.row && f.model.bars[b - 1].lane == bar.lane ? nth + 1 : 0;
    const OpRange* range = ranges[bar.op.index()];
    if (!range || bar.wraps_left) continue;
    const bool picked = f.selection.contains(bar.op) || (f.view.hovered && f.model.bars[*f.view.hovered].op == bar.op);
    const bool seen = static_cast<double>(bar.end) >= first && static_cast<double>(bar.begin) <= last;
    // On bars that can hardly be told apart whiskers would be a carpet.
    if (!picked && f.axis.to_x(static_cast<double>(bar.end)) - f.axis.to_x(static_cast<double>(bar.begin)) < px(3)) {
      hidden += seen ? 1 : 0;
      continue;
    }
    // Whole bar: a piece that goes on at the left edge belongs to it.
    GanttBar whole = bar;
    if (bar.wraps_right)
      for (const GanttBar& rest : f.model.bars)
        if (rest.op == bar.op && rest.wraps_left) whole.end += rest.end - rest.begin;
    const bool others = !f.selection.empty() && !picked;
    // Whiskers of neighbours overlap: they lie at two heights, below the labels.
    const float y = f.bar_box(bar).y1 + px(1) - static_cast<float>(nth % 2) * px(3.5f);
    const Whisker w{whole, *range, y, with_alpha(picked ? theme().accent : theme().text, others ? 0.25f : picked ? 1.0f : 0.8f)};
    draw_range(f, w, {range->path_earliest, range->path_latest}, px(1.2f), true);
    if (slack.exact && range->earliest.seen && range->latest.seen)
      draw_range(f, w, {*range->earliest.seen, *range->latest.seen}, px(3.5f), false);
    if (probe::on()) {
      const float x0 = f.axis.to_x(static_cast<double>(whole.begin + range->path_earliest - range->start)),
                  x1 = f.axis.to_x(static_cast<double>(whole.end + range->path_latest - range->start));
      probe::item("gantt/whisker/" + f.problem.op(bar.op).name, x0, y - 1, std::max(x0 + 1, x1), y + 1);
    }
  }
  if (hidden > 0) say_hidden(f, hidden);
}

}  // namespace heddle::app

// Rows, bars and dependence arrows. Bars are clipped before anything is drawn, nothing is allocated per bar, and bars
// that share a few pixels of a lane become one block with a zig-zag: the cost of a frame follows the screen, not the
// schedule.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/platform/fonts.h"
#include "app/window/chart/gantt_parts.h"
#include "app/window/kit/probe.h"
#include "core/base/integer_division.h"
#include "core/chart/gantt_model.h"

namespace heddle::app {
namespace {

constexpr float kSmallest = 3;  // pixels; anything narrower is drawn this wide

/// Narrow bars have square corners and thin outlines: round ones would make ovals of them.
bool narrow(const paint::Box& whole) { return whole.width() < px(9); }

int offset_style(const GanttBar& bar) { return std::abs(bar.iteration) % 4; }

/// What letters need of the height of their line: from the top of the highest to below the tail of a Q.
float letters_height() { return paint::text_height(fonts().small_bold) * 0.87f; }

/// Letters fill these from edge to edge: lines go around them, not over the letters.
bool low(const paint::Box& box) { return box.height() < letters_height() + px(5); }

/// Another op could be meant too.
bool ambiguous(const Problem& problem, std::string_view name, const paint::FittedName& cut) {
  const std::string_view head = name.substr(0, cut.head), tail = name.substr(name.size() - cut.tail);
  return std::any_of(problem.ops.begin(), problem.ops.end(), [&](const Op& op) {
    return op.name != name && op.name.size() >= cut.head + cut.tail && op.name.starts_with(head) && op.name.ends_with(tail);
  });
}

bool same_op(const GanttBar& a, const GanttBar& b) { return a.op == b.op && a.iteration == b.iteration; }

Color lighter(Color color) {
  Color out = color & 0xff000000u;
  for (const int shift : {0, 8, 16}) out |= (((color >> shift) & 0xff) + (0xff - ((color >> shift) & 0xff)) * 3 / 10) << shift;
  return out;
}

/// The part of a bar that is on screen.
paint::Box seen_part(const ChartFrame& f, const paint::Box& box) {
  return {std::max(box.x0, f.rows.x0 - px(4)), box.y0, std::min(box.x1, f.rows.x1 + px(4)), box.y1};
}

void draw_label(ChartFrame& f, const GanttBar& bar, const paint::Box& box, RoleColor color, bool hatched) {
  ImFont* font = fonts().small_bold;
  const float room = box.width() - px(8);
  if (room < px(10) || box.height() < letters_height()) return;
  char buffer[96];
  std::string_view text = bar.label;
  float width = paint::text_width(font, text);
  if (f.model.mode != GanttMode::Steady && bar.iteration > 0 && width < room) {
    const auto end =
        fmt::format_to_n(buffer, sizeof buffer, "{} {}{}", bar.label, f.model.mode == GanttMode::Unrolled ? "k+" : "#", bar.iteration);
    const std::string_view longer(buffer, std::min(end.size, sizeof buffer));
    const float longer_width = paint::text_width(font, longer);
    if (longer_width <= room) {
      text = longer;
      width = longer_width;
    }
  }
  std::string cut;
  if (width > room) {
    paint::FittedName what = paint::name_that_fits(font, text, room);
    if (what.text.empty() || ambiguous(f.problem, bar.label, what)) return;
    if (probe::on()) probe::cut(what.text, text, width - paint::text_width(font, what.text));
    text = cut = std::move(what.text);
    width = paint::text_width(font, text);
  }
  // Whiskers lie at the bottom of bars: the label gives way.
  const float line = paint::text_height(font), lift = f.overlay.whiskers ? px(3) : 0, middle = (box.y0 + box.y1 - line) / 2;
  const float x = std::floor((box.x0 + box.x1 - width) / 2);
  const float y = low(box) ? std::round((box.y0 + box.y1 + letters_height()) / 2 - line)
                           : std::floor(std::max(middle - lift, std::min(middle, box.y0 - px(1))));
  // Strokes of a hatch behind letters make them hard to read: a plain plate in the bar's colour.
  if (hatched)
    f.draw.AddRectFilled({std::max(box.x0, x - px(4)), std::max(box.y0, y - px(2))},
                         {std::min(box.x1, x + width + px(4)), std::min(box.y1, y + paint::text_height(font) + px(2))}, color.fill, px(3));
  paint::text({f.draw, font, color.text}, {x, y}, text);
}

/// The name as it stands outside its bar, with the mark of an op whose lanes meet. `both` holds it then.
std::string_view outer_name(const GanttBar& bar, std::string& both) {
  if (bar.mark.empty()) return bar.label;
  return both = bar.label + " " + bar.mark;
}

/// The stretch beside a bar that no other bar, and no label of one, has.
struct FreeRoom {
  float from, until;
};

/// Where the name of a bar that is too short for it stands: behind the bar, else before it; none: there is no room.
std::optional<float> label_beside(const ChartFrame& f, const GanttBar& bar, const paint::Box& box, const FreeRoom& room) {
  ImFont* font = fonts().small;
  if (box.height() < paint::text_height(font) * 0.8f || box.x1 < f.rows.x0 || box.x0 > f.rows.x1) return std::nullopt;
  std::string both;
  const float chevron = px(9), width = paint::text_width(font, outer_name(bar, both)), gap = px(3);
  const paint::Box seen = seen_part(f, box);
  const float inside = seen.width() - px(8) - (bar.wraps_left ? chevron : 0) - (bar.wraps_right ? chevron : 0);
  if (paint::text_width(fonts().small_bold, bar.label) <= inside) return std::nullopt;
  if (box.x1 + width + 2 * gap <= room.until) return box.x1 + gap;
  if (box.x0 - width - 2 * gap >= room.from) return box.x0 - width - gap;
  return std::nullopt;
}

/// The whole name is to be read neither in the bar nor beside it.
bool nameless(const ChartFrame& f, const GanttBar& bar, const paint::Box& box, bool beside) {
  return !beside && paint::text_width(fonts().small_bold, bar.label) + px(8) > seen_part(f, box).width();
}

/// The name of a bar that is selected or under the mouse and has no room for it: over it, else under it, where it covers no other name.
void draw_name_plate(ChartFrame& f, const GanttBar& bar, const std::vector<paint::Box>& named) {
  ImFont* font = fonts().small_bold;
  const paint::Box box = f.bar_box(bar);
  std::string both;
  const std::string_view name = outer_name(bar, both);
  const float width = paint::text_width(font, name) + px(8), height = paint::text_height(font) + px(2);
  const float x = std::clamp((box.x0 + box.x1 - width) / 2, f.rows.x0, std::max(f.rows.x0, f.rows.x1 - width));
  const auto free = [&](float y) {
    return y >= f.rows.y0 && y + height <= f.rows.y1 && std::none_of(named.begin(), named.end(), [&](const paint::Box& n) {
             return n.x0 < x + width && x < n.x1 && n.y0 < y + height && y < n.y1;
           });
  };
  float y = box.y0 - height - px(3);
  if (!free(y)) y = box.y1 + px(3);
  if (!free(y)) return;
  f.draw.AddRectFilled({x, y}, {x + width, y + height}, theme().tooltip, px(3));
  f.draw.AddRect({x, y}, {x + width, y + height}, theme().accent, px(3));
  paint::text({f.draw, font, theme().text}, {x + px(4), y + px(1)}, name);
}

void draw_tail(ChartFrame& f, const GanttBar& bar, const paint::Box& box, Color color) {
  if (bar.latency_end <= bar.end || bar.wraps_right) return;
  const Cycle last = f.model.mode == GanttMode::Steady ? std::min(bar.latency_end, f.model.end) : bar.latency_end;
  const float x1 = std::min(f.axis.to_x(static_cast<double>(last)), f.rows.x1);
  if (x1 - box.x1 < px(3)) return;
  const float y = box.y1 - px(3), half = px(2.5f);
  const Color faint = with_alpha(color, 0.6f);
  f.draw.AddRectFilled({box.x1, y - px(0.5f)}, {x1, y + px(0.5f)}, faint);
  if (last == bar.latency_end) f.draw.AddRectFilled({x1 - 1, y - half}, {x1, y + half}, faint);
}

/// `beside`: where its name stands, if that is not in the bar.
void draw_bar(ChartFrame& f, const GanttBar& bar, const paint::Box& whole, std::optional<float> beside) {
  const RoleColor color = role_color(bar.role);
  const paint::Box box = seen_part(f, whole);
  const bool small = whole.width() < px(6);
  const float rounding = narrow(whole) ? 0 : px(3);
  int corners = ImDrawFlags_RoundCornersAll;
  if (bar.wraps_left) corners &= ~ImDrawFlags_RoundCornersLeft;
  if (bar.wraps_right) corners &= ~ImDrawFlags_RoundCornersRight;
  const bool hovered = f.view.hovered && same_op(bar, f.model.bars[*f.view.hovered]);
  const bool aside = f.overlay.focus.active() && !f.overlay.focus.has(bar.op) && !hovered;
  const Color fill = hovered ? lighter(color.fill) : aside ? with_alpha(color.fill, 0.3f) : color.fill;
  f.draw.AddRectFilled(box.low(), box.high(), fill, rounding, corners);
  // A fill that hardly stands out from the chart gets a line around it.
  if (const Color edge = role_edge(bar.role); edge != color.fill && !aside && box.width() >= px(3))
    f.draw.AddRect({box.x0 + 0.5f, box.y0 + 0.5f}, {box.x1 - 0.5f, box.y1 - 0.5f}, edge, rounding, corners, px(1));
  if (beside) {
    ImFont* font = fonts().small;
    std::string both;
    paint::text({f.draw, font, aside ? theme().faint : theme().text}, {*beside, (box.y0 + box.y1 - paint::text_height(font)) / 2 - px(1)},
                outer_name(bar, both));
  }
  if (small) return;

  const int style = offset_style(bar);
  const float inset = px(1);
  const paint::Box inner{box.x0 + inset, box.y0 + inset, box.x1 - inset, box.y1 - inset};
  if (style > 0) paint::hatch(f.draw, inner, {style, whole.x0, px(9), theme().hatch, px(2)});
  // The issue window: how long the issuing warps themselves are busy.
  if (bar.window_end > bar.begin && bar.window_end < bar.end && box.height() > px(12)) {
    const float x1 = std::min(f.axis.to_x(static_cast<double>(bar.window_end)), box.x1);
    if (x1 > box.x0)
      f.draw.AddRectFilled(
          {box.x0, box.y1 - px(low(box) ? 1 : 3)}, {x1, box.y1}, with_alpha(0xff000000u, 0.45f), rounding,
          corners & ImDrawFlags_RoundCornersBottomLeft ? ImDrawFlags_RoundCornersBottomLeft : ImDrawFlags_RoundCornersNone);
  }
  if (bar.violating) paint::cross_hatch(f.draw, inner, whole.x0, px(7), theme().bad);
  float left = box.x0, right = box.x1;
  const float mark = px(3.5f), middle = (box.y0 + box.y1) / 2;
  if (whole.width() > px(26)) {
    if (bar.wraps_left && whole.x0 >= f.rows.x0 - 1) {
      paint::continues(f.draw, {left, middle}, mark, false, color.text);
      left += mark * 2.5f;
    }
    if (bar.wraps_right && whole.x1 <= f.rows.x1 + 1) {
      paint::continues(f.draw, {right, middle}, mark, true, color.text);
      right -= mark * 2.5f;
    }
  }
  if (!bar.mark.empty() && std::min(right, f.rows.x1) - std::max(left, f.rows.x0) > conflict_plate_width(bar))
    left = std::max(left, f.rows.x0) + conflict_plate_width(bar);
  const paint::Box on_screen{std::max(left, f.rows.x0), box.y0, std::min(right, f.rows.x1), box.y1};
  // A bar that stepped back is dark: its label stands on the colour of the row.
  if (!beside)
    draw_label(f, bar, on_screen, aside ? RoleColor{theme().row, theme().text} : RoleColor{fill, color.text}, style > 0 || bar.violating);
}

/// Outlines come after all fills, so that no neighbour covers them.
void draw_outline(ChartFrame& f, const GanttBar& bar, bool lit) {
  const paint::Box whole = f.bar_box(bar), box = seen_part(f, whole);
  if (box.x1 <= box.x0) return;
  const float rounding = narrow(whole) ? 0 : px(3), thick = narrow(whole) ? 1 : px(2);
  const auto outline = [&](Color color, float thickness, float grow) {
    const float off = thickness / 2 - grow, off_y = thickness / 2 - (low(box) ? thickness : grow);
    f.draw.AddRect({box.x0 + off, box.y0 + off_y}, {box.x1 - off, box.y1 - off_y}, color, rounding, 0, thickness);
  };
  const bool current = f.view.current && same_op(bar, f.model.bars[*f.view.current]);
  if (bar.violating && whole.width() >= kSmallest)
    outline(theme().bad, thick, 0);
  else if (bar.critical && whole.width() >= px(5))
    outline(theme().outline, thick, 0);
  if (f.overlay.focus.has(bar.op)) {
    if (!narrow(whole)) outline(theme().accent, px(3), px(2));
  }
  if (f.selection.contains(bar.op)) {
    outline(with_alpha(theme().accent, 0.35f), px(5), px(4));
    outline(theme().accent, px(2), px(1));
    if (current) outline(theme().accent, px(2), px(2));
  } else if (lit) {
    outline(theme().arrow, px(1.5f), px(1));
  }
}

void draw_arrow(ChartFrame& f, const GanttArrow& arrow, float strength) {
  ArrowStyle style;
  style.color = with_alpha(arrow.carried ? theme().carried_arrow : theme().arrow, strength);
  style.dashed = arrow.carried;
  style.thickness = px(arrow.crosses_groups ? 2.2f : arrow.carried ? 1.7f : 1.5f);
  if (f.overlay.focus.has(arrow.edge)) style.color = theme().accent, style.thickness = px(3.5f);
  draw_arrow_between(f, arrow.from_bar, arrow.to_bar, f.problem.edge(arrow.edge).distance, style);
}

}  // namespace

void draw_arrow_between(ChartFrame& f, std::size_t from_bar, std::size_t to_bar, std::int64_t iterations, const ArrowStyle& style) {
  const GanttBar& from = f.model.bars[from_bar];
  const GanttBar& to = f.model.bars[to_bar];
  const paint::Box a = f.bar_box(from), b = f.bar_box(to);
  const Color color = style.color;
  const float ya = (a.y0 + a.y1) / 2, yb = (b.y0 + b.y1) / 2;
  const auto curve = [&](float xa, float xb) {
    if (std::max(xa, xb) < f.rows.x0 || std::min(xa, xb) > f.rows.x1) return;
    const float head = px(6), bend = std::clamp(std::abs(xb - xa) * 0.4f, px(12), px(90));
    const ImVec2 p0(xa, ya), p1(xa + bend, ya), p2(xb - head - bend, yb), p3(xb - head + 1, yb);
    if (style.dashed)
      paint::dashed_bezier(f.draw, {p0, p1, p2, p3}, color, style.thickness);
    else
      f.draw.AddBezierCubic(p0, p1, p2, p3, color, style.thickness);
    f.draw.AddCircleFilled(p0, px(2.5f), color);
    paint::arrow_head(f.draw, {xb, yb}, head, color);
  };
  if (f.model.mode != GanttMode::Steady) return curve(a.x1, b.x0);
  // In the window the consumer may really be one or more windows later: the arrow leaves on the right and comes back on
  // the left, which two stubs say without a line across everything.
  const Cycle ii = f.schedule.ii;  // starts may be negative in a chart that is aligned with another
  const Cycle apart = f.schedule.start(to.op) + iterations * f.schedule.ii - f.schedule.start(from.op);
  const Cycle drawn = modulo(f.schedule.start(to.op), ii) - modulo(f.schedule.start(from.op), ii);
  if ((apart - drawn) / ii == (from.wraps_left ? 1 : 0)) return curve(a.x1, b.x0);
  const float stub = px(30), thick = style.thickness, dash = px(3);
  const auto level = [&](float x0, float x1, float y) {
    if (style.dashed)
      paint::dashed_horizontal(f.draw, x0, x1, y - thick / 2, {color, dash, thick});
    else
      f.draw.AddRectFilled({x0, y - thick / 2}, {x1, y + thick / 2}, color);
  };
  f.draw.AddCircleFilled({a.x1, ya}, px(2.5f), color);
  level(a.x1, a.x1 + stub, ya);
  paint::continues(f.draw, {a.x1 + stub + px(8), ya}, px(3.5f), true, color);
  paint::continues(f.draw, {b.x0 - stub, yb}, px(3.5f), true, color);
  level(b.x0 - stub, b.x0 - px(5), yb);
  paint::arrow_head(f.draw, {b.x0, yb}, px(6), color);
}

paint::Box ChartFrame::bar_box(const GanttBar& bar) const {
  const float top = row_y(layout.lane_top(bar)), gap = std::min(px(3), layout.lane * 0.12f);
  const float x0 = axis.to_x(static_cast<double>(bar.begin)), x1 = axis.to_x(static_cast<double>(bar.end));
  return {x0, top + gap, std::max(x1, x0 + kSmallest), top + layout.lane - gap};
}

std::string bar_probe(const GanttBar& bar) { return fmt::format("{}@{}", bar.label, bar.iteration); }

void draw_group_backgrounds(ChartFrame& f) {
  for (std::size_t g = 0; g < f.layout.groups.size(); ++g) {
    const RowBox& box = f.layout.groups[g];
    const float y0 = f.row_y(box.top), y1 = y0 + box.height;
    if (y1 < f.rows.y0 || y0 > f.rows.y1) continue;
    f.draw.AddRectFilled({f.labels.x0, y0}, {f.rows.x1 + px(8), y1}, g % 2 == 0 ? theme().row : theme().row_alternate);
    for (std::size_t r = f.model.groups[g].first_row; r < f.model.groups[g].first_row + f.model.groups[g].rows; ++r) {
      const float y = f.row_y(f.layout.rows[r].top + f.layout.rows[r].height);
      f.draw.AddRectFilled({f.rows.x0, y - 1}, {f.rows.x1, y}, with_alpha(theme().grid, 0.45f));
    }
    f.draw.AddRectFilled({f.labels.x0, y1}, {f.rows.x1, y1 + 1}, theme().separator);
  }
}

void draw_group_labels(ChartFrame& f) {
  ImFont *bold = fonts().bold, *small = fonts().small, *unit = fonts().small_bold;
  f.draw.PushClipRect({f.labels.x0, f.rows.y0}, {f.rows.x0, f.rows.y1}, true);
  for (std::size_t g = 0; g < f.layout.groups.size(); ++g) {
    const GanttGroup& group = f.model.groups[g];
    const RowBox& box = f.layout.groups[g];
    const float top = f.row_y(box.top), left = f.labels.x0 + px(10);
    float units = 0;
    for (std::size_t r = group.first_row; r < group.first_row + group.rows; ++r) {
      const GanttRow& row = f.model.rows[r];
      const float y = f.row_y(f.layout.rows[r].top) + (f.layout.lane - paint::text_height(unit)) / 2;
      paint::text_right({f.draw, unit, role_ink(row.role)}, {f.rows.x0 - px(8), y}, row.label);
      // Only labels beside the two lines of text narrow them.
      if (y < top + px(36)) units = std::max(units, paint::text_width(unit, row.label));
    }
    const float room = f.rows.x0 - px(16) - units - left;
    const float first = top + px(4), second = first + paint::text_height(bold) + px(1);
    paint::name_cut({f.draw, bold, theme().text}, {left, first}, room, group.label);
    if (second + paint::text_height(small) <= top + box.height)
      paint::text_cut({f.draw, small, theme().dim}, {left, second}, room, group.detail);
    if (probe::on()) probe::item(f.probe_name("group/") + group.label, f.labels.x0, top, f.rows.x0, top + box.height);
  }
  f.draw.PopClipRect();
}

void draw_bars(ChartFrame& f) {
  const auto& bars = f.model.bars;
  const double first = f.axis.range.begin, last = f.axis.range.end;
  const float merge = kSmallest;
  // Names that are needed on demand, and what has its name already; empty while nothing is selected or pointed at.
  std::vector<std::size_t> plates;
  std::vector<paint::Box> named;
  const bool asked = !f.selection.empty() || f.view.hovered;
  for (std::size_t b = 0; b < bars.size();) {
    // One lane of one row at a time: its bars are neighbours and in order.
    const std::size_t row = bars[b].row;
    const int lane = bars[b].lane;
    const auto in_lane = [&](const GanttBar& bar) { return bar.row == row && bar.lane == lane; };
    std::size_t end = b;
    const float top = f.row_y(f.layout.lane_top(bars[b]));
    while (end < bars.size() && in_lane(bars[end])) ++end;
    if (top + f.layout.lane >= f.rows.y0 && top <= f.rows.y1) {
      std::size_t i = static_cast<std::size_t>(
          std::partition_point(bars.begin() + static_cast<std::ptrdiff_t>(b), bars.begin() + static_cast<std::ptrdiff_t>(end),
                               [&](const GanttBar& bar) { return static_cast<double>(bar.end) < first; }) -
          bars.begin());
      const float edge = std::min(f.axis.to_x(static_cast<double>(f.model.end)), f.rows.x1);
      float free_from = f.rows.x0;
      const std::vector<LaneSpan> ends = end_spans(f, row, lane);
      if (asked)
        for (const LaneSpan& span : ends) named.push_back({span.x0, top, span.x1, top + f.layout.lane});
      for (; i < end && static_cast<double>(bars[i].begin) <= last;) {
        const paint::Box box = f.bar_box(bars[i]);
        std::size_t next = i + 1;
        float x1 = box.x1;
        if (f.axis.to_x(static_cast<double>(bars[i].end)) - box.x0 < merge) {
          // Gather what cannot be told apart.
          while (next < end) {
            const float nx0 = f.axis.to_x(static_cast<double>(bars[next].begin)), nx1 = f.axis.to_x(static_cast<double>(bars[next].end));
            if (nx0 > x1 + 1 || nx1 - nx0 >= merge || bars[next].role != bars[i].role) break;
            x1 = std::max(x1, std::max(nx1, nx0 + 1));
            ++next;
          }
        }
        if (next > i + 1) {
          free_from = x1;
          const Color fill = role_color(bars[i].role).fill;
          f.draw.AddRectFilled({box.x0, box.y0}, {x1, box.y1}, with_alpha(fill, 0.55f));
          const float top = (box.y0 + box.y1) / 2 - px(2);
          paint::zigzag(f.draw, {box.x0, top, x1, top + px(4)}, fill);
        } else {
          if (box.width() >= px(4)) draw_tail(f, bars[i], box, role_color(bars[i].role).fill);
          float until = next < end ? f.axis.to_x(static_cast<double>(bars[next].begin)) : edge;
          for (const LaneSpan& span : ends) {
            if (span.x0 >= box.x1 - 1) until = std::min(until, span.x0);
            if (span.x0 < box.x0) free_from = std::max(free_from, std::min(span.x1, box.x0));
          }
          const auto beside = label_beside(f, bars[i], box, {free_from, std::min(until, edge)});
          draw_bar(f, bars[i], box, beside);
          // Of several iterations the first that is seen.
          const bool first_seen = f.selection.contains(bars[i].op) &&
                                  std::none_of(plates.begin(), plates.end(), [&](std::size_t p) { return bars[p].op == bars[i].op; });
          if ((first_seen || f.view.hovered == i) && nameless(f, bars[i], box, beside.has_value())) plates.push_back(i);
          if (asked) named.push_back(box);
          std::string both;
          const float name_end = beside ? *beside + paint::text_width(fonts().small, outer_name(bars[i], both)) : 0;
          if (asked && beside) named.push_back({*beside, box.y0, name_end, box.y1});
          free_from = beside && *beside > box.x1 ? name_end : box.x1;
          if (probe::on() && box.x1 > f.rows.x0 && box.x0 < f.rows.x1)
            probe::item(f.probe_name("bar/") + bar_probe(bars[i]), std::max(box.x0, f.rows.x0), box.y0, std::min(box.x1, f.rows.x1),
                        box.y1);
        }
        i = next;
      }
    }
    b = end;
  }
  // Thousands of hairlines would be nothing but outline: a line under narrow bars says the same, and runs on from neighbour to
  // neighbour.
  struct {
    float x0 = 0, x1 = -1, y = 0;
  } under;
  const auto underline = [&] {
    if (under.x1 > under.x0) f.draw.AddRectFilled({under.x0, under.y}, {under.x1, under.y + px(2)}, theme().accent);
    under.x1 = -1;
  };
  for (std::size_t b = 0; b < bars.size(); ++b) {
    const GanttBar& bar = bars[b];
    if (static_cast<double>(bar.end) < first || static_cast<double>(bar.begin) > last) continue;
    const bool lit = f.overlay.focus.has(bar.op), selected = f.selection.contains(bar.op);
    if (!lit && !bar.critical && !bar.violating && !selected) continue;
    const paint::Box box = f.bar_box(bar);
    if (lit && narrow(box)) {
      const float x0 = std::max(box.x0, f.rows.x0), x1 = std::min(box.x1, f.rows.x1);
      if (under.x1 < under.x0 || under.y != box.y1 || x0 > under.x1 + 1 || x0 < under.x0) {
        underline();
        under = {x0, x1, box.y1};
      }
      under.x1 = std::max(under.x1, x1);
      if (!bar.critical && !bar.violating && !selected) continue;
    }
    draw_outline(f, bar, false);
  }
  underline();
  if (f.view.hovered) {
    for (const GanttArrow& arrow : f.model.arrows) {
      const bool from = same_op(bars[arrow.from_bar], bars[*f.view.hovered]), to = same_op(bars[arrow.to_bar], bars[*f.view.hovered]);
      if (from != to) draw_outline(f, bars[from ? arrow.to_bar : arrow.from_bar], true);
    }
  }
  for (const std::size_t plate : plates) draw_name_plate(f, bars[plate], named);
}

void draw_arrows(ChartFrame& f, ArrowLayer layer) {
  const auto& bars = f.model.bars;
  const auto of_hovered = [&](std::size_t b) { return f.view.hovered && same_op(bars[b], bars[*f.view.hovered]); };
  const auto of_selected = [&](std::size_t b) {
    // Where one instance is current its own dependences are enough.
    if (!f.selection.contains(bars[b].op)) return false;
    return !f.view.current || bars[*f.view.current].op != bars[b].op || same_op(bars[b], bars[*f.view.current]);
  };
  for (const GanttArrow& arrow : f.model.arrows) {
    const bool hovered = of_hovered(arrow.from_bar) || of_hovered(arrow.to_bar);
    const bool selected = !f.selection.empty() && (of_selected(arrow.from_bar) || of_selected(arrow.to_bar));
    const bool lit = f.overlay.focus.has(arrow.edge);
    if ((layer == ArrowLayer::Above) != (hovered || lit)) continue;
    if (hovered || selected || lit)
      draw_arrow(f, arrow, hovered ? 1.0f : 0.85f);
    else if (f.view.all_arrows && f.bar_box(bars[arrow.from_bar]).width() + f.bar_box(bars[arrow.to_bar]).width() > px(12))
      draw_arrow(f, arrow, 0.35f);  // between specks there is nothing to see
  }
}

}  // namespace heddle::app

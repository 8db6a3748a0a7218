// Parallel coordinates: one upright axis per parameter and one of values, a line per point. Dragging on an axis brushes a range of
// it: all that is outside fades here and leaves the table.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/session/sweep_state.h"
#include "app/window/kit/chart_paint.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/widgets.h"
#include "app/window/parts/ui_state.h"
#include "app/window/tabs/tune/sweep_state.h"
#include "app/window/tabs/tune/sweep_views.h"
#include "core/chart/chart_layout.h"

namespace heddle::app {
namespace {

constexpr float kAxisGrip = 14;          ///< pixels on both sides of an axis that belong to it
constexpr float kLineGrip = 6;           ///< pixels from a line that are still the line
constexpr std::size_t kMostFaded = 400;  ///< lines outside the brushes that are drawn as a background

struct ParallelFrame {
  const SweepTable& table;
  const SweepTabState& s;
  ImDrawList& draw;
  paint::Box box;                 ///< of the axes
  float right = 0;                ///< end of the labels of the last axis
  std::vector<std::size_t> axes;  ///< shown; table.axes.size() is that of values

  float x(std::size_t k) const {
    return axes.size() < 2 ? (box.x0 + box.x1) / 2 : box.x0 + box.width() * static_cast<float>(k) / static_cast<float>(axes.size() - 1);
  }
  float y(double position) const { return box.y1 - static_cast<float>(position) * box.height(); }
  double position_at(float py) const { return std::clamp(static_cast<double>((box.y1 - py) / std::max(box.height(), 1.0f)), 0.0, 1.0); }
  /// Of a point on the k-th axis; none: it has nothing there.
  double position(const SweepPoint& point, std::size_t k) const {
    if (axes[k] >= table.axes.size()) return value_position(s.scale, point);
    const double c = point.coordinate(axes[k]);
    return c == c ? table.axes[axes[k]].position(c) : c;
  }
};

/// Parameters that differ, as many as have room, then the values.
std::vector<std::size_t> shown_axes(const SweepTable& table, float width) {
  std::vector<std::size_t> axes;
  for (std::size_t a = 0; a < table.axes.size(); ++a)
    if (!table.axes[a].listed() || table.axes[a].values.size() > 1) axes.push_back(a);
  const auto most = static_cast<std::size_t>(std::max(1.0f, width / px(64)));
  if (axes.size() + 1 > most) axes.resize(std::max<std::size_t>(most, 2) - 1);
  axes.push_back(table.axes.size());
  return axes;
}

void draw_line_of(const ParallelFrame& f, const SweepPoint& point, Color color, float thick) {
  bool have = false;
  ImVec2 before;
  for (std::size_t k = 0; k < f.axes.size(); ++k) {
    const double p = f.position(point, k);
    if (p != p) {
      have = false;
      continue;
    }
    const ImVec2 at(f.x(k), f.y(p));
    if (have) f.draw.AddLine(before, at, color, thick);
    before = at;
    have = true;
  }
}

/// The line under the mouse.
std::optional<std::uint32_t> line_at(const ParallelFrame& f, ImVec2 mouse) {
  std::optional<std::uint32_t> nearest;
  float best = px(kLineGrip);
  for (const std::uint32_t index : f.s.drawn) {
    const SweepPoint& point = f.table.points[index];
    for (std::size_t k = 0; k + 1 < f.axes.size(); ++k) {
      const float x0 = f.x(k), x1 = f.x(k + 1);
      if (mouse.x < x0 || mouse.x > x1) continue;
      const double a = f.position(point, k), b = f.position(point, k + 1);
      if (a != a || b != b) break;
      const float share = (mouse.x - x0) / std::max(x1 - x0, 1.0f);
      const float away = std::abs(f.y(a) + (f.y(b) - f.y(a)) * share - mouse.y);
      if (away < best) best = away, nearest = index;
      break;
    }
  }
  return nearest;
}

void draw_parallel_axis(const ParallelFrame& f, std::size_t k, float line) {
  const Theme& t = theme();
  const float x = std::round(f.x(k));
  f.draw.AddLine(ImVec2(x, f.box.y0), ImVec2(x, f.box.y1), t.dim, std::max(1.0f, std::round(fonts().scale)));
  const bool values = f.axes[k] >= f.table.axes.size();
  const float apart = f.axes.size() > 1 ? f.box.width() / static_cast<float>(f.axes.size() - 1) : f.box.width();
  const float room = values ? f.right - x - px(8) : apart - px(14);
  // Beside the axis, on a plate: neither the axis nor a line runs through it.
  const auto label = [&](float left, float y, const std::string& text, Color color, ImFont* font) {
    const std::string shown = fitted(font, text, std::max(room, px(30)));
    const ImVec2 size = text_size(font, shown);
    f.draw.AddRectFilled(ImVec2(left - px(2), y), ImVec2(left + size.x + px(2), y + size.y), t.card, px(2));
    paint_text(font, ImVec2(left, y), color, shown);
  };
  const std::string name = values ? std::string(f.table.unit()) : drawable(f.table.axes[f.axes[k]].name);
  label(x - px(2), f.box.y0 - line - px(10), name, t.text, fonts().small_bold);
  const auto tick = [&](double position, const std::string& text) {
    const float y = f.y(position);
    f.draw.AddLine(ImVec2(x - px(3), y), ImVec2(x + px(3), y), t.dim, px(1));
    label(x + px(7), y - line / 2, text, t.dim, fonts().mono_small);
  };
  if (values) {
    if (f.s.scale.any) {
      tick(0, grouped(static_cast<std::int64_t>(std::llround(f.s.scale.low))));
      tick(kValueShare, grouped(static_cast<std::int64_t>(std::llround(f.s.scale.high))));
    }
    tick(1, "none");
    return;
  }
  const SweepAxis& axis = f.table.axes[f.axes[k]];
  if (!axis.listed()) {
    tick(0, sweep_text(axis.low));
    tick(1, sweep_text(axis.high));
    return;
  }
  const std::size_t count = axis.values.size(), most = static_cast<std::size_t>(std::max(2.0f, f.box.height() / (line + px(2))));
  const std::size_t step = (count + most - 1) / most;
  for (std::size_t i = 0; i < count; i += step)
    tick(count == 1 ? 0.5 : static_cast<double>(i) / static_cast<double>(count - 1), drawable(sweep_text(axis.values[i])));
}

/// The widest that still means these values: brushes on listed axes take whole values.
SweepBrush snapped(const SweepTable& table, SweepBrush brush) {
  if (brush.low > brush.high) std::swap(brush.low, brush.high);
  if (brush.axis >= table.axes.size() || !table.axes[brush.axis].listed()) return brush;
  const double last = static_cast<double>(table.axes[brush.axis].values.size()) - 1;
  if (last <= 0) return {brush.axis, 0, 1};
  const double half = 0.5 / last;
  // Values whose middle third the range touches.
  const double low = std::ceil((brush.low - half * 0.6) * last), high = std::floor((brush.high + half * 0.6) * last);
  if (low > high) return {brush.axis, std::round(brush.low * last) / last - half * 0.8, std::round(brush.low * last) / last + half * 0.8};
  return {brush.axis, low / last - half * 0.8, high / last + half * 0.8};
}

/// Drawing, moving and clearing of brushes. A press on an axis begins one, one inside a brush moves it, a click without a drag
/// takes the axis' brush away.
void handle_brushes(const ParallelFrame& f, SweepTabState& s, bool hovered, ImVec2 mouse) {
  const auto brush_of = [&](std::size_t axis) {
    return std::find_if(s.choice.brushes.begin(), s.choice.brushes.end(), [&](const SweepBrush& b) { return b.axis == axis; });
  };
  const auto put = [&](const SweepBrush& brush) {
    if (const auto at = brush_of(brush.axis); at != s.choice.brushes.end())
      *at = brush;
    else
      s.choice.brushes.push_back(brush);
  };
  if (!s.drag && hovered && ImGui::IsMouseClicked(ImGuiMouseButton_Left))
    for (std::size_t k = 0; k < f.axes.size(); ++k)
      if (std::abs(mouse.x - f.x(k)) <= px(kAxisGrip)) {
        const double p = f.position_at(mouse.y);
        const auto at = brush_of(f.axes[k]);
        const bool inside = at != s.choice.brushes.end() && p >= at->low && p <= at->high;
        s.drag = SweepTabState::Drag{f.axes[k], p, inside ? std::optional(*at) : std::nullopt};
        break;
      }
  if (!s.drag) return;
  const double p = f.position_at(mouse.y);
  const bool moved = std::abs(p - s.drag->from) * static_cast<double>(f.box.height()) > static_cast<double>(px(4));
  if (moved) {
    if (s.drag->moved) {
      SweepBrush brush = *s.drag->moved;
      brush.low += p - s.drag->from;
      brush.high += p - s.drag->from;
      put(brush);
    } else {
      put(snapped(f.table, {s.drag->axis, s.drag->from, p}));
    }
  }
  if (ImGui::IsMouseDown(ImGuiMouseButton_Left)) return;
  if (!moved) std::erase_if(s.choice.brushes, [&](const SweepBrush& b) { return b.axis == s.drag->axis; });
  s.drag.reset();
}

void draw_brushes(const ParallelFrame& f) {
  for (const SweepBrush& brush : f.s.choice.brushes)
    for (std::size_t k = 0; k < f.axes.size(); ++k) {
      if (f.axes[k] != brush.axis) continue;
      const ImVec2 low(f.x(k) - px(6), f.y(std::min(brush.high, 1.04))), high(f.x(k) + px(6), f.y(std::max(brush.low, -0.04)));
      f.draw.AddRectFilled(low, high, with_alpha(theme().accent, 0.22f), px(2));
      f.draw.AddRect(low, high, theme().accent, px(2), 0, px(1.4f));
    }
}

}  // namespace

void draw_sweep_parallel(const Session& session, UiState& ui, ImVec2 size) {
  SweepTabState& s = ui.of<SweepTabState>();
  const SweepTable& table = session.sweep().table();
  const Theme& t = theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  size = ImVec2(std::max(size.x, px(60)), std::max(size.y, px(60)));
  ImGui::InvisibleButton("parallel", size, ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonRight);
  if (probe::on()) probe::last_item("sweep/parallel");
  const bool hovered = ImGui::IsItemHovered() || ImGui::IsItemActive();
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw.AddRectFilled(at, ImVec2(at.x + size.x, at.y + size.y), t.card, px(4));
  const float line = text_size(fonts().mono_small, "0").y;
  // The numbers of the last axis stand behind it.
  float behind = text_size(fonts().small_bold, table.unit()).x;
  if (s.scale.any)
    for (const double value : {s.scale.low, s.scale.high})
      behind = std::max(behind, text_size(fonts().mono_small, grouped(static_cast<std::int64_t>(std::llround(value)))).x);
  const float right = at.x + size.x - px(6);
  ParallelFrame f{table, s,
                  draw,  {at.x + px(16), at.y + line + px(18), right - std::min(behind + px(12), size.x * 0.4f), at.y + size.y - px(12)},
                  right, shown_axes(table, size.x)};
  if (f.box.width() < px(40) || f.box.height() < px(30)) return;
  draw.PushClipRect(at, ImVec2(at.x + size.x, at.y + size.y), true);
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  handle_brushes(f, s, hovered, mouse);
  bool on_axis = s.drag.has_value();
  for (std::size_t k = 0; k < f.axes.size(); ++k) on_axis |= std::abs(mouse.x - f.x(k)) <= px(kAxisGrip);
  const auto under = hovered && !on_axis ? line_at(f, mouse) : std::nullopt;
  // Behind everything, what the brushes leave out.
  if (!s.choice.brushes.empty()) {
    const std::size_t count = table.points.size(), step = std::max<std::size_t>(1, count / kMostFaded);
    for (std::size_t i = 0; i < count; i += step) draw_line_of(f, table.points[i], with_alpha(t.faint, 0.25f), px(1));
  }
  const float alpha = s.drawn.size() > 300 ? 0.30f : s.drawn.size() > 60 ? 0.55f : 0.85f;
  for (const std::uint32_t index : s.drawn)
    draw_line_of(f, table.points[index], with_alpha(sweep_ink(table.points[index]), alpha), px(1.2f));
  if (table.best) draw_line_of(f, table.points[*table.best], t.good, px(2.6f));
  if (s.chosen) draw_line_of(f, table.points[*s.chosen], t.outline, px(2.4f));
  if (!under && s.hovered) draw_line_of(f, table.points[*s.hovered], t.text, px(2));
  if (under) draw_line_of(f, table.points[*under], t.text, px(2.4f));
  for (std::size_t k = 0; k < f.axes.size(); ++k) {
    draw_parallel_axis(f, k, line);
    if (probe::on()) {
      const std::string name = f.axes[k] < table.axes.size() ? table.axes[f.axes[k]].name : std::string("value");
      probe::item("sweep/axis/" + name, f.x(k) - px(4), f.box.y0, f.x(k) + px(4), f.box.y1);
    }
  }
  draw_brushes(f);
  if (under) {
    s.hovered = under;
    ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    tooltip(drawable(about_point(table, table.points[*under])) + "\nClick: show its schedule. Right click: compare with it as B.");
    const bool left = ImGui::IsMouseReleased(ImGuiMouseButton_Left), right = ImGui::IsMouseReleased(ImGuiMouseButton_Right);
    if (left || right) {
      s.go_to = under;
      pick_point(session, ui, *under, right);
    }
  } else if (hovered && on_axis && !s.drag) {
    tooltip("Drag: only this range. Drag the range: moves it. Click: takes it away.");
  }
  if (s.drawn.size() < s.order.size()) {
    const std::string text =
        fmt::format("{} of {} lines: the best, and every so many of the rest", grouped(static_cast<std::int64_t>(s.drawn.size())),
                    grouped(static_cast<std::int64_t>(s.order.size())));
    paint_text(fonts().small, ImVec2(at.x + px(8), at.y + size.y - text_size(fonts().small, text).y - px(1)), t.dim, text);
  }
  draw.PopClipRect();
}

}  // namespace heddle::app

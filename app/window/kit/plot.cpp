#include "app/window/kit/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "app/window/kit/chart_paint.h"
#include "app/window/kit/focus.h"
#include "app/window/kit/plot_scale.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/widgets.h"

namespace heddle::app {
namespace {

constexpr std::size_t kMany = 100;  ///< points: with more they are smaller
constexpr float kTall = 170;        ///< below, the title of the level axis stands with the other one

struct Extent {
  double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();
  void add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

struct Frame {
  const PlotModel& model;
  ImDrawList& draw;
  paint::Box box;  ///< of the data
  PlotScale xs, ys;

  float x(double value) const { return at(value, xs, box.x0, box.x1); }
  float y(double value) const { return at(value, ys, box.y1, box.y0); }
  static float at(double value, const PlotScale& scale, float from, float to) {
    return from + static_cast<float>(std::clamp(scale.share(value), -0.5, 1.5)) * (to - from);
  }
};

std::string text_of(const PlotAxis& axis, double value) {
  if (!axis.words.empty()) return axis.words[std::min(axis.words.size() - 1, static_cast<std::size_t>(std::max(value, 0.0)))];
  return axis.text ? axis.text(value) : tick_text(value);
}

Color or_accent(Color color) { return color == 0 ? theme().accent : color; }

/// Room that the labels of the upright axis need.
float label_width(const PlotAxis& axis, const PlotScale& scale) {
  float width = 0;
  for (const double tick : scale.ticks) width = std::max(width, text_size(fonts().mono_small, text_of(axis, tick)).x);
  return width;
}

void scales(Frame& f, ImVec2 size) {
  Extent x, y;
  for (const PlotCurve& curve : f.model.curves)
    for (const PlotPiece& piece : curve.pieces) {
      x.add(piece.x0), x.add(piece.x1);
      y.add(piece.y0), y.add(piece.y1);
    }
  for (const PlotPoint& point : f.model.points) x.add(point.x), y.add(point.y);
  for (const PlotLine& line : f.model.lines) x.add(line.x);
  const auto scale = [](const PlotAxis& axis, Extent seen, int most, double margin) {
    if (axis.low) seen.low = *axis.low;
    if (axis.high) seen.high = *axis.high;
    if (!axis.words.empty()) {
      PlotScale words{-0.5, static_cast<double>(axis.words.size()) - 0.5, {}};
      for (std::size_t i = 0; i < axis.words.size(); ++i) words.ticks.push_back(static_cast<double>(i));
      return words;
    }
    if (axis.log) return log_scale(seen.low, seen.high, most, axis.low && axis.high ? 0 : margin);
    PlotScale made = plot_scale(seen.low, seen.high, most, axis.whole, axis.low && axis.high ? 0 : margin);
    return made;
  };
  f.xs = scale(f.model.x, x, std::max(2, static_cast<int>(size.x / px(84))), 0.05);
  f.ys = scale(f.model.y, y, std::max(2, static_cast<int>(size.y / px(38))), 0.12);
}

void draw_axes(Frame& f, ImVec2 at, ImVec2 size) {
  const Theme& t = theme();
  const float line = std::max(1.0f, std::round(fonts().scale));
  const float half = text_size(fonts().mono_small, "0").y / 2;
  for (const double tick : f.ys.ticks) {
    const float y = std::round(f.y(tick));
    f.draw.AddLine(ImVec2(f.box.x0, y), ImVec2(f.box.x1, y), t.grid, line);
    paint_text_right(fonts().mono_small, f.box.x0 - px(6), y - half, t.dim, text_of(f.model.y, tick));
  }
  float free_from = at.x;
  for (const double tick : f.xs.ticks) {
    const float x = std::round(f.x(tick));
    const std::string text = text_of(f.model.x, tick);
    const float width = text_size(fonts().mono_small, text).x;
    f.draw.AddLine(ImVec2(x, f.box.y1), ImVec2(x, f.box.y1 + px(4)), t.dim, line);
    const float left = std::min(x - width / 2, at.x + size.x - width);
    if (left < free_from) continue;
    paint_text(fonts().mono_small, ImVec2(left, f.box.y1 + px(5)), t.dim, text);
    free_from = left + width + px(8);
  }
  f.draw.AddLine(ImVec2(f.box.x0, f.box.y1), ImVec2(f.box.x1, f.box.y1), t.dim, line);
  f.draw.AddLine(ImVec2(f.box.x0, f.box.y0), ImVec2(f.box.x0, f.box.y1), t.dim, line);
  if (!f.model.x.title.empty() && size.y >= kTall * fonts().scale)
    paint_text_right(fonts().small, f.box.x1, f.box.y1 + px(6) + 2 * half, t.dim, fitted(fonts().small, f.model.x.title, f.box.width()));
}

/// Title on the left, names of the curves on the right; the name of the upright axis stands before the title.
void draw_head(const Frame& f, ImVec2 at, ImVec2 size) {
  float right = at.x + size.x - px(8);
  for (auto curve = f.model.curves.rbegin(); curve != f.model.curves.rend(); ++curve) {
    if (curve->name.empty()) continue;
    const float width = text_size(fonts().small, curve->name).x;
    right -= width;
    paint_text(fonts().small, ImVec2(right, at.y), or_accent(curve->color), curve->name);
    f.draw.AddLine(ImVec2(right - px(18), at.y + px(8)), ImVec2(right - px(5), at.y + px(8)), or_accent(curve->color), px(2));
    right -= px(30);
  }
  std::string title = f.model.y.title;
  if (size.y < kTall * fonts().scale && !f.model.x.title.empty()) title += " against " + f.model.x.title;
  if (!f.model.title.empty()) title += (title.empty() ? "" : " · ") + f.model.title;
  if (right - at.x >= px(20))
    paint_text(fonts().small, at, theme().dim, fitted(fonts().small, title, right - at.x));  // else names stand there
}

void draw_curve(const Frame& f, const PlotCurve& curve) {
  const float thick = px(1.8f);
  for (std::size_t i = 0; i < curve.pieces.size(); ++i) {
    const PlotPiece& p = curve.pieces[i];
    const ImVec2 a(f.x(p.x0), f.y(p.y0)), b(f.x(p.x1), f.y(p.y1));
    if (p.dashed && a.y == b.y)
      paint::dashed_horizontal(f.draw, a.x, b.x, a.y, {or_accent(curve.color), px(5), thick});
    else
      f.draw.AddLine(a, b, or_accent(curve.color), thick);
    if (i == 0) continue;
    const PlotPiece& before = curve.pieces[i - 1];
    if (before.y1 != p.y0 && before.x1 == p.x0)
      f.draw.AddLine(ImVec2(a.x, f.y(before.y1)), a, with_alpha(or_accent(curve.color), 0.7f), px(1.2f));
  }
}

/// y = factor * x across the box.
void add_ray(const Frame& f, double factor, std::vector<ImVec2>& corners) {
  const int pieces = f.xs.log == f.ys.log ? 1 : 32;  // straight where both axes are of one kind
  for (int i = 0; i <= pieces; ++i) {
    const double x = f.xs.value(static_cast<double>(i) / pieces);
    corners.emplace_back(f.x(x), f.box.y1 + static_cast<float>(f.ys.share(factor * x)) * (f.box.y0 - f.box.y1));
  }
}

void draw_band(const Frame& f, const PlotBand& band) {
  f.draw.PushClipRect(ImVec2(f.box.x0, f.box.y0), ImVec2(f.box.x1, f.box.y1), true);
  std::vector<ImVec2> low, high, middle;
  add_ray(f, band.low, low);
  add_ray(f, band.high, high);
  add_ray(f, 1, middle);
  for (std::size_t i = 1; i < low.size(); ++i)
    f.draw.AddQuadFilled(low[i - 1], high[i - 1], high[i], low[i], with_alpha(theme().accent, 0.16f));
  f.draw.AddPolyline(middle.data(), static_cast<int>(middle.size()), theme().dim, 0, px(1.2f));
  f.draw.PopClipRect();
}

void draw_point(const Frame& f, const PlotPoint& point, bool hot, bool chosen) {
  const Theme& t = theme();
  const ImVec2 at(f.x(point.x), f.y(point.y));
  const float radius = px((f.model.points.size() > kMany ? 4.0f : 5.0f) + (hot ? 1.5f : 0.0f));
  const Color color = or_accent(point.color);
  switch (point.mark) {
    case PlotMark::Filled: paint_plot_mark(f.draw, at, {point.shape, true, radius, color}); break;
    case PlotMark::Hollow: paint_plot_mark(f.draw, at, {point.shape, false, radius, color}); break;
    case PlotMark::AtLeast:
      f.draw.AddLine(ImVec2(at.x - radius, at.y), ImVec2(at.x + radius, at.y), color, px(2));
      f.draw.AddLine(at, ImVec2(at.x, at.y - px(12)), color, px(2));
      f.draw.AddTriangleFilled(ImVec2(at.x - px(4), at.y - px(10)), ImVec2(at.x + px(4), at.y - px(10)), ImVec2(at.x, at.y - px(17)),
                               color);
      break;
  }
  if (point.current) f.draw.AddCircle(at, radius + px(4), t.outline, 0, px(1.5f));
  if (chosen)
    f.draw.AddRect(ImVec2(at.x - radius - px(6), at.y - radius - px(6)), ImVec2(at.x + radius + px(6), at.y + radius + px(6)), t.accent,
                   px(3), 0, px(1.5f));
}

void draw_labels(const Frame& f) {
  const float high = text_size(fonts().small, "X").y;
  for (const PlotPoint& point : f.model.points) {
    if (point.label.empty()) continue;
    const float width = text_size(fonts().small, point.label).x;
    const ImVec2 at(f.x(point.x), f.y(point.y));
    // Right of the point and above it; on the other side where the box ends, below where a title would be met.
    const float x = at.x + px(10) + width <= f.box.x1 ? at.x + px(10) : at.x - px(10) - width;
    const float y = at.y - high - px(4) >= f.box.y0 ? at.y - high - px(4) : at.y + px(5);
    f.draw.AddRectFilled(ImVec2(x - px(3), y), ImVec2(x + width + px(3), y + high), with_alpha(theme().card, 0.8f), px(3));
    paint_text(fonts().small, ImVec2(x, y), theme().text, point.label);
  }
}

void draw_lines(const Frame& f) {
  const float high = text_size(fonts().small, "X").y;
  for (const PlotLine& line : f.model.lines) {
    const float x = std::round(f.x(line.x));
    const Color color = line.color == 0 ? theme().text : line.color;
    if (line.dashed)
      paint::dashed_vertical(f.draw, x, f.box.y0, f.box.y1, {color, px(4), px(1.2f)});
    else
      f.draw.AddLine(ImVec2(x, f.box.y0), ImVec2(x, f.box.y1), color, px(1.4f));
    const float width = text_size(fonts().small, line.label).x;
    const float left = x + px(5) + width <= f.box.x1 ? x + px(5) : x - px(5) - width;
    // Labels of neighbouring lines are on different lines of text.
    const auto index = static_cast<float>(&line - f.model.lines.data());
    const float y = f.box.y1 - px(3) - (index + 1) * high;
    f.draw.AddRectFilled(ImVec2(left - px(2), y), ImVec2(left + width + px(2), y + high), with_alpha(theme().card, 0.8f), px(2));
    paint_text(fonts().small, ImVec2(left, y), color, line.label);
  }
}

std::optional<std::size_t> nearest_point(const Frame& f, ImVec2 mouse) {
  std::optional<std::size_t> nearest;
  float best = px(14);
  for (std::size_t i = 0; i < f.model.points.size(); ++i) {
    const float d = std::hypot(f.x(f.model.points[i].x) - mouse.x, f.y(f.model.points[i].y) - mouse.y);
    if (d < best) best = d, nearest = i;
  }
  return nearest;
}

/// Page Up and Page Down walk, Enter picks.
void walk(const Frame& f, PlotState& state, PlotAnswer& answer) {
  const std::size_t count = f.model.points.size();
  if (state.chosen && *state.chosen >= count) state.chosen.reset();
  if (!state.focused || count == 0 || ImGui::GetIO().WantTextInput || in_dialog()) return;
  if (key_pressed(Key::Up) || key_pressed(Key::Down) || key_pressed(Key::Tab)) state.focused = false;  // on to rows and buttons
  const bool forward = key_pressed(Key::PageDown, true), back = key_pressed(Key::PageUp, true);
  if (forward) state.chosen = state.chosen ? (*state.chosen + 1) % count : 0;
  if (back) state.chosen = state.chosen ? (*state.chosen + count - 1) % count : count - 1;
  if (!state.chosen) return;
  focus::take_enter();
  if (key_pressed(Key::Enter)) answer.picked = state.chosen, answer.by_key = true;
}

}  // namespace

void paint_plot_mark(ImDrawList& draw, ImVec2 center, const PlotDot& dot) {
  const bool filled = dot.filled;
  const float radius = dot.radius;
  const Color color = dot.color;
  // Shapes of about one area.
  std::vector<ImVec2> corners;
  const auto corner = [&](float x, float y) { corners.emplace_back(center.x + x * radius, center.y + y * radius); };
  switch (dot.shape) {
    case PlotShape::Circle:
      if (!filled) draw.AddCircleFilled(center, radius, theme().card);
      filled ? draw.AddCircleFilled(center, radius, color) : draw.AddCircle(center, radius, color, 0, px(2));
      return;
    case PlotShape::Square: corner(-0.88f, -0.88f), corner(0.88f, -0.88f), corner(0.88f, 0.88f), corner(-0.88f, 0.88f); break;
    case PlotShape::Triangle: corner(0, -1.25f), corner(1.15f, 0.85f), corner(-1.15f, 0.85f); break;
    case PlotShape::Diamond: corner(0, -1.3f), corner(1.3f, 0), corner(0, 1.3f), corner(-1.3f, 0); break;
    case PlotShape::Turned: corner(0, 1.25f), corner(-1.15f, -0.85f), corner(1.15f, -0.85f); break;
  }
  const int count = static_cast<int>(corners.size());
  draw.AddConvexPolyFilled(corners.data(), count, filled ? color : theme().card);
  if (!filled) draw.AddPolyline(corners.data(), count, color, ImDrawFlags_Closed, px(2));
}

PlotAnswer draw_plot(const std::string& name, const PlotModel& model, ImVec2 size, PlotState& state) {
  const Theme& t = theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  PlotAnswer answer;
  size = ImVec2(std::max(size.x, px(60)), std::max(size.y, px(60)));
  ImGui::PushID(name.c_str());
  const bool clicked = ImGui::InvisibleButton("plot", size, ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonRight);
  ImGui::PopID();
  if (probe::on()) probe::last_item(name);
  const bool hovered = ImGui::IsItemHovered();
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) state.focused = hovered;
  draw.AddRectFilled(at, ImVec2(at.x + size.x, at.y + size.y), t.card, px(4));
  if (state.focused) draw.AddRect(at, ImVec2(at.x + size.x, at.y + size.y), t.accent, px(4));

  Frame f{model, draw, {}, {}, {}};
  scales(f, size);
  const float line = text_size(fonts().small, "X").y, mono = text_size(fonts().mono_small, "0").y;
  const float below = px(10) + mono + (model.x.title.empty() || size.y < kTall * fonts().scale ? 0 : line + px(1));
  f.box = {at.x + px(14) + label_width(model.y, f.ys), at.y + px(10) + line, at.x + size.x - px(14), at.y + size.y - below};
  if (f.box.width() < px(20) || f.box.height() < px(12)) return answer;
  draw.PushClipRect(at, ImVec2(at.x + size.x, at.y + size.y), true);
  draw_axes(f, at, size);
  draw_head(f, ImVec2(at.x + px(10), at.y + px(4)), ImVec2(size.x - px(14), size.y));
  if (model.band) draw_band(f, *model.band);
  for (const PlotCurve& curve : model.curves) draw_curve(f, curve);
  draw_lines(f);

  const ImVec2 mouse = ImGui::GetIO().MousePos;
  if (hovered) {
    answer.hovered = nearest_point(f, mouse);
    if (f.box.contains(mouse.x, mouse.y)) answer.x = f.xs.value(static_cast<double>((mouse.x - f.box.x0) / f.box.width()));
  }
  if (clicked && answer.hovered) {
    answer.picked = state.chosen = answer.hovered;
    answer.secondary = ImGui::IsMouseReleased(ImGuiMouseButton_Right);
  }
  if (answer.hovered && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) answer.picked = answer.hovered, answer.twice = true;
  walk(f, state, answer);
  const auto in_front = [&](std::size_t i) { return model.points[i].current || answer.hovered == i || state.chosen == i; };
  for (const bool front : {false, true})
    for (std::size_t i = 0; i < model.points.size(); ++i)
      if (in_front(i) == front) draw_point(f, model.points[i], answer.hovered == i, state.focused && state.chosen == i);
  for (std::size_t i = 0; i < model.points.size(); ++i) {
    const float x = f.x(model.points[i].x), y = f.y(model.points[i].y);
    if (probe::on()) probe::item(fmt::format("{}/point/{}", name, i), x - px(5), y - px(5), x + px(5), y + px(5));
  }
  draw_labels(f);
  if (answer.hovered) {
    ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    if (!model.points[*answer.hovered].about.empty()) tooltip(model.points[*answer.hovered].about);
  }
  draw.PopClipRect();
  return answer;
}

}  // namespace heddle::app

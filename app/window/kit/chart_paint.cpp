#include "app/window/kit/chart_paint.h"

#include <algorithm>
#include <cmath>

#include "app/platform/imgui_compat.h"
#include "app/window/kit/probe.h"

namespace heddle::app::paint {

void dashed_vertical(ImDrawList& draw, float x, float y0, float y1, const Dashes& dashes) {
  const auto& [color, dash, thickness] = dashes;
  for (float y = y0; y < y1; y += 2 * dash) draw.AddRectFilled({x, y}, {x + thickness, std::min(y + dash, y1)}, color);
}

void dashed_horizontal(ImDrawList& draw, float x0, float x1, float y, const Dashes& dashes) {
  const auto& [color, dash, thickness] = dashes;
  for (float x = x0; x < x1; x += 2 * dash) draw.AddRectFilled({x, y}, {std::min(x + dash, x1), y + thickness}, color);
}

void hatch(ImDrawList& draw, const Box& box, const Hatch& strokes) {
  auto [style, anchor, spacing, color, thickness] = strokes;
  if (style <= 0 || box.width() < 2 || box.height() < 2) return;
  style = (style - 1) % 3 + 1;
  if (style == 3) {
    for (float y = box.y0 + spacing / 2; y < box.y1; y += spacing / 1.5f) draw.AddRectFilled({box.x0, y}, {box.x1, y + thickness}, color);
    return;
  }
  // Rising strokes are x + y = c, falling ones x - y = c: cut each c to the box.
  const float tilt = style == 1 ? 1.0f : -1.0f;
  const float at_top = tilt * box.y0, at_bottom = tilt * box.y1;
  const float low = box.x0 + std::min(at_top, at_bottom), high = box.x1 + std::max(at_top, at_bottom);
  const float phase = anchor + tilt * box.y0;
  for (float c = phase + std::ceil((low - phase) / spacing) * spacing; c < high; c += spacing) {
    float xa = c - at_top, ya = box.y0, xb = c - at_bottom, yb = box.y1;
    const auto cut = [&](float& x, float& y) {
      const float inside = std::clamp(x, box.x0, box.x1);
      if (inside != x) y = tilt * (c - inside);
      x = inside;
    };
    cut(xa, ya);
    cut(xb, yb);
    draw.AddLine({xa, ya}, {xb, yb}, color, thickness);
  }
}

void cross_hatch(ImDrawList& draw, const Box& box, float anchor, float spacing, Color color) {
  hatch(draw, box, {1, anchor, spacing, color, 1.5f});
  hatch(draw, box, {2, anchor, spacing, color, 1.5f});
}

void zigzag(ImDrawList& draw, const Box& box, Color color) {
  draw.PathClear();
  bool up = false;
  for (float x = box.x0; x <= box.x1 + 0.5f; x += 3, up = !up) draw.PathLineTo({x, up ? box.y0 : box.y1});
  draw.PathStroke(color, 0, 1);
}

void continues(ImDrawList& draw, ImVec2 at, float size, bool to_the_right, Color color) {
  const float way = to_the_right ? 1.0f : -1.0f;
  for (int i = 0; i < 2; ++i) {
    const float tip = at.x - way * (2 + static_cast<float>(i) * size * 0.8f);
    draw.PathClear();
    draw.PathLineTo({tip - way * size * 0.6f, at.y - size});
    draw.PathLineTo({tip, at.y});
    draw.PathLineTo({tip - way * size * 0.6f, at.y + size});
    draw.PathStroke(color, 0, 1.5f);
  }
}

void arrow_head(ImDrawList& draw, ImVec2 tip, float size, Color color) {
  draw.AddTriangleFilled({tip.x - size, tip.y - size * 0.6f}, tip, {tip.x - size, tip.y + size * 0.6f}, color);
}

void dashed_bezier(ImDrawList& draw, const Bezier& curve, Color color, float thickness) {
  const ImVec2 a = curve.a, b = curve.b, c = curve.c, d = curve.d;
  const float length = std::hypot(d.x - a.x, d.y - a.y) + std::abs(b.x - a.x);
  const int pieces = std::clamp(static_cast<int>(length / 6), 4, 120);
  const auto at = [&](float t) {
    const float u = 1 - t, w0 = u * u * u, w1 = 3 * u * u * t, w2 = 3 * u * t * t, w3 = t * t * t;
    return ImVec2(w0 * a.x + w1 * b.x + w2 * c.x + w3 * d.x, w0 * a.y + w1 * b.y + w2 * c.y + w3 * d.y);
  };
  for (int i = 0; i < pieces; i += 2)
    draw.AddLine(at(static_cast<float>(i) / static_cast<float>(pieces)), at(static_cast<float>(i + 1) / static_cast<float>(pieces)), color,
                 thickness);
}

float text_width(ImFont* font, std::string_view text) {
  return font->CalcTextSizeA(font_size(font), 1e9f, 0, text.data(), text.data() + text.size()).x;
}

float text_height(ImFont* font) { return font_size(font); }

void text(const Pen& pen, ImVec2 at, std::string_view text) {
  // Whole pixels keep letters sharp.
  pen.draw.AddText(pen.font, font_size(pen.font), {std::floor(at.x), std::floor(at.y)}, pen.color, text.data(), text.data() + text.size());
  if (probe::on()) probe::label(pen.draw, text, {at.x, at.y, at.x + text_width(pen.font, text), at.y + text_height(pen.font)});
}

void text_right(const Pen& pen, ImVec2 at, std::string_view what) { text(pen, {at.x - text_width(pen.font, what), at.y}, what); }

std::string_view beginning_that_fits(ImFont* font, std::string_view text, float width) {
  const char* rest = nullptr;
  font->CalcTextSizeA(font_size(font), std::max(0.0f, width - text_width(font, "..")), 0, text.data(), text.data() + text.size(), &rest);
  const std::size_t count = rest ? static_cast<std::size_t>(rest - text.data()) : 0;
  return count >= 2 ? text.substr(0, count) : std::string_view{};
}

void text_cut(const Pen& pen, ImVec2 at, float width, std::string_view what) {
  if (text_width(pen.font, what) <= width) return text(pen, at, what);
  const std::string_view beginning = beginning_that_fits(pen.font, what, width);
  if (beginning.empty()) return;
  const std::string cut = std::string(beginning) + "..";
  if (probe::on()) probe::cut(cut, what, text_width(pen.font, what) - text_width(pen.font, cut));
  text(pen, at, cut);
}

FittedName name_that_fits(ImFont* font, std::string_view name, float width) {
  if (text_width(font, name) <= width) return {std::string(name)};
  const auto inside = [&](std::size_t i) { return i < name.size() && (static_cast<unsigned char>(name[i]) & 0xC0) == 0x80; };
  for (std::size_t keep = name.size(); keep-- > 3;) {
    std::size_t head = (keep + 1) / 2, from = name.size() - keep / 2;
    while (head > 0 && inside(head)) --head;
    while (inside(from)) ++from;
    std::string cut = std::string(name.substr(0, head)) + ".." + std::string(name.substr(from));
    if (text_width(font, cut) <= width) return {std::move(cut), head, name.size() - from};
  }
  return {};
}

void name_cut(const Pen& pen, ImVec2 at, float width, std::string_view name) {
  const FittedName cut = name_that_fits(pen.font, name, width);
  if (cut.text.empty()) return;
  if (probe::on() && cut.text != name) probe::cut(cut.text, name, text_width(pen.font, name) - text_width(pen.font, cut.text));
  text(pen, at, cut.text);
}

}  // namespace heddle::app::paint

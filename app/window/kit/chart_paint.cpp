#include "app/window/kit/chart_paint.h"

#include <algorithm>
#include <cmath>

#include "app/platform/imgui_compat.h"
#include "app/window/kit/probe.h"

namespace heddle::app::paint {

void dashed_vertical(ImDrawList& draw, float x, float y0, float y1, Color color, float dash, float thickness) {
  for (float y = y0; y < y1; y += 2 * dash) draw.AddRectFilled({x, y}, {x + thickness, std::min(y + dash, y1)}, color);
}

void dashed_horizontal(ImDrawList& draw, float x0, float x1, float y, Color color, float dash, float thickness) {
  for (float x = x0; x < x1; x += 2 * dash) draw.AddRectFilled({x, y}, {std::min(x + dash, x1), y + thickness}, color);
}

void hatch(ImDrawList& draw, const Box& box, int style, float anchor, float spacing, Color color, float thickness) {
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
  hatch(draw, box, 1, anchor, spacing, color, 1.5f);
  hatch(draw, box, 2, anchor, spacing, color, 1.5f);
}

void zigzag(ImDrawList& draw, float x0, float x1, float y, float height, Color color) {
  draw.PathClear();
  bool up = false;
  for (float x = x0; x <= x1 + 0.5f; x += 3, up = !up) draw.PathLineTo({x, up ? y : y + height});
  draw.PathStroke(color, 0, 1);
}

void continues(ImDrawList& draw, float x, float y, float size, bool to_the_right, Color color) {
  const float way = to_the_right ? 1.0f : -1.0f;
  for (int i = 0; i < 2; ++i) {
    const float tip = x - way * (2 + static_cast<float>(i) * size * 0.8f);
    draw.PathClear();
    draw.PathLineTo({tip - way * size * 0.6f, y - size});
    draw.PathLineTo({tip, y});
    draw.PathLineTo({tip - way * size * 0.6f, y + size});
    draw.PathStroke(color, 0, 1.5f);
  }
}

void arrow_head(ImDrawList& draw, ImVec2 tip, float size, Color color) {
  draw.AddTriangleFilled({tip.x - size, tip.y - size * 0.6f}, tip, {tip.x - size, tip.y + size * 0.6f}, color);
}

void dashed_bezier(ImDrawList& draw, ImVec2 a, ImVec2 b, ImVec2 c, ImVec2 d, Color color, float thickness) {
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

void text(ImDrawList& draw, ImFont* font, float x, float y, Color color, std::string_view text) {
  // Whole pixels keep letters sharp.
  draw.AddText(font, font_size(font), {std::floor(x), std::floor(y)}, color, text.data(), text.data() + text.size());
  if (probe::on()) probe::label(draw, text, x, y, x + text_width(font, text), y + text_height(font));
}

void text_right(ImDrawList& draw, ImFont* font, float x, float y, Color color, std::string_view what) {
  text(draw, font, x - text_width(font, what), y, color, what);
}

std::string_view beginning_that_fits(ImFont* font, std::string_view text, float width) {
  const char* rest = nullptr;
  font->CalcTextSizeA(font_size(font), std::max(0.0f, width - text_width(font, "..")), 0, text.data(), text.data() + text.size(), &rest);
  const std::size_t count = rest ? static_cast<std::size_t>(rest - text.data()) : 0;
  return count >= 2 ? text.substr(0, count) : std::string_view{};
}

void text_cut(ImDrawList& draw, ImFont* font, float x, float y, float width, Color color, std::string_view what) {
  if (text_width(font, what) <= width) return text(draw, font, x, y, color, what);
  const std::string_view beginning = beginning_that_fits(font, what, width);
  if (beginning.empty()) return;
  const std::string cut = std::string(beginning) + "..";
  if (probe::on()) probe::cut(cut, what, text_width(font, what) - text_width(font, cut));
  text(draw, font, x, y, color, cut);
}

CutName name_that_fits(ImFont* font, std::string_view name, float width) {
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

void name_cut(ImDrawList& draw, ImFont* font, float x, float y, float width, Color color, std::string_view name) {
  const CutName cut = name_that_fits(font, name, width);
  if (cut.text.empty()) return;
  if (probe::on() && cut.text != name) probe::cut(cut.text, name, text_width(font, name) - text_width(font, cut.text));
  text(draw, font, x, y, color, cut.text);
}

}  // namespace heddle::app::paint

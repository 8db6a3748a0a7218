// Strokes that every time-based view needs and ImGui does not have: dashes, hatches, zig-zags, text that fits.
#pragma once

#include <string>
#include <string_view>

#include <imgui.h>

#include "app/window/kit/theme.h"

namespace heddle::app::paint {

struct Box {
  float x0 = 0, y0 = 0, x1 = 0, y1 = 0;
  float width() const { return x1 - x0; }
  float height() const { return y1 - y0; }
  bool contains(float x, float y) const { return x >= x0 && x < x1 && y >= y0 && y < y1; }
  ImVec2 low() const { return {x0, y0}; }
  ImVec2 high() const { return {x1, y1}; }
};

void dashed_vertical(ImDrawList& draw, float x, float y0, float y1, Color color, float dash, float thickness = 1);
void dashed_horizontal(ImDrawList& draw, float x0, float x1, float y, Color color, float dash, float thickness = 1);

/// Parallel strokes inside a box. `style` 1: rising, 2: falling, 3: level; others wrap around, 0 draws nothing.
/// `anchor` fixes the pattern to something that moves with the view.
void hatch(ImDrawList& draw, const Box& box, int style, float anchor, float spacing, Color color, float thickness);
/// Rising and falling at once: a broken rule.
void cross_hatch(ImDrawList& draw, const Box& box, float anchor, float spacing, Color color);
/// Stands for several things too small to draw.
void zigzag(ImDrawList& draw, float x0, float x1, float y, float height, Color color);
/// Two chevrons at a cut edge: the bar goes on at the other side.
void continues(ImDrawList& draw, float x, float y, float size, bool to_the_right, Color color);
void arrow_head(ImDrawList& draw, ImVec2 tip, float size, Color color);
void dashed_bezier(ImDrawList& draw, ImVec2 a, ImVec2 b, ImVec2 c, ImVec2 d, Color color, float thickness);

float text_width(ImFont* font, std::string_view text);
float text_height(ImFont* font);
/// Left aligned at (x, y).
void text(ImDrawList& draw, ImFont* font, float x, float y, Color color, std::string_view text);
/// Right aligned, ending at x.
void text_right(ImDrawList& draw, ImFont* font, float x, float y, Color color, std::string_view text);
/// Left aligned, cut with "..." where it is wider than `width`.
void text_cut(ImDrawList& draw, ImFont* font, float x, float y, float width, Color color, std::string_view text);
/// The same for names, which often differ at the end: they are cut in the middle.
void name_cut(ImDrawList& draw, ImFont* font, float x, float y, float width, Color color, std::string_view name);
/// What is left of a name where there is room for so much: all of it, both ends with ".." between them, or nothing.
struct CutName {
  std::string text;
  std::size_t head = 0, tail = 0;  ///< letters at either end; both 0 where the name is whole or nothing is left
};
CutName name_that_fits(ImFont* font, std::string_view name, float width);
/// The longest beginning of the text that fits, with room for dots; empty when not even two letters do.
std::string_view beginning_that_fits(ImFont* font, std::string_view text, float width);

}  // namespace heddle::app::paint

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

struct Dashes {
  Color color;
  float length;
  float thickness = 1;
};
void dashed_vertical(ImDrawList& draw, float x, float y0, float y1, const Dashes& dashes);
void dashed_horizontal(ImDrawList& draw, float x0, float x1, float y, const Dashes& dashes);

/// Parallel strokes.
struct Hatch {
  int style;     ///< 1: rising, 2: falling, 3: level; others wrap around, 0 draws nothing
  float anchor;  ///< fixes the pattern to something that moves with the view
  float spacing;
  Color color;
  float thickness;
};
void hatch(ImDrawList& draw, const Box& box, const Hatch& strokes);
/// Rising and falling at once: a broken rule.
void cross_hatch(ImDrawList& draw, const Box& box, float anchor, float spacing, Color color);
/// Stands for several things too small to draw.
void zigzag(ImDrawList& draw, const Box& box, Color color);
/// Two chevrons at a cut edge: the bar goes on at the other side.
void continues(ImDrawList& draw, ImVec2 at, float size, bool to_the_right, Color color);
void arrow_head(ImDrawList& draw, ImVec2 tip, float size, Color color);
struct Bezier {
  ImVec2 a, b, c, d;
};
void dashed_bezier(ImDrawList& draw, const Bezier& curve, Color color, float thickness);

float text_width(ImFont* font, std::string_view text);
float text_height(ImFont* font);
/// What text is written with.
struct Pen {
  ImDrawList& draw;
  ImFont* font;
  Color color;
};
/// Left aligned.
void text(const Pen& pen, ImVec2 at, std::string_view text);
/// Right aligned, ending at `at`.
void text_right(const Pen& pen, ImVec2 at, std::string_view text);
/// Left aligned, cut with "..." where it is wider than `width`.
void text_cut(const Pen& pen, ImVec2 at, float width, std::string_view text);
/// The same for names, which often differ at the end: they are cut in the middle.
void name_cut(const Pen& pen, ImVec2 at, float width, std::string_view name);
/// What is left of a name where there is room for so much: all of it, both ends with ".." between them, or nothing.
struct FittedName {
  std::string text;
  std::size_t head = 0, tail = 0;  ///< letters at either end; both 0 where the name is whole or nothing is left
};
FittedName name_that_fits(ImFont* font, std::string_view name, float width);
/// The longest beginning of the text that fits, with room for dots; empty when not even two letters do.
std::string_view beginning_that_fits(ImFont* font, std::string_view text, float width);

}  // namespace heddle::app::paint

// The grid: a cell for every element, neighbours that say the same as one block. Only what is in sight is drawn, rectangles in one
// reservation; numbers are written where a block has room for them. Wheel zooms at the mouse, right drag pans, double click fits, a click
// chooses a lane or a register.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/window/kit/actions.h"
#include "app/window/kit/chart_paint.h"
#include "app/window/kit/focus.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/widgets.h"
#include "app/window/tabs/layout/layout_views_drawn.h"
#include "core/answers/layout_picture.h"

namespace heddle::app {
namespace {

constexpr float kLargestCell = 64, kSmallestCell = 0.25f;  // pixels at scale 1

Color packed(std::uint32_t rgb) { return 0xff000000u | ((rgb & 0xff) << 16) | (rgb & 0xff00) | (rgb >> 16 & 0xff); }

/// The rulers' place, and the cells'.
struct GridPlace {
  paint::Box all, cells;
  const LayoutGridView& grid;

  float x(float column) const { return cells.x0 + (column - grid.left) * grid.cell_x; }
  float y(float row) const { return cells.y0 + (row - grid.top) * grid.cell_y; }
};

/// A number that is written again and again.
struct Digits {
  char text[24];
  std::string_view of(std::int64_t number) {
    const auto end = fmt::format_to_n(text, sizeof text, "{}", number);
    return {text, std::min(end.size, sizeof text)};
  }
};

void hold(LayoutGridView& grid, const LayoutView& view, float width, float height) {
  const float seen_x = width / grid.cell_x, seen_y = height / grid.cell_y;
  grid.left = std::clamp(grid.left, 0.0f, std::max(0.0f, static_cast<float>(view.columns) - seen_x));
  grid.top = std::clamp(grid.top, 0.0f, std::max(0.0f, static_cast<float>(view.rows) - seen_y));
}

void fit(LayoutGridView& grid, const LayoutView& view, float width, float height) {
  float x = width / static_cast<float>(std::max<std::int64_t>(view.columns, 1)),
        y = height / static_cast<float>(std::max<std::int64_t>(view.rows, 1));
  // Cells of about one shape, so that a narrow tile does not become bars.
  x = std::min(x, y * 3);
  y = std::min(y, x * 1.5f);
  grid.cell_x = std::clamp(x, px(kSmallestCell), px(kLargestCell));
  grid.cell_y = std::clamp(y, px(kSmallestCell), px(kLargestCell) / 2);
  grid.left = grid.top = 0;
  grid.fitted = true;
}

void zoom(LayoutGridView& grid, float at_x, float at_y, float factor) {
  const float most = std::min(px(kLargestCell) / grid.cell_x, px(kLargestCell) / grid.cell_y);
  const float least = std::max(px(kSmallestCell) / grid.cell_x, px(kSmallestCell) / grid.cell_y);
  factor = std::clamp(factor, std::min(least, 1.0f), std::max(most, 1.0f));
  const float column = grid.left + at_x / grid.cell_x, row = grid.top + at_y / grid.cell_y;
  grid.cell_x *= factor;
  grid.cell_y *= factor;
  grid.left = column - at_x / grid.cell_x;
  grid.top = row - at_y / grid.cell_y;
  grid.fitted = false;
}

/// A step between two numbers of a ruler, so that they have room.
std::int64_t ruler_step(float cell, float room) {
  std::int64_t step = 1;
  while (static_cast<float>(step) * cell < room) step *= 2;
  return step;
}

void draw_rulers(ImDrawList& draw, const GridPlace& p, const LayoutView& view) {
  ImFont* font = fonts().mono_small;
  const float letter = paint::text_height(font);
  Digits digits;
  const auto wide = paint::text_width(font, digits.of(view.columns)) + px(8);
  const std::int64_t over = ruler_step(p.grid.cell_x, wide), down = ruler_step(p.grid.cell_y, letter + px(2));
  draw.PushClipRect(p.all.low(), p.all.high(), true);
  for (std::int64_t c = static_cast<std::int64_t>(std::ceil(p.grid.left / static_cast<float>(over))) * over; c < view.columns; c += over) {
    const float x = p.x(static_cast<float>(c));
    const std::string_view text = digits.of(c);
    if (x + paint::text_width(font, text) > p.all.x1) break;
    draw.AddLine({x, p.cells.y0 - px(3)}, {x, p.cells.y0}, theme().dim);
    paint::text({draw, font, theme().dim}, {x + px(1), p.all.y0}, text);
  }
  for (std::int64_t r = static_cast<std::int64_t>(std::ceil(p.grid.top / static_cast<float>(down))) * down; r < view.rows; r += down) {
    const float y = p.y(static_cast<float>(r));
    if (y + letter > p.all.y1) break;
    draw.AddLine({p.cells.x0 - px(3), y}, {p.cells.x0, y}, theme().dim);
    paint::text_right({draw, font, theme().dim}, {p.cells.x0 - px(5), y - px(1)}, digits.of(r));
  }
  draw.PopClipRect();
}

void rebuild(LayoutScene& scene, LayoutColour colour) {
  if (scene.blocks && scene.colour == colour) return;
  scene.blocks = blocks_of(*scene.view(), colour);
  scene.colour = colour;
}

struct Seen {
  std::int64_t first_row, last_row, first_column, last_column;  ///< inclusive
};

Seen seen_cells(const GridPlace& p, const LayoutView& view) {
  const auto last = [](float at, std::int64_t count) { return std::clamp<std::int64_t>(static_cast<std::int64_t>(at), 0, count - 1); };
  return {last(p.grid.top, view.rows), last(p.grid.top + p.cells.height() / p.grid.cell_y, view.rows), last(p.grid.left, view.columns),
          last(p.grid.left + p.cells.width() / p.grid.cell_x, view.columns)};
}

bool in_sight(const LayoutBlock& b, const Seen& s) {
  return b.row <= s.last_row && b.row + b.rows > s.first_row && b.column <= s.last_column && b.column + b.columns > s.first_column;
}

/// Rectangles of one frame, reserved a few thousand at a time: one reservation each would be most of the work.
class Rectangles {
 public:
  explicit Rectangles(ImDrawList& draw) : draw_(draw) {}
  ~Rectangles() { flush(); }
  void add(ImVec2 low, ImVec2 high, Color color) {
    kept_.push_back({low, high, color});
    if (kept_.size() == kMost) flush();
  }
  void flush() {
    if (kept_.empty()) return;
    draw_.PrimReserve(static_cast<int>(kept_.size()) * 6, static_cast<int>(kept_.size()) * 4);
    for (const One& one : kept_) draw_.PrimRect(one.low, one.high, one.color);
    kept_.clear();
  }

 private:
  static constexpr std::size_t kMost = 4096;  // vertices of a reservation must fit an index of 16 bits
  struct One {
    ImVec2 low, high;
    Color color;
  };
  ImDrawList& draw_;
  std::vector<One> kept_;
};

void draw_blocks(ImDrawList& draw, const GridPlace& p, const LayoutScene& scene, const LayoutTabState& state) {
  const LayoutView& view = *scene.view();
  const LayoutBlocks& blocks = *scene.blocks;
  const Seen seen = seen_cells(p, view);
  const float small = std::min(p.grid.cell_x, p.grid.cell_y);
  const bool lines = small >= px(5), specks = small < px(4);
  const float gap = lines ? 1 : 0, faded = 0.28f;
  std::vector<LayoutInk> inks;
  for (std::int64_t i = 0; i < blocks.count; ++i) inks.push_back(layout_ink(scene.colour, i, blocks.count));
  const LayoutInk none{theme().row_alternate, theme().dim};
  const auto ink_of = [&](std::int64_t index) { return index < 0 ? none : inks[static_cast<std::size_t>(index)]; };
  {
    Rectangles rectangles(draw);
    // What was chosen stands out, the rest steps back: then every cell is drawn by itself.
    const auto cell_wise = [&](const LayoutBlock& b) {
      for (std::int64_t r = std::max<std::int64_t>(b.row, seen.first_row); r <= std::min<std::int64_t>(b.row + b.rows - 1, seen.last_row);
           ++r)
        for (std::int64_t c = std::max<std::int64_t>(b.column, seen.first_column);
             c <= std::min<std::int64_t>(b.column + b.columns - 1, seen.last_column); ++c) {
          const bool chosen = !state.pick || state.pick->has(view.at(r, c));
          // A speck has no room for a frame: what was chosen is as dark, or as light, as text.
          const Color fill = chosen && specks && state.pick ? theme().outline : ink_of(b.index).fill;
          rectangles.add({p.x(static_cast<float>(c)), p.y(static_cast<float>(r))},
                         {p.x(static_cast<float>(c + 1)) - gap, p.y(static_cast<float>(r + 1)) - gap},
                         chosen ? fill : with_alpha(fill, faded));
        }
    };
    for (const LayoutBlock& b : blocks.blocks) {
      if (!in_sight(b, seen)) continue;
      if (state.pick || lines) {
        cell_wise(b);
        continue;
      }
      const float x0 = std::max(p.x(static_cast<float>(b.column)), p.cells.x0), y0 = std::max(p.y(static_cast<float>(b.row)), p.cells.y0);
      const float x1 = std::min(p.x(static_cast<float>(b.column + b.columns)), p.cells.x1);
      const float y1 = std::min(p.y(static_cast<float>(b.row + b.rows)), p.cells.y1);
      rectangles.add({x0, y0}, {x1, y1}, ink_of(b.index).fill);
    }
  }
}

/// In every cell where there is room, else one in the middle of its block.
void draw_numbers(ImDrawList& draw, const GridPlace& p, const LayoutScene& scene, const LayoutTabState& state) {
  const LayoutView& view = *scene.view();
  const LayoutBlocks& blocks = *scene.blocks;
  const Seen seen = seen_cells(p, view);
  const bool lines = std::min(p.grid.cell_x, p.grid.cell_y) >= px(5);
  ImFont* font = fonts().mono_small;
  Digits digits;
  const float high = paint::text_height(font), wide = paint::text_width(font, digits.of(std::max<std::int64_t>(blocks.count - 1, 0)));
  const bool each = p.grid.cell_x >= wide + px(3) && p.grid.cell_y >= high * 0.85f;
  for (const LayoutBlock& b : blocks.blocks) {
    if (b.index < 0 || !in_sight(b, seen)) continue;
    const std::string_view text = digits.of(b.index);
    const float half = paint::text_width(font, text) / 2;
    const LayoutInk ink = layout_ink(scene.colour, b.index, blocks.count);
    if (each) {
      for (std::int64_t r = std::max<std::int64_t>(b.row, seen.first_row); r <= std::min<std::int64_t>(b.row + b.rows - 1, seen.last_row);
           ++r)
        for (std::int64_t c = std::max<std::int64_t>(b.column, seen.first_column);
             c <= std::min<std::int64_t>(b.column + b.columns - 1, seen.last_column); ++c) {
          const bool chosen = !state.pick || state.pick->has(view.at(r, c));
          paint::text({draw, font, chosen ? ink.text : theme().dim},
                      {p.x(static_cast<float>(c) + 0.5f) - half, p.y(static_cast<float>(r) + 0.5f) - high / 2}, text);
        }
    } else if (!state.pick && static_cast<float>(b.columns) * p.grid.cell_x >= 2 * half + px(4) &&
               static_cast<float>(b.rows) * p.grid.cell_y >= high) {
      const float x = p.x(static_cast<float>(b.column) + static_cast<float>(b.columns) / 2) - half;
      const float y = p.y(static_cast<float>(b.row) + static_cast<float>(b.rows) / 2) - high / 2;
      // Lines between cells, and strokes over them, behind a number make it hard to read.
      if (lines) draw.AddRectFilled({x - px(1), y}, {x + 2 * half + px(1), y + high}, ink.fill);
      paint::text({draw, font, ink.text}, {x, y}, text);
    }
  }
}

/// Strokes over cells that share their bank with another word of their phase, and frames around what was chosen.
void draw_cell_marks(ImDrawList& draw, const GridPlace& p, const LayoutScene& scene, const LayoutTabState& state) {
  const LayoutView& view = *scene.view();
  const Seen seen = seen_cells(p, view);
  const float small = std::min(p.grid.cell_x, p.grid.cell_y);
  const bool hatched = (scene.colour == LayoutColour::Bank || scene.colour == LayoutColour::Phase) && small >= px(7);
  const bool framed = state.pick && small >= px(4);
  if (!hatched && !framed) return;
  for (std::int64_t r = seen.first_row; r <= seen.last_row; ++r)
    for (std::int64_t c = seen.first_column; c <= seen.last_column; ++c) {
      const LayoutCell& cell = view.at(r, c);
      const ImVec2 low(p.x(static_cast<float>(c)), p.y(static_cast<float>(r)));
      const ImVec2 high(p.x(static_cast<float>(c + 1)) - 1, p.y(static_cast<float>(r + 1)) - 1);
      // One stroke says it at this size; a whole hatch would hide the number.
      if (hatched && cell.meets()) draw.AddLine({low.x, high.y}, {high.x, low.y}, theme().hatch, px(1.5f));
      if (framed && state.pick->has(cell)) draw.AddRect(low, high, theme().outline, 0, 0, small >= px(12) ? px(2) : px(1));
    }
}

void draw_cursor(ImDrawList& draw, const GridPlace& p, const LayoutView& view, const LayoutTabState& state) {
  if (!state.cursor || state.cursor->row >= view.rows || state.cursor->column >= view.columns) return;
  const float c = static_cast<float>(state.cursor->column), r = static_cast<float>(state.cursor->row);
  const float grow = std::max(0.0f, (px(6) - std::min(p.grid.cell_x, p.grid.cell_y)) / 2);  // it can be seen where cells are specks
  const ImVec2 low(p.x(c) - grow - 1, p.y(r) - grow - 1), high(p.x(c + 1) + grow, p.y(r + 1) + grow);
  draw.AddRect({low.x - 1, low.y - 1}, {high.x + 1, high.y + 1}, theme().chart, 0, 0, px(1));
  draw.AddRect(low, high, theme().accent, 0, 0, px(2));
}

void choose_cell(LayoutTabState& s, const LayoutView& view, const LayoutCursor& at) {
  if (at.row >= view.rows || at.column >= view.columns) return;
  const LayoutCell& cell = view.at(at.row, at.column);
  const auto pick = pick_of(cell, s.whole_register);
  s.pick = pick == s.pick ? std::nullopt : pick;
  if (const auto step = step_of(view, cell)) s.step = step;
}

void handle_mouse(const GridPlace& p, const LayoutView& view, LayoutTabState& s, bool inside) {
  const ImGuiIO& io = ImGui::GetIO();
  const bool over = inside && p.cells.contains(io.MousePos.x, io.MousePos.y);
  const auto column = static_cast<std::int64_t>(std::floor(s.grid.left + (io.MousePos.x - p.cells.x0) / s.grid.cell_x));
  const auto row = static_cast<std::int64_t>(std::floor(s.grid.top + (io.MousePos.y - p.cells.y0) / s.grid.cell_y));
  const bool cell = over && row >= 0 && row < view.rows && column >= 0 && column < view.columns;
  const bool moved = io.MouseDelta.x != 0 || io.MouseDelta.y != 0;
  if (cell && s.panning < 0 && (moved || s.by_mouse || ImGui::IsMouseClicked(0))) {
    s.cursor = LayoutCursor{row, column};
    s.by_mouse = true;
  }
  const bool space = key_down(Key::Space) && !io.WantTextInput;
  if (inside && s.panning < 0) {
    if (ImGui::IsMouseClicked(1))
      s.panning = 1;
    else if (ImGui::IsMouseClicked(0) && space)
      s.panning = 0;
    if (s.panning >= 0) s.pan_x = io.MousePos.x, s.pan_y = io.MousePos.y, s.pan_view = s.grid, s.panned = false;
  }
  if (!inside || s.panning >= 0) return;
  if (io.MouseWheel != 0)
    zoom(s.grid, io.MousePos.x - p.cells.x0, io.MousePos.y - p.cells.y0, std::pow(io.KeyCtrl ? 1.06f : 1.25f, io.MouseWheel));
  if (io.MouseWheelH != 0) s.grid.left += io.MouseWheelH * px(40) / s.grid.cell_x, s.grid.fitted = false;
  if (ImGui::IsMouseDoubleClicked(0))
    s.grid.cell_x = 0;  // fits again
  else if (ImGui::IsMouseClicked(0) && cell)
    choose_cell(s, view, {row, column});
}

}  // namespace

LayoutInk layout_ink(LayoutColour colour, std::int64_t index, std::int64_t count) {
  const LayoutPaint paint = layout_paint(colour, index, count);
  return {packed(paint.fill), packed(paint.text)};
}

void draw_layout_grid(const char* name, LayoutScene& scene, LayoutTabState& s, float width, float height) {
  const LayoutView& view = *scene.view();
  rebuild(scene, usable_colour(view, s.colour));
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  Digits digits;
  const float gutter = paint::text_width(fonts().mono_small, digits.of(std::max<std::int64_t>(view.rows - 1, 0))) + px(8);
  const float ruler = paint::text_height(fonts().mono_small) + px(3);
  width = std::max(width, gutter + px(20));
  height = std::max(height, ruler + px(20));
  const GridPlace p{{at.x, at.y, at.x + width, at.y + height}, {at.x + gutter, at.y + ruler, at.x + width, at.y + height}, s.grid};
  if (s.grid.cell_x <= 0 || s.grid.fitted) fit(s.grid, view, p.cells.width(), p.cells.height());
  ImGui::PushID(name);
  ImGui::InvisibleButton("##grid", {width, height}, ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonRight);
  ImGui::PopID();
  if (probe::on()) probe::item(name, p.cells.x0, p.cells.y0, p.cells.x1, p.cells.y1);
  const bool inside = ImGui::IsItemHovered(), active = ImGui::IsItemActive();
  const focus::Station station = focus::station();
  handle_mouse(p, view, s, inside);
  s.hears_keys |= inside || station.here;
  if (station.pressed && s.cursor) choose_cell(s, view, *s.cursor);
  if (s.panning >= 0 && active) {
    const ImGuiIO& io = ImGui::GetIO();
    const float dx = io.MousePos.x - s.pan_x, dy = io.MousePos.y - s.pan_y;
    s.panned |= std::hypot(dx, dy) >= px(4);
    if (s.panned) {
      s.grid.left = s.pan_view.left - dx / s.grid.cell_x;
      s.grid.top = s.pan_view.top - dy / s.grid.cell_y;
      s.grid.fitted = false;
    }
  }
  if (s.grid.cell_x <= 0) fit(s.grid, view, p.cells.width(), p.cells.height());
  if (std::exchange(s.reveal, false) && s.cursor) {
    // Only as far as needed.
    const float seen_x = std::floor(p.cells.width() / s.grid.cell_x), seen_y = std::floor(p.cells.height() / s.grid.cell_y);
    const float column = static_cast<float>(s.cursor->column), row = static_cast<float>(s.cursor->row);
    if (column < s.grid.left || column + 1 > s.grid.left + seen_x) s.grid.left = column < s.grid.left ? column : column + 1 - seen_x;
    if (row < s.grid.top || row + 1 > s.grid.top + seen_y) s.grid.top = row < s.grid.top ? row : row + 1 - seen_y;
  }
  hold(s.grid, view, p.cells.width(), p.cells.height());
  draw.AddRectFilled(p.cells.low(), p.cells.high(), theme().chart, px(2));
  draw_rulers(draw, p, view);
  draw.PushClipRect(p.cells.low(), p.cells.high(), true);
  draw_blocks(draw, p, scene, s);
  draw_cell_marks(draw, p, scene, s);
  draw_numbers(draw, p, scene, s);
  draw_cursor(draw, p, view, s);
  draw.PopClipRect();
}

void handle_layout_keys(LayoutTabState& s, std::vector<std::string_view>& requested) {
  if (s.panning >= 0 && !ImGui::IsMouseDown(s.panning)) s.panning = -1;
  const LayoutView* view = s.a.view();
  const bool keys = s.hears_keys && !ImGui::GetIO().WantTextInput && !ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopup);
  if (!view || (!keys && requested.empty())) return;
  const auto wants = [&](std::string_view id, bool repeat = false) { return chart_wants(requested, id, keys, repeat); };
  const auto about = [&](float factor) {
    const LayoutCursor c = s.cursor.value_or(LayoutCursor{});
    zoom(s.grid, (static_cast<float>(c.column) - s.grid.left) * s.grid.cell_x, (static_cast<float>(c.row) - s.grid.top) * s.grid.cell_y,
         factor);
  };
  if (wants("zoom_in", true)) about(1.3f);
  if (wants("zoom_out", true)) about(1 / 1.3f);
  if (wants("fit")) s.grid.cell_x = 0;
  // The cursor goes from cell to cell, and the grid goes with it.
  const auto move = [&](std::string_view id, int rows, int columns) {
    if (!wants(id, true)) return;
    LayoutCursor c = s.cursor.value_or(LayoutCursor{});
    if (s.cursor) c.row += rows, c.column += columns;
    c.row = std::clamp<std::int64_t>(c.row, 0, view->rows - 1);
    c.column = std::clamp<std::int64_t>(c.column, 0, view->columns - 1);
    s.cursor = c;
    s.by_mouse = false;
    s.reveal = true;
  };
  move("pan_left", 0, -1);
  move("pan_right", 0, 1);
  move("row_up", -1, 0);
  move("row_down", 1, 0);
  move("page_left", 0, -8);
  move("page_right", 0, 8);
  if (wants("clear_selection")) s.pick.reset();
  if (wants("follow_on", true)) step_phase(*view, s, 1);
  if (wants("follow_back", true)) step_phase(*view, s, -1);
}

}  // namespace heddle::app

// The small pieces panels are made of. Sizes come in pixels at scale 1 through px(); every interactive piece registers
// with the probe under the name it is given.
#pragma once

#include <imgui.h>

#include <optional>
#include <string>
#include <string_view>

#include "app/platform/fonts.h"
#include "app/platform/imgui_compat.h"
#include "app/session/tone.h"
#include "app/window/kit/theme.h"

namespace heddle::app {

/// Pushes a font for its lifetime.
class FontScope {
 public:
  explicit FontScope(ImFont* font) { push_font(font); }
  ~FontScope() { pop_font(); }
  FontScope(const FontScope&) = delete;
  FontScope& operator=(const FontScope&) = delete;
};

Color tone_ink(Tone tone);
Color tone_fill(Tone tone);
/// Red for what is broken, yellow for what is tight.
Color slack_ink(std::optional<Cycle> slack, Color normal);

ImVec2 text_size(ImFont* font, std::string_view text);
/// Draws on the current window's list without moving the cursor.
void paint_text(ImFont* font, ImVec2 at, Color color, std::string_view text);
/// Over several lines of that width; returns its height.
float paint_wrapped(ImFont* font, ImVec2 at, Color color, const std::string& text, float width);
/// Ends at `right`; `top` is the top of the line.
void paint_text_right(ImFont* font, float right, float top, Color color, std::string_view text);
/// With stand-ins for the few characters that the built-in font lacks.
std::string drawable(std::string text);
/// Cut with "…" so that it fits into `width`.
std::string fitted(ImFont* font, std::string_view text, float width);
/// The same, but both ends stay: names often differ at the end.
std::string fitted_middle(ImFont* font, std::string_view text, float width);

void colored_text(Color color, std::string_view text);
/// The probe hears that the last ImGui item is this text; for those that are not made here.
void label_last_item(std::string_view text);
void wrapped_text(ImFont* font, Color color, std::string_view text);
/// A heading in small bold capitals, with something dim at the right end.
void section(std::string_view title, std::string_view right = {});
/// A line "label       value" over the available width; the value is monospaced, right aligned, and wraps below if
/// long.
void fact_line(std::string_view label, std::string_view value, Color value_color);

enum class ButtonKind { Plain, Primary, Flat };
/// `name` is the probe's; a reason in `why_not` disables it and becomes its tooltip. `size`: 0 is as large as the label needs.
bool button(const char* name, std::string_view label, ButtonKind kind = ButtonKind::Plain, const std::string& why_not = {},
            ImVec2 size = {});
/// Text that acts like a link.
bool link(const char* name, std::string_view label);
/// A rounded label; returns its width. `at` is its top left corner, in screen coordinates.
float paint_pill(ImVec2 at, float height, ImFont* font, std::string_view text, Tone tone);
float pill_width(ImFont* font, std::string_view text);

/// A full-width row that can be picked, `height` pixels high; draw the content over it at the returned rectangle.
struct RowArea {
  ImVec2 min, max;
  bool clicked = false, hovered = false, double_clicked = false;
};
RowArea pick_row(const char* name, bool selected, float height);

/// As much of the room as ends with a whole row.
float whole_rows(float room, float row);
/// At the end of a scrolling list of equal rows: once the wheel rests the list shows whole rows.
void settle_on_rows(float row);

/// A single-line input with a dim hint; true when the text changed.
bool input_field(const char* name, const char* hint, char* buffer, std::size_t size, float width);

/// A line between panes.
struct SplitterLine {
  bool vertical;  ///< it moves sideways
  ImVec2 at;
  float length;
};
struct SplitterRange {
  float extent;  ///< the drag is divided by it; negative: dragging forward makes the ratio smaller
  double low, high;
  double usual;  ///< after a double click
};
/// A line that is dragged, and moves `ratio`. True while it is dragged.
bool splitter(const char* name, const SplitterLine& line, const SplitterRange& range, double& ratio);

/// A cell of a table: numbers right aligned and monospaced.
void cell_text(std::string_view text, bool number, Color color);

/// For the last item. After a key or a click there is none until the mouse moves again: it would cover what was asked for.
void tooltip(std::string_view text);
/// Call once per frame, before anything is drawn: what keys, buttons and the wheel do.
void watch_hand();
/// The same for those that are drawn otherwise.
bool tooltips_rest();

/// A row of an ImGui table, from its first cell on: pressed with the mouse, or with Enter where the keyboard is on it. `flags`
/// are more ImGuiSelectableFlags.
bool table_row(const std::string& name, bool selected, int flags = 0);
/// A heading of a table that sorts by its column when pressed, again: the other way round. Numbers stand at the right. `current`: it is
/// sorted by this one. True when pressed.
bool sort_heading(const char* name, const char* label, bool number, bool current, bool& descending);

/// The square with the letter of A or B; filled, or an outline where it is only an offer.
void paint_badge(float x, float y, float size, bool b, bool filled = true);

/// A dialog, centred over the window; false when it is not open.
bool begin_modal(const char* name, ImVec2 size);
void dialog_title(const std::string& text);

}  // namespace heddle::app

// Colours and metrics of the window: three themes, and one colour per role of a functional unit (Okabe-Ito, the same in
// all themes, with the text colour that can be read on it). Colours are packed as ImGui packs them (IM_COL32).
#pragma once

#include <cstdint>

#include "app/session/settings.h"
#include "core/machine/machine.h"

namespace heddle::app {

using Color = std::uint32_t;

struct Theme {
  // Surfaces, from the back to the front.
  Color window, panel, card, raised, input, border, edge, separator;  // edge: of fields, can be seen without their content
  // Text.
  Color text, dim, faint, heading;
  // Meaning; each is also said in words. `second` is the schedule that the shown one is compared with.
  Color accent, accent_text, second, second_text, selected, hovered, good, good_fill, warning, warning_fill, bad, bad_fill;
  // Chart.
  Color chart, row, row_alternate, grid, ii_line, hairline, hatch, outline, arrow, carried_arrow, tooltip;
  bool light = false;
};

struct RoleColor {
  Color fill, text;  ///< a bar and what is written on it; contrast at least 4.5
};

const Theme& theme();  ///< the current one
const Theme& theme_named(ThemeName name);
/// Makes it current and writes ImGui's style for it, at the scale of fonts().
void apply_theme(ThemeName name);

RoleColor role_color(UnitRole role);
/// A readable colour for small text and lines in the role's hue on every surface of the theme.
Color role_ink(UnitRole role, ThemeName name);
Color role_ink(UnitRole role);
/// The line around a bar: the fill itself where that stands out from the chart, else darker or lighter.
Color role_edge(UnitRole role, ThemeName name);
Color role_edge(UnitRole role);
/// The same colour with another opacity, 0..1.
Color with_alpha(Color color, float alpha);
/// WCAG contrast ratio of two opaque colours, 1..21.
double contrast(Color a, Color b);

}  // namespace heddle::app

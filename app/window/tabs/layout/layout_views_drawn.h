// Parts of the Layout tab: the grid of a tile, the strip of banks, the alternatives.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/session/commands.h"
#include "app/window/tabs/layout/layout_state.h"

namespace heddle::app {

class Session;
struct UiState;

/// The colours of what is drawn of a number.
struct LayoutInk {
  Color fill = 0, text = 0;
};
LayoutInk layout_ink(LayoutColour colour, std::int64_t index, std::int64_t count);

/// Over the given room. `name` is the probe's; `lead`: the one that fits both and hears keys.
void draw_layout_grid(const char* name, LayoutScene& scene, LayoutTabState& state, float width, float height);
/// Mouse and keys of all grids of the frame, once they are drawn. `requested` holds the chart's actions that were chosen in a menu.
void handle_layout_keys(LayoutTabState& state, std::vector<std::string_view>& requested);

/// Of the view's access, over what is left of the window.
void draw_layout_banks(const LayoutView& view, LayoutTabState& state);
/// What it needs, whichever phase is shown.
float layout_banks_height(const LayoutView& view, float width);
void step_phase(const LayoutView& view, LayoutTabState& state, int direction);
/// A row shows its layout beside the one that is taken; "Use" takes it.
void draw_layout_alternatives(const Session& session, UiState& ui, const LayoutView& view, bool with_bounds, LayoutTabState& state);

/// What is chosen, a piece each: one is taken back by a click on it. As many as there is room for.
void draw_layout_choices(const Session& session, UiState& ui);

/// The question that leaves layouts to the solver, and its answer, over what is left of the window.
void draw_layout_choosing(const Session& session, UiState& ui);

/// Puts the alternative that stands beside in force; where none does, says so. And takes what is chosen for what is looked at back.
void use_layout_beside(const Session& session, UiState& ui);
void layout_by_default(const Session& session, UiState& ui);
/// Puts these in force, and no others; solves as after any other change.
void choose_layouts(const Session& session, UiState& ui, LayoutChoices choices, std::string what);

/// The one that was chosen to stand beside; null where the view has none such.
const LayoutAlternative* find_alternative(const LayoutView& view, const LayoutTabState& state);
/// Another value and op are looked at. Pre: the kernel has that row.
void show_layout_row(LayoutTabState& state, std::size_t row);
/// The line of the command line that shows the same; empty where there is none.
std::string layout_line(const Session& session, const LayoutTabState& state);

/// One of several to choose from, in small letters; the keyboard gets to it as to any button.
bool piece(const std::string& name, std::string_view label, bool on, const std::string& about, const std::string& why_not = {});
float piece_width(std::string_view label);
/// A word in front of a group of pieces.
void caption(std::string_view text);

/// What is shown, as a file of that name; what a file of it is called unless somebody says otherwise.
SaveLayout save_layout(const LayoutTabState& state, std::string path);
std::string layout_stem(const LayoutTabState& state);

}  // namespace heddle::app

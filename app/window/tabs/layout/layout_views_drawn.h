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
/// A row shows its layout beside the one that is taken.
void draw_layout_alternatives(const LayoutView& view, bool with_bounds, LayoutTabState& state);

/// Another value and op are looked at. Pre: the kernel has that row.
void show_layout_row(LayoutTabState& state, std::size_t row);
/// The line of the command line that shows the same; empty where there is none.
std::string layout_line(const Session& session, const LayoutTabState& state);

/// What is shown, as a file of that name; what a file of it is called unless somebody says otherwise.
SaveLayout save_layout(const LayoutTabState& state, std::string path);
std::string layout_stem(const LayoutTabState& state);

}  // namespace heddle::app

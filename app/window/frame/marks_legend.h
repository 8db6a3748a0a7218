// What the marks of the chart mean: as rows for whoever has room for them, and as a sheet over the chart.
#pragma once

#include <cstddef>

namespace heddle::app {

class Session;
struct UiState;

std::size_t mark_count();
/// A row for each mark, as wide as there is room.
void draw_marks_of_chart();
/// The sheet, at the upper right of the present window; nothing where it is not asked for.
void draw_marks_sheet(const Session& session, UiState& ui);

}  // namespace heddle::app

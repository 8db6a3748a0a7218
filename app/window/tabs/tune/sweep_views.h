// Parts of the sweep tab.
#pragma once

#include <imgui.h>

#include "app/session/session.h"
#include "app/window/kit/theme.h"

namespace heddle::app {

struct SweepPoint;  // app/batch/sweep_table.h
struct UiState;

/// Rows of all points that the filter and the brushes leave, sorted.
void draw_sweep_table(const Session& session, UiState& ui, ImVec2 size);
/// A line per point across one axis per parameter and one of values; dragging on an axis brushes it.
void draw_sweep_parallel(const Session& session, UiState& ui, ImVec2 size);
/// Values over one parameter.
void draw_sweep_scatter(const Session& session, UiState& ui, ImVec2 size);
/// The best so far after every evaluation, over the bound.
void draw_sweep_convergence(const Session& session, UiState& ui, ImVec2 size);

/// A point was pressed: it is opened, with the right button as B.
void pick_point(const Session& session, UiState& ui, std::uint32_t index, bool as_baseline);
/// The colour of a point, by its standing.
Color sweep_ink(const SweepPoint& point);

}  // namespace heddle::app

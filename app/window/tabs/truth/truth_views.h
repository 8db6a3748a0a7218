// Parts of the truth tab.
#pragma once

#include <imgui.h>

#include "app/session/session.h"
#include "app/window/kit/theme.h"

namespace heddle::app {

struct TruthModel;  // app/window/tabs/truth/truth_model.h
struct UiState;

/// Predicted against measured speed, with what colours and symbols mean.
void draw_truth_plot(const Session& session, UiState& ui, ImVec2 size);
/// Tables of rows, kinds and pairs.
void draw_truth_rows(const Session& session, UiState& ui, ImVec2 size);
void draw_truth_kinds(UiState& ui, ImVec2 size);
void draw_truth_pairs(const Session& session, UiState& ui, ImVec2 size);
/// The chosen row, and what its prediction is made of.
void draw_truth_row(const Session& session, UiState& ui);

/// Of the kinds of a model, in their order: of points, of text.
Color truth_color(std::size_t kind);
Color truth_ink(std::size_t kind);

}  // namespace heddle::app

// The panels around the chart and the tabs, and what lies over everything else.
#pragma once

#include "app/window/parts/ui_state.h"

namespace heddle::app {

void draw_menu_bar(const Session& session, UiState& ui);
void draw_toolbar(const Session& session, const Models& models, UiState& ui);
void draw_status_bar(const Session& session, const Models& models, const UiState& ui);
void draw_left_pane(const Session& session, const Models& models, UiState& ui);
void draw_inspector(const Session& session, const Models& models, UiState& ui);
/// Of the measured stretch; the inspector begins with it.
void draw_range_panel(const RangeStatistics& range, UiState& ui);
void draw_bottom_pane(const Session& session, const Models& models, UiState& ui);
/// The chart, or what to do when there is none yet.
void draw_center(Session& session, const Models& models, UiState& ui);
/// The picture that is about to be taken shows the chart alone.
bool is_picture_of_chart(const Session& session);
/// The switch between A, A over B, and A with B as ghosts, and what they are aligned at; right of the modes, between these
/// pixels of the window.
void draw_compare_bar(const Session& session, const Models& models, UiState& ui, float left, float right);
/// A strip that says what is pointed at and laid over the chart, and ends it; returns its height, 0 when there is nothing.
float draw_chart_legend(const Session& session, const Models& models, UiState& ui, float top);
/// The text that view().editor names. Pre: it names one.
void draw_editor(const Session& session, UiState& ui);
/// Its field takes the keyboard.
void focus_editor(UiState& ui);
bool text_has_keys(const UiState& ui);
/// Opens the dialog that makes a kernel from a pattern.
void begin_new_kernel(UiState& ui);
/// Opens the dialog with the time limit of searches.
void begin_limit(UiState& ui);
void draw_welcome(const Session& session, UiState& ui);
/// The launch of a PTX: what is wrong with it, its lanes, its text. Pre: session.launch().open().
void draw_launch(const Session& session, UiState& ui);

// Over everything else.
void draw_open_dialog(Session& session, UiState& ui);
void draw_new_dialog(UiState& ui);
void draw_limit_dialog(const Session& session, UiState& ui);
void draw_path_prompt(const Session& session, UiState& ui);
void draw_error_panel(const Session& session, UiState& ui);

}  // namespace heddle::app

// Sliders of numbers: what is tried while one is dragged, and what follows when it is released. The inspector and the What if tab
// both show them; while one is dragged the chart shows the schedule under the tried number.
#pragma once

#include <cstddef>
#include <string>

#include "app/session/session.h"

namespace heddle::app {

struct UiState;
struct Models;

/// Call once per frame before the sliders: brings the state up to date with the selection, and looks a little further how far the
/// schedule goes.
void refresh_what_if(const Session& session, UiState& ui);
/// One number of the selected op: label, slider, value. The probe knows it as PREFIX + "/slider/latency".
void draw_what_if_slider(const Session& session, UiState& ui, std::size_t index, const std::string& prefix);
/// What is said below the sliders: about the value that is tried, or how far the schedule goes.
void draw_what_if_words(const Session& session, UiState& ui, std::size_t index);
/// The inspector's section.
void draw_what_if_section(const Session& session, UiState& ui);
/// "WHAT IF exp0.latency = 812: this schedule stays valid" while a slider is dragged; else empty.
std::string what_if_banner(const UiState& ui);

}  // namespace heddle::app

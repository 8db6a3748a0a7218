// Every difference between Dear ImGui versions (1.86 of Debian 12 up to 1.92) lives here. The rest of the program asks
// for keys by our own names and pushes fonts and input through these functions.
#pragma once

#include <imgui.h>

#include <string>

#include "app/platform/chord.h"

namespace heddle::app {

/// Went down in this frame (or repeats). Says nothing about modifiers: see io.KeyCtrl, io.KeyShift, io.KeyAlt.
bool key_pressed(Key key, bool repeat = false);
bool key_down(Key key);
/// Any key at all, modifiers aside.
bool any_key_pressed();

/// True while a modal dialog is open.
bool in_dialog();
/// Closes every menu and dialog that is open.
void close_popups();

/// Input for a context that has no windowing backend (tests, pictures). Coordinates in pixels.
void feed_mouse_position(float x, float y);
void feed_mouse_button(int button, bool down);
void feed_wheel(float vertical, float horizontal = 0);
void feed_key(Key key, bool down);
void feed_modifiers(bool ctrl, bool shift, bool alt);
void feed_text(const char* utf8);
/// What was typed since the last frame, for somebody who has no text field yet: fields drawn later do not get it.
std::string take_typed_text();
/// What a windowing backend would set up once: key map and backend flags.
void setup_headless_io();
/// Builds the font atlas and marks its texture as uploaded, for a context without a renderer.
void adopt_font_texture();
/// Keeps the clipboard inside the process, so that tests never touch the desktop's.
void forget_clipboard();

/// Up to 1.86 a key that goes down and up between two frames is lost. A windowing platform reports its key events with
/// `note_key_event` (the backend's own key number) and calls `hold_quick_keys` before every ImGui::NewFrame: such keys
/// are then down for one whole frame, with the modifiers they were pressed with. Later versions do this themselves.
void note_key_event(int key, bool down, bool ctrl, bool shift, bool alt);
/// True when more wait for the next frame: what was pressed with other modifiers, or twice, is not mixed up.
bool hold_quick_keys();

/// ImGui::PushFont with the size the font was loaded at.
void push_font(ImFont* font);
inline void pop_font() { ImGui::PopFont(); }
/// Pixels.
float font_size(const ImFont* font);

/// Lets items drawn later take the mouse over the last item. Nothing since 1.89.7, where it is said before an item.
void allow_overlap_after_item();

}  // namespace heddle::app

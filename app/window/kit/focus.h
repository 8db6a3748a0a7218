// The keyboard in the panes: Tab moves from one to the next, arrows move through what can be pressed in it, Enter presses
// it. Every row, button and link of the focused pane is a station; widgets.cpp makes them so, panels need not care.
#pragma once

#include <array>

namespace heddle::app {

enum class FocusPane { Chart, Bottom, Inspector, Left, Notices, Welcome, Launch };
constexpr int kFocusPanes = 7;

namespace focus {

/// The one that hears the arrow keys; the chart unless Tab said otherwise.
FocusPane pane();
void set(FocusPane pane);
/// To the next (+1) or previous (-1) pane that is on screen.
void move(int direction, const std::array<bool, kFocusPanes>& on_screen);

/// Around the drawing of a pane; `end` marks the pane with a frame when it has the focus.
void begin(FocusPane pane);
void end();

/// For widgets, right after their item: is the keyboard here, and was the item pressed with it?
struct Station {
  bool here = false, pressed = false;
};
Station station();
/// Something in the focused pane that is no station hears Enter itself: in the next frame no station does.
void take_enter();
/// Rows from `begin` to before `end` of a virtualised list that are not drawn: they are stations all the same, and when the
/// keyboard gets to one of them the list, which begins at the top of its window, scrolls to it.
void skip(int begin, int end, float row_height);

}  // namespace focus
}  // namespace heddle::app

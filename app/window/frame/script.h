// Steps that show the window in a certain state without anybody at the mouse: actions by their id, and a pointer that
// aims at the probe's names. For pictures ("heddle-gui --screenshot FILE --do STEP"); tests have tests/support/window/harness.h.
#pragma once

#include <string>

#include "app/window/frame/app_window.h"

namespace heddle::app {

/// One of
///   ACTION            the id of an action ("solve", "light", "compare"), or a reason why it cannot be done now
///   click:NAME        the left button at what the probe knows as NAME ("tab/slack", "gantt/bar/QK1@0"); also right:NAME
///   hover:NAME        the mouse rests there
///   drag:NAME:DX:DY   presses there, moves by so many pixels and holds; "drop" lets go
///   type:TEXT         into the field that has the focus
/// and "list" prints every name there is. Afterwards it waits until no solver works; with a "&" behind the step it does
/// not. The probe has to be on, and the platform headless.
Result<Ok> run_step(AppWindow& window, const std::string& step);
/// Draws until no solver works, and some frames more, so that layouts settle and animations end.
void settle(AppWindow& window);

}  // namespace heddle::app

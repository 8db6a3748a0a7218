// Pictures of the window, rendered without a display and compared with golden ones. The built-in font keeps them
// independent of the machine; HEDDLE_UPDATE_GOLDENS=1 writes them anew.
#pragma once

#include <memory>
#include <string>

#include "app/platform/offscreen_platform.h"
#include "tests/support/window/harness.h"

namespace heddle::test {

/// A window on an off-screen platform, or nothing where there is no EGL.
std::unique_ptr<Harness> offscreen(int width, int height, app::SolveFunction solve);
/// After layouts have settled and animations have ended.
app::Picture picture(Harness& harness);
/// With tests/golden/NAME.png: at most 0.5 % of the pixels may differ by more than 8 in a channel.
void compare(const std::string& name, const app::Picture& actual);

}  // namespace heddle::test

// Fonts: DejaVu Sans and DejaVu Sans Mono from the system where they exist, ImGui's built-in one elsewhere (and in
// golden pictures, which must not depend on a machine). Sizes follow the scale; everything in the window is a multiple
// of them.
#pragma once

#include <imgui.h>

namespace heddle::app {

struct Fonts {
  ImFont* body = nullptr;  ///< 15 px at scale 1
  ImFont* bold = nullptr;
  ImFont* mono = nullptr;  ///< numbers, right aligned
  ImFont* mono_bold = nullptr;
  ImFont* small = nullptr;       ///< 13 px: details under a name
  ImFont* small_bold = nullptr;  ///< section headings, labels on small bars
  ImFont* mono_small = nullptr;  ///< ruler
  ImFont* title = nullptr;       ///< 20 px bold
  bool built_in = false;         ///< only ASCII and Latin-1 can be drawn
  float scale = 1;
};

/// Fills the atlas of the current context afresh. `built_in`, or HEDDLE_BUILT_IN_FONT=1 in the environment, forces the
/// fallback.
void load_fonts(float scale, bool built_in);
/// Of the last load_fonts.
const Fonts& fonts();
/// Pixels at scale 1 to pixels now.
inline float px(float at_scale_one) { return at_scale_one * fonts().scale; }

}  // namespace heddle::app

// What the Sensitivity tab keeps between frames.
#pragma once

#include <string>

namespace heddle::app {

struct SensitivityState {
  int percent = 10;
  bool all = false;  ///< numbers without any effect too
  bool layouts_open = false;
  std::string selected;  ///< the number whose ops are lit
};

}  // namespace heddle::app

// Which colours lie on which: the pairs that the window draws, with the contrast that each needs. Tests compute them all in
// every theme; `heddle-gui --contrasts` prints them.
#pragma once

#include <string>
#include <vector>

#include "app/window/kit/theme.h"

namespace heddle::app {

struct ContrastPair {
  std::string ink, surface;
  double ratio = 0;  ///< WCAG 2.1
  double least = 0;  ///< 4.5 for text, 3 for lines and shapes that carry meaning
  bool enough() const { return ratio >= least; }
};

std::vector<ContrastPair> contrast_pairs(ThemeName theme);
/// One line per ink: the smallest ratio over all surfaces that it lies on, for the three themes.
std::string contrast_table();

}  // namespace heddle::app

// What the Explain tab remembers between frames.
#pragma once

namespace heddle::app {

struct ExplainTabState {
  int relaxing = -1;  ///< the card whose ways out are unfolded
};

}  // namespace heddle::app

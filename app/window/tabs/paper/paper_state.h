// What the tab of the Twill paper remembers between frames: the question as it will be asked.
#pragma once

#include "app/jobs/ask_options.h"

namespace heddle::app {

struct PaperTabState {
  AskOptions options;
};

}  // namespace heddle::app

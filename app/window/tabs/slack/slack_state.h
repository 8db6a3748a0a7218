// What the Slack tab remembers between frames.
#pragma once

namespace heddle::app {

struct SlackTabState {
  char filter[128] = "";
};

}  // namespace heddle::app

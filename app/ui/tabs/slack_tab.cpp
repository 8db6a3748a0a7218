// The Slack tab.
#include <fmt/format.h>

#include <algorithm>

#include "app/ui/panels.h"
#include "app/ui/probe.h"
#include "app/ui/widgets.h"

namespace heddle::app {

void draw_slack_tab(const Session&, const Models&, UiState&) { colored_text(theme().dim, "How far every op can move at this II."); }

}  // namespace heddle::app

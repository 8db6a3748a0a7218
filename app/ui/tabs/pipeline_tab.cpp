// The Pipeline tab.
#include <fmt/format.h>

#include <algorithm>

#include "app/ui/panels.h"
#include "app/ui/probe.h"
#include "app/ui/widgets.h"

namespace heddle::app {

void draw_pipeline_tab(const Session&, const Models&, UiState&) { colored_text(theme().dim, "The schedule as pseudocode."); }

}  // namespace heddle::app

// The Compare tab.
#include <fmt/format.h>

#include <algorithm>

#include "app/ui/panels.h"
#include "app/ui/probe.h"
#include "app/ui/widgets.h"

namespace heddle::app {

void draw_compare_tab(const Session&, const Models&, UiState&) { colored_text(theme().dim, "A beside B."); }

}  // namespace heddle::app

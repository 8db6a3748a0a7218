// The What if tab.
#include <fmt/format.h>

#include <algorithm>

#include "app/ui/panels.h"
#include "app/ui/probe.h"
#include "app/ui/widgets.h"

namespace heddle::app {

void draw_what_if_tab(const Session&, const Models&, UiState&) { colored_text(theme().dim, "Numbers taken differently."); }

}  // namespace heddle::app

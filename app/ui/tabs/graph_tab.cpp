// The Graph tab.
#include <fmt/format.h>

#include <algorithm>

#include "app/ui/panels.h"
#include "app/ui/probe.h"
#include "app/ui/widgets.h"

namespace heddle::app {

void draw_graph_tab(const Session&, const Models&, UiState&) { colored_text(theme().dim, "The dataflow graph."); }

}  // namespace heddle::app

// One frame of the timeline.
#include "app/ui/gantt_view.h"

#include <imgui.h>

namespace heddle::app {

void draw_gantt(const GanttModel& model, const Problem&, const Schedule&, const Selection&, GanttViewState& view,
                CommandQueue&) {
  update_view(view, model, ImGui::GetIO().DeltaTime);
}

}  // namespace heddle::app

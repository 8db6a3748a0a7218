// Flags and resource lanes of the timeline.
#include "core/report/gantt_facts.h"

#include <algorithm>

namespace heddle {

void add_facts(const Problem& problem, const Schedule&, const GanttOptions& options, GanttModel& model) {
  if (!options.verdict) return;
  std::vector<bool> violating(problem.ops.size());
  for (const Violation& violation : options.verdict->violations)
    for (const OpId op : violation.ops) violating[op.index()] = true;
  for (GanttBar& bar : model.bars) bar.violating = violating[bar.op.index()];
}

}  // namespace heddle

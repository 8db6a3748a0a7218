// Three reports one below the other.
#include "core/answers/timeline_page.h"

#include <fmt/format.h>

#include "core/answers/summary.h"
#include "core/chart/op_rows.h"
#include "core/chart/text_timeline.h"

namespace heddle {

std::string timeline_page(const Problem& problem, const Schedule& schedule, const GanttModel& model, const TextStyle& style) {
  const std::string title = join_facts({problem_title(problem), headline(schedule, style)}, style);
  return fmt::format("{}\n\n{}\n{}", title, text_timeline(model, style), op_table(problem, &schedule));
}

}  // namespace heddle

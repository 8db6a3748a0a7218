// Three reports one below the other.
#include "core/report/timeline_page.h"

#include <fmt/format.h>

#include "core/report/op_rows.h"
#include "core/report/summary.h"
#include "core/report/text_timeline.h"

namespace heddle {

std::string timeline_page(const Problem& problem, const Schedule& schedule, const GanttModel& model, const TextStyle& style) {
  const std::string title = join_facts({problem_title(problem), headline(schedule, style)}, style);
  return fmt::format("{}\n\n{}\n{}", title, text_timeline(model, style), op_table(problem, &schedule));
}

}  // namespace heddle

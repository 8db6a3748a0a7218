#include "solver/search/from_relaxation.h"

#include "core/check/checker.h"
#include "solver/encoding/finish_schedule.h"

namespace heddle::solver {

std::optional<Schedule> schedule_from(const Problem& problem, const Constraints& constraints, Cycle ii, const RelaxationAnswer& found) {
  if (found.answer != Answer::Yes || found.groups.empty() || found.starts.empty()) return {};
  Schedule schedule;
  schedule.ii = ii;
  for (std::size_t v = 0; v < found.starts.size(); ++v) schedule.ops.push_back({found.starts[v], found.groups[v]});
  finish_schedule(problem, constraints, schedule);
  if (!check(problem, schedule, constraints).valid()) return {};
  return schedule;
}

}  // namespace heddle::solver

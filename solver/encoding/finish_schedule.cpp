#include "solver/encoding/finish_schedule.h"

#include <algorithm>

#include "core/base/integer_division.h"
#include "solver/encoding/registers.h"
#include "solver/encoding/user.h"

namespace heddle::solver {
namespace {

int needed_depth(const Channel& channel, const Schedule& schedule) {
  Cycle depth = channel.only_if_crossing ? 0 : 1;
  for (const Reader& reader : channel.readers) {
    const bool crosses = schedule.group(reader.op) != schedule.group(channel.writer);
    if (channel.only_if_crossing && !crosses) continue;
    const Cycle free_at = schedule.start(reader.op) + reader.distance * schedule.ii + reader.release + (crosses ? reader.signal : 0);
    depth = std::max({depth, Cycle{1}, ceil_div(free_at - schedule.start(channel.writer), schedule.ii)});
  }
  return static_cast<int>(depth);
}

}  // namespace

void finish_schedule(const Problem& problem, const Constraints& constraints, Schedule& schedule) {
  schedule.kernel = problem.kernel;
  schedule.machine = problem.machine;
  schedule.params = problem.params;
  schedule.layouts = choices_of(problem);
  schedule.depths.clear();
  for (const Channel& channel : problem.channels) schedule.depths.push_back(needed_depth(channel, schedule));
  derive_groups(problem, schedule, names_groups(constraints) ? UnusedGroups::Keep : UnusedGroups::Drop);
  set_register_budgets(problem, schedule);
}

}  // namespace heddle::solver

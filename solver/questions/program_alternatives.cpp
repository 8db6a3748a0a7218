#include "solver/questions/program_alternatives.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/analysis/signature.h"

namespace heddle::solver {
namespace {

std::optional<Schedule> schedule_of(const LeastOrderRequest& request, const programs::Ranked& ranked) {
  if (ranked.from.empty()) {
    programs::MadeSchedule made = programs::schedule_of(request.problem, request.constraints, ranked);
    if (made.schedule) {
      made.schedule->name = fmt::format("program of period {:.1f}", ranked.period.cycles());
      made.schedule->layouts = request.known.front().schedule.layouts;
      made.schedule->provenance = {"solver", "heddle", "found by its period"};
    }
    return std::move(made.schedule);
  }
  const auto known = std::find_if(request.known.begin(), request.known.end(), [&](const auto& k) { return k.name == ranked.from; });
  return known == request.known.end() ? std::nullopt : std::optional(known->schedule);
}

}  // namespace

void add_programs(LeastOrderRequest request, int count, Alternatives& answer, const std::stop_token& stop,
                  const programs::ProgressListener& listener) {
  std::vector<programs::KnownProgram> known;
  for (const Alternative& one : answer.found) known.push_back({fmt::format("alternative {}", known.size() + 1), one.schedule});
  std::move(request.known.begin(), request.known.end(), std::back_inserter(known));
  request.known = std::move(known);
  std::optional<LeastUnder> least = least_under(request, stop, listener);
  if (!least) return;
  answer.least_period = least->period;
  const motion::MotionPeriod& shortest = least->order.found->period;
  for (const programs::Ranked& ranked : least->order.found->top) {
    if (answer.programs.size() >= static_cast<std::size_t>(std::max(1, count)) || stop.stop_requested()) break;
    if (!programs::within(ranked.period, shortest, kNearlyLeastPercent)) break;
    std::optional<Schedule> schedule = schedule_of(request, ranked);
    if (!schedule) continue;
    ProgramAlternative program{*std::move(schedule), ranked.period.cycles(), ranked.from, {}};
    if (!answer.programs.empty()) program.differences = differences(request.problem, answer.programs.front().schedule, program.schedule);
    answer.programs.push_back(std::move(program));
  }
}

}  // namespace heddle::solver

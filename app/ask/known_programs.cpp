#include "app/ask/known_programs.h"

#include <fmt/format.h>

#include "core/chart/chart_layout.h"
#include "core/library/contenders.h"
#include "core/simulate/forecast.h"
#include "solver/baselines/baselines.h"

namespace heddle::app {

bool asks_for_period(const Subject& subject) { return subject.allows(SourceUse::OrderByTime) && chooses_by_period(subject.problem()); }

std::vector<programs::KnownProgram> hand_programs(const Problem& problem) {
  std::vector<programs::KnownProgram> known;
  for (Contender& contender : shelf_contenders(problem))
    if (contender.schedule) known.push_back({std::move(contender.name), *std::move(contender.schedule)});
  return known;
}

std::vector<programs::KnownProgram> known_programs(const Problem& problem, double seconds, const std::stop_token& stop,
                                                   const std::function<void(const std::string& doing)>& doing) {
  std::vector<programs::KnownProgram> known = hand_programs(problem);
  const double each = seconds / static_cast<double>(solver::baselines().size());
  for (const solver::Baseline& baseline : solver::baselines()) {
    if (stop.stop_requested()) break;
    if (doing) doing("the order of " + baseline.name);
    if (Result<solver::BaselineOutcome> found = solver::run_baseline(problem, baseline, {}, each, stop))
      known.push_back({baseline.name, std::move(found->schedule)});
  }
  return known;
}

News news_of(const programs::EnumerationProgress& progress) {
  const std::string done = progress.of > 0 ? fmt::format("{} of {} programs", grouped(progress.programs), grouped(progress.of))
                                           : fmt::format("{} programs", grouped(progress.programs));
  const std::string least = progress.least.iterations > 0 ? fmt::format("least so far {:.1f} cycles", progress.least.cycles()) : "";
  return {.doing = progress.phase, .facts = {progress.phase, done, least}};
}

}  // namespace heddle::app

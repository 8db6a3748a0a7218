#include "app/ask/next_best.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/ask/known_programs.h"
#include "app/ask/subject.h"
#include "core/check/checker.h"
#include "core/motion/motion.h"
#include "solver/programs/least_program.h"

namespace heddle::app {
namespace {

/// Says of a schedule that it is one of `first`'s problem, found by its order.
void label(Schedule& schedule, const Schedule& first) {
  schedule.name = first.name;
  schedule.kernel = first.kernel;
  schedule.machine = first.machine;
  schedule.params = first.params;
  schedule.layouts = first.layouts;
  schedule.provenance = first.provenance;
  schedule.provenance.note = "chosen by its machine code";
}

/// Of hand schedules that are valid here and not among `listed`.
std::vector<NextBest> others_by_hand(const Problem& problem, const Constraints& demands, const std::vector<programs::KnownProgram>& known,
                                     const std::vector<NextBest>& listed) {
  std::vector<NextBest> others;
  for (std::size_t k = 1; k < known.size(); ++k) {  // the first is the kernel's own
    const auto& [name, schedule] = known[k];
    if (std::any_of(listed.begin(), listed.end(), [&](const NextBest& c) { return c.name == name; })) continue;
    if (!check(problem, schedule, demands).valid()) continue;
    const motion::Motion run = motion::motion_of(problem, schedule);
    if (run.fault.empty()) others.push_back({name, schedule, run.period.cycles()});
  }
  std::stable_sort(others.begin(), others.end(), [](const NextBest& a, const NextBest& b) { return a.period < b.period; });
  return others;
}

}  // namespace

std::vector<NextBest> next_best(const Subject& subject, const MadeKernel& made, double seconds, const std::stop_token& stop) {
  const Problem& problem = made.instance.problem();
  if (!problem.contention.known) return {};
  std::vector<programs::KnownProgram> known{{"solved", made.schedule}};
  for (programs::KnownProgram& by_hand : hand_programs(problem)) known.push_back(std::move(by_hand));
  programs::LeastOptions search;
  search.rules.constraints = subject.constraints;
  search.rules.constraints.insert(search.rules.constraints.end(), made.demands.begin(), made.demands.end());
  search.seconds = seconds;
  search.seed = subject.limits.seed;
  const programs::LeastProgram found = programs::least_program(problem, known, search, stop);
  std::vector<NextBest> candidates;
  for (std::size_t i = 0; i < found.top.size() && !stop.stop_requested(); ++i) {
    const programs::Ranked& ranked = found.top[i];
    if (ranked.from == "solved") continue;
    const auto by_hand = std::find_if(known.begin(), known.end(), [&](const auto& k) { return k.name == ranked.from; });
    if (by_hand != known.end()) {
      candidates.push_back({by_hand->name, by_hand->schedule, ranked.period.cycles()});
      continue;
    }
    programs::MadeSchedule schedule = programs::schedule_of(problem, search.rules.constraints, ranked);
    if (!schedule.schedule) continue;
    label(*schedule.schedule, made.schedule);
    candidates.push_back({fmt::format("program {}", i + 1), *std::move(schedule.schedule), ranked.period.cycles()});
  }
  std::vector<NextBest> others = others_by_hand(problem, search.rules.constraints, known, candidates);
  std::move(others.begin(), others.end(), std::back_inserter(candidates));
  return candidates;
}

}  // namespace heddle::app

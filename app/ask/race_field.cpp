// Diversity is counted in neighbours: which op follows which in a group's turn of the loop.
#include "app/ask/race_field.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "app/ask/subject.h"
#include "core/check/checker.h"
#include "solver/baselines/baselines.h"
#include "solver/programs/least_program.h"

namespace heddle::app {
namespace {

/// Which op follows which in a group's turn of the loop.
using Neighbours = std::set<std::pair<std::size_t, std::size_t>>;

Neighbours neighbours_of(const timing::LoopProgram& program) {
  Neighbours all;
  for (const std::vector<timing::StreamStep>& stream : program.streams)
    for (std::size_t i = 0; i < stream.size(); ++i) all.emplace(stream[i].op.index(), stream[(i + 1) % stream.size()].op.index());
  return all;
}

/// Of a's neighbours, those that stand in `b`, too.
std::size_t shared_neighbours(const Neighbours& a, const Neighbours& b) {
  return static_cast<std::size_t>(std::count_if(a.begin(), a.end(), [&](const auto& pair) { return b.contains(pair); }));
}

class RaceField {
 public:
  RaceField(const Subject& subject, const RaceOptions& options, const RaceWatch& watch)
      : subject_(subject), options_(options), watch_(watch), entries_(known_racers(subject)) {}

  std::vector<RaceEntry> entries() {
    if (options_.heuristics) add_heuristics();
    if (subject_.problem().contention.known && options_.best + options_.far > 0) add_models();
    return std::move(entries_);
  }

 private:
  void add_heuristics() {
    const Problem& problem = subject_.problem();
    for (const solver::Baseline& baseline : solver::baselines()) {
      if (watch_.stop.stop_requested()) return;
      watch_.hear({.doing = "the schedule of " + baseline.name});
      Result<solver::BaselineOutcome> found = solver::run_baseline(problem, baseline, {}, subject_.limits.timeout_seconds / 4, watch_.stop);
      if (!found) continue;
      RaceEntry entry{baseline.name, std::move(found->schedule)};
      if (const Verdict verdict = check(problem, entry.schedule, subject_.constraints); !verdict.valid())
        entry.why_not = verdict.violations.front().message;
      add_racer(entries_, std::move(entry));
    }
  }

  void add_models() {
    std::vector<programs::KnownProgram> known;
    for (const RaceEntry& entry : entries_)
      if (entry.why_not.empty()) known.push_back({entry.name, entry.schedule});
    programs::LeastOptions search;
    search.rules.constraints = subject_.constraints;
    search.rules.stages = options_.stages;
    search.seconds = subject_.limits.timeout_seconds;
    search.seed = subject_.limits.seed;
    search.top = 400, search.percent = kFarPercent;
    const auto progress = [&](const programs::EnumerationProgress& news) { watch_.hear({.doing = news.phase}); };
    const std::vector<programs::Ranked> top = programs::least_program(subject_.problem(), known, search, watch_.stop, progress).top;
    std::vector<Neighbours> of, taken;
    for (const programs::Ranked& program : top) of.push_back(neighbours_of(program.program));
    std::vector<bool> used(top.size(), false);
    for (std::size_t i = 0, best = 0; i < top.size() && best < static_cast<std::size_t>(options_.best); ++i) {
      used[i] = true;
      if (!take_ranked(top[i], fmt::format("model {}", best + 1))) continue;
      taken.push_back(of[i]), ++best;
    }
    for (int far = 0; far < options_.far;) {
      // The one whose nearest relative is farthest; of equals the shorter.
      std::optional<std::size_t> next;
      std::size_t least = 0;
      for (std::size_t i = 0; i < top.size(); ++i) {
        if (used[i]) continue;
        std::size_t nearest = 0;
        for (const Neighbours& other : taken) nearest = std::max(nearest, shared_neighbours(of[i], other));
        if (!next || nearest < least) next = i, least = nearest;
      }
      if (!next) return;
      used[*next] = true;
      if (take_ranked(top[*next], fmt::format("far {}", far + 1))) taken.push_back(of[*next]), ++far;
    }
  }

  /// False: the same program takes part already, or no schedule has its order.
  bool take_ranked(const programs::Ranked& program, const std::string& name) {
    programs::MadeSchedule made = programs::schedule_of(subject_.problem(), subject_.constraints, program);
    if (!made.schedule ||
        std::any_of(entries_.begin(), entries_.end(), [&](const RaceEntry& known) { return same_program(known.schedule, *made.schedule); }))
      return false;
    return add_racer(entries_, {name, *std::move(made.schedule)});
  }

  const Subject& subject_;
  const RaceOptions& options_;
  const RaceWatch& watch_;
  std::vector<RaceEntry> entries_;
};

}  // namespace

std::vector<RaceEntry> race_field(const Subject& subject, const RaceOptions& options, const RaceWatch& watch) {
  return RaceField(subject, options, watch).entries();
}

}  // namespace heddle::app

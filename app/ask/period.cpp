#include "app/ask/period.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/ask/known_programs.h"
#include "app/ask/listener.h"
#include "app/ask/subject.h"
#include "core/base/clock.h"
#include "core/check/reuse.h"
#include "core/motion/motion.h"
#include "core/simulate/forecast.h"
#include "solver/programs/least_program.h"
#include "solver/questions/least_order.h"

namespace heddle::app {
namespace {

/// Of the time that a question has, for all heuristics together.
constexpr double kForHeuristics = 0.25;

std::vector<programs::KnownProgram> known_to(const Subject& subject, const std::stop_token& stop, const Listener<LeastPeriod>& listener) {
  std::vector<programs::KnownProgram> known{{"as given", *subject.schedule}};
  if (!subject.allows(SourceUse::OrderByTime)) return known;
  for (programs::KnownProgram& other : known_programs(subject.problem(), kForHeuristics * subject.limits.timeout_seconds, stop,
                                                      [&](const std::string& doing) { listener.tell({.doing = doing}); }))
    known.push_back(std::move(other));
  return known;
}

PeriodStanding standing_of(programs::ProgramStanding standing) {
  switch (standing) {
    case programs::ProgramStanding::LeastOfAll: return PeriodStanding::LeastOfAll;
    case programs::ProgramStanding::WithinPercentOfBound: return PeriodStanding::WithinBound;
    case programs::ProgramStanding::ByPrediction: break;
  }
  return PeriodStanding::ByPrediction;
}

void rank(const Problem& problem, const std::vector<programs::KnownProgram>& known, LeastPeriod& answer) {
  if (answer.from.empty() && answer.schedule) answer.ranked.push_back({"found", answer.cycles, answer.schedule->ii});
  for (const programs::KnownProgram& k : known) {
    const motion::Motion run = motion::motion_of(problem, k.schedule);
    answer.ranked.push_back({k.name, run.period.cycles(), k.schedule.ii, run.fault});
  }
  const auto place = [](const RankedPeriod& row) { return row.cycles > 0 ? row.cycles : 1e300; };
  std::stable_sort(answer.ranked.begin(), answer.ranked.end(),
                   [&](const RankedPeriod& a, const RankedPeriod& b) { return place(a) < place(b); });
}

void count_orders(const programs::LeastProgram& found, LeastPeriod& answer) {
  std::size_t consumer = 0;
  for (const programs::OrderCounts& counts : found.counts)
    answer.orders.push_back({fmt::format("consumer {}", consumer++), counts.seen, counts.keep_dependences, counts.fit, counts.differ});
}

/// Known orders with starts that suit another problem; those that have none are left out.
std::vector<programs::KnownProgram> retimed(const Problem& problem, const Constraints& constraints,
                                            const std::vector<programs::KnownProgram>& known) {
  std::vector<programs::KnownProgram> kept;
  for (const programs::KnownProgram& k : known)
    if (std::optional<Schedule> schedule = best_in_order(problem, k.schedule, constraints)) kept.push_back({k.name, *std::move(schedule)});
  return kept;
}

/// What becomes of the answer's order, and of the least period, with one number changed.
class WhatIf {
 public:
  WhatIf(const Subject& subject, const LeastPeriod& answer, const std::vector<programs::KnownProgram>& known, const std::stop_token& stop,
         const Listener<LeastPeriod>& listener)
      : subject_(subject), order_(*answer.schedule), known_(known), stop_(stop), listener_(listener) {
    known_.push_back({"the least of today's numbers", order_});
  }

  PeriodIf with(const Change& change, double seconds) const {
    PeriodIf row{describe(change)};
    const Result<Problem> problem = problem_with(subject_, Changes{change});
    if (!problem) {
      row.fault = problem.error().faults.front().message;
      return row;
    }
    if (!chooses_by_period(*problem)) {
      row.fault = "no period decides between orders here";
      return row;
    }
    row.in_order = deciding_period(*problem, order_, stop_);
    const auto hears = [&](const programs::EnumerationProgress& progress) {
      News news = news_of(progress);
      news.doing = row.change + ": " + news.doing;
      listener_.tell(news);
    };
    auto least = solver::least_under(
        {*problem, subject_.constraints, retimed(*problem, subject_.constraints, known_), seconds, subject_.limits.seed}, stop_, hears);
    if (least) row.least = std::move(least->period);
    return row;
  }

 private:
  const Subject& subject_;
  const Schedule& order_;
  std::vector<programs::KnownProgram> known_;
  const std::stop_token& stop_;
  const Listener<LeastPeriod>& listener_;
};

}  // namespace

LeastPeriod ask_period(const Subject& subject, const PeriodOptions& options, std::stop_token stop, const Listener<LeastPeriod>& listener) {
  const Clock::time_point begin = Clock::now();
  const Problem& problem = subject.problem();
  const std::vector<programs::KnownProgram> known = known_to(subject, stop, listener);
  programs::LeastOptions search;
  search.rules.constraints = subject.constraints;
  search.rules.stages = options.stages;
  search.most_programs = options.most_programs;
  const auto left = [&] { return std::max(0.0, subject.limits.timeout_seconds - seconds_between(begin, Clock::now())); };
  search.seconds = left() / static_cast<double>(1 + options.what_if.size());
  search.seed = subject.limits.seed;
  programs::LeastProgram found = programs::least_program(
      problem, known, search, stop, [&](const programs::EnumerationProgress& progress) { listener.tell(news_of(progress)); });
  LeastPeriod answer;
  answer.standing = standing_of(found.standing);
  answer.sentence = std::move(found.sentence);
  answer.why = std::move(found.why);
  answer.schedule = std::move(found.schedule);
  answer.from = std::move(found.from);
  answer.cycles = found.period.cycles();
  answer.bound = static_cast<double>(found.bound.ticks) / motion::kCycle;
  answer.bound_sentence = std::move(found.bound.sentence);
  if (answer.cycles > 0) answer.parts = motion::period_parts(problem, found.program, stop);
  answer.streams = timing::stream_text(problem, found.program);
  answer.programs = found.programs;
  answer.compared = found.compared;
  answer.digest = std::move(found.digest);
  count_orders(found, answer);
  if (problem.contention.known) rank(problem, known, answer);
  for (const Change& change : options.what_if) {
    if (!answer.schedule || stop.stop_requested()) break;
    const double share = left() / static_cast<double>(options.what_if.size() - answer.what_if.size());
    answer.what_if.push_back(WhatIf(subject, answer, known, stop, listener).with(change, share));
  }
  answer.cancelled = stop.stop_requested();
  answer.seconds = seconds_between(begin, Clock::now());
  return answer;
}

Ended ended(const LeastPeriod& answer) {
  if (answer.cancelled) return Ending::Interrupted;
  return answer.standing == PeriodStanding::LeastOfAll ? Ending::Done : Ending::NoProof;
}

std::string told(const Subject& subject, const LeastPeriod& answer, const Telling& how) {
  if (how.json()) return least_period_json(subject.problem(), answer).pretty();
  return least_period_summary(subject.problem(), answer, how.style);
}

}  // namespace heddle::app

#include "solver/programs/least_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/analysis/channels.h"
#include "core/analysis/turns.h"
#include "core/base/assert.h"
#include "core/base/stop_after.h"
#include "core/check/checker.h"
#include "core/motion/motion.h"
#include "solver/programs/local_search.h"
#include "solver/programs/period_sentence.h"

namespace heddle::programs {
namespace {

/// The problem with one number of contention after the other at the end of its range. What the work of ops is made of stays.
std::vector<Problem> ends_of_ranges(const Problem& problem) {
  std::vector<Problem> ends;
  const auto vary = [&](std::string_view name, std::int64_t end) {
    Problem varied = problem;
    each_number(varied.contention, [&](std::string_view other, RangedNumber& number) {
      if (other == name) number.value = end;
    });
    ends.push_back(std::move(varied));
  };
  each_number(problem.contention, [&](std::string_view name, const RangedNumber& number) {
    if (name == "special_interval") return;
    for (const std::int64_t end : {number.least, number.most})
      if (end != number.value) vary(name, end);
  });
  return ends;
}

class Question {
 public:
  Question(const Problem& problem, const std::vector<KnownProgram>& known, const LeastOptions& options, const std::stop_token& stop,
           const ProgressListener& listener)
      : problem_(problem),
        known_(known),
        options_(options),
        listener_(listener),
        deadline_(options.seconds),
        in_time_(stop, options.seconds),
        ranking_(options.top, options.percent) {}

  LeastProgram run() {
    const Schedule& first = known_.front().schedule;
    answer_.from = known_.front().name;
    answer_.program = motion::program_of(problem_, first);
    answer_.schedule = first;
    if (!problem_.contention.known) return predicted("the machine file has no numbers of contention");
    answer_.period = motion::motion_of(problem_, answer_.program).period;
    if (std::vector<motion::PeriodBound> bounds = motion::period_bounds(problem_); !bounds.empty())
      answer_.bound = std::move(bounds.front());
    if (std::string refused = refused_demand(problem_, first, options_.rules.constraints); !refused.empty())
      return predicted(std::move(refused));
    rank_known();
    const Assembly assembly(problem_, first, options_.rules);
    const ProgramSpace space = program_space(assembly, {options_.most_orders, in_time_.token()});
    answer_.digest = space.digest;
    answer_.copies = space.copies;
    for (const GroupSpace& group : space.groups) answer_.counts.push_back(group.counts);
    Enumeration found;
    if (space.refusal.empty()) {
      found = enumerate(assembly, space, ranking_, {options_.most_programs, deadline_, in_time_.token()}, bounded_listener());
      answer_.why = found.why;
      answer_.compared = found.compared;
      if (found.programs <= options_.most_programs) answer_.programs = found.programs;
    } else {
      answer_.why = space.refusal;
    }
    if (!found.complete) answer_.compared += improve(assembly);
    if (ranking_.empty()) return predicted("no program that is known runs in the rule of motion");
    answer_.top = ranking_.kept();
    choose();
    settle_standing(found);
    answer_.sentence = period_sentence(problem_, answer_, options_.rules);
    return std::move(answer_);
  }

 private:
  LeastProgram predicted(std::string why) {
    answer_.why = std::move(why);
    answer_.sentence = period_sentence(problem_, answer_, options_.rules);
    return std::move(answer_);
  }

  ProgressListener bounded_listener() const {
    if (!listener_) return {};
    return [this](EnumerationProgress progress) {
      progress.bound = answer_.bound.ticks;
      listener_(progress);
    };
  }

  void rank_known() {
    for (const KnownProgram& k : known_) {
      if (k.schedule.ops.size() != problem_.ops.size() || !check(problem_, k.schedule, options_.rules.constraints).valid()) continue;
      usable_.push_back(k.schedule);
      Ranked found{motion::program_of(problem_, k.schedule), {}, k.name};
      found.period = motion::motion_of(problem_, found.program, {.stop = in_time_.token()}).period;
      ranking_.add(std::move(found));
    }
  }

  std::int64_t improve(const Assembly& assembly) {
    LocalSearchLimits limits;
    limits.most_programs = options_.local_programs;
    limits.seed = options_.seed;
    limits.deadline = deadline_;
    limits.stop = in_time_.token();
    return local_search(assembly, usable_, ranking_, limits, bounded_listener());
  }

  struct Candidate {
    const Ranked* ranked = nullptr;
    Schedule schedule;
    std::tuple<std::int64_t, int, std::int64_t, std::int64_t> worth;  ///< mean period in ticks, stages, bytes, registers
  };

  const Schedule& known_schedule(const std::string& name) const {
    return std::find_if(known_.begin(), known_.end(), [&](const KnownProgram& k) { return k.name == name; })->schedule;
  }

  /// Of those that are as good as the least one the best; where none of them has a legal schedule the next that has one.
  void choose() {
    const motion::MotionPeriod least = answer_.top.front().period;
    std::vector<Candidate> candidates;
    answer_.tied = 0;
    for (const Ranked& ranked : answer_.top) {
      const bool tied = within(ranked.period, least, options_.tie_percent);
      if (!tied && !candidates.empty()) break;
      MadeSchedule made =
          ranked.from.empty() ? schedule_of(problem_, options_.rules.constraints, ranked) : MadeSchedule{known_schedule(ranked.from), {}};
      if (made.schedule) {
        answer_.tied += tied;
        candidates.push_back({&ranked, *std::move(made.schedule), {}});
      } else {
        shorter_unmade_ += candidates.empty();
        answer_.unmade.push_back(fmt::format("{}: {}", fmt::join(timing::stream_text(problem_, ranked.program), " | "), made.objection));
      }
    }
    if (candidates.empty()) return;
    if (candidates.size() > 1) {
      const std::vector<Problem> ends = ends_of_ranges(problem_);
      for (Candidate& c : candidates) c.worth = worth(c, ends);
    }
    const Candidate& best =
        *std::min_element(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) { return a.worth < b.worth; });
    answer_.program = best.ranked->program;
    answer_.period = best.ranked->period;
    answer_.from = best.ranked->from;
    answer_.schedule = best.schedule;
  }

  std::tuple<std::int64_t, int, std::int64_t, std::int64_t> worth(const Candidate& c, const std::vector<Problem>& ends) const {
    double sum = c.ranked->period.cycles();
    for (const Problem& varied : ends) sum += motion::motion_of(varied, c.ranked->program).period.cycles();
    std::int64_t registers = 0;
    for (const ScheduleGroup& group : c.schedule.groups) registers += static_cast<std::int64_t>(group.registers) * group.warps;
    const double mean = sum / static_cast<double>(ends.size() + 1);
    return {std::llround(mean * motion::kCycle), stage_count(c.schedule), allocated(problem_, c.schedule, Space::Smem), registers};
  }

  void settle_standing(const Enumeration& found) {
    answer_.standing = ProgramStanding::WithinPercentOfBound;
    if (!found.complete) return;
    const Ranked& first = answer_.top.front();
    if (!first.from.empty() && motion::shorter(first.period, found.least)) {
      answer_.why = fmt::format("the order of {}, which is none of the {} that were enumerated, is shorter than all of them", first.from,
                                found.programs);
    } else if (shorter_unmade_ > 0) {
      answer_.why = fmt::format("of {} shorter programs no legal schedule was made", shorter_unmade_);
    } else {
      answer_.standing = ProgramStanding::LeastOfAll;
    }
  }

  const Problem& problem_;
  const std::vector<KnownProgram>& known_;
  const LeastOptions& options_;
  const ProgressListener& listener_;
  const Deadline deadline_;
  const StopAfter in_time_;
  std::vector<Schedule> usable_;
  Ranking ranking_;
  std::size_t shorter_unmade_ = 0;
  LeastProgram answer_;
};

}  // namespace

bool same_period(const motion::MotionPeriod& a, const motion::MotionPeriod& b) {
  constexpr double kDigits = 0.1;  // percent
  return within(a, b, kDigits) && within(b, a, kDigits);
}

double LeastProgram::gap() const {
  const double least = static_cast<double>(bound.ticks) / motion::kCycle;
  return least > 0 ? 100 * (period.cycles() / least - 1) : 0;
}

MadeSchedule schedule_of(const Problem& problem, const Constraints& constraints, const Ranked& program) {
  timing::LoopTiming timing = timing::earliest_schedule(problem, program.program);
  if (timing.deadlock) return {std::nullopt, timing.limit};
  timing.schedule.turns = !program.program.turns.empty() || contested_turns(problem, timing.schedule).empty();
  const Verdict verdict = check(problem, timing.schedule, constraints);
  if (!verdict.valid()) return {std::nullopt, verdict.violations.front().message};
  const motion::Motion again = motion::motion_of(problem, timing.schedule);
  if (!same_period(again.period, program.period))
    return {std::nullopt, fmt::format("its schedule at II {} has a period of {:.1f} cycles instead of {:.1f}", timing.schedule.ii,
                                      again.period.cycles(), program.period.cycles())};
  return {std::move(timing.schedule), {}};
}

LeastProgram least_program(const Problem& problem, const std::vector<KnownProgram>& known, const LeastOptions& options,
                           const std::stop_token& stop, const ProgressListener& listener) {
  HEDDLE_ASSERT(!known.empty(), "a schedule says which ops share a group");
  return Question(problem, known, options, stop, listener).run();
}

}  // namespace heddle::programs

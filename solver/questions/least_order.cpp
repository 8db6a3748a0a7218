#include "solver/questions/least_order.h"

#include <algorithm>
#include <deque>
#include <mutex>
#include <utility>

#include "core/base/deadline.h"
#include "core/base/hash.h"
#include "core/check/certify.h"
#include "core/check/checker.h"
#include "core/check/period_bound.h"
#include "core/motion/motion.h"
#include "core/schedule/question.h"
#include "core/simulate/forecast.h"
#include "solver/programs/local_search.h"
#include "solver/programs/period_sentence.h"

namespace heddle::solver {
namespace {

/// The answers to the last questions.
class KeptPrograms {
 public:
  std::shared_ptr<const programs::LeastProgram> find(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto known = std::find_if(kept_.begin(), kept_.end(), [&](const auto& entry) { return entry.first == key; });
    return known == kept_.end() ? nullptr : known->second;
  }
  void keep(const std::string& key, std::shared_ptr<const programs::LeastProgram> answer) {
    constexpr std::size_t kMost = 32;
    const std::lock_guard lock(mutex_);
    kept_.emplace_back(key, std::move(answer));
    if (kept_.size() > kMost) kept_.pop_front();
  }

 private:
  std::mutex mutex_;
  std::deque<std::pair<std::string, std::shared_ptr<const programs::LeastProgram>>> kept_;
};

KeptPrograms& kept_programs() {
  static KeptPrograms kept;
  return kept;
}

std::string key_of(const LeastOrderRequest& request, const std::vector<programs::KnownProgram>& known, const programs::LeastOptions& how) {
  Hash hash;
  hash.add(question_hash(request.problem, request.constraints)).add(motion_hash(request.problem));
  hash.add(how.most_programs).add(how.local_programs).add(how.seed);
  for (const programs::KnownProgram& k : known) {
    hash.add(k.name).add(k.schedule.ii);
    for (const Placement& placement : k.schedule.ops) hash.add(placement.start).add(placement.group.index());
    for (const int depth : k.schedule.depths) hash.add(depth);
    hash.add(k.schedule.turns);
  }
  return hash.hex();
}

struct Answered {
  std::shared_ptr<const programs::LeastProgram> program;
  bool complete = false;
};

Answered ask(const LeastOrderRequest& request, const std::vector<programs::KnownProgram>& known, const programs::LeastOptions& how,
             const std::stop_token& stop, const programs::ProgressListener& listener) {
  const std::string key = key_of(request, known, how);
  if (auto before = kept_programs().find(key)) return {std::move(before), true};
  const Deadline deadline(how.seconds);
  auto answer = std::make_shared<const programs::LeastProgram>(programs::least_program(request.problem, known, how, stop, listener));
  const bool complete = !stop.stop_requested() && !deadline.passed();
  if (complete) kept_programs().keep(key, answer);
  return {std::move(answer), complete};
}

}  // namespace

const char* LeastOrder::name() const {
  return found->standing == programs::ProgramStanding::LeastOfAll ? "least period" : "a search over programs";
}

std::optional<Schedule> LeastOrder::schedule(const Problem& problem, const std::function<bool(const Schedule&)>& wanted) const {
  const auto good = [&](const Schedule& schedule) { return !wanted || wanted(schedule); };
  // Of equal programs the one that stands the ranges of the numbers best.
  if (found->from.empty() && found->schedule && good(*found->schedule)) return found->schedule;
  for (const programs::Ranked& ranked : found->top) {
    if (!ranked.from.empty()) continue;
    programs::MadeSchedule made = programs::schedule_of(problem, rules.constraints, ranked);
    if (made.schedule && good(*made.schedule)) return std::move(made.schedule);
  }
  return std::nullopt;
}

LeastOrder least_order(const LeastOrderRequest& request, const std::stop_token& stop, const programs::ProgressListener& listener) {
  const Deadline deadline(request.seconds);
  LeastOrder answer;
  answer.rules.constraints = request.constraints;
  programs::LeastOptions how;
  how.rules = answer.rules;
  how.most_programs = kMostProgramsOfChoice;
  how.most_orders = kMostOrdersOfChoice;
  how.local_programs = 0;
  how.seconds = request.seconds;
  how.seed = request.seed;
  how.tie_percent = 0.1;  // what is claimed to be the least is the least
  // Some more, because of the least no text may be to be had.
  how.top = 16;
  how.percent = 2;
  // Where all are compared the other known ones say nothing new.
  Answered found = ask(request, {request.known.front()}, how, stop, listener);
  const bool whole = found.program->programs > 0;
  if (!whole && found.complete) {
    how.most_programs = how.most_orders = 0;
    how.local_programs = kStepsOfChoice / static_cast<std::int64_t>(std::max<std::size_t>(1, request.problem.ops.size()));
    how.seconds = deadline.left();
    std::vector<programs::KnownProgram> beginnings;
    for (const programs::KnownProgram& known : request.known)
      if (beginnings.size() < kBeginningsOfChoice && programs::same_groups(known.schedule, request.known.front().schedule))
        beginnings.push_back(known);
    found = ask(request, beginnings, how, stop, listener);
  }
  answer.found = std::move(found.program);
  answer.complete = found.complete;
  return answer;
}

namespace {

/// The legal ones that run, the fastest first; of one name only the fastest, because a search names them.
std::vector<programs::KnownProgram> fastest_first(const LeastOrderRequest& request, const std::stop_token& stop) {
  std::vector<std::pair<double, programs::KnownProgram>> timed;
  for (const programs::KnownProgram& known : request.known) {
    const Schedule& schedule = known.schedule;
    if (stop.stop_requested()) return {};
    if (schedule.ops.size() != request.problem.ops.size() || !check(request.problem, schedule, request.constraints).valid()) continue;
    if (const auto period = deciding_period(request.problem, schedule, stop)) timed.emplace_back(*period, known);
  }
  std::stable_sort(timed.begin(), timed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<programs::KnownProgram> known;
  for (auto& [period, program] : timed) {
    const std::string& name = program.name;
    if (std::none_of(known.begin(), known.end(), [&](const auto& faster) { return faster.name == name; }))
      known.push_back(std::move(program));
  }
  return known;
}

}  // namespace

std::optional<LeastUnder> least_under(LeastOrderRequest request, const std::stop_token& stop, const programs::ProgressListener& listener) {
  request.known = fastest_first(request, stop);
  if (request.known.empty()) return std::nullopt;
  LeastOrder order = least_order(request, stop, listener);
  const programs::LeastProgram& found = *order.found;
  if (!found.schedule || found.period.iterations <= 0) return std::nullopt;
  FoundPeriod period{programs::period_proof(request.problem, found, order.rules, found.period), found.from, found.why};
  Schedule schedule = *found.schedule;
  return LeastUnder{std::move(period), std::move(schedule), std::move(order)};
}

std::string certify_period_of(const Problem& problem, const LeastOrder& least, Schedule& schedule) {
  const motion::MotionPeriod period = motion::motion_of(problem, schedule).period;
  if (period.iterations <= 0) return {};
  PeriodProof proof = programs::period_proof(problem, *least.found, least.rules, period);
  proof.bound = std::min(proof.bound, check_period::period_sums(problem).ticks);  // no more than can be added up by hand
  std::string objection;
  while (true) {
    const auto why = certify_period(problem, proof, schedule);
    if (!why) return objection;
    if (objection.empty()) objection = *why;
    if (proof.standing == PeriodStanding::ByPrediction) return objection;
    const bool least_of_all = proof.standing == PeriodStanding::LeastOfAll;
    PeriodProof weaker;
    weaker.period = proof.period;
    weaker.iterations = proof.iterations;
    if (least_of_all && proof.bound > 0) weaker.standing = PeriodStanding::WithinBound, weaker.bound = proof.bound;
    proof = std::move(weaker);
  }
}

}  // namespace heddle::solver

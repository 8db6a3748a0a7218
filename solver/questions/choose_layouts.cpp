// The set with the least bound first, so that the bound of all is always that of the next.
#include "solver/questions/choose_layouts.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "core/analysis/bounds.h"
#include "core/base/assert.h"
#include "core/base/clock.h"
#include "core/base/saturate.h"
#include "core/check/checker.h"
#include "solver/encoding/finish_schedule.h"

namespace heddle::solver {
namespace {

/// Of the time for the first combination; the others must have some.
constexpr double kFirstShare = 0.4;

/// Of each decision the candidates that are left.
struct CandidateSet {
  std::vector<std::vector<std::size_t>> candidates;
  Cycle bound = 0;
  std::string why;  ///< no II below the bound

  bool single() const {
    return std::all_of(candidates.begin(), candidates.end(), [](const auto& each) { return each.size() == 1; });
  }
};

class Choosing {
 public:
  Choosing(OpenLayouts question, const ResolveWith& resolve, SolveRequest request, std::stop_token stop, const SolveListener& listener)
      : resolve_(resolve), request_(std::move(request)), stop_(std::move(stop)), listener_(listener) {
    answer_.question = std::move(question);
    deadline_ = deadline_after(begin_, request_.timeout_seconds);
  }

  ChosenLayouts run() {
    CandidateSet all;
    for (const LayoutDecision& decision : answer_.question.decisions) {
      all.candidates.push_back(decision.open());
      answer_.chosen.push_back(all.candidates.back().front());
    }
    answer_.asked_ii = request_.ii;
    if (all.single()) {
      solve_only_one();
      return std::move(answer_);
    }
    const Bounds least = compute_bounds(easiest(answer_.question, all.candidates));
    if (least.min_ii() < kNoFiniteII) bound_ = all.bound = least.min_ii(), why_ = all.why = least.sentence;
    take(most_promising(all));
    search(all);
    finish();
    return std::move(answer_);
  }

 private:
  using Combination = std::vector<std::size_t>;

  bool exhausted() const { return stop_.stop_requested() || Clock::now() >= deadline_; }
  double left() const { return std::max(0.0, seconds_between(Clock::now(), deadline_)); }
  void log(std::string text) {
    if (listener_) listener_(LogLine{std::move(text)});
  }

  static CandidateSet only(const Combination& combination) {
    CandidateSet set;
    for (const std::size_t candidate : combination) set.candidates.push_back({candidate});
    return set;
  }
  Problem numbers_with(const Combination& combination) const { return easiest(answer_.question, only(combination).candidates); }

  /// Decision by decision the candidate with which the bound by arithmetic is least.
  Combination most_promising(const CandidateSet& set) const {
    Combination combination;
    for (const auto& each : set.candidates) combination.push_back(each.front());
    for (std::size_t d = 0; d < combination.size(); ++d) {
      Cycle least = std::numeric_limits<Cycle>::max();
      std::size_t best = combination[d];
      for (const std::size_t candidate : set.candidates[d]) {
        combination[d] = candidate;
        const Cycle bound = compute_bounds(numbers_with(combination)).min_ii();
        if (bound < least) least = bound, best = candidate;
      }
      combination[d] = best;
    }
    return combination;
  }

  SolveRequest ask(Problem problem) const {
    SolveRequest request = request_;
    request.problem = std::move(problem);
    request.timeout_seconds = left();
    request.incumbent.reset();
    request.cutoff.reset();
    return request;
  }

  /// As good a schedule as this combination has, if it is better than what is known.
  void take(const Combination& combination) {
    SolveRequest request = ask(numbers_with(combination));
    request.objectives.clear();
    request.uncertain = nullptr;
    request.explain = false;
    request.timeout_seconds = kFirstShare * left();
    const SolveOutcome outcome = solve(request, stop_, listener_);
    count(outcome);
    if (outcome.schedule && !outcome.serial) offer(combination, *outcome.schedule);
  }

  void count(const SolveOutcome& outcome) {
    queries_ += outcome.queries, conflicts_ += outcome.conflicts;
    encode_seconds_ += outcome.seconds.encode;
  }

  void offer(const Combination& combination, const Schedule& schedule) {
    if (best_ && best_->ii <= schedule.ii) return;
    best_ = schedule;
    answer_.chosen = combination;
  }

  bool settled(const CandidateSet& set) const { return best_ && (request_.ii || set.bound >= best_->ii); }

  void search(const CandidateSet& all) {
    std::vector<CandidateSet> open{all};
    while (!open.empty()) {
      const auto least = std::min_element(open.begin(), open.end(), [](const auto& a, const auto& b) { return a.bound < b.bound; });
      bound_ = least->bound, why_ = least->why;
      if (unsettled_ && unsettled_->bound < bound_) bound_ = unsettled_->bound, why_ = unsettled_->why;
      if (settled(*least)) break;
      if (exhausted()) return;
      CandidateSet set = std::move(*least);
      open.erase(least);
      solve_set(std::move(set), open);
    }
    infeasible_ = !best_ && !unsettled_;
    if (best_) bound_ = best_->ii;
    if (unsettled_ && unsettled_->bound < bound_) bound_ = unsettled_->bound, why_ = unsettled_->why;
  }

  void solve_set(CandidateSet set, std::vector<CandidateSet>& open) {
    SolveRequest request = ask(easiest(answer_.question, set.candidates));
    request.objectives.clear();
    request.uncertain = nullptr;
    request.known_bound = std::max(request.known_bound, set.bound);
    request.explain = false;
    if (best_ && !request_.ii) request.cutoff = best_->ii;
    request.known_bound_why = set.why;
    const SolveOutcome outcome = solve(request, stop_);
    count(outcome);
    ++answer_.cases;
    if (outcome.bound_stages) stages_ = std::min(stages_.value_or(*outcome.bound_stages), *outcome.bound_stages);
    if (!request_.ii && outcome.lower_bound > set.bound) set.bound = outcome.lower_bound, set.why = outcome.explanation;
    say(set, outcome);
    if (outcome.status == Status::Infeasible) return;
    if (settled(set)) return;
    Combination nearest;
    std::vector<std::size_t> trouble(set.candidates.size());
    if (outcome.schedule && !outcome.serial) {
      Schedule schedule = *outcome.schedule;
      nearest = nearest_combination(set, schedule, trouble);
      finish_schedule(numbers_with(nearest), request_.constraints, schedule);
      if (fits(nearest, schedule)) {
        offer(nearest, schedule);
        if (settled(set)) return;
      }
    }
    if (set.single()) {
      // Solved as far as the search goes.
      if (!unsettled_ || set.bound < unsettled_->bound) unsettled_ = std::move(set);
      return;
    }
    split(set, nearest, trouble, open);
  }

  bool fits(const Combination& combination, const Schedule& schedule) const {
    return check(numbers_with(combination), schedule, request_.constraints).valid();
  }

  /// Decision by decision the candidate under which the schedule breaks the fewest rules; `trouble`: how many then.
  Combination nearest_combination(const CandidateSet& set, const Schedule& schedule, std::vector<std::size_t>& trouble) const {
    Combination combination = most_promising(set);
    for (std::size_t d = 0; d < combination.size(); ++d) {
      // The others at their least: what is broken is broken by this one.
      CandidateSet alone = set;
      std::size_t least = std::numeric_limits<std::size_t>::max();
      for (const std::size_t candidate : set.candidates[d]) {
        alone.candidates[d] = {candidate};
        const Problem problem = easiest(answer_.question, alone.candidates);
        Schedule finished = schedule;
        finish_schedule(problem, request_.constraints, finished);
        const std::size_t broken = check(problem, finished, request_.constraints).violations.size();
        if (broken < least) least = broken, combination[d] = candidate;
      }
      trouble[d] = least;
    }
    return combination;
  }

  /// At the decision that is most in the way; where none is, at that with the most candidates.
  void split(const CandidateSet& set, const Combination& nearest, const std::vector<std::size_t>& trouble,
             std::vector<CandidateSet>& open) const {
    std::optional<std::size_t> at;
    const auto weight = [&](std::size_t d) { return std::pair(trouble[d], set.candidates[d].size()); };
    for (std::size_t d = 0; d < set.candidates.size(); ++d)
      if (set.candidates[d].size() > 1 && (!at || weight(d) > weight(*at))) at = d;
    HEDDLE_ASSERT(at.has_value(), "a set that is split has something to split");
    const auto add = [&](std::vector<std::size_t> candidates) {
      if (candidates.empty()) return;
      CandidateSet part = set;
      part.candidates[*at] = std::move(candidates);
      open.push_back(std::move(part));
    };
    std::vector<std::size_t> others = set.candidates[*at];
    const std::size_t first = nearest.empty() ? others.front() : nearest[*at];
    std::erase(others, first);
    add({first});
    add(std::move(others));
  }

  void say(const CandidateSet& set, const SolveOutcome& outcome) {
    std::int64_t size = 1;
    for (const auto& each : set.candidates) size = sat_mul(size, static_cast<std::int64_t>(each.size()));
    log(fmt::format("{} combination{} of layouts: {}", size, size == 1 ? "" : "s",
                    outcome.status == Status::Infeasible ? "no schedule"
                    : outcome.schedule && !outcome.cut_off
                        ? fmt::format("II {} if every number were its least, bound {}", outcome.schedule->ii, outcome.lower_bound)
                        : fmt::format("bound {}", outcome.lower_bound)));
  }

  /// False: the combination is no problem at all, though each candidate by itself is part of one.
  bool resolve_chosen() {
    answer_.choices = choices_with(answer_.question, answer_.chosen);
    Result<Problem> problem = resolve_(answer_.choices);
    if (problem && numbers_in(answer_.question.shape, *problem) == numbers_of(numbers_with(answer_.chosen))) {
      answer_.problem = *std::move(problem);
      return true;
    }
    answer_.problem = answer_.question.problem;
    answer_.outcome.status = Status::Invalid;
    answer_.outcome.explanation = problem ? "what was solved is not what these layouts make of the kernel" : to_string(problem.error());
    return false;
  }

  /// Nothing is left to choose: a question like any other.
  void solve_only_one() {
    if (!resolve_chosen()) return;
    SolveRequest request = request_;
    request.problem = answer_.problem;
    answer_.outcome = solve(request, stop_, listener_);
  }

  /// Everything about the combination that was chosen; what is claimed is claimed of all.
  void finish() {
    if (!resolve_chosen()) return;
    SolveRequest request = ask(answer_.problem);
    if (best_) best_->layouts = answer_.choices;
    request.incumbent = best_;
    // A bound for so many stages would be taken for one of any number.
    if (!request_.ii && !stages_ && answer_.question.complete)
      request.known_bound = std::max(request_.known_bound, bound_), request.known_bound_why = why_;
    request.explain = request_.explain && infeasible_;
    answer_.outcome = solve(request, stop_, listener_);
    SolveOutcome& outcome = answer_.outcome;
    if (!request_.ii && outcome.status != Status::Infeasible && outcome.status != Status::Invalid) {
      if (stages_) outcome.bound_stages = std::min(outcome.bound_stages.value_or(*stages_), *stages_);
      // This combination may be solved, and others not.
      if (bound_ < outcome.lower_bound) {
        outcome.lower_bound = bound_, outcome.explanation = why_, outcome.reason = BoundReason::Refutation;
        if (outcome.status == Status::Optimal) outcome.status = Status::Feasible;
        outcome.timed_out = outcome.timed_out || !stop_.stop_requested();
      }
    }
    if (outcome.status == Status::Infeasible && !infeasible_) outcome.status = Status::Unknown;
    outcome.queries += queries_, outcome.conflicts += conflicts_;
    outcome.seconds.encode += encode_seconds_;
    outcome.seconds.total = seconds_between(begin_, Clock::now());
  }

  const ResolveWith& resolve_;
  SolveRequest request_;
  std::stop_token stop_;
  const SolveListener& listener_;
  const Clock::time_point begin_ = Clock::now();
  Clock::time_point deadline_;
  ChosenLayouts answer_;
  std::optional<Schedule> best_;
  Cycle bound_ = 0;                        ///< of every combination
  std::string why_;                        ///< no II below it
  std::optional<int> stages_;              ///< the bound speaks of schedules of at most so many stages
  std::optional<CandidateSet> unsettled_;  ///< of the single combinations that were not solved to the end the one with the least bound
  bool infeasible_ = false;
  std::int64_t queries_ = 0, conflicts_ = 0;
  double encode_seconds_ = 0;
};

}  // namespace

Problem easiest_of_all(const OpenLayouts& question) {
  std::vector<std::vector<std::size_t>> candidates;
  for (const LayoutDecision& decision : question.decisions) candidates.push_back(decision.open());
  return easiest(question, candidates);
}

ChosenLayouts choose_layouts(OpenLayouts question, const ResolveWith& resolve, SolveRequest request, std::stop_token stop,
                             const SolveListener& listener) {
  return Choosing(std::move(question), resolve, std::move(request), std::move(stop), listener).run();
}

}  // namespace heddle::solver

// Rounds of growing effort, each in two halves: II of the members that may still win, then the objectives of those whose II
// is proved, the best first. From the second round on only objectives that may still decide a tie are pursued.

#include "solver/questions/kernel_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <tuple>

#include "core/analysis/bounds.h"
#include "core/base/clock.h"
#include "core/check/certify.h"
#include "core/check/checker.h"
#include "solver/search/objectives.h"

namespace heddle::solver {
namespace {

constexpr double kFirstSeconds = 2;

double since(Clock::time_point begin) { return seconds_between(begin, Clock::now()); }

bool settled(const KernelSetMember& m) {
  return m.invalid() || m.pruned || m.outcome.status == Status::Optimal || m.outcome.status == Status::Infeasible ||
         m.outcome.status == Status::Invalid;
}

bool has_schedule(const KernelSetMember& m) { return !m.invalid() && m.outcome.schedule.has_value(); }

/// Compares cycles per work.
int compare_cost(Cycle ii_a, const KernelSetMember& a, Cycle ii_b, const KernelSetMember& b) {
  return compare_ratios(ii_a, a.work.amount, ii_b, b.work.amount);
}

/// The least II with which `m` would be strictly worse than `best`; nothing when no II is.
std::optional<Cycle> hopeless_ii(const KernelSetMember& m, const KernelSetMember& best) {
  const auto even = static_cast<__int128>(best.outcome.schedule->ii) * m.work.amount / best.work.amount;
  if (even >= kNoFiniteII) return std::nullopt;
  return static_cast<Cycle>(even) + 1;
}

std::vector<std::int64_t> objective_values(const KernelSetMember& m, const std::vector<Objective>& objectives) {
  std::vector<std::int64_t> values;
  for (const Objective o : objectives) values.push_back(objective_value(m.problem, *m.outcome.schedule, o));
  return values;
}

class Search {
 public:
  Search(KernelSetRequest request, std::stop_token stop, const KernelSetListener& listener)
      : request_(std::move(request)), stop_(std::move(stop)), listener_(listener), members_(family_.members) {
    members_ = std::move(request_.members);
    family_.solver = solver_version();
    family_.seed = request_.seed;
    deadline_ = deadline_after(begin_, request_.timeout_seconds);
  }

  KernelSetAnswer run() {
    start();
    const bool growing = request_.member_seconds <= 0;
    double limit = growing ? kFirstSeconds : request_.member_seconds;
    bool first = true;
    do {
      for_each(unsettled(), [&](std::size_t i) { solve_ii(i, limit); });
      prune_all();
      for_each(by_rank(), [&](std::size_t i) { settle_objectives(i, limit, !first); });
      limit *= 2;
      first = false;
    } while (growing && !exhausted() && (!unsettled().empty() || any_tie_open()));
    finish();
    return std::move(family_);
  }

 private:
  bool exhausted() const { return stop_.stop_requested() || Clock::now() >= deadline_; }

  // ---- order of work

  void start() {
    std::map<std::string, std::size_t> series;
    for (KernelSetMember& m : members_) {
      if (family_.machine.empty()) family_.machine = m.problem.machine;
      if (m.invalid()) {
        m.outcome.status = Status::Invalid;
        continue;
      }
      if (stop_.stop_requested()) continue;
      // Members may be one problem though their parameters differ; they help each other like those of one series.
      Problem bare = m.problem;
      bare.max_groups = 0;
      m.series = series.emplace(problem_hash(bare), m.series).first->second;
      family_.work = m.work.kind;
      const Bounds bounds = compute_bounds(m.problem);
      m.min_ii = bounds.min_ii();
      m.outcome.res_mii = bounds.res_mii;
      m.outcome.rec_mii = bounds.rec_mii;
      m.outcome.issue_mii = bounds.issue_mii;
      m.outcome.explanation = bounds.sentence;
      m.outcome.lower_bound = std::min(m.min_ii, kNoFiniteII);
      m.outcome.reason = m.min_ii > bounds.res_mii ? BoundReason::Recurrence : BoundReason::Resource;
      m.outcome.seed = request_.seed;
      m.outcome.solver = family_.solver;
      if (m.min_ii >= kNoFiniteII) m.outcome.status = Status::Infeasible;
    }
  }

  /// Within a series: the usual number of groups first, which is the likeliest to be found quickly; then more, to which the
  /// schedule carries over; then fewer, to which the bound does.
  static std::pair<bool, int> turn(const KernelSetMember& m) {
    const bool fewer = m.groups < m.usual_groups;
    return {fewer, fewer ? -m.groups : m.groups};
  }

  /// Members that need work, the most promising first.
  std::vector<std::size_t> unsettled() {
    std::vector<std::size_t> list;
    for (std::size_t i = 0; i < members_.size(); ++i)
      if (!settled(members_[i])) list.push_back(i);
    std::stable_sort(list.begin(), list.end(), [&](std::size_t a, std::size_t b) {
      const KernelSetMember &left = members_[a], &right = members_[b];
      const int order = compare_cost(left.outcome.lower_bound, left, right.outcome.lower_bound, right);
      return order != 0 ? order < 0 : std::tuple(left.series, turn(left)) < std::tuple(right.series, turn(right));
    });
    return list;
  }

  /// Members with a schedule, the best first; within a series the one with most groups, whose objectives may hold for all.
  std::vector<std::size_t> by_rank() {
    std::vector<std::size_t> list;
    for (std::size_t i = 0; i < members_.size(); ++i)
      if (has_schedule(members_[i])) list.push_back(i);
    std::stable_sort(list.begin(), list.end(), [&](std::size_t a, std::size_t b) {
      const KernelSetMember &left = members_[a], &right = members_[b];
      const int order = compare_cost(left.outcome.schedule->ii, left, right.outcome.schedule->ii, right);
      return order != 0 ? order < 0 : std::tuple(left.series, -left.groups) < std::tuple(right.series, -right.groups);
    });
    return list;
  }

  template <class Work>
  void for_each(const std::vector<std::size_t>& list, Work work) {
    std::size_t next = 0;
    const auto worker = [&] {
      for (;;) {
        std::size_t mine = 0;
        {
          const std::lock_guard lock(mutex_);
          if (next == list.size() || exhausted()) return;
          mine = list[next++];
        }
        work(mine);
      }
    };
    std::vector<std::jthread> others;
    for (int j = 1; j < std::min<int>(request_.jobs, static_cast<int>(list.size())); ++j) others.emplace_back(worker);
    worker();
  }

  // ---- what members tell each other (under the lock)

  /// Bytes per work, where that is what breaks ties.
  int compare_traffic(const KernelSetMember& a, const KernelSetMember& b) const {
    return request_.least_traffic ? compare_ratios(a.work.bytes, a.work.amount, b.work.bytes, b.work.amount) : 0;
  }

  /// The best throughput so far, ties broken by traffic, objectives, order; members_.size() when there is no schedule.
  std::size_t best() const {
    std::size_t best = members_.size();
    for (std::size_t i = 0; i < members_.size(); ++i) {
      const KernelSetMember& m = members_[i];
      if (!has_schedule(m)) continue;
      if (best < members_.size()) {
        const KernelSetMember& champion = members_[best];
        int order = compare_cost(m.outcome.schedule->ii, m, champion.outcome.schedule->ii, champion);
        if (order == 0) order = compare_traffic(m, champion);
        if (order > 0 || (order == 0 && objective_values(m, request_.objectives) >= objective_values(champion, request_.objectives)))
          continue;
      }
      best = i;
    }
    return best;
  }

  /// Prunes `m` when its bound says that it cannot even equal the best.
  void prune(KernelSetMember& m) {
    const std::size_t b = best();
    if (!request_.prune || settled(m) || b == members_.size() || &members_[b] == &m) return;
    const auto hopeless = hopeless_ii(m, members_[b]);
    if (!hopeless || m.outcome.lower_bound < *hopeless) return;
    m.pruned = true;
    m.why = fmt::format("II >= {}, but only II <= {} would equal {} with its II {}", m.outcome.lower_bound, *hopeless - 1,
                        members_[b].label, members_[b].outcome.schedule->ii);
  }

  void prune_all() {
    for (KernelSetMember& m : members_) prune(m);
  }

  /// A schedule of another member of the series, if it is legal here and better than what is known.
  void adopt(KernelSetMember& m, const KernelSetMember& other) {
    if (!has_schedule(other) || static_cast<int>(other.outcome.schedule->groups.size()) > m.groups) return;
    if (m.outcome.schedule) {
      const Cycle mine = m.outcome.schedule->ii, others = other.outcome.schedule->ii;
      if (mine < others) return;
      if (mine == others && objective_values(m, request_.objectives) <= objective_values(other, request_.objectives)) return;
    }
    if (check(m.problem, *other.outcome.schedule, request_.constraints).valid()) m.outcome.schedule = other.outcome.schedule;
  }

  void learn(KernelSetMember& m) {
    for (const KernelSetMember& other : members_) {
      if (&other == &m || other.series != m.series || other.invalid() || m.invalid()) continue;
      adopt(m, other);
      if (other.groups < m.groups) continue;
      if (other.outcome.status == Status::Infeasible) {
        m.outcome.status = Status::Infeasible;
        m.outcome.explanation = other.outcome.explanation;
        return;
      }
      if (other.outcome.lower_bound <= m.outcome.lower_bound) continue;
      m.outcome.lower_bound = other.outcome.lower_bound;
      m.outcome.reason = other.outcome.reason;
      m.outcome.explanation = other.outcome.explanation;
      if (other.groups > m.groups && !m.outcome.explanation.empty())
        m.outcome.explanation += fmt::format(" (proved with up to {} groups, so with fewer too)", other.groups);
    }
    if (m.outcome.schedule && m.outcome.status != Status::Infeasible)
      m.outcome.status = m.outcome.schedule->ii == m.outcome.lower_bound ? Status::Optimal : Status::Feasible;
  }

  void tell(std::size_t i, bool decided) {
    if (!listener_) return;
    std::size_t done = 0, total = 0;
    for (const KernelSetMember& m : members_) {
      total += !m.invalid();
      done += !m.invalid() && settled(m);
    }
    listener_({family_, i, decided, done, total});
  }

  // ---- one member

  SolveRequest request_for(const KernelSetMember& m, double limit) const {
    SolveRequest r;
    r.problem = m.problem;
    r.constraints = request_.constraints;
    r.timeout_seconds = std::min(limit, seconds_between(Clock::now(), deadline_));
    r.seed = request_.seed;
    r.max_stages = request_.max_stages;
    r.known_bound = m.outcome.lower_bound;
    r.known_bound_why = m.outcome.explanation;
    r.incumbent = m.outcome.schedule;
    return r;
  }

  void solve_ii(std::size_t i, double limit) {
    std::unique_lock lock(mutex_);
    KernelSetMember& m = members_[i];
    learn(m);
    prune(m);
    if (settled(m)) return tell(i, true);
    tell(i, false);
    SolveRequest request = request_for(m, limit);
    request.objectives = {};
    if (const std::size_t b = best(); request_.prune && b != members_.size()) request.cutoff = hopeless_ii(m, members_[b]);
    lock.unlock();
    SolveOutcome outcome = solve(request, stop_);
    lock.lock();
    merge(m, std::move(outcome));
    prune(m);
    if (!settled(m)) m.why = stop_.stop_requested() ? "interrupted" : "time is up";
    tell(i, true);
  }

  static void merge(KernelSetMember& m, SolveOutcome found) {
    SolveOutcome& known = m.outcome;
    found.seconds.total += known.seconds.total;
    found.seconds.encode += known.seconds.encode;
    found.seconds.first += known.seconds.total;
    found.seconds.proof += known.seconds.total;
    found.queries += known.queries;
    found.conflicts += known.conflicts;
    // Stopped before it took up what was known.
    if (found.lower_bound < known.lower_bound && found.status != Status::Infeasible) {
      found.lower_bound = known.lower_bound;
      found.reason = known.reason;
      found.explanation = known.explanation;
    }
    if (known.schedule && (!found.schedule || found.schedule->ii > known.schedule->ii)) {
      found.schedule = std::move(known.schedule);
      found.status = found.schedule->ii == found.lower_bound ? Status::Optimal : Status::Feasible;
    }
    if (found.objectives.empty()) found.objectives = std::move(known.objectives);
    known = std::move(found);
    if (settled(m)) m.why.clear();
  }

  // ---- objectives after II

  static bool all_proved(const KernelSetMember& m, std::size_t count) {
    const auto& list = m.outcome.objectives;
    return list.size() == count + 1 && std::all_of(list.begin(), list.end(), [](const ObjectiveValue& o) { return o.proved; });
  }

  /// Whether more about the objectives of a member could change which one is the best, or whether that is proved.
  bool tie_open(const KernelSetMember& m) const {
    if (!has_schedule(m) || m.outcome.status != Status::Optimal || m.pruned || all_proved(m, request_.objectives.size())) return false;
    const KernelSetMember& winner = members_[best()];
    if (&m == &winner) return true;
    return compare_cost(m.outcome.schedule->ii, m, winner.outcome.schedule->ii, winner) == 0 && !proved_no_better(m, winner);
  }

  bool any_tie_open() const {
    return std::any_of(members_.begin(), members_.end(), [&](const KernelSetMember& m) { return tie_open(m); });
  }

  void settle_objectives(std::size_t i, double limit, bool only_ties) {
    std::unique_lock lock(mutex_);
    KernelSetMember& m = members_[i];
    if (m.outcome.status != Status::Optimal || m.pruned || request_.objectives.empty()) return;
    if (only_ties && !tie_open(m)) return;
    for (const KernelSetMember& other : members_) {
      if (&other == &m || other.series != m.series || other.invalid()) continue;
      adopt(m, other);
      // The best with as many or more groups allowed is the best here, if it is legal here.
      const bool same = other.groups >= m.groups && other.outcome.status == Status::Optimal &&
                        all_proved(other, request_.objectives.size()) && other.outcome.schedule->ii == m.outcome.schedule->ii &&
                        objective_values(other, request_.objectives) == objective_values(m, request_.objectives);
      if (same) m.outcome.objectives = other.outcome.objectives;
    }
    if (all_proved(m, request_.objectives.size())) return;
    tell(i, false);
    SolveRequest request = request_for(m, limit);
    request.objectives = request_.objectives;
    lock.unlock();
    SolveOutcome outcome = solve(request, stop_);
    lock.lock();
    merge(m, std::move(outcome));
  }

  // ---- the answer

  /// The schedule's certificate is about this member, wherever the schedule was found.
  void certify(KernelSetMember& m) {
    SolveOutcome& o = m.outcome;
    if (!o.schedule || m.invalid()) return;
    std::vector<ObjectiveValue> values{{"ii", o.schedule->ii, o.status == Status::Optimal}};
    const auto numbers = objective_values(m, request_.objectives);
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      const bool kept = o.objectives.size() == numbers.size() + 1 && o.objectives[k + 1].value == numbers[k];
      values.push_back({to_string(request_.objectives[k]), numbers[k], kept && o.objectives[k + 1].proved});
    }
    o.objectives = std::move(values);
    heddle::certify(m.problem, request_.constraints, o);
  }

  void finish() {
    prune_all();
    for (KernelSetMember& m : members_) {
      certify(m);
      if (settled(m) && !m.pruned) m.why.clear();
      if (!settled(m) && m.why.empty()) m.why = stop_.stop_requested() ? "interrupted" : "time is up";
    }
    family_.cancelled = stop_.stop_requested();
    family_.complete = std::all_of(members_.begin(), members_.end(), settled);
    choose();
    family_.timed_out = !family_.cancelled && !(family_.complete && family_.ties_settled) && Clock::now() >= deadline_;
    family_.seconds = since(begin_);
  }

  /// Of two members with equal cycles per work, `m` does not win the tie: its proved values decide before an unproved one.
  bool proved_no_better(const KernelSetMember& m, const KernelSetMember& winner) const {
    if (const int order = compare_traffic(m, winner); order != 0) return order > 0;
    const std::size_t known = request_.objectives.size() + 1;
    if (m.outcome.status != Status::Optimal || m.outcome.objectives.size() != known || winner.outcome.objectives.size() != known)
      return false;
    for (std::size_t k = 0; k < request_.objectives.size(); ++k) {
      const ObjectiveValue &mine = m.outcome.objectives[k + 1], &best = winner.outcome.objectives[k + 1];
      if (!mine.proved) return false;
      if (mine.value != best.value) return mine.value > best.value;
    }
    return true;
  }

  void choose() {
    const std::size_t b = best();
    if (b == members_.size()) return;
    const KernelSetMember& winner = members_[b];
    const Cycle ii = winner.outcome.schedule->ii;
    KernelSetBest throughput{"throughput", b, ii, winner.outcome.status == Status::Optimal};
    family_.ties_settled = throughput.proved;
    for (const KernelSetMember& m : members_) {
      if (&m == &winner || m.invalid() || m.outcome.status == Status::Infeasible) continue;
      const int order = compare_cost(m.outcome.lower_bound, m, ii, winner);
      if (order < 0 && m.outcome.status != Status::Optimal) throughput.proved = false;
      if (order <= 0 && !proved_no_better(m, winner)) family_.ties_settled = false;
    }
    family_.ties_settled = family_.ties_settled && throughput.proved && all_proved(winner, request_.objectives.size());
    family_.best.push_back(throughput);

    // Of equals the overall best is named, then the first.
    std::vector<std::size_t> candidates{b};
    for (std::size_t i = 0; i < members_.size(); ++i) candidates.push_back(i);
    for (std::size_t k = 0; k < request_.objectives.size(); ++k) {
      std::optional<KernelSetBest> least;
      bool proved = true;
      for (const std::size_t i : candidates) {
        const KernelSetMember& m = members_[i];
        if (m.outcome.status != Status::Optimal || m.pruned || !has_schedule(m)) continue;
        const ObjectiveValue& value = m.outcome.objectives[k + 1];
        proved = proved && value.proved;
        if (!least || value.value < least->value) least = {value.name, i, value.value, false};
      }
      if (!least) continue;
      least->proved = proved;
      family_.best.push_back(*least);
    }
  }

  KernelSetRequest request_;
  std::stop_token stop_;
  const KernelSetListener& listener_;
  const Clock::time_point begin_ = Clock::now();
  Clock::time_point deadline_;
  std::mutex mutex_;  // guards family_ and the listener while members are worked on
  KernelSetAnswer family_;
  std::vector<KernelSetMember>& members_;
};

}  // namespace

KernelSetAnswer solve_kernel_set(KernelSetRequest request, std::stop_token stop, const KernelSetListener& listener) {
  return Search(std::move(request), std::move(stop), listener).run();
}

}  // namespace heddle::solver

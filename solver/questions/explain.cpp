// Solve, find the reason, re-check it, then try the ways out one after the other, each with its share of the time left.
#include "solver/questions/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <iterator>
#include <numeric>

#include "core/analysis/bounds.h"
#include "core/analysis/shortage.h"
#include "core/base/saturate.h"
#include "core/check/checker.h"
#include "solver/encoding/user.h"
#include "solver/questions/relax.h"
#include "solver/search/core.h"
#include "solver/search/serial.h"
#include "solver/search/stage_range.h"
#include "solver/search/words.h"

namespace heddle::solver {
namespace {

/// Shares of the time limit: what is left over goes to the next.
constexpr double kSolveShare = 0.6, kCoreShare = 0.75;

/// Violations that tell how a rule is broken, by the checker's words.
bool tells(const Violation& v, ConstraintFamily family) {
  switch (family) {
    case ConstraintFamily::HandOff: return v.family == "dependence";
    case ConstraintFamily::Credit: return v.family == "credit" || v.family == "depth";
    case ConstraintFamily::RegisterFile: return v.family == "registers";
    case ConstraintFamily::Groups: return false;
    default: return v.family == word_of(family);
  }
}

bool about(const Violation& v, const ExplanationMember& member) {
  return std::all_of(v.ops.begin(), v.ops.end(),
                     [&](OpId op) { return std::find(member.ops.begin(), member.ops.end(), op) != member.ops.end(); });
}

/// A few words for what holds II up, where arithmetic says it.
std::string what_binds(const Problem& problem, const SolveOutcome& outcome) {
  if (outcome.status != Status::Optimal) return "";
  for (const BoundFact& fact : compute_bounds(problem).facts) {
    if (fact.bound != outcome.schedule->ii) continue;
    switch (fact.kind) {
      case BoundFact::Kind::Unit: return problem.unit(fact.unit).name;
      case BoundFact::Kind::Recurrence: return fmt::format("recurrence of {}", problem.op(fact.ops.front()).name);
      case BoundFact::Kind::Refill: return fmt::format("refilling of {}", problem.channel(fact.channels.front()).name);
      case BoundFact::Kind::Issue: return "issue streams";
    }
  }
  return "";
}

/// What has no schedule here has none at any II (solver/search/serial.h).
Cycle fits_serially(const Problem& problem, const Constraints& constraints) {
  return std::max(sat_add(compute_bounds(problem).min_ii(), 1), sat_add(serial_ii(problem), stretch(constraints)));
}

class Explainer {
 public:
  Explainer(const ExplainRequest& request, std::stop_token stop, const ExplainListener& listener)
      : request_(request),
        problem_(request.solve.problem),
        constraints_(request.solve.constraints),
        stop_(std::move(stop)),
        listener_(listener),
        begin_(Clock::now()),
        deadline_(deadline_after(begin_, request.solve.timeout_seconds)) {
    answer_.solver = solver_version();
  }

  Explanation run() {
    try {
      explain();
    } catch (const Stopped&) {
    } catch (const std::exception& e) {  // Z3 reports memory limits and internal faults this way
      answer_.remarks.push_back(fmt::format("the solver failed: {}", e.what()));
    }
    answer_.cancelled = stop_.stop_requested();
    const bool open = answer_.ways_out_left > 0 || !std::all_of(answer_.ways_out.begin(), answer_.ways_out.end(), decided);
    answer_.timed_out = !answer_.cancelled && (open || share_spent_ || Clock::now() >= deadline_);
    answer_.seconds = seconds_between(begin_, Clock::now());
    return std::move(answer_);
  }

 private:
  double left() const { return std::max(0.0, seconds_between(Clock::now(), deadline_)); }
  bool exhausted() const { return stop_.stop_requested() || Clock::now() >= deadline_; }

  void explain();
  void explain_by_arithmetic(Cycle below);
  void explain_shortages(const std::vector<Shortage>& shortages);
  void explain_undecided(const SolveOutcome& outcome);
  void explain_refutation(Cycle ii, bool ways_out = true);
  Core core_at(const Problem& problem, const Constraints& constraints, Cycle ii, const StageRange& range, double share);
  std::string next_obstacle(const Problem& problem, const Constraints& constraints, double share);
  void tell_what_breaks(const CoreMember& member, ExplanationMember& out) const;
  void relax(std::vector<Easing> easings);
  WayOut try_easing(Easing easing, double share);
  SolveOutcome solve_at(const SolveRequest& base, std::optional<Cycle> ii, double share);
  bool monotone(const Easing& e) const { return monotone_in_ii(e.problem) && monotone_in_ii(e.constraints); }

  const ExplainRequest& request_;
  const Problem& problem_;
  const Constraints& constraints_;
  std::stop_token stop_;
  const ExplainListener& listener_;
  Clock::time_point begin_, deadline_;
  Bounds bounds_;
  std::optional<Schedule> best_;
  bool share_spent_ = false;  ///< something that matters ended undecided for lack of time
  Explanation answer_;
};

SolveOutcome Explainer::solve_at(const SolveRequest& base, std::optional<Cycle> ii, double share) {
  SolveRequest request = base;
  request.ii = ii;
  request.objectives.clear();
  request.explain = false;
  request.seed = request_.solve.seed;
  request.max_stages = request_.solve.max_stages;
  request.timeout_seconds = share;
  SolveOutcome outcome = solve(request, stop_, listener_.solve);
  answer_.queries += outcome.queries;
  answer_.conflicts += outcome.conflicts;
  return outcome;
}

void Explainer::explain() {
  const std::string faults = problem_.ops.empty() ? "the loop body has no ops" : constraint_faults(problem_, constraints_);
  if (!faults.empty()) {
    answer_.status = Status::Invalid;
    answer_.sentence = faults;
    return;
  }
  bounds_ = compute_bounds(problem_);
  const std::optional<Cycle> asked = request_.solve.ii;
  if (bounds_.min_ii() >= kNoFiniteII) {
    answer_.status = Status::Infeasible;
    answer_.sentence = "no II is large enough";
    explain_by_arithmetic(kNoFiniteII);
    return;
  }
  if (const std::vector<Shortage> shortages = find_shortages(problem_, constraints_); !shortages.empty())
    return explain_shortages(shortages);
  if (asked && *asked < bounds_.min_ii()) {
    answer_.status = Status::Infeasible;
    answer_.refuted = asked;
    answer_.sentence = fmt::format("{} has no schedule: arithmetic alone asks for II {} at least", *asked, bounds_.min_ii());
    explain_by_arithmetic(*asked + 1);
    return;
  }
  const SolveOutcome outcome = solve_at(request_.solve, asked, kSolveShare * left());
  if (outcome.schedule) {
    best_ = outcome.schedule;
    answer_.ii = best_->ii;
    answer_.schedule = best_;
  }
  if (outcome.status == Status::Invalid) {
    answer_.status = Status::Invalid;
    answer_.sentence = outcome.explanation;
  } else if (asked && outcome.schedule) {
    answer_.status = Status::Feasible;
    answer_.sentence = fmt::format("{} has a schedule: there is nothing to explain", *asked);
  } else if (outcome.status == Status::Infeasible) {
    answer_.status = Status::Infeasible;
    answer_.refuted = asked;
    const Cycle serial = fits_serially(problem_, constraints_);
    answer_.sentence = asked ? fmt::format("{} has no schedule", *asked)
                             : fmt::format("no II has a schedule; still none at {}, where all ops fit one after the other", serial);
    explain_refutation(asked.value_or(serial));
  } else if (outcome.status == Status::Optimal) {
    answer_.status = Status::Optimal;
    answer_.refuted = best_->ii - 1;
    answer_.sentence = fmt::format("II {} is the least: {} has no schedule", best_->ii, best_->ii - 1);
    if (best_->ii == bounds_.min_ii()) {
      answer_.sentence = best_->ii == 1 ? "II 1 is the least there is" : fmt::format("II {} is the least, by arithmetic alone", best_->ii);
      if (best_->ii > 1) explain_by_arithmetic(best_->ii);
    } else {
      explain_refutation(best_->ii - 1);
    }
  } else {
    explain_undecided(outcome);
  }
}

void Explainer::explain_undecided(const SolveOutcome& outcome) {
  share_spent_ = outcome.timed_out;
  const bool asked = request_.solve.ii.has_value();
  answer_.status = best_ && !asked ? Status::Feasible : Status::Unknown;
  const Cycle bound = outcome.lower_bound;
  if (asked) {
    answer_.sentence = fmt::format("whether {} has a schedule was not decided in time", *request_.solve.ii);
    return;
  }
  const bool refuted = outcome.reason == BoundReason::Refutation && bound > bounds_.min_ii();
  const std::string known = best_ ? fmt::format("II {} was found", best_->ii) : "no schedule was found";
  const char* open = best_ ? "and between them" : "and above it";
  answer_.sentence = refuted ? fmt::format("{}, {} has no schedule, {} nothing was decided in time", known, bound - 1, open)
                             : fmt::format("{}, arithmetic asks for {} at least, {} nothing was decided in time", known, bound, open);
  if (refuted) {
    answer_.refuted = bound - 1;
    explain_refutation(bound - 1, false);
  } else {
    answer_.remarks.push_back(outcome.explanation);
  }
}

/// Every bound of at least `below` is a reason of its own.
void Explainer::explain_by_arithmetic(Cycle below) {
  std::vector<BoundFact> facts;
  for (const BoundFact& fact : bounds_.facts)
    if (fact.bound >= below) facts.push_back(fact);
  std::stable_sort(facts.begin(), facts.end(), [](const BoundFact& a, const BoundFact& b) { return a.bound > b.bound; });
  for (const BoundFact& fact : facts) answer_.members.push_back(describe_fact(problem_, fact));
  answer_.verified = true;
  if (!facts.empty())
    answer_.reason =
        facts[0].kind == BoundFact::Kind::Unit || facts[0].kind == BoundFact::Kind::Issue ? BoundReason::Resource : BoundReason::Recurrence;
  relax(easings_of(problem_, constraints_, facts));
}

/// Each is reason enough by itself.
void Explainer::explain_shortages(const std::vector<Shortage>& shortages) {
  answer_.status = Status::Infeasible;
  answer_.refuted = request_.solve.ii;
  answer_.sentence = "no II has a schedule, by arithmetic alone: nothing fits";
  for (const Shortage& s : shortages) answer_.members.push_back(describe_shortage(problem_, s));
  answer_.verified = true;
  answer_.reason = BoundReason::Resource;
  relax(easings_of(problem_, constraints_, shortages));
}

/// An undecided core when time runs out.
Core Explainer::core_at(const Problem& problem, const Constraints& constraints, Cycle ii, const StageRange& range, double share) {
  ModelOptions options;
  options.ii = ii;
  options.anchored = !fixes_rotation(constraints);
  options.stages = range.stages + (options.anchored ? 1 : 0);
  options.seed = request_.solve.seed;
  options.limits = {deadline_after(Clock::now(), share), stop_};
  Core core;
  try {
    core = find_core(problem, constraints, options, listener_.progress);
  } catch (const Stopped&) {
  }
  answer_.queries += core.queries;
  answer_.conflicts += core.conflicts;
  return core;
}

/// What else stands in the way of any schedule.
std::string Explainer::next_obstacle(const Problem& problem, const Constraints& constraints, double share) {
  const Cycle ii = fits_serially(problem, constraints);
  const Core core = core_at(problem, constraints, ii, stage_range(problem, constraints, request_.solve.max_stages, ii), share);
  std::string text;
  for (const CoreMember& member : core.members)
    text += (text.empty() ? "" : " + ") + describe_member(problem, constraints, core, member).what;
  return text;
}

/// One way in which a schedule that keeps the other members breaks this one.
void Explainer::tell_what_breaks(const CoreMember& member, ExplanationMember& out) const {
  const Schedule& s = *member.without;
  if (member.family == ConstraintFamily::Dependence) {  // the checker would count hand-offs too
    for (const ConstraintName& part : member.parts) {
      const Edge& e = problem_.edges[part.index];
      const Cycle used = s.start(e.to) + e.distance * s.ii, ready = s.start(e.from) + e.latency;
      if (used >= ready) continue;
      out.without = fmt::format("{} starts {} cycles before {} is done", problem_.op(e.to).name, ready - used, problem_.op(e.from).name);
      out.slot = s.slot(e.to);
      return;
    }
    return;
  }
  for (const Violation& v : check(problem_, s, constraints_).violations) {
    if (!tells(v, member.family) || !(out.ops.empty() || about(v, out))) continue;
    if (member.family == ConstraintFamily::User && v.message.find(constraints_[member.index].name + ":") != 0) continue;
    out.without = v.message;
    out.slot = v.slot;
    return;
  }
}

void Explainer::explain_refutation(Cycle ii, bool ways_out) {
  answer_.reason = BoundReason::Refutation;
  const StageRange range = stage_range(problem_, constraints_, request_.solve.max_stages, ii);
  const Core core = core_at(problem_, constraints_, ii, range, kCoreShare * left());
  answer_.together = true;
  answer_.assumptions.push_back(fmt::format("at most {} stage{}{}", range.stages, range.stages == 1 ? "" : "s",
                                            range.covers_all ? ", which is as many as any schedule needs" : ""));
  if (problem_.has_producer_group()) answer_.assumptions.push_back("loads stay in the producer group");
  if (core.groups_considered) answer_.assumptions.push_back(fmt::format("at most {} warp groups", *core.groups_considered));
  if (core.schedulable != Answer::No) {
    share_spent_ = true;
    answer_.remarks.push_back("the refutation stands, but which constraints it needs was not found in time");
    return;
  }
  answer_.verified = core.verified();
  for (const CoreMember& member : core.members) {
    ExplanationMember m = describe_member(problem_, constraints_, core, member);
    m.needed = member.without.has_value();
    if (member.without) tell_what_breaks(member, m);
    answer_.members.push_back(std::move(m));
  }
  if (const std::string cycle = tightest_cycle(problem_, core, ii); !cycle.empty()) answer_.remarks.push_back(cycle);
  if (ways_out) relax(easings_of(problem_, constraints_, core));
}

WayOut Explainer::try_easing(Easing easing, double share) {
  const auto begin = Clock::now();
  WayOut r;
  r.member = easing.member;
  r.what = easing.what;
  r.from = easing.from;
  r.to = easing.to;
  r.changes = easing.changes;
  r.constraint = easing.constraint;
  r.limit = easing.limit;
  r.choices = easing.choices;
  SolveRequest request;
  request.incumbent = best_;
  const bool least = !request_.solve.ii && best_;
  const bool monotone_problem = monotone(easing);
  const bool keeps = easing.keeps_schedules;
  request.problem = std::move(easing.problem);
  request.constraints = std::move(easing.constraints);
  const auto finish = [&](Status status, Cycle ii, std::string then) {
    r.status = status;
    r.ii = ii;
    r.then = std::move(then);
    r.seconds = seconds_between(begin, Clock::now());
    return r;
  };
  // Most changes buy nothing, and one query tells.
  if (answer_.refuted && (!least || (keeps && monotone_problem))) {
    const SolveOutcome one = solve_at(request, answer_.refuted, share);
    if (one.status == Status::Infeasible)
      return least ? finish(Status::Optimal, best_->ii, "") : finish(Status::Infeasible, *answer_.refuted, "");
    if (!one.schedule) return finish(Status::Unknown, 0, "");
    request.incumbent = one.schedule;
  }
  const double rest = std::max(0.0, share - seconds_between(begin, Clock::now()));
  const SolveOutcome outcome = solve_at(request, std::nullopt, rest);
  if (outcome.status == Status::Infeasible) {
    const bool dropped = r.to == kDropped && !answer_.refuted && compute_bounds(request.problem).min_ii() < kNoFiniteII;
    return finish(Status::Infeasible, 0, dropped ? next_obstacle(request.problem, request.constraints, rest) : "");
  }
  if (!outcome.schedule) {
    if (!request.incumbent || !keeps) return finish(Status::Unknown, 0, "");
    return finish(Status::Feasible, request.incumbent->ii, "");
  }
  return finish(outcome.status, outcome.schedule->ii, what_binds(request.problem, outcome));
}

void Explainer::relax(std::vector<Easing> easings) {
  if (request_.relax_seconds && *request_.relax_seconds <= 0) return;
  if (const auto port =
          std::find_if(answer_.members.begin(), answer_.members.end(),
                       [&](const ExplanationMember& m) { return m.unit.valid() && problem_.unit(m.unit).role == UnitRole::Smem; });
      request_.layouts && port != answer_.members.end()) {
    std::vector<Easing> others = easings_of(*request_.layouts, constraints_, static_cast<std::size_t>(port - answer_.members.begin()));
    easings.insert(easings.begin(), std::make_move_iterator(others.begin()), std::make_move_iterator(others.end()));
  }
  const double total = std::min(left(), request_.relax_seconds.value_or(left()));
  const auto end = deadline_after(Clock::now(), total);
  // Most need little and some would take all there is: a short try for each, then the rest for those still open.
  std::vector<WayOut> results;
  const auto tell = [&] {
    if (!listener_.known) return;
    Explanation so_far = answer_;
    so_far.ways_out = results;
    so_far.ways_out_left = easings.size() - results.size();
    listener_.known(so_far);
  };
  tell();
  std::vector<std::size_t> open(easings.size());
  std::iota(open.begin(), open.end(), std::size_t{0});
  for (const bool again : {false, true}) {
    std::vector<std::size_t> still_open;
    for (std::size_t n = 0; n < open.size(); ++n) {
      const double rest = seconds_between(Clock::now(), end);
      if (rest <= 0 || exhausted()) break;
      const Easing& easing = easings[open[n]];
      if (listener_.progress)
        listener_.progress(fmt::format("{} of {}: {} {} -> {}", open[n] + 1, easings.size(), easing.what, easing.from, easing.to));
      const double fair = rest / static_cast<double>(open.size() - n);
      WayOut r = try_easing(easing, again ? std::max(fair, rest / 3) : fair / 2);
      if (r.status == Status::Unknown && exhausted()) break;
      const bool settled = r.status == Status::Optimal || r.status == Status::Infeasible;
      if (!settled) still_open.push_back(open[n]);
      if (listener_.relaxed && (settled || again)) listener_.relaxed(r);
      if (!again)
        results.push_back(std::move(r));
      else if (settled || results[open[n]].status == Status::Unknown || (r.status == Status::Feasible && r.ii < results[open[n]].ii))
        results[open[n]] = std::move(r);
      tell();
    }
    open = std::move(still_open);
  }
  answer_.ways_out_left = easings.size() - results.size();
  answer_.ways_out = std::move(results);
  const auto worth = [](const WayOut& r) {
    const bool known = r.status == Status::Optimal || r.status == Status::Feasible;
    return std::pair(known ? 0 : r.status == Status::Infeasible ? 1 : 2, r.ii);
  };
  std::stable_sort(answer_.ways_out.begin(), answer_.ways_out.end(), [&](const WayOut& a, const WayOut& b) { return worth(a) < worth(b); });
}

}  // namespace

Explanation explain(const ExplainRequest& request, std::stop_token stop, const ExplainListener& listener) {
  return Explainer(request, std::move(stop), listener).run();
}

}  // namespace heddle::solver

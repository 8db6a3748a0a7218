// Fewer resources only raise II, so what is proved for loose caps bounds tight ones, and a point found within looser caps
// that keeps the tight ones is their answer too. That is why a point is never searched for twice.
#include "solver/questions/pareto.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <exception>
#include <set>
#include <utility>

#include "core/check/checker.h"
#include "core/schedule/question.h"
#include "solver/encoding/user.h"
#include "solver/search/decide.h"
#include "solver/search/objectives.h"
#include "solver/search/stage_range.h"

namespace heddle::solver {
namespace {

using Caps = std::vector<std::int64_t>;

Objective objective_of(Resource resource) {
  switch (resource) {
    case Resource::Warps: return Objective::Warps;
    case Resource::Registers: return Objective::Registers;
    case Resource::Smem: return Objective::Smem;
    case Resource::Stages: return Objective::Stages;
    case Resource::Tmem: return Objective::Tmem;
  }
  return Objective::Warps;
}

class Exploration {
 public:
  Exploration(const ParetoRequest& request, std::stop_token stop, const ParetoListener& step_done, const SolveListener& listener)
      : request_(request), problem_(request.solve.problem), step_done_(step_done), listener_(listener), begin_(Clock::now()) {
    limits_ = {deadline_after(begin_, request.solve.timeout_seconds), std::move(stop)};
    // Tensor memory comes last: it is minimized in columns and counted in powers of two, which only agree for the last one.
    const std::set<Resource> resources(request.against.begin(), request.against.end());
    front_.against.assign(resources.begin(), resources.end());
    front_.max_ii_factor = std::max(1, request.max_ii_factor);
    front_.steps = request.known;
    front_.from_file = !request.known.empty();
    front_.layouts_open = request.layouts_open, front_.layouts = request.layouts;
    front_.solver = solver_version();
    front_.seed = request.solve.seed;
  }

  Pareto run() {
    waiting_.push_back(Caps(front_.against.size(), kNoCap));
    while (!exhausted() && front_.fault.empty()) {
      if (waiting_.empty()) {  // with time left, what stayed unproved gets another chance
        const auto open =
            std::find_if(front_.steps.begin(), front_.steps.end(), [&](const ParetoStep& step) { return !settled(front_, step); });
        if (open == front_.steps.end()) break;
        seen_.erase(open->caps);
        waiting_.push_back(open->caps);
      }
      const Caps caps = waiting_.front();
      if (seen_.count(caps) || settle(caps)) {
        seen_.insert(caps);
        waiting_.pop_front();
      }
    }
    front_.complete = waiting_.empty() && front_.fault.empty() &&
                      std::all_of(front_.steps.begin(), front_.steps.end(), [&](const ParetoStep& step) { return settled(front_, step); });
    front_.cancelled = !front_.complete && limits_.stop.stop_requested();
    front_.timed_out = !front_.complete && !front_.cancelled && front_.fault.empty();
    front_.seconds = elapsed();
    return std::move(front_);
  }

 private:
  bool exhausted() const { return limits_.stop.stop_requested() || Clock::now() >= limits_.deadline; }
  double elapsed() const { return seconds_between(begin_, Clock::now()); }

  bool settle(const Caps& caps);
  const ParetoStep* implied(const Caps& caps) const;
  bool impossible(const Caps& caps);
  void split(const Caps& caps, const Caps& values);
  ParetoStep solve_step(const Caps& caps);
  void minimize(ParetoStep& step, const Constraints& constraints, Clock::time_point deadline);
  void finish(ParetoStep& step, const Caps& caps);
  void keep(ParetoStep step);
  void conclude();
  Constraints constraints_within(const Caps& caps) const;
  std::string words(const Caps& caps) const;
  Caps values_of(const Schedule& schedule) const;

  const ParetoRequest& request_;
  const Problem& problem_;
  const ParetoListener& step_done_;
  const SolveListener& listener_;
  Clock::time_point begin_;
  QueryLimits limits_;
  Pareto front_;
  std::deque<Caps> waiting_;
  std::set<Caps> seen_;
};

Constraints Exploration::constraints_within(const Caps& caps) const {
  Constraints constraints = request_.solve.constraints;
  for (std::size_t i = 0; i < caps.size(); ++i) {
    if (caps[i] == kNoCap) continue;
    constraints.push_back(at_most(caps[i], front_.against[i]));
  }
  return constraints;
}

/// "at most 9 warps and 65536 bytes of shared memory"; empty without caps.
std::string Exploration::words(const Caps& caps) const {
  std::string text;
  for (std::size_t i = 0; i < caps.size(); ++i)
    if (caps[i] != kNoCap) text += (text.empty() ? "at most " : " and ") + amount_text(caps[i], front_.against[i]);
  return text;
}

Caps Exploration::values_of(const Schedule& schedule) const {
  Caps values;
  for (const Resource r : front_.against) values.push_back(resource_value(problem_, schedule, r));
  return values;
}

/// A settled step that answers these caps too.
const ParetoStep* Exploration::implied(const Caps& caps) const {
  for (const ParetoStep& step : front_.steps) {
    if (!settled(front_, step) || !within(caps, step.caps)) continue;
    if (step.status != Status::Optimal || within(step.values, caps)) return &step;
  }
  return nullptr;
}

void Exploration::split(const Caps& caps, const Caps& values) {
  for (std::size_t i = 0; i < caps.size(); ++i) {
    Caps tighter = caps;
    tighter[i] = next_below(problem_, values[i], front_.against[i]);
    if (tighter[i] >= 0) waiting_.push_back(std::move(tighter));
  }
}

/// Keeps the step that says so when arithmetic alone rules the caps out.
bool Exploration::impossible(const Caps& caps) {
  for (std::size_t i = 0; i < caps.size(); ++i) {
    const std::int64_t least = least_possible(problem_, front_.against[i]);
    if (caps[i] >= least) continue;
    ParetoStep step;
    step.caps.assign(caps.size(), kNoCap);
    step.caps[i] = caps[i];
    step.status = Status::Infeasible;
    step.explanation = "every schedule takes at least " + amount_text(least, front_.against[i]);
    keep(std::move(step));
    conclude();
    return true;
  }
  return false;
}

void Exploration::keep(ParetoStep step) {
  const auto old = std::find_if(front_.steps.begin(), front_.steps.end(), [&](const ParetoStep& s) { return s.caps == step.caps; });
  if (old == front_.steps.end()) {
    front_.steps.push_back(std::move(step));
    return;
  }
  step.lower_bound = std::max(step.lower_bound, old->lower_bound);
  if (!step.schedule && old->schedule && step.status == Status::Unknown) {
    step.status = Status::Feasible;
    step.schedule = old->schedule;
    step.values = old->values;
  }
  *old = std::move(step);
}

/// Steps prove each other: when no cap below what a step takes allows its II, its resources are the least, however found;
/// and where a later step found better, that is the earlier one's schedule as well.
void Exploration::conclude() {
  for (ParetoStep& step : front_.steps) {
    if (settled(front_, step)) continue;
    for (const ParetoStep& other : front_.steps) {
      if (!other.schedule || !within(other.values, step.caps)) continue;
      if (step.schedule && std::pair(other.schedule->ii, other.values) >= std::pair(step.schedule->ii, step.values)) continue;
      step.status = Status::Feasible;
      step.schedule = other.schedule;
      step.values = other.values;
      split(step.caps, step.values);
    }
    bool least = step.schedule && step.schedule->ii == step.lower_bound;
    for (std::size_t i = 0; i < step.values.size() && least; ++i) {
      Caps tighter = step.caps;  // the least of this one with those before it as they are
      std::copy_n(step.values.begin(), i, tighter.begin());
      tighter[i] = next_below(problem_, step.values[i], front_.against[i]);
      least = tighter[i] < 0 || std::any_of(front_.steps.begin(), front_.steps.end(), [&](const ParetoStep& other) {
                return within(tighter, other.caps) && (other.status == Status::Infeasible || other.lower_bound > step.schedule->ii);
              });
    }
    if (least) step.status = Status::Optimal;
  }
}

/// False when it was cut short and has to be asked again.
bool Exploration::settle(const Caps& caps) {
  if (const ParetoStep* step = implied(caps)) {
    if (step->status == Status::Optimal) split(caps, step->values);
    return true;
  }
  if (impossible(caps)) return true;
  ParetoStep step;
  try {
    step = solve_step(caps);
  } catch (const std::exception& e) {  // Z3 reports memory limits and internal faults this way
    front_.fault = fmt::format("the solver failed: {}", e.what());
    return false;
  }
  if (!front_.fault.empty()) return false;
  keep(step);
  conclude();
  const bool cut_short = exhausted() && !settled(front_, step);
  if (step.schedule && !cut_short) split(caps, step.values);
  front_.seconds = elapsed();
  if (step_done_) step_done_(front_);
  return !cut_short;
}

ParetoStep Exploration::solve_step(const Caps& caps) {
  const Clock::time_point now = Clock::now();
  const auto open = std::count_if(front_.steps.begin(), front_.steps.end(), [&](const ParetoStep& step) { return !settled(front_, step); });
  const bool last = (waiting_.size() <= 1 && open <= 1 && !front_.steps.empty()) || limits_.deadline - now < std::chrono::seconds(1);
  const Clock::time_point deadline = last ? limits_.deadline : now + (limits_.deadline - now) / 2;
  SolveRequest ask = request_.solve;
  ask.constraints = constraints_within(caps);
  ask.objectives.clear();
  ask.ii.reset();
  ask.timeout_seconds = seconds_between(now, deadline);
  if (const Cycle limit = ii_limit(front_); limit > 0 && words(caps) != "") ask.cutoff = limit + 1;
  for (const ParetoStep& other : front_.steps) {
    if (within(caps, other.caps) && other.lower_bound > ask.known_bound) {
      ask.known_bound = other.lower_bound;
      const std::string caps_of_other = words(other.caps);
      ask.known_bound_why = caps_of_other.empty() ? other.explanation : fmt::format("{} ({})", other.explanation, caps_of_other);
    }
    if (other.schedule && within(other.values, caps) && (!ask.incumbent || other.schedule->ii < ask.incumbent->ii))
      ask.incumbent = other.schedule;
  }
  SolveOutcome outcome = solve(ask, limits_.stop, listener_);
  front_.queries += outcome.queries;

  ParetoStep step;
  step.caps = caps;
  step.lower_bound = outcome.lower_bound;
  step.explanation = outcome.explanation;
  step.status = outcome.status == Status::Infeasible ? Status::Infeasible : Status::Unknown;
  if (outcome.status == Status::Invalid) front_.fault = outcome.explanation;
  if (!outcome.schedule || outcome.status == Status::Invalid) return step;
  const Cycle limit = ii_limit(front_);
  if (ask.cutoff && outcome.schedule->ii > limit) return step;
  step.schedule = std::move(outcome.schedule);
  step.status = outcome.status;
  // What is left unproved here, the steps that follow may prove: they ask the same with caps. If not, it gets its time later.
  const bool again = std::any_of(front_.steps.begin(), front_.steps.end(), [&](const ParetoStep& other) { return other.caps == caps; });
  minimize(step, ask.constraints, again ? deadline : std::min(deadline, Clock::now() + std::chrono::seconds(2) + (Clock::now() - now)));
  finish(step, caps);
  return step;
}

/// The resources of the front in their order; then, with those held, whatever else makes a tidy schedule.
void Exploration::minimize(ParetoStep& step, const Constraints& constraints, Clock::time_point deadline) {
  Schedule best = *step.schedule;
  const bool about_stages = std::find(front_.against.begin(), front_.against.end(), Resource::Stages) != front_.against.end();
  const bool shifts = !fixes_rotation(constraints) && !about_stages;
  const bool may_normalize = !fixes_rotation(request_.solve.constraints);
  ModelOptions options;
  options.ii = best.ii;
  options.stages = stage_range(problem_, constraints, request_.solve.max_stages, best.ii).stages + (shifts ? 1 : 0);
  options.stages = std::max(options.stages, stage_count(best));
  options.anchored = shifts;
  options.seed = request_.solve.seed;
  options.limits = {deadline, limits_.stop};
  std::vector<Objective> order;
  for (const Resource r : front_.against) order.push_back(objective_of(r));
  std::vector<ObjectiveValue> values;
  const auto optimize = [&](const std::vector<std::int64_t>& floor) {
    LiveModel live(problem_, constraints, options);
    auto settled = optimize_objectives(live, {.order = order, .floor = floor}, best);
    front_.queries += live.queries();
    if (may_normalize) normalize_starts(best);
    return settled;
  };
  try {
    values = optimize({});
    std::vector<std::int64_t> floor;
    for (const ObjectiveValue& value : values) floor.push_back(value.value);
    for (const Objective o : SolveRequest{}.objectives)
      if (std::find(order.begin(), order.end(), o) == order.end()) order.push_back(o);
    options.stages = stage_count(best);
    options.anchored = false;
    optimize(floor);
  } catch (const Stopped&) {
  }
  const bool least =
      values.size() == front_.against.size() && std::all_of(values.begin(), values.end(), [](const ObjectiveValue& v) { return v.proved; });
  if (!least && step.status == Status::Optimal) step.status = Status::Feasible;
  if (const Verdict verdict = check(problem_, best, constraints); !verdict.valid()) {
    front_.fault = "the checker rejects a schedule the solver found: " + verdict.violations.front().message;
    return;
  }
  best.certificate = step.schedule->certificate;
  step.schedule = std::move(best);
}

/// Values, and a certificate that speaks of the question without the front's caps: whoever reads the file does not know them.
void Exploration::finish(ParetoStep& step, const Caps& caps) {
  Schedule& schedule = *step.schedule;
  step.values = values_of(schedule);
  const std::string held = words(caps);
  schedule.name = held.empty() ? fmt::format("II {}", schedule.ii) : fmt::format("II {} with {}", schedule.ii, held);
  schedule.provenance = {"solver", "heddle", front_.solver};
  if (!schedule.certificate) return;
  Certificate& certificate = *schedule.certificate;
  certificate.problem_hash = question_hash(problem_, request_.solve.constraints);
  certificate.objectives = {{"ii", schedule.ii, held.empty() && schedule.ii == step.lower_bound}};
  if (!held.empty()) {
    certificate.explanation = fmt::format("least II with {}: {}", held, step.explanation);
    certificate.lower_bound = front_.steps.empty() ? 0 : front_.steps[0].lower_bound;
    certificate.status = schedule.ii == certificate.lower_bound ? Status::Optimal : Status::Feasible;
  }
  // What rests on a file is no more than the file's word.
  if (front_.from_file) schedule.claim = *std::exchange(schedule.certificate, std::nullopt);
}

}  // namespace

UserConstraint at_most(std::int64_t amount, Resource resource) {
  UserConstraint cap;
  cap.name = "at most " + amount_text(amount, resource);
  cap.high = amount;
  switch (resource) {
    case Resource::Warps: cap.kind = ConstraintKind::MaxWarps; break;
    case Resource::Registers: cap.kind = ConstraintKind::MaxRegisters; break;
    case Resource::Smem: cap.kind = ConstraintKind::MaxSmem; break;
    case Resource::Stages: cap.kind = ConstraintKind::MaxStages; break;
    case Resource::Tmem: cap.kind = ConstraintKind::MaxTmem; break;
  }
  return cap;
}

Pareto find_pareto(const ParetoRequest& request, std::stop_token stop, const ParetoListener& step_done, const SolveListener& listener) {
  return Exploration(request, std::move(stop), step_done, listener).run();
}

}  // namespace heddle::solver

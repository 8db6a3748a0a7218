// One edit, in order of cost: facts, adapted schedules, the live model at the bound, a search above it, the objectives.
#include "solver/search/warm.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <list>

#include "core/analysis/bounds.h"
#include "core/analysis/shortage.h"
#include "core/check/certify.h"
#include "core/check/checker.h"
#include "solver/encoding/finish_schedule.h"
#include "solver/encoding/user.h"
#include "solver/search/adapt.h"
#include "solver/search/decide.h"
#include "solver/search/demand_bound.h"
#include "solver/search/knowledge.h"
#include "solver/search/objectives.h"
#include "solver/search/serial.h"
#include "solver/search/stage_range.h"

namespace heddle::solver {
namespace {

constexpr std::size_t kMostModels = 3;
constexpr std::size_t kMostSwitches = 400;  ///< then most of a model is about past questions, and a new one is made
constexpr int kMostAdapted = 12;            ///< schedules that are tried before a query

/// A model of the problem without constraints at one II. Rotation is free and groups may have any numbers unless assumed.
struct WarmModel {
  WarmModel(const Problem& problem, const ModelOptions& options, int pinned_stages)
      : ii(options.ii), stages(options.stages), pinned_stages(pinned_stages), live(problem, {}, options) {}

  Cycle ii;
  int stages, pinned_stages;
  LiveModel live;
};

/// What stays from one solve to the next.
struct WarmMemory {
  explicit WarmMemory(SolveRequest request) : base(std::move(request)), bounds(compute_bounds(base.problem)) {
    base.ii.reset();
    base.cutoff.reset();
    base.incumbent.reset();
    base.constraints.clear();
  }

  SolveRequest base;
  Bounds bounds;
  Knowledge knowledge;
  std::list<WarmModel> models;  ///< used last first
};

/// One solve.
class Edit {
 public:
  Edit(WarmMemory& memory, const Constraints& constraints, std::stop_token stop, const SolveListener& listener)
      : base_(memory.base),
        problem_(memory.base.problem),
        bounds_(memory.bounds),
        knowledge_(memory.knowledge),
        models_(memory.models),
        stop_(std::move(stop)),
        listener_(listener),
        demands_(constraints),
        begin_(Clock::now()) {
    for (const UserConstraint& c : constraints)
      if (c.enabled) constraints_.push_back(c);
    limits_ = {deadline_after(begin_, base_.timeout_seconds), stop_};
    outcome_.solver = solver_version();
    outcome_.seed = base_.seed;
  }

  SolveOutcome run() {
    try {
      search();
    } catch (const Stopped&) {
      drop_model();
    } catch (const std::exception& e) {  // Z3 reports memory limits and internal faults this way
      drop_model();
      send(LogLine{fmt::format("solver error: {}", e.what())});
      if (outcome_.explanation.empty()) outcome_.explanation = fmt::format("the solver failed: {}", e.what());
    }
    finish();
    return std::move(outcome_);
  }

 private:
  void search();
  bool accept(Schedule schedule, bool must_hold);
  void raise_bound(const KnownBound& known);
  void recall();
  void ask_at_bound();
  void search_above();
  void settle_objectives();
  SolveRequest request_above() const;
  WarmModel& model_at(Cycle ii);
  std::vector<Lit> assume(WarmModel& model);
  Constraints constraints_of(const std::vector<Lit>& core, WarmModel& model);
  void keep_refutation(WarmModel& model);
  std::vector<std::int64_t> values_of(const Schedule& schedule) const;
  void finish();

  /// A model whose building was cut short lacks clauses.
  void drop_model() {
    if (building_ && !models_.empty()) models_.pop_front();
    building_ = false;
  }
  bool exhausted() const { return stop_.stop_requested() || Clock::now() >= limits_.deadline; }
  bool at_bound() const { return outcome_.schedule && outcome_.schedule->ii == outcome_.lower_bound; }
  void send(SolveEvent event) {
    if (listener_) listener_(event);
  }

  SolveRequest& base_;
  const Problem& problem_;
  const Bounds& bounds_;
  Knowledge& knowledge_;
  std::list<WarmModel>& models_;
  std::stop_token stop_;
  const SolveListener& listener_;
  Constraints constraints_;  // the enabled ones
  Demands demands_;
  Clock::time_point begin_;
  QueryLimits limits_;
  SolveOutcome outcome_;
  bool building_ = false;  // clauses are being added to the first model
};

std::vector<std::int64_t> Edit::values_of(const Schedule& schedule) const {
  std::vector<std::int64_t> values;
  for (Objective o : base_.objectives) values.push_back(objective_value(problem_, schedule, o));
  return values;
}

/// Takes a schedule that the checker accepts as the best so far. `must_hold`: it comes from a model and nothing else will do.
bool Edit::accept(Schedule schedule, bool must_hold) {
  if (!demands_.pinned) normalize_starts(schedule);
  schedule.name = fmt::format("solver II {}", schedule.ii);
  schedule.provenance = {"solver", "heddle", outcome_.solver};
  const Verdict verdict = check(problem_, schedule, constraints_);
  if (!verdict.valid()) {
    if (!must_hold) return false;
    send(LogLine{"internal fault: the checker rejects a schedule the solver found: " + verdict.violations.front().message});
    if (!outcome_.schedule) {
      outcome_.status = Status::Invalid;
      outcome_.explanation = verdict.violations.front().message;
    }
    throw Stopped{};
  }
  if (!outcome_.schedule) outcome_.seconds.first = seconds_since(begin_);
  outcome_.schedule = std::move(schedule);
  knowledge_.add(*outcome_.schedule);
  send(Incumbent{*outcome_.schedule});
  return true;
}

void Edit::raise_bound(const KnownBound& known) {
  if (known.bound <= outcome_.lower_bound) return;
  outcome_.lower_bound = known.bound;
  outcome_.reason = known.reason;
  outcome_.explanation = known.why;
  outcome_.bound_stages = known.stages;
  send(BoundRaised{known.bound, known.why});
}

/// Schedules of earlier answers that meet the demands, or nearly.
void Edit::recall() {
  std::vector<std::pair<std::vector<std::int64_t>, const Schedule*>> candidates;
  for (const Schedule& s : knowledge_.schedules()) {
    if (s.ii < outcome_.lower_bound) continue;
    std::vector<std::int64_t> worth = values_of(s);
    worth.insert(worth.begin(), s.ii);
    candidates.emplace_back(std::move(worth), &s);
  }
  // The best first, so that its objectives may need no proof; of equals the newest, which is closest to what is on the screen.
  std::stable_sort(candidates.begin(), candidates.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  if (candidates.size() > kMostAdapted) candidates.resize(kMostAdapted);
  const int most_stages = stage_range(problem_, constraints_, base_.max_stages, outcome_.lower_bound).stages;
  std::optional<Schedule> found;
  for (const auto& [worth, candidate] : candidates) {
    const bool done = adapt(problem_, constraints_, *candidate, [&](const Schedule& proposal) {
      if (demands_.pinned && stage_count(proposal) > most_stages) return false;
      if (!check(problem_, proposal, constraints_).valid()) return false;
      found = proposal;
      return true;
    });
    if (done) break;
  }
  if (found) accept(*std::move(found), false);
}

WarmModel& Edit::model_at(Cycle ii) {
  const auto it = std::find_if(models_.begin(), models_.end(), [&](const WarmModel& m) { return m.ii == ii; });
  // A refutation speaks of as many stages as the model has: never fewer than this question's proof is said to cover.
  const int needed = demands_.pinned ? stage_range(problem_, constraints_, base_.max_stages, ii).stages : 0;
  if (it != models_.end() && it->live.switch_count() < kMostSwitches && it->pinned_stages >= needed) {
    models_.splice(models_.begin(), models_, it);
    models_.front().live.model().backend().set_limits(limits_);
    return models_.front();
  }
  if (it != models_.end()) models_.erase(it);
  const auto begin = Clock::now();
  UserConstraint pin;  // any off cycle 0, which keeps the schedule from being shifted
  pin.low = 1;
  ModelOptions options;
  options.ii = ii;
  const int pinned_stages = std::max(needed, stage_range(problem_, {pin}, base_.max_stages, ii).stages);
  options.stages = std::max(stage_range(problem_, {}, base_.max_stages, ii).stages + 1, pinned_stages);
  options.anchored = false;
  options.switchable = true;
  options.seed = base_.seed;
  options.limits = limits_;
  models_.emplace_front(problem_, options, pinned_stages);  // when it throws, nothing has been added
  if (models_.size() > kMostModels) models_.pop_back();
  outcome_.seconds.encode += seconds_since(begin);
  return models_.front();
}

/// The literals that switch this edit's constraints on; also tells the model what its schedules are to look like.
std::vector<Lit> Edit::assume(WarmModel& warm) {
  Model& model = warm.live.model();
  building_ = true;
  std::vector<Lit> assumptions;
  std::optional<std::int64_t> cap;
  for (const UserConstraint& c : constraints_) {
    assumptions.push_back(warm.live.switch_named(key_of(c), [&] { return add_guarded(model, c); }));
    if (c.kind == ConstraintKind::MaxRegisters) cap = std::min(c.high, cap.value_or(c.high));
  }
  if (cap) assumptions.push_back(warm.live.registers().budget_at_most(*cap));
  if (!names_groups(constraints_)) assumptions.push_back(model.symmetry());
  if (demands_.pinned && warm.stages > warm.pinned_stages)
    for (std::size_t v = 0; v < model.op_count(); ++v) assumptions.push_back(-model.stage_at_least(OpId(v), warm.pinned_stages));
  building_ = false;
  model.set_constraints(constraints_);
  warm.live.set_context(assumptions, cap);
  return assumptions;
}

Constraints Edit::constraints_of(const std::vector<Lit>& core, WarmModel& warm) {
  Constraints involved;
  for (const UserConstraint& c : constraints_) {
    const Lit lit = warm.live.switch_named(key_of(c), [] { return kTrue; });
    if (c.kind == ConstraintKind::MaxRegisters || std::find(core.begin(), core.end(), lit) != core.end()) involved.push_back(c);
  }
  return involved;
}

/// The model's last answer was No: the constraints in its core are to blame, and if what is known about them alone starts at
/// this very II, the fact is of these constraints.
void Edit::keep_refutation(WarmModel& warm) {
  const Constraints blamed = constraints_of(warm.live.model().backend().core(), warm);
  Demands demands(blamed);
  demands.pinned = demands_.pinned;
  const Cycle known = std::max(bounds_.min_ii(), knowledge_.bound_for(demands).bound);
  const bool monotone = monotone_in_ii(problem_) && monotone_in_ii(blamed);
  if (known < warm.ii && !monotone) demands = demands_;
  const StageRange range = stage_range(problem_, constraints_, base_.max_stages, warm.ii);
  // Where a refutation speaks for its own II only, the bound rests on those below, too.
  std::optional<int> stages = monotone ? std::nullopt : outcome_.bound_stages;
  if (!range.covers_all) stages = std::min(range.stages, stages.value_or(range.stages));
  knowledge_.add(
      {demands, warm.ii + 1, BoundReason::Refutation, fmt::format("II {} refuted for schedules of {}", warm.ii, range.text()), stages});
}

/// Asks live models at the bound for as long as there are any. The bound rises by what they refute.
void Edit::ask_at_bound() {
  bool first = true;
  while (!at_bound() && !exhausted()) {
    const Cycle ii = outcome_.lower_bound;
    const auto is_here = [&](const auto& x) { return x.ii == ii; };
    const bool alive = std::any_of(models_.begin(), models_.end(), is_here);
    const bool reachable = std::any_of(knowledge_.schedules().begin(), knowledge_.schedules().end(), is_here);
    if (!alive && !(first && (reachable || knowledge_.schedules().empty()))) return;
    first = false;
    // In a question that is not pinned the proof must hold for any number of stages, or be solve()'s own.
    const StageRange range = stage_range(problem_, constraints_, base_.max_stages, ii);
    send(Progress{"deciding II", ii, outcome_.queries, outcome_.conflicts, seconds_since(begin_)});
    WarmModel& warm = model_at(ii);
    std::vector<Lit> assumptions = assume(warm);
    Model& model = warm.live.model();
    std::vector<Lit> anchor;
    if (!demands_.pinned) anchor.push_back(model.backend().at_least(model.slot(model.origin()), model.slot(anchor_of(problem_)), 0));
    const auto asked = Clock::now();
    const std::int64_t before = warm.live.queries(), conflicts = model.backend().conflicts();
    Schedule schedule;
    building_ = true;  // registers may be refined
    const Answer answer = warm.live.check(anchor, schedule, {}, kEffortPerSecond);
    building_ = false;
    outcome_.queries += warm.live.queries() - before;
    outcome_.conflicts += model.backend().conflicts() - conflicts;
    send(LogLine{fmt::format("II {}, live model: {} ({:.3f} s)", ii,
                             answer == Answer::Yes  ? "schedule found"
                             : answer == Answer::No ? "refuted"
                                                    : "undecided",
                             seconds_since(asked))});
    if (answer == Answer::Yes) accept(std::move(schedule), true);
    if (answer != Answer::No || !(demands_.pinned || range.covers_all)) return;
    keep_refutation(warm);
    raise_bound(knowledge_.bound_for(demands_));
  }
}

SolveRequest Edit::request_above() const {
  SolveRequest request = base_;
  request.constraints = constraints_;
  request.objectives.clear();
  request.timeout_seconds = std::max(0.0, base_.timeout_seconds - seconds_since(begin_));
  request.known_bound = outcome_.lower_bound;
  request.known_bound_why = outcome_.explanation;
  request.known_bound_stages = outcome_.bound_stages;
  request.incumbent = outcome_.schedule;
  return request;
}

/// The live models have nothing at this bound: a search with models of its own, which starts from all that is known.
void Edit::search_above() {
  const double before = seconds_since(begin_);
  const SolveOutcome found = solver::solve(request_above(), stop_, [&](const SolveEvent& event) {
    const auto* incumbent = std::get_if<Incumbent>(&event);
    const bool known = std::holds_alternative<Started>(event) || std::holds_alternative<ObjectiveSettled>(event) ||
                       (incumbent && outcome_.schedule && incumbent->schedule.ii >= outcome_.schedule->ii);
    if (!known) send(event);
  });
  outcome_.queries += found.queries;
  outcome_.conflicts += found.conflicts;
  outcome_.seconds.encode += found.seconds.encode;
  // A bound for few stages gives way where there is a better schedule with more.
  if (found.lower_bound > outcome_.lower_bound || outcome_.bound_stages || found.status == Status::Infeasible) {
    outcome_.lower_bound = found.lower_bound;
    outcome_.reason = found.reason;
    outcome_.explanation = found.explanation;
    outcome_.bound_stages = found.bound_stages;
  }
  if (found.status == Status::Infeasible || found.status == Status::Invalid) {
    outcome_.status = found.status;
    outcome_.explanation = found.explanation;
    outcome_.schedule.reset();
    if (found.status == Status::Infeasible) knowledge_.add({demands_, kNoFiniteII, found.reason, found.explanation});
    return;
  }
  if (found.schedule) {
    if (!outcome_.schedule) outcome_.seconds.first = before + found.seconds.first;
    outcome_.schedule = found.schedule;
    outcome_.serial = found.serial;
    outcome_.schedule->certificate.reset();
    knowledge_.add(*found.schedule);
  }
}

void Edit::settle_objectives() {
  const std::vector<Objective>& order = base_.objectives;
  const Cycle ii = outcome_.schedule->ii;
  const std::vector<std::int64_t> floor = knowledge_.floor_for(demands_, ii);
  const std::vector<std::int64_t> now = values_of(*outcome_.schedule);
  for (std::size_t i = 0; i < order.size(); ++i) outcome_.objectives.push_back({to_string(order[i]), now[i], false});
  if (order.empty()) return;
  std::size_t next = 1;
  const auto settled = [&](const ObjectiveValue& value) {
    outcome_.objectives[next++] = value;
    send(ObjectiveSettled{value});
  };
  if (now == floor) {
    for (std::size_t i = 0; i < order.size(); ++i) settled({to_string(order[i]), now[i], true});
    return;
  }
  if (exhausted()) return;
  send(Progress{"settling objectives", ii, outcome_.queries, outcome_.conflicts, seconds_since(begin_)});
  WarmModel& warm = model_at(ii);
  assume(warm);
  const std::int64_t before = warm.live.queries(), conflicts = warm.live.model().backend().conflicts();
  Schedule best = *outcome_.schedule;
  building_ = true;
  optimize_objectives(warm.live, {order, [&](const Schedule& better) { accept(better, true); }, settled, floor}, best);
  building_ = false;
  outcome_.queries += warm.live.queries() - before;
  outcome_.conflicts += warm.live.model().backend().conflicts() - conflicts;
  const std::vector<std::int64_t> values = values_of(*outcome_.schedule);
  std::vector<std::int64_t> proved;
  for (std::size_t i = 0; i < order.size(); ++i) {
    outcome_.objectives[i + 1].value = values[i];
    if (outcome_.objectives[i + 1].proved && proved.size() == i) proved.push_back(values[i]);
  }
  knowledge_.add_floor(demands_, ii, proved);
}

void Edit::search() {
  outcome_.explanation = constraint_faults(problem_, constraints_);
  if (problem_.ops.empty()) outcome_.explanation = "the loop body has no ops";
  if (!outcome_.explanation.empty()) {
    outcome_.status = Status::Invalid;
    return;
  }
  outcome_.res_mii = bounds_.res_mii;
  outcome_.rec_mii = bounds_.rec_mii;
  outcome_.issue_mii = bounds_.issue_mii;
  send(Started{bounds_.res_mii, bounds_.rec_mii, bounds_.issue_mii, bounds_.sentence});
  const Cycle min_ii = bounds_.min_ii();
  const KnownBound known = knowledge_.bound_for(demands_);
  if (min_ii >= kNoFiniteII || known.bound >= kNoFiniteII) {
    outcome_.status = Status::Infeasible;
    outcome_.explanation = min_ii >= kNoFiniteII ? "no II is large enough: " + bounds_.sentence : known.why;
    return;
  }
  if (const std::vector<Shortage> shortages = find_shortages(problem_, constraints_); !shortages.empty()) {
    outcome_.status = Status::Infeasible;
    outcome_.explanation = sentence_of(shortages);
    return;
  }
  const bool cycle = min_ii > bounds_.res_mii && (min_ii == bounds_.rec_mii || min_ii == bounds_.credit_mii);
  raise_bound({{}, min_ii, cycle ? BoundReason::Recurrence : BoundReason::Resource, bounds_.sentence});
  raise_bound(known);
  const DemandBound demanded = demand_bound(problem_, constraints_);
  if (demanded.bound >= kNoFiniteII) {
    outcome_.status = Status::Infeasible;
    outcome_.explanation = demanded.sentence;
    return;
  }
  raise_bound({{}, demanded.bound, BoundReason::Recurrence, demanded.sentence});
  recall();
  ask_at_bound();
  if (!at_bound()) search_above();
  outcome_.seconds.proof = seconds_since(begin_);
  if (!outcome_.schedule || outcome_.status == Status::Infeasible || outcome_.status == Status::Invalid) return;
  const bool proved = at_bound();
  outcome_.status = proved ? Status::Optimal : Status::Feasible;
  knowledge_.add({demands_, outcome_.lower_bound, outcome_.reason, outcome_.explanation, outcome_.bound_stages});
  outcome_.objectives.push_back({"ii", outcome_.schedule->ii, proved});
  send(ObjectiveSettled{outcome_.objectives.back()});
  settle_objectives();
}

void Edit::finish() {
  outcome_.seconds.total = seconds_since(begin_);
  outcome_.cancelled = stop_.stop_requested();
  outcome_.timed_out = !outcome_.cancelled && Clock::now() >= limits_.deadline;
  if (outcome_.seconds.proof == 0) outcome_.seconds.proof = outcome_.seconds.total;
  if (!outcome_.schedule && outcome_.status == Status::Unknown && outcome_.timed_out)
    if (outcome_.schedule = legal_serial(problem_, constraints_); outcome_.schedule) {
      outcome_.serial = true;
      outcome_.schedule->provenance = {"solver", "heddle", outcome_.solver};
      send(Incumbent{*outcome_.schedule});
    }
  if (!outcome_.schedule) return;
  if (outcome_.status == Status::Unknown) outcome_.status = at_bound() ? Status::Optimal : Status::Feasible;
  certify(problem_, constraints_, outcome_);
}

}  // namespace

struct WarmSolver::State : WarmMemory {
  using WarmMemory::WarmMemory;
};

WarmSolver::WarmSolver(SolveRequest base) : state_(std::make_unique<State>(std::move(base))) {}

WarmSolver::~WarmSolver() = default;

SolveOutcome WarmSolver::solve(const Constraints& constraints, std::stop_token stop, const SolveListener& listener) {
  return Edit(*state_, constraints, std::move(stop), listener).run();
}

void WarmSolver::learn(const Constraints& constraints, const SolveOutcome& outcome) {
  const Demands demands(constraints);
  Knowledge& knowledge = state_->knowledge;
  if (outcome.status == Status::Infeasible && outcome.reason != BoundReason::Requested)
    knowledge.add({demands, kNoFiniteII, outcome.reason, outcome.explanation});
  if (outcome.schedule && !outcome.serial) knowledge.add(*outcome.schedule);
  if (outcome.status == Status::Infeasible || outcome.reason == BoundReason::Requested) return;
  knowledge.add({demands, outcome.lower_bound, outcome.reason, outcome.explanation, outcome.bound_stages});
  if (!outcome.schedule) return;
  std::vector<std::int64_t> floor;
  const std::vector<Objective>& order = state_->base.objectives;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i + 1 >= outcome.objectives.size() || outcome.objectives[i + 1].name != to_string(order[i]) || !outcome.objectives[i + 1].proved)
      break;
    floor.push_back(outcome.objectives[i + 1].value);
  }
  if (!floor.empty()) knowledge.add_floor(demands, outcome.schedule->ii, std::move(floor));
}

void WarmSolver::set_timeout(double seconds) { state_->base.timeout_seconds = seconds; }

const Problem& WarmSolver::problem() const { return state_->base.problem; }

}  // namespace heddle::solver

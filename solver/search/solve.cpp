// After bounds by arithmetic the first query is at the lower bound itself, which most kernels meet; otherwise the step above it doubles
// until there is a schedule, and bisection closes the gap, for a schedule for II gives one for II + 1 (s + floor(s / II) for every start
// s). Queries close to the optimum can be hopeless on either side, so one that runs out of a limited effort counts as "not found" for the
// search and as nothing for the proof, which goes on with growing effort.

#include "solver/search/solve.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "core/analysis/bounds.h"
#include "core/analysis/shortage.h"
#include "core/base/saturate.h"
#include "core/check/certify.h"
#include "core/check/checker.h"
#include "solver/encoding/user.h"
#include "solver/relaxation/relaxation.h"
#include "solver/search/core.h"
#include "solver/search/decide.h"
#include "solver/search/demand_bound.h"
#include "solver/search/from_relaxation.h"
#include "solver/search/ii_cap.h"
#include "solver/search/incumbent.h"
#include "solver/search/objectives.h"
#include "solver/search/robust.h"
#include "solver/search/seek.h"
#include "solver/search/serial.h"
#include "solver/search/stage_range.h"
#include "solver/search/words.h"
#include "solver/z3/backend.h"

namespace heddle::solver {
namespace {
constexpr std::uint64_t kFirstEffort = kEffortPerSecond, kConfirmEffort = 5 * kEffortPerSecond;
constexpr int kMostSlidStages = 32, kClimbBeforeSerial = 5, kPlaceEffort = 4;
// Up to here a query costs less than placing ops one by one thoroughly; from here on even its formula is too large.
constexpr std::size_t kFewOps = 40, kManyOps = 120;
// Of the relaxation's effort: where the query itself has no limit, and on many ops, before queries that rarely answer.
constexpr std::uint64_t kRelaxationSeconds = 5, kPatientSeconds = 5;

class Search {
 public:
  /// `any_stages`: no refutation may rest on a limit to the number of stages.
  Search(const SolveRequest& request, std::stop_token stop, const SolveListener& listener, bool any_stages = false)
      : request_(request),
        problem_(request.problem),
        stop_(std::move(stop)),
        listener_(listener),
        begin_(Clock::now()),
        any_stages_(any_stages) {
    limits_ = {deadline_after(begin_, request.timeout_seconds), stop_};
    outcome_.solver = solver_version();
    outcome_.seed = request.seed;
  }

  SolveOutcome run() {
    try {
      search();
    } catch (const Stopped&) {
    } catch (const std::exception& e) {  // Z3 reports memory limits and internal faults this way
      log(fmt::format("solver error: {}", e.what()));
      if (outcome_.explanation.empty()) outcome_.explanation = fmt::format("the solver failed: {}", e.what());
    }
    finish();
    return outcome_;
  }

 private:
  void search();
  bool validate();
  bool fits();
  Answer decide(Cycle ii, std::uint64_t effort = 0);
  bool worth_asking() const { return problem_.ops.size() <= kManyOps; }
  void place(int effort);
  void seek_at_bound();
  Answer decide_by_relaxation(Cycle ii, std::uint64_t effort);
  std::optional<Cycle> propose(const RelaxationAnswer& relaxed, Cycle ii);
  void raise_by_relaxation(Relaxation kind, std::uint64_t effort);
  void note_refutation(Relaxation kind, Cycle ii);
  void note_stages(const StageRange& range);
  bool climb(Cycle min_ii);
  void close_gap();
  void prove(std::uint64_t effort);
  void refute_with_sliding_pins();
  void confirm_for_any_stages();
  void find_ii();
  void settle_objectives();
  void accept(Schedule schedule, bool serial = false);
  void improve_serial();
  void raise_bound(Cycle bound, BoundReason reason, std::string why);
  void declare_infeasible(Cycle ii);
  void finish();
  StageRange stage_range(Cycle ii) const;
  ModelOptions options(Cycle ii, int stages, bool anchored) const;

  void send(SolveEvent event) {
    if (listener_) listener_(event);
  }
  void log(std::string text) { send(LogLine{std::move(text)}); }
  double elapsed() const { return seconds_since(begin_); }
  /// A schedule for II is one for II + 1, so bisection may trust a refutation.
  bool monotone() const { return monotone_in_ii(problem_) && monotone_in_ii(request_.constraints); }
  bool exhausted() const { return stop_.stop_requested() || Clock::now() >= limits_.deadline || cut_off(); }
  bool cut_off() const { return request_.cutoff && outcome_.lower_bound >= *request_.cutoff; }

  const SolveRequest& request_;
  const Problem& problem_;
  std::stop_token stop_;
  const SolveListener& listener_;
  Clock::time_point begin_;
  QueryLimits limits_;
  SolveOutcome outcome_;
  bool sought_ = false;                    ///< the schedule is from seek(): hard for Z3, as what lies below it would be
  std::optional<Schedule> serial_;         ///< the answer where nothing else is found
  bool any_stages_ = false;                ///< ask with as many stage numbers as any schedule needs
  int max_stages_ = request_.max_stages;   ///< grows where a schedule was found beyond what a refutation speaks of
  std::optional<Cycle> relaxed_feasible_;  ///< from here on dependences, units and groups refute nothing
  Cycle bound_for_any_stages_ = 0;         ///< the part of the lower bound that does not depend on the number of stages
  int refuted_stages_ = 0;                 ///< what is above that part was refuted for schedules of at most so many stages
};

StageRange Search::stage_range(Cycle ii) const { return solver::stage_range(problem_, request_.constraints, max_stages_, ii, any_stages_); }

ModelOptions Search::options(Cycle ii, int stages, bool anchored) const {
  ModelOptions o;
  o.ii = ii;
  o.stages = stages;
  o.anchored = anchored;
  o.seed = request_.seed;
  o.limits = limits_;
  return o;
}

bool Search::validate() {
  outcome_.explanation = constraint_faults(problem_, request_.constraints);
  if (problem_.ops.empty()) outcome_.explanation = "the loop body has no ops";
  if (request_.ii && *request_.ii < 1) outcome_.explanation = "II must be at least 1";
  if (outcome_.explanation.empty()) return true;
  outcome_.status = Status::Invalid;
  return false;
}

/// Arithmetic may show that no schedule fits, before anything is searched.
bool Search::fits() {
  const std::vector<Shortage> shortages = find_shortages(problem_, request_.constraints);
  if (shortages.empty()) return true;
  outcome_.status = Status::Infeasible;
  outcome_.reason = request_.ii ? BoundReason::Requested : BoundReason::Resource;
  outcome_.explanation = sentence_of(shortages);
  return false;
}

/// On many ops the search for a first schedule may take all the time; the same order at the II that it sustains takes little.
void Search::improve_serial() {
  if (!serial_ || request_.ii || problem_.ops.size() <= kFewOps || exhausted()) return;
  if (std::optional<Schedule> better = tightened(problem_, request_.constraints, *serial_)) serial_ = std::move(better);
}

void Search::accept(Schedule schedule, bool serial) {
  if (!fixes_rotation(request_.constraints)) normalize_starts(schedule);
  schedule.name = fmt::format("solver II {}", schedule.ii);
  schedule.provenance = {"solver", "heddle", outcome_.solver};
  const Verdict verdict = check(problem_, schedule, request_.constraints);
  if (!verdict.valid()) {
    log("internal fault: the checker rejects a schedule the solver found: " + verdict.violations.front().message);
    if (!outcome_.schedule) {
      outcome_.status = Status::Invalid;
      outcome_.explanation = verdict.violations.front().message;
    }
    throw Stopped{};
  }
  if (!outcome_.schedule) outcome_.seconds.first = elapsed();
  outcome_.schedule = std::move(schedule);
  outcome_.serial = serial;
  send(Incumbent{*outcome_.schedule});
}

void Search::raise_bound(Cycle bound, BoundReason reason, std::string why) {
  if (bound <= outcome_.lower_bound) return;
  outcome_.lower_bound = bound;
  outcome_.reason = reason;
  outcome_.explanation = why;
  send(BoundRaised{bound, std::move(why)});
}

Answer Search::decide(Cycle ii, std::uint64_t effort) {
  send(Progress{"deciding II", ii, outcome_.queries, outcome_.conflicts, elapsed()});
  if (const Answer relaxed = decide_by_relaxation(ii, effort); relaxed != Answer::Unknown) return relaxed;
  const auto begin = Clock::now();
  const bool anchored = !fixes_rotation(request_.constraints);
  const StageRange range = stage_range(ii);
  LiveModel live(problem_, request_.constraints, options(ii, range.stages + (anchored ? 1 : 0), anchored));
  outcome_.seconds.encode += seconds_since(begin);
  Schedule schedule;
  const Answer answer = live.check({}, schedule, {}, effort);
  outcome_.queries += live.queries();
  outcome_.conflicts += live.model().backend().conflicts();
  log(fmt::format("II {}: {} ({:.3f} s, {} clauses)", ii,
                  answer == Answer::Yes  ? "schedule found"
                  : answer == Answer::No ? "refuted"
                                         : "undecided",
                  seconds_since(begin), live.model().backend().clause_count()));
  if (answer == Answer::Yes) {
    std::optional<Schedule> better;
    if (!request_.ii && ii > outcome_.lower_bound && !fixes_rotation(request_.constraints))
      better = tightened(problem_, request_.constraints, schedule);
    accept(better ? std::move(*better) : std::move(schedule));
  }
  if (answer == Answer::No && !request_.ii && (ii <= outcome_.lower_bound || monotone())) {
    if (range.covers_all && bound_for_any_stages_ <= ii) {
      bound_for_any_stages_ = ii + 1;
      if (ii + 1 == outcome_.lower_bound) outcome_.lower_bound = ii;  // the same bound, better founded
    }
    if (ii + 1 >= outcome_.lower_bound) note_stages(range);
    raise_bound(ii + 1, BoundReason::Refutation, fmt::format("II {} refuted for schedules of {}", ii, range.text()));
  }
  return answer;
}

/// Dependences, units and groups alone refute most of what can be refuted, in a fraction of the time that the whole model
/// takes; what they find is often a schedule.
Answer Search::decide_by_relaxation(Cycle ii, std::uint64_t effort) {
  if (relaxed_feasible_ && ii >= *relaxed_feasible_) return Answer::Unknown;
  const auto begin = Clock::now();
  const std::uint64_t seconds = effort == 0 ? kRelaxationSeconds : std::max<std::uint64_t>(1, effort / kEffortPerSecond);
  const RelaxationAnswer relaxed =
      decide_relaxation(problem_, request_.constraints, ii, Relaxation::Groups, {seconds * kRelaxationEffortPerSecond, limits_});
  outcome_.conflicts += relaxed.conflicts;
  if (relaxed.answer == Answer::Yes) {
    if (monotone()) relaxed_feasible_ = ii;
    return propose(relaxed, ii) ? Answer::Yes : Answer::Unknown;
  }
  if (relaxed.answer == Answer::Unknown) return Answer::Unknown;
  log(fmt::format("II {}: refuted without the solver ({:.3f} s)", ii, seconds_since(begin)));
  if (!request_.ii && (ii <= outcome_.lower_bound || monotone())) note_refutation(Relaxation::Groups, ii);
  return Answer::No;
}

/// Makes what a relaxation found into a schedule, if the checker accepts it and it is better. Returns the least II it led to.
std::optional<Cycle> Search::propose(const RelaxationAnswer& relaxed, Cycle ii) {
  std::optional<Schedule> schedule = schedule_from(problem_, request_.constraints, ii, relaxed);
  if (!schedule) return {};
  if (!request_.ii)
    if (std::optional<Schedule> better = tightened(problem_, request_.constraints, *schedule); better && better->ii >= outcome_.lower_bound)
      schedule = std::move(better);
  if (outcome_.schedule && outcome_.schedule->ii <= schedule->ii) return schedule->ii;
  accept(*std::move(schedule));
  return outcome_.schedule->ii;
}

/// As far as that relaxation raises the bound.
void Search::raise_by_relaxation(Relaxation kind, std::uint64_t effort) {
  const std::optional<Cycle> known = outcome_.schedule ? std::optional(outcome_.schedule->ii) : std::nullopt;
  if (!monotone() || exhausted() || (known && *known <= outcome_.lower_bound)) return;
  const RelaxationBound relaxed =
      relaxation_bound(problem_, request_.constraints, {outcome_.lower_bound, known, kind}, {effort, limits_},
                       [&](const RelaxationAnswer& answer, Cycle ii) { return propose(answer, ii).value_or(ii); });
  outcome_.conflicts += relaxed.conflicts;
  if (kind == Relaxation::Groups && relaxed.feasible) relaxed_feasible_ = relaxed.feasible;
  if (relaxed.bound > outcome_.lower_bound) note_refutation(kind, relaxed.bound - 1);
}

void Search::note_refutation(Relaxation kind, Cycle ii) {
  if (bound_for_any_stages_ <= ii) {
    bound_for_any_stages_ = ii + 1;
    if (ii + 1 == outcome_.lower_bound) outcome_.lower_bound = ii;  // the same bound, better founded
  }
  const char* by = kind == Relaxation::FullestUnit ? "dependences and the fullest unit"
                   : kind == Relaxation::Units     ? "dependences and units"
                                                   : "dependences, units and warp groups";
  raise_bound(ii + 1, BoundReason::Refutation, fmt::format("II {} refuted by {} alone, for any number of stages", ii, by));
}

/// Where a refutation speaks only for its own II, the bound rests on all of them, and so on the one that looked at the fewest stages.
void Search::note_stages(const StageRange& range) {
  if (range.covers_all) return;
  refuted_stages_ = monotone() || refuted_stages_ == 0 ? range.stages : std::min(refuted_stages_, range.stages);
}

void Search::declare_infeasible(Cycle ii) {
  outcome_.status = Status::Infeasible;
  const bool anchored = !fixes_rotation(request_.constraints);
  ModelOptions named = options(ii, stage_range(ii).stages + (anchored ? 1 : 0), anchored);
  named.limits.deadline = std::min(limits_.deadline, Clock::now() + std::chrono::seconds(3));
  if (request_.ii) outcome_.reason = BoundReason::Requested;
  outcome_.explanation = request_.ii ? fmt::format("no schedule at II {} with {}", ii, stage_range(ii).text())
                                     : fmt::format("no schedule at any II; still none at II {}", ii);
  if (!request_.explain) return;
  try {
    const Core core = find_core(problem_, request_.constraints, named);
    const std::vector<std::string> because = core_sentences(problem_, request_.constraints, core);
    if (!because.empty()) outcome_.explanation += ", because these cannot hold together: " + told(because, 6);
  } catch (const Stopped&) {
  }
}

void Search::find_ii() {
  const Bounds bounds = compute_bounds(problem_);
  outcome_.res_mii = bounds.res_mii;
  outcome_.rec_mii = bounds.rec_mii;
  outcome_.issue_mii = bounds.issue_mii;
  send(Started{bounds.res_mii, bounds.rec_mii, bounds.issue_mii, bounds.sentence});
  const Cycle min_ii = bounds.min_ii();
  if (min_ii >= kNoFiniteII) {
    outcome_.status = Status::Infeasible;
    outcome_.explanation = "no II is large enough: " + bounds.sentence;
    return;
  }
  const bool cycle = min_ii > bounds.res_mii && (min_ii == bounds.rec_mii || min_ii == bounds.credit_mii);
  raise_bound(min_ii, cycle ? BoundReason::Recurrence : BoundReason::Resource, bounds.sentence);
  if (!fits()) return;
  improve_serial();

  if (!request_.known_bound_stages) raise_bound(request_.known_bound, BoundReason::Refutation, request_.known_bound_why);
  const DemandBound demands = demand_bound(problem_, request_.constraints);
  if (demands.bound >= kNoFiniteII) {
    outcome_.status = Status::Infeasible;
    outcome_.explanation = demands.sentence;
    if (request_.ii) outcome_.reason = BoundReason::Requested;
    return;
  }
  raise_bound(demands.bound, BoundReason::Recurrence, demands.sentence);
  bound_for_any_stages_ = outcome_.lower_bound;
  if (request_.known_bound_stages && request_.known_bound > outcome_.lower_bound) {
    raise_bound(request_.known_bound, BoundReason::Refutation, request_.known_bound_why);
    refuted_stages_ = *request_.known_bound_stages;
  }

  if (request_.ii) {
    const Cycle ii = *request_.ii;
    if (ii < outcome_.lower_bound) {  // known without a query; the solver need not look for a core
      outcome_.explanation = fmt::format("II {} is below the lower bound {}: {}", ii, outcome_.lower_bound, outcome_.explanation);
      outcome_.status = Status::Infeasible;
      outcome_.reason = BoundReason::Requested;
    } else if (decide(ii) == Answer::No) {
      declare_infeasible(ii);
    }
    return;
  }

  if (request_.incumbent && check(problem_, *request_.incumbent, request_.constraints).valid()) accept(*request_.incumbent);
  const bool few = problem_.ops.size() <= kFewOps;
  place(few ? 0 : 1);  // many ops: the relaxation may take long, and a schedule should be there before
  const Cycle arithmetic = outcome_.lower_bound;
  raise_by_relaxation(Relaxation::FullestUnit, kRelaxationEffortPerSecond);
  raise_by_relaxation(Relaxation::Units, kRelaxationEffortPerSecond / 5);
  raise_by_relaxation(Relaxation::Groups, kRelaxationEffortPerSecond);
  if (few && outcome_.lower_bound > arithmetic) place(0);
  if (few) seek_at_bound();
  if (!climb(outcome_.lower_bound)) return;
  if (!few) raise_by_relaxation(Relaxation::Groups, kPatientSeconds * kRelaxationEffortPerSecond);
  close_gap();
  refute_with_sliding_pins();
  prove(2 * kFirstEffort);
  confirm_for_any_stages();
}

/// Tries to find a better schedule without the solver.
void Search::place(int effort) {
  if (exhausted() || fixes_rotation(request_.constraints)) return;
  if (outcome_.schedule && outcome_.schedule->ii <= outcome_.lower_bound) return;
  PlacementOptions options;
  options.stages = stage_range(outcome_.lower_bound).stages;
  options.seed = request_.seed + static_cast<std::uint64_t>(effort);
  options.limits = limits_;
  const Cycle before = outcome_.schedule ? outcome_.schedule->ii : 0;
  place_better(problem_, request_.constraints, {outcome_.lower_bound, outcome_.schedule, effort}, options,
               [&](const Schedule& better) { accept(better); });
  const Cycle after = outcome_.schedule ? outcome_.schedule->ii : 0;
  if (after != before || effort > 0) log("placing ops one by one: " + (after == before ? "nothing better" : fmt::format("II {}", after)));
}

/// What the relaxation cannot refute it may be able to find, registers and memory included.
void Search::seek_at_bound() {
  const Cycle ii = outcome_.lower_bound;
  if (exhausted() || fixes_rotation(request_.constraints) || (outcome_.schedule && outcome_.schedule->ii <= ii)) return;
  std::optional<Schedule> found = seek(problem_, request_.constraints, ii, stage_range(ii).stages, limits_);
  if (!found) return;
  sought_ = true;
  log(fmt::format("II {}: schedule found without the solver", ii));
  accept(*std::move(found));
}

/// Goes up from the bound with doubling steps to a first schedule; false when there is none, or none in time. After a few
/// steps, or when a step is too hard, it makes sure that there is any schedule at all.
bool Search::climb(Cycle min_ii) {
  const Cycle serial = std::max(min_ii + 1, sat_add(serial_ii(problem_), stretch(request_.constraints)));
  Cycle ii = min_ii;
  bool undecided = false;
  if (problem_.ops.size() > kFewOps) {
    Schedule simple = serial_schedule(problem_, request_.constraints, serial);
    if (!outcome_.schedule && check(problem_, simple, request_.constraints).valid()) {
      std::optional<Schedule> better = tightened(problem_, request_.constraints, simple);
      accept(better ? std::move(*better) : std::move(simple), true);
    }
    for (int effort = 1; effort <= kPlaceEffort; ++effort) place(effort);
  }
  for (int tries = 0; !outcome_.schedule && !exhausted(); ++tries) {
    if (undecided || tries == kClimbBeforeSerial || ii >= serial) {
      Schedule simple = serial_schedule(problem_, request_.constraints, serial);
      if (check(problem_, simple, request_.constraints).valid()) {
        log(fmt::format("II {}: one after the other", serial));
        accept(std::move(simple), true);
        return true;
      }
      const Answer answer = decide(serial);
      if (answer == Answer::No) declare_infeasible(serial);
      return answer == Answer::Yes;
    }
    undecided = !worth_asking() || decide(ii, kFirstEffort) == Answer::Unknown;
    if (tries == 0 && !outcome_.schedule) place(1);
    ii = min_ii + (Cycle{1} << tries);
  }
  return outcome_.schedule.has_value();
}

/// Brings the incumbent down to where limited effort still finds schedules.
void Search::close_gap() {
  if (!worth_asking()) return;
  // The incumbent may be the optimum already, and then one refutation ends it.
  if (monotone() && outcome_.lower_bound < outcome_.schedule->ii && !exhausted()) decide(outcome_.schedule->ii - 1, kFirstEffort);
  Cycle not_found = outcome_.lower_bound - 1;
  for (Cycle step = 1; not_found + 1 < outcome_.schedule->ii && !exhausted();) {
    // Doubling steps from below while nothing is found, then bisection.
    const Cycle half = (outcome_.schedule->ii - not_found) / 2;
    const Cycle ii = not_found + std::max<Cycle>(1, std::min(step, half));
    if (decide(ii, kFirstEffort) == Answer::Yes) {
      step = outcome_.schedule->ii;
    } else {
      not_found = ii;
      step = std::min(2 * step, outcome_.schedule->ii);
    }
  }
}

/// Refutes the II below the incumbent, or finds it; where that is too hard, at least raises the bound from below and brings the
/// incumbent down.
void Search::prove(std::uint64_t effort) {
  for (int round = kPlaceEffort + 1; outcome_.lower_bound < outcome_.schedule->ii && !exhausted();) {
    const Cycle gap = outcome_.schedule->ii - outcome_.lower_bound;
    Answer below = Answer::Unknown;
    // Not monotone: a refutation speaks only for its own II, so they fall one by one from below.
    if (worth_asking()) below = decide(monotone() ? outcome_.schedule->ii - std::max<Cycle>(1, gap / 16) : outcome_.lower_bound, effort);
    if (below != Answer::Unknown) continue;
    if (worth_asking())
      decide(outcome_.lower_bound + gap / 2, effort);
    else if (decide_by_relaxation(outcome_.lower_bound + gap / 8, effort) != Answer::Unknown)
      continue;
    if (problem_.ops.size() > kFewOps) place(round++);
    effort *= 2;
  }
}

/// Pins make a refutation speak only for its own II. Where the pins may slide a little it speaks for all below, so it is asked
/// that way for as many II at once as it holds for.
void Search::refute_with_sliding_pins() {
  if (monotone() || !monotone_in_ii(problem_)) return;
  Cycle step = outcome_.schedule->ii - outcome_.lower_bound;
  constexpr Cycle kWorthwhile = 4;  // for fewer the exact question is as cheap
  while (outcome_.lower_bound < outcome_.schedule->ii && step >= kWorthwhile && !exhausted()) {
    const Cycle ii = std::min(outcome_.schedule->ii, outcome_.lower_bound + step) - 1;
    const StageRange range = stage_range(outcome_.lower_bound);
    Answer answer = Answer::Unknown;
    for (const bool centred : {false, true}) {
      const std::optional<SlidPins> slid = slide_pins(request_.constraints, outcome_.lower_bound, ii, centred);
      if (!slid) return;
      if (answer == Answer::No || range.stages + slid->windows > kMostSlidStages) continue;
      LiveModel live(problem_, slid->constraints, options(ii, range.stages + slid->windows + centred, false));
      Schedule ignored;
      answer = live.check({}, ignored, {}, kFirstEffort);
      outcome_.queries += live.queries();
      outcome_.conflicts += live.model().backend().conflicts();
    }
    log(fmt::format("II {} to {} with sliding pins: {}", outcome_.lower_bound, ii, answer == Answer::No ? "refuted" : "not refuted"));
    if (answer == Answer::No) {
      note_stages(range);
      raise_bound(ii + 1, BoundReason::Refutation, fmt::format("II {} and all below refuted {}", ii, range.text()));
      step *= 2;
    } else {
      step /= 2;
    }
  }
}

/// Where the proof speaks only of schedules with few stages, asks once more without that limit. A schedule found then is a
/// better one, and the search goes on without the limit.
void Search::confirm_for_any_stages() {
  if (exhausted() || outcome_.lower_bound < outcome_.schedule->ii || bound_for_any_stages_ == outcome_.lower_bound) return;
  const Cycle below = outcome_.schedule->ii - 1;
  // A schedule may have more stages than the refutation below it spoke of; then that refutation says nothing of its like.
  const int twice = 2 * stage_count(*outcome_.schedule);
  const bool beyond = twice > max_stages_ && stage_count(*outcome_.schedule) > stage_range(below).stages;
  if (any_stages_ && !beyond) return;
  if (beyond) max_stages_ = twice;
  any_stages_ = true;
  if (!beyond && (!monotone() || !stage_range(below).covers_all)) return;
  const Answer answer = decide(below, kConfirmEffort);
  if (answer == Answer::No && beyond)
    outcome_.explanation = fmt::format("II {} refuted for schedules of {}", below, stage_range(below).text());
  if (answer == Answer::No || (answer == Answer::Unknown && !beyond)) return;
  outcome_.lower_bound = bound_for_any_stages_;
  outcome_.explanation = answer == Answer::Yes ? fmt::format("II {} has a schedule with more stages", outcome_.schedule->ii)
                                               : fmt::format("II {} was not refuted for schedules of as many stages", below);
  close_gap();
  prove(2 * kFirstEffort);
  confirm_for_any_stages();
}

void Search::settle_objectives() {
  // What was sought has the shortest rings: registers are what is left to save.
  while (sought_ && !request_.objectives.empty() && !exhausted()) {
    auto better = seek_fewer_registers(problem_, request_.constraints, *outcome_.schedule, request_.objectives, limits_);
    if (!better) break;
    accept(*std::move(better));
  }
  Schedule best = *outcome_.schedule;
  send(Progress{"settling objectives", best.ii, outcome_.queries, outcome_.conflicts, elapsed()});
  for (Objective o : request_.objectives) outcome_.objectives.push_back({to_string(o), objective_value(problem_, best, o), false});
  if (exhausted() || request_.objectives.empty()) return;
  // More stages than it has would be worse where they count first, and may be what less of another costs.
  const bool as_found = request_.objectives.front() == Objective::Stages && !fixes_rotation(request_.constraints);
  const int stages = as_found ? stage_count(best) : std::max(stage_count(best), stage_range(best.ii).stages);
  const auto begin = Clock::now();
  LiveModel live(problem_, request_.constraints, options(best.ii, stages, false));
  outcome_.seconds.encode += seconds_since(begin);
  const auto settled = [&, next = std::size_t{1}](const ObjectiveValue& value) mutable {
    outcome_.objectives[next++] = value;
    send(ObjectiveSettled{value});
    log(fmt::format("{}: {}{}", value.name, value.value, value.proved ? ", proved" : ", not proved"));
  };
  const auto caps = [&](const std::vector<std::int64_t>& values) { return caps_of(request_.objectives, values, stages); };
  ObjectiveSearch search{request_.objectives, [this](const Schedule& s) { accept(s); }, settled};
  if (sought_)
    search.refuted = [&](const auto& values) { return refuted_within(problem_, request_.constraints, best.ii, caps(values), limits_); };
  optimize_objectives(live, search, best);
  outcome_.queries += live.queries();
  outcome_.conflicts += live.model().backend().conflicts();
  // Later objectives may have moved earlier ones down as a side effect; report what the schedule is.
  for (std::size_t i = 0; i < request_.objectives.size(); ++i)
    outcome_.objectives[i + 1].value = objective_value(problem_, *outcome_.schedule, request_.objectives[i]);
}

void Search::search() {
  if (!validate()) return;
  serial_ = legal_serial(problem_, request_.constraints, request_.ii);  // before anything that takes long
  find_ii();
  outcome_.seconds.proof = elapsed();
  if (!outcome_.schedule || outcome_.status == Status::Infeasible) return;
  const bool proved = outcome_.schedule->ii == outcome_.lower_bound;
  outcome_.status = proved ? Status::Optimal : Status::Feasible;
  if (request_.ii && !proved) {
    outcome_.reason = BoundReason::Requested;
    outcome_.explanation = fmt::format("II {} was requested; the lower bound is {}", *request_.ii, outcome_.lower_bound);
  }
  outcome_.objectives.push_back({"ii", outcome_.schedule->ii, proved});
  send(ObjectiveSettled{outcome_.objectives.back()});
  settle_objectives();
}

void Search::finish() {
  outcome_.seconds.total = elapsed();
  outcome_.cancelled = stop_.stop_requested();
  outcome_.timed_out = !outcome_.cancelled && Clock::now() >= limits_.deadline;
  outcome_.cut_off = !outcome_.cancelled && !outcome_.timed_out && cut_off();
  if (outcome_.seconds.proof == 0) outcome_.seconds.proof = outcome_.seconds.total;
  const bool ended_early = outcome_.timed_out || outcome_.cancelled;
  if (!outcome_.schedule && outcome_.status == Status::Unknown && serial_ && ended_early) {
    outcome_.serial = true;
    outcome_.schedule = std::move(serial_);
    outcome_.schedule->provenance = {"solver", "heddle", outcome_.solver};
    send(Incumbent{*outcome_.schedule});
    outcome_.objectives.push_back({"ii", outcome_.schedule->ii, false});
    for (const Objective o : request_.objectives)
      outcome_.objectives.push_back({to_string(o), objective_value(problem_, *outcome_.schedule, o), false});
  }
  if (outcome_.lower_bound > bound_for_any_stages_ && refuted_stages_ > 0) outcome_.bound_stages = refuted_stages_;
  if (!outcome_.schedule) return;
  if (outcome_.status == Status::Unknown)
    outcome_.status = outcome_.schedule->ii == outcome_.lower_bound ? Status::Optimal : Status::Feasible;
  if (!ended_early || outcome_.status == Status::Optimal) outcome_.serial = false;
  certify(problem_, request_.constraints, outcome_);
}

}  // namespace

SolveOutcome solve(const SolveRequest& request, std::stop_token stop, const SolveListener& listener) {
  if (request.uncertain) return solve_robustly(request, std::move(stop), listener);
  if (const UserConstraint* cap = cap_on_ii(request.constraints))
    return solve_under_cap(*cap, request, listener,
                           [&](const SolveRequest& open, const SolveListener& within) { return Search(open, stop, within, true).run(); });
  return Search(request, std::move(stop), listener).run();
}

std::string solver_version() { return backend_version(); }

}  // namespace heddle::solver

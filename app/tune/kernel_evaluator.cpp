#include "app/tune/kernel_evaluator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "app/ask/time_choice.h"
#include "app/tune/schedule_sources.h"
#include "core/analysis/bounds.h"
#include "core/analysis/period.h"
#include "core/analysis/usage.h"
#include "core/base/hash.h"
#include "core/check/checker.h"
#include "core/formats/choices_json.h"
#include "core/formats/kernel_json.h"
#include "core/formats/machine_json.h"
#include "core/formats/schedule_json.h"
#include "core/problem/work.h"
#include "core/simulate/kernel_bound.h"
#include "core/simulate/tile_grid.h"

namespace heddle::app {
namespace {

/// II of the whole grid's iterations, shared by all SMs without loss.
double steady_cycles(double ii, std::int64_t all_trips, std::int64_t sms) {
  return ii * static_cast<double>(all_trips) / static_cast<double>(std::max<std::int64_t>(1, sms));
}

std::string first_fault(const Error& error) { return error.faults.empty() ? "refused" : error.faults.front().message; }

/// Arithmetic bounds under the candidate's own cap on groups.
Bounds bounds_of(const Candidate& candidate) {
  if (candidate.groups <= 0) return candidate.instance.bounds();
  Problem capped = candidate.instance.problem();
  capped.max_groups = std::min(capped.max_groups, candidate.groups);
  return compute_bounds(capped);
}

std::string solve_command(const Candidate& candidate, const EvaluatorOptions& options) {
  std::string text = fmt::format("heddle solve {} {}", options.kernel_name, options.machine_name);
  for (const auto& [name, value] : candidate.instance.spec().params) text += fmt::format(" -p {}={}", name, value);
  for (const Subtile& s : candidate.subtiles) text += fmt::format(" --subtile {}={}", s.param, s.factor);
  for (const UserConstraint& demand : candidate.demands) {
    if (demand.kind == ConstraintKind::MaxGroups)
      text += fmt::format(" --groups {}", demand.high);
    else if (demand.kind == ConstraintKind::MaxStages)
      text += fmt::format(" --max-stages {}", demand.high);
    else
      text += fmt::format(" --demand \"{}\"", demand.name);
  }
  return text + options.more_words;
}

std::map<std::string, std::int64_t> cuts_of(const std::vector<Subtile>& subtiles) {
  std::map<std::string, std::int64_t> cuts;
  for (const Subtile& s : subtiles)
    if (s.factor > 1) cuts[s.param] = s.factor;
  return cuts;
}

TuneStatus tune_status(Status status) {
  switch (status) {
    case Status::Optimal: return TuneStatus::Optimal;
    case Status::Feasible: return TuneStatus::Feasible;
    case Status::Infeasible: return TuneStatus::Infeasible;
    case Status::Unknown: return TuneStatus::Unknown;
    case Status::Invalid: break;
  }
  return TuneStatus::Invalid;
}

}  // namespace

KernelEvaluator::KernelEvaluator(InstanceSpec subject, SearchSpace space, EvaluatorOptions options)
    : subject_(std::move(subject)), space_(std::move(space)), options_(std::move(options)) {}

solver::TuneFacts KernelEvaluator::known(const Config& config) const {
  solver::TuneFacts facts;
  const Result<Candidate> candidate = make_candidate(subject_, space_, config);
  if (!candidate) {
    facts.feasible = false;
    return facts;
  }
  const Bounds bounds = bounds_of(*candidate);
  if (bounds.min_ii() >= kNoFiniteII) {
    facts.feasible = false;
    return facts;
  }
  const auto sms = subject_.machine->sm_count;
  const KernelBound bound = kernel_bound(candidate->instance, bounds, candidate->run);
  switch (options_.objective) {
    case TuneObjective::Cycles: facts.bound = static_cast<double>(bound.cycles); break;
    case TuneObjective::Steady:
      facts.bound = steady_cycles(static_cast<double>(bounds.min_ii()),
                                  tile_grid(candidate->instance.kernel(), candidate->instance.problem().params).all_trips(), sms);
      break;
    case TuneObjective::Microseconds: facts.scale = static_cast<double>(bound.cycles); break;  // the model proves nothing about a GPU
  }
  return facts;
}

TuneEvaluation KernelEvaluator::evaluate(const Config& config, std::optional<double> beat, const std::stop_token& stop) const {
  TuneEvaluation e;
  const Result<Candidate> made = make_candidate(subject_, space_, config);
  if (!made) {
    e.status = TuneStatus::Infeasible;
    e.why = first_fault(made.error());
    return e;
  }
  const Candidate& candidate = *made;
  const Problem& problem = candidate.instance.problem();
  const Bounds bounds = bounds_of(candidate);
  e.params = candidate.instance.spec().params;
  e.subtiles = candidate.subtiles;
  for (const UserConstraint& demand : candidate.demands) e.demands.push_back(demand.name);
  e.solve = solve_command(candidate, options_);
  e.problem = problem_hash(problem);
  if (bounds.min_ii() >= kNoFiniteII) {
    e.status = TuneStatus::Infeasible;
    e.why = bounds.sentence;
    return e;
  }
  e.min_ii = bounds.min_ii();
  const TileGrid grid = tile_grid(candidate.instance.kernel(), problem.params);
  e.trips = grid.trips;
  e.tiles = grid.tiles;
  const auto sms = subject_.machine->sm_count;
  const KernelBound bound = kernel_bound(candidate.instance, bounds, candidate.run);
  const bool steady = options_.objective == TuneObjective::Steady, measuring = options_.objective == TuneObjective::Microseconds;
  if (!measuring)
    e.bound = steady ? steady_cycles(static_cast<double>(bounds.min_ii()), grid.all_trips(), sms) : static_cast<double>(bound.cycles);
  if (options_.fidelity == Fidelity::Bound) {
    e.status = TuneStatus::Feasible;
    e.value = e.bound;
    e.why = steady ? bounds.sentence : bound.why;
    return e;
  }

  std::optional<Schedule> schedule;
  codegen::BuildOptions build;
  if (options_.fidelity <= Fidelity::Simulator) {
    e.fidelity = options_.fidelity;
    schedule = placed_schedule(candidate, bounds.min_ii(), stop);
    e.status = schedule ? TuneStatus::Feasible : TuneStatus::Unknown;
    if (!schedule) e.why = "placement finds no schedule";
  } else {
    e.fidelity = Fidelity::Solver;
    // From this II on it cannot win any more. Only where the value is made from II: a run may be faster than its II where ratios are no
    // whole numbers.
    std::optional<Cycle> cutoff;
    if (steady && beat)
      cutoff = static_cast<Cycle>(
          std::ceil(*beat * static_cast<double>(std::max<std::int64_t>(1, sms)) / static_cast<double>(grid.all_trips())));
    WrittenSchedule solved = solved_schedule(candidate, options_, cutoff, steady ? nullptr : by_value(candidate), stop);
    e.cached = solved.cached;
    e.status = tune_status(solved.outcome.status);
    e.lower_bound_ii = solved.outcome.lower_bound;
    if (!solved.outcome.serial || !stop.stop_requested()) {
      schedule = std::move(solved.outcome.schedule);
    } else {  // cut short before anything was found: that says nothing about the configuration
      e.status = TuneStatus::Unknown;
    }
    build = std::move(solved.build);
    for (const UserConstraint& demand : solved.demands) {
      e.demands.push_back(demand.name);
      e.solve += fmt::format(" --demand \"{}\"", demand.name);
    }
    if (steady && solved.demands.empty())
      e.bound = std::max(*e.bound, steady_cycles(static_cast<double>(solved.outcome.lower_bound), grid.all_trips(), sms));
    if (solved.outcome.cut_off && !schedule) {
      e.status = TuneStatus::Pruned;
      e.why = fmt::format("II is at least {}: it cannot beat the best", solved.outcome.lower_bound);
      return e;
    }
    if (!solved.refusal.empty()) {
      e.status = TuneStatus::Refused;
      e.why = solved.refusal;
    } else if (std::optional<Schedule> placed; (e.status == TuneStatus::Unknown || solved.outcome.serial) &&
                                               options_.demand == Demand::Nothing && !stop.stop_requested() &&
                                               (placed = placed_schedule(candidate, bounds.min_ii(), stop))) {
      schedule = std::move(placed);
      e.status = TuneStatus::Feasible;
      e.why = fmt::format("the solver has no schedule in {:g} s; placed without it", options_.solve_seconds);
    } else if (!schedule) {
      e.why = solved.outcome.timed_out ? fmt::format("no schedule in {:g} s", options_.solve_seconds) : solved.outcome.explanation;
    } else if (e.status == TuneStatus::Feasible) {
      e.why = fmt::format("II is proved from {} on", solved.outcome.lower_bound);
    }
  }
  if (!schedule) return e;

  e.schedule = schedule_text(problem, *schedule);
  const bool judged = e.status != TuneStatus::Refused;
  take(candidate, *schedule, e, stop);
  if (!judged || e.status == TuneStatus::Invalid || options_.fidelity != Fidelity::Gpu) return e;
  const MeasuredCandidate found = measured(candidate, *schedule, build, stop);
  e.fidelity = Fidelity::Gpu;
  e.value = found.microseconds;
  e.why = found.sentence;
  if (!found.microseconds) e.status = found.wrong ? TuneStatus::Refused : TuneStatus::Unknown;
  return e;
}

KernelRunOptions KernelEvaluator::run_of(const Candidate& candidate, const std::stop_token& stop) const {
  KernelRunOptions run = candidate.run;
  run.loop.arbitration = options_.arbitration;
  run.loop.stop = stop;
  return run;
}

std::shared_ptr<solver::TimeChoice> KernelEvaluator::by_value(const Candidate& candidate) const {
  auto choice = time_choice(candidate.instance);
  choice->programs = false;  // of each of many candidates that takes too long
  const KernelRunOptions& run = candidate.run;
  choice->inputs += fmt::format(" {} {} {} {}", static_cast<int>(options_.arbitration), run.persistent, run.longest_first, run.cluster);
  choice->predict = [this, &candidate](const Problem& problem, const Schedule& schedule, const std::stop_token& stop) {
    const KernelRun ran = run_kernel(with(candidate.instance, problem), schedule, run_of(candidate, stop));
    return ran.fault.empty() && !stop.stop_requested()
               ? std::optional(Forecast{static_cast<double>(ran.cycles), ran.cycles, ran.sm.period.cycles(), ran.tflops})
               : std::nullopt;
  };
  return choice;
}

void KernelEvaluator::take(const Candidate& candidate, const Schedule& schedule, TuneEvaluation& e, const std::stop_token& stop) const {
  const Problem& problem = candidate.instance.problem();
  const bool steady = options_.objective == TuneObjective::Steady;
  const auto sms = subject_.machine->sm_count;
  const Usage usage = compute_usage(problem, schedule);
  e.ii = schedule.ii;
  e.stages = stage_count(schedule);
  e.groups = static_cast<std::int64_t>(schedule.groups.size());
  e.warps = usage.warps;
  e.smem = usage.smem_bytes;
  if (!usage.register_budget.empty()) e.registers = *std::max_element(usage.register_budget.begin(), usage.register_budget.end());
  if (e.status == TuneStatus::Refused) return;
  const Period period = sustainable_period(problem, schedule);
  if (period.deadlock) {
    e.status = TuneStatus::Invalid;
    e.why = "the schedule deadlocks: " + period.sentence;
    return;
  }
  e.period = static_cast<double>(period.weight) / static_cast<double>(std::max<std::int64_t>(1, period.tokens));
  const Occupancy occupancy = occupancy_of(problem, schedule);
  e.ctas = occupancy.ctas;
  if (options_.fidelity == Fidelity::Gpu) return;
  const TileGrid grid = tile_grid(candidate.instance.kernel(), problem.params);
  if (options_.fidelity == Fidelity::Heuristic || options_.fidelity == Fidelity::Evaluator || steady) {
    const double ii = options_.fidelity == Fidelity::Evaluator && !steady ? std::max(*e.period, 1.0) : static_cast<double>(schedule.ii);
    if (steady) {
      e.value = steady_cycles(ii, grid.all_trips(), sms);
    } else {
      // Rounds of tiles on one SM, each with its filling; units are shared by the CTAs of a round.
      const double per_sm = static_cast<double>((grid.all_trips() / std::max<std::int64_t>(1, grid.trips) + sms - 1) / sms);
      const auto ctas =
          static_cast<double>(std::min<std::int64_t>(occupancy.ctas, std::max<std::int64_t>(1, (grid.tiles + sms - 1) / sms)));
      const double rounds = std::ceil(per_sm / ctas), paced = std::max(ii, ctas * static_cast<double>(bounds_of(candidate).res_mii));
      e.value = rounds * (paced * static_cast<double>(grid.trips - 1) + static_cast<double>(schedule_length(problem, schedule)));
    }
  } else {
    const KernelRun ran = run_kernel(candidate.instance, schedule, run_of(candidate, stop));
    if (!ran.fault.empty()) {
      e.status = TuneStatus::Invalid;
      e.why = ran.fault;
      return;
    }
    e.value = static_cast<double>(ran.cycles);
    e.ctas = ran.ctas;
    e.tflops = ran.tflops;
    e.of_peak = ran.of_peak;
  }
  // Orders that the simulator leaves out may let a unit do more than it can; the arithmetic holds.
  if (e.bound) e.value = std::max(*e.value, *e.bound);
}

std::string KernelEvaluator::doubt(const TuneEvaluation& e) const {
  const Result<Candidate> made = make_candidate(subject_, space_, e.config);
  if (!made) return e.value ? "its configuration is impossible: " + first_fault(made.error()) : std::string();
  const Candidate& candidate = *made;
  if (!e.problem.empty() && e.problem != problem_hash(candidate.instance.problem())) return "it is about another problem";
  if (!e.params.empty() && (e.params != candidate.instance.spec().params || cuts_of(e.subtiles) != cuts_of(candidate.subtiles)))
    return "its parameters are not those of its configuration";
  const Bounds bounds = bounds_of(candidate);
  if (e.value && bounds.min_ii() >= kNoFiniteII) return "its configuration is impossible: " + bounds.sentence;
  if (e.ii && *e.ii < bounds.min_ii()) return fmt::format("its II {} is below {}: {}", *e.ii, bounds.min_ii(), bounds.sentence);
  if (const auto proved = known(e.config).bound; proved && e.value && *e.value < *proved * (1 - 1e-9))
    return fmt::format("its value {:.15g} is below what it takes at least, {:.15g}", *e.value, *proved);
  if (e.schedule.empty()) return e.value && options_.fidelity > Fidelity::Bound ? "it has a value, and no schedule" : "";
  const Result<Schedule> schedule = parse_schedule(e.schedule, {}, candidate.instance.problem());
  if (!schedule) return "its schedule is none of its problem: " + first_fault(schedule.error());
  if (e.ii != schedule->ii) return fmt::format("its II is {}, and {} in its schedule", e.ii.value_or(0), schedule->ii);
  if (const Verdict verdict = check(candidate.instance.problem(), *schedule, candidate.demands); !verdict.valid())
    return "its schedule breaks a rule: " + verdict.violations.front().message;
  return {};
}

std::optional<double> KernelEvaluator::replayed(const TuneEvaluation& e) const {
  if (e.schedule.empty() || options_.fidelity == Fidelity::Gpu) return std::nullopt;
  const Result<Candidate> candidate = make_candidate(subject_, space_, e.config);
  const Result<Schedule> schedule =
      candidate ? parse_schedule(e.schedule, {}, candidate->instance.problem()) : Result<Schedule>(candidate.error());
  if (!schedule) return std::nullopt;
  TuneEvaluation again;
  again.bound = known(e.config).bound;
  take(*candidate, *schedule, again);
  return again.value;
}

std::optional<double> KernelEvaluator::screen(const Config& config, const std::stop_token& stop) const {
  if (stop.stop_requested()) return std::nullopt;
  EvaluatorOptions cheap = options_;
  cheap.fidelity = Fidelity::Simulator;
  if (cheap.objective == TuneObjective::Microseconds) cheap.objective = TuneObjective::Cycles;
  return KernelEvaluator(subject_, space_, cheap).evaluate(config, {}, stop).value;
}

std::vector<Config> KernelEvaluator::same_answer(const TuneEvaluation& e) const {
  std::vector<Config> out;
  if (e.status != TuneStatus::Optimal || e.fidelity != Fidelity::Solver || !e.stages || !e.groups) return out;
  const auto candidate = make_candidate(subject_, space_, e.config);
  // Demands of the code generator came from the schedule that was found; under other caps there may be others.
  if (!candidate || candidate->demands.size() != e.demands.size()) return out;
  out.push_back(e.config);
  for (std::size_t p = 0; p < space_.parameters.size(); ++p) {
    const Parameter& parameter = space_.parameters[p];
    if (subject_.kernel->find_param(parameter.name) || (parameter.name != "stages" && parameter.name != "groups")) continue;
    const std::int64_t used = parameter.name == "stages" ? *e.stages : *e.groups;
    const std::size_t before = out.size();
    for (std::int64_t index = 0; index < static_cast<std::int64_t>(e.config[p]); ++index)
      if (parameter.number_at(index) >= used)
        for (std::size_t i = 0; i < before; ++i) {
          out.push_back(out[i]);
          out.back()[p] = static_cast<double>(index);
        }
  }
  out.erase(out.begin());
  return out;
}

std::string KernelEvaluator::subject_digest() const {
  Hash hash;
  hash.add(kernel_text(*subject_.kernel)).add(machine_text(*subject_.machine));
  for (const auto& [name, value] : subject_.params) hash.add(name).add(value);
  for (const Change& change : subject_.changes) hash.add(describe(change));
  hash.add(choices_text(subject_.choices));
  hash.add(std::string(to_string(options_.objective)))
      .add(std::string(to_string(options_.fidelity)))
      .add(static_cast<int>(options_.demand));
  hash.add(static_cast<int>(options_.arbitration)).add(options_.seed);
  return hash.hex();
}

}  // namespace heddle::app

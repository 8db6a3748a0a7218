#include "app/tune/schedule_sources.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/compile/recut.h"
#include "codegen/program/target.h"
#include "codegen/run/measure.h"
#include "core/base/saturate.h"
#include "core/check/checker.h"
#include "solver/search/placement.h"
#include "solver/search/serial.h"

namespace heddle::app {
namespace {

constexpr int kMostRounds = 8;             // of asking again
constexpr std::int64_t kPlacements = 600;  // per II
constexpr int kPercents[] = {0, 1, 3, 6, 10, 16, 25, 40, 60, 100, 200};

codegen::BuildOptions tuned_build(const Candidate& candidate) { return {.cluster = candidate.cluster, .turns = candidate.turns}; }

/// What becomes of a schedule that is written, or compiled too.
struct Written {
  codegen::BuildOptions build;
  std::vector<codegen::Refusal> refusals{};  ///< none: it is fine, unless there is a fault
  std::string fault{};
};
Written written(const Candidate& candidate, const Schedule& schedule, Demand demand, const std::stop_token& stop) {
  const codegen::BuildOptions build = tuned_build(candidate);
  codegen::BuildResult built = codegen::build_program(candidate.instance.kernel(), candidate.instance.problem(), schedule, {}, build);
  if (!built.program) return {build, std::move(built.refusals)};
  if (auto refusal = codegen::refuse_machine(candidate.instance.machine())) return {build, {std::move(*refusal)}};
  codegen::EmitResult emitted =
      codegen::emit_cuda(candidate.instance.kernel(), candidate.instance.problem(), schedule, *built.program, codegen::Recording::None);
  if (!emitted.emission) return {build, std::move(emitted.refusals)};
  if (demand != Demand::Compiled) return {build};
  codegen::CompileOptions options;
  options.cache = codegen::default_cache();
  const codegen::CompileFunction compile = [&](const std::string& source, const std::string& arch) {
    options.arch = arch;
    return codegen::compile_cuda(source, options);
  };
  const codegen::CompileQuestion question{candidate.instance.kernel(), candidate.instance.problem(), schedule};
  auto kernel = codegen::compile_kernel(question, build, std::move(*built.program), std::move(*emitted.emission), compile);
  if (kernel.ok()) kernel = codegen::recut(question, std::move(*kernel), compile, stop);
  if (!kernel.ok()) return {build, {}, kernel.error().faults.front().message};
  return {std::move(kernel->build), std::move(kernel->faults)};
}

}  // namespace

std::optional<Schedule> placed_schedule(const Candidate& candidate, Cycle min_ii, const std::stop_token& stop) {
  const Problem& problem = candidate.instance.problem();
  try {
    for (const int percent : kPercents) {
      solver::PlacementOptions options;
      options.ii = std::max<Cycle>(1, min_ii + sat_mul(min_ii, percent) / 100);
      options.budget = kPlacements;
      options.limits.stop = stop;
      for (const bool in_order : {false, true}) {
        options.in_order = in_order;
        if (auto schedule = solver::place_ops(problem, candidate.demands, options)) return schedule;
      }
    }
    Schedule serial = solver::serial_schedule(problem, candidate.demands, solver::serial_ii(problem));
    if (check(problem, serial, candidate.demands).valid()) return serial;
  } catch (const solver::Stopped&) {
  }
  return std::nullopt;
}

WrittenSchedule solved_schedule(const Candidate& candidate, const EvaluatorOptions& options, std::optional<Cycle> cutoff,
                                std::shared_ptr<solver::TimeChoice> by_time, const std::stop_token& stop) {
  WrittenSchedule result;
  solver::SolveRequest request;
  request.problem = candidate.instance.problem();
  request.constraints = candidate.demands;
  request.timeout_seconds = options.solve_seconds;
  request.seed = options.seed;
  request.cutoff = cutoff;
  request.explain = false;
  if (by_time && options.demand != Demand::Nothing)
    by_time->can_be_written = [&](const Problem&, const Schedule& schedule) {
      return written(candidate, schedule, Demand::Written, stop).refusals.empty();
    };
  request.by_time = std::move(by_time);
  for (int round = 0; round < kMostRounds; ++round) {
    result.outcome = options.solve ? options.solve(request, stop, result.cached) : solver::solve_for_time(request, stop);
    result.refusal.clear();
    result.build = tuned_build(candidate);
    if (!result.outcome.schedule || options.demand == Demand::Nothing || stop.stop_requested()) return result;
    Written made = written(candidate, *result.outcome.schedule, options.demand, stop);
    result.build = std::move(made.build);
    result.refusal = std::move(made.fault);
    const std::vector<codegen::Refusal>& refusals = made.refusals;
    if (refusals.empty()) return result;
    result.refusal = fmt::format("{}: {}", refusals.front().rule, refusals.front().sentence);
    bool more = false;
    for (const codegen::Refusal& r : refusals) {
      if (!r.constraint || std::find(request.constraints.begin(), request.constraints.end(), *r.constraint) != request.constraints.end())
        continue;
      request.constraints.push_back(*r.constraint);
      result.demands.push_back(*r.constraint);
      more = true;
    }
    if (!more) break;
  }
  return result;
}

MeasuredCandidate measured(const Candidate& candidate, const Schedule& schedule, const codegen::BuildOptions& build,
                           const std::stop_token& stop) {
  codegen::BuildResult built = codegen::build_program(candidate.instance.kernel(), candidate.instance.problem(), schedule, {}, build);
  if (!built.program) return {{}, built.refusals.front().sentence, false};
  codegen::MeasureRequest request{candidate.instance.kernel(), candidate.instance.problem(), schedule, *built.program, {}};
  request.compile.cache = codegen::default_cache();
  request.library = false;
  request.repeats = 3;
  request.sustained_launches = 0;  // a choice among candidates, so the cold times decide
  const auto prepared = codegen::prepare_run(request);
  if (!prepared.ok()) return {{}, prepared.error().faults.front().message, false};
  codegen::RunOptions options;
  options.stop = stop;
  auto ran = codegen::run_plan(prepared->plan, options);
  if (!ran.ok()) return {{}, ran.error().faults.front().message, false};
  const Measurement m = codegen::measurement_of(request, *prepared, std::move(*ran));
  if (m.status != RunStatus::Verified && m.status != RunStatus::Unverified) return {{}, m.sentence, m.status != RunStatus::NoGpu};
  if (!m.timing) return {{}, "it was not timed", false};
  return {m.timing->kernel.median_us, m.sentence, false};
}

}  // namespace heddle::app

#include "app/tune/schedule_sources.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/ask/kernel.h"
#include "app/ask/listener.h"
#include "app/ask/subject.h"
#include "codegen/run/measure.h"
#include "core/base/saturate.h"
#include "core/check/checker.h"
#include "solver/search/placement.h"
#include "solver/search/serial.h"

namespace heddle::app {
namespace {

constexpr std::int64_t kPlacements = 600;  // per II
constexpr int kPercents[] = {0, 1, 3, 6, 10, 16, 25, 40, 60, 100, 200};

codegen::BuildOptions tuned_build(const Candidate& candidate) { return {.cluster = candidate.cluster, .turns = candidate.turns}; }

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
  result.build = tuned_build(candidate);
  KernelRequest kernel{.build = result.build, .goal = options.demand == Demand::Compiled ? KernelGoal::Compiled : KernelGoal::Text};
  if (by_time && options.demand != Demand::Nothing) by_time->can_be_written = can_be_written(candidate.instance.spec().kernel, kernel);
  kernel.solve = [&](Subject& now, const std::stop_token& token) {
    solver::SolveRequest request = solve_request(now);
    request.cutoff = cutoff;
    request.explain = false;
    request.by_time = by_time;
    result.outcome = options.solve ? options.solve(request, token, result.cached) : solver::solve_for_time(request, token);
    result.demands.assign(now.constraints.begin() + static_cast<std::ptrdiff_t>(candidate.demands.size()), now.constraints.end());
    return result.outcome;
  };
  kernel.compile = [](const std::string& source, const std::string& arch) {
    return codegen::compile_cuda(source, {codegen::Compiler::Auto, codegen::default_cache(), nullptr, arch});
  };
  Subject subject{candidate.instance, candidate.demands};
  subject.limits = {options.solve_seconds, options.seed};
  if (options.demand == Demand::Nothing) {
    kernel.solve(subject, stop);
    return result;
  }
  const KernelAnswer answer = ask_kernel(subject, kernel, stop, {});
  if (answer.made) result.build = answer.made->built.build;
  if (!result.outcome.schedule || answer.cancelled) return result;
  if (answer.error) result.refusal = answer.error->faults.front().message;
  const auto& refusals = answer.made            ? answer.made->built.faults
                         : answer.chain.empty() ? std::vector<codegen::Refusal>()
                                                : answer.chain.back().refusals;
  if (!refusals.empty()) result.refusal = fmt::format("{}: {}", refusals.front().rule, refusals.front().sentence);
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

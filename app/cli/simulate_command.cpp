// heddle simulate: a schedule run on the whole grid, and how sensitive it is to what the model does not know.
#include <fmt/format.h>

#include "app/cli/kernel_run_options.h"
#include "app/cli/solving.h"
#include "app/command/commands.h"
#include "app/command/exit_code.h"
#include "app/command/interrupt.h"
#include "core/answers/balance.h"
#include "core/answers/bracket.h"
#include "core/answers/simulation.h"
#include "core/answers/summary.h"
#include "core/base/text_style.h"
#include "core/chart/chrome_trace.h"
#include "core/chart/contended_gantt.h"
#include "core/chart/svg.h"
#include "core/check/checker.h"
#include "core/library/trust.h"
#include "core/problem/changes.h"
#include "core/simulate/forecast.h"
#include "core/simulate/robustness_study.h"
#include "core/simulate/tile_grid.h"

namespace heddle::app {
namespace {

/// The first iterations of the first tile, with what comes before and after the loop; with contention the loop's periodic run.
int write_pictures(const KernelRun& run, const KernelRunOptions& how, const Arguments& arguments, const Terminal& terminal) {
  const Problem& problem = run.program.problem;
  const auto write = [&](const char* flag, auto&& text_of) {
    const auto path = arguments.text(flag);
    if (!path) return 0;
    const int code = write_text(terminal, *path, text_of());
    if (code == kDone && *path != "-") terminal.note(fmt::format("simulated timeline written to {}", *path));
    return code;
  };
  if (const int failed = write("--svg", [&] {
        SvgOptions options;
        options.title = problem_title(problem) + ", simulated";
        if (how.loop.arbitration == Arbitration::Contended)
          return gantt_svg(build_gantt(problem, run.program.schedule, {GanttMode::Contended, how.loop.timeline}), options);
        return gantt_svg(build_run_gantt(problem, run.program.schedule, run.sm.timeline), options);
      }))
    return failed;
  return write("--trace", [&] { return simulation_trace(problem, run.program.schedule, run.sm.timeline); });
}

StudyOptions study_options(const KernelRunOptions& options) {
  StudyOptions study;
  study.shape = options.loop.jitter.shape;
  study.every_op = options.loop.jitter.every_op;
  study.seed = options.loop.jitter.seed;
  if (options.loop.arbitration == Arbitration::FirstCome) study.arbitration = Arbitration::FirstCome;
  study.stop = options.loop.stop;
  if (options.loop.jitter.percent != 0) study.percents = {0, options.loop.jitter.percent};
  return study;
}

int run_balance(const CommandInputs& inputs, const Schedule& schedule, const KernelRunOptions& options, const Arguments& arguments,
                const Terminal& terminal) {
  const bool csv = arguments.has("--csv"), json = arguments.has("--json");
  const BalanceStudy study = balance_study(inputs.instance, schedule, options);
  if (const auto path = arguments.text("--svg"); path && study.fault.empty()) {
    if (const int failed = write_text(terminal, *path, balance_svg(study, problem_title(inputs.problem())))) return failed;
    if (*path != "-") terminal.note(fmt::format("tiles on SMs written to {}", *path));
  }
  if (!csv && !json) terminal.out << problem_title(inputs.problem()) << "\n";
  terminal.out << (csv    ? balance_csv(study)
                   : json ? balance_json(inputs.problem(), schedule, study).pretty()
                          : balance_summary(study, terminal.style));
  return study.fault.empty() ? kDone : kNegative;
}

/// Pre: --study is given.
int run_study(const CommandInputs& inputs, const Schedule& schedule, const KernelRunOptions& options, const Arguments& arguments,
              const Terminal& terminal) {
  const std::string name = *arguments.text("--study");
  const Problem& problem = inputs.problem();
  if (name == "balance") return run_balance(inputs, schedule, options, arguments, terminal);
  const StudyOptions study = study_options(options);
  const bool csv = arguments.has("--csv"), json = arguments.has("--json");
  const Simulation once = simulate(problem, schedule, {.trips = 2, .arbitration = study.arbitration});
  if (!once.fault.empty()) {
    report(terminal, Error::input(once.fault), json);
    return kNegative;
  }
  if (!csv && !json) terminal.out << problem_title(problem) << "\n";
  if (name == "jitter") {
    const auto points = jitter_study(problem, schedule, study);
    terminal.out << (csv    ? jitter_csv(points)
                     : json ? jitter_json(problem, schedule, points, study).pretty()
                            : jitter_summary(schedule, points, study));
  } else if (name == "depth" && latencies_vary(problem)) {
    const SpreadStudy answer = spread_study(problem, schedule, study);
    terminal.out << (csv    ? spread_csv(problem, answer, study)
                     : json ? spread_json(problem, schedule, answer, study).pretty()
                            : spread_summary(problem, schedule, answer, study, terminal.style));
  } else if (name == "depth") {
    const DepthStudy answer = depth_study(problem, schedule, study);
    terminal.out << (csv    ? depth_csv(answer)
                     : json ? depth_json(problem, schedule, answer, study).pretty()
                            : depth_summary(problem, schedule, answer, study));
  } else {
    NumberTrial trial;
    trial.percent = static_cast<int>(arguments.integer("--percent").value_or(trial.percent));
    trial.problem_at = [&](const Change& change) { return problem_with(inputs, Changes{change}); };
    trial.run = {.arbitration = study.arbitration, .stop = study.stop};
    const NumberStudy answer = number_study(problem, schedule, numbers_of(inputs.kernel(), inputs.machine(), problem), trial);
    terminal.out << (csv ? number_csv(answer) : json ? number_json(problem, schedule, answer).pretty() : number_summary(schedule, answer));
  }
  return kDone;
}

}  // namespace

int run_simulate(const Arguments& arguments, const Terminal& terminal) {
  const bool json = arguments.has("--json");
  if (json && arguments.has("--csv")) return refuse(terminal, "--json and --csv both want standard output; give one of them", json);
  Result<CommandInputs> inputs = proved_inputs(arguments, terminal);
  if (!inputs) return report(terminal, inputs.error(), json);
  Result<KernelRunOptions> options = kernel_run_options(arguments, inputs->machine());
  if (!options) return report(terminal, options.error(), json);
  const bool triangle = makes_triangle(inputs->kernel(), options->trips, options->causal);
  if (options->causal && !triangle)
    terminal.note(
        fmt::format("'{}' says itself how many iterations each tile has: --causal changes nothing", printable(inputs->kernel().name)));
  for (const char* flag : {"--svg", "--trace"})
    if (const auto path = arguments.text(flag))
      if (const int failed = expect_writable(terminal, *path, json)) return failed;
  int code = kDone;
  const auto schedule = schedule_to_show(*inputs, arguments, terminal, code);
  if (!schedule) return code;
  for (const Violation& violation : check(inputs->problem(), *schedule, inputs->constraints).violations)
    terminal.note(fmt::format("{}: {}", violation.family, violation.message));
  const InterruptScope interrupt(arguments.deadline());
  options->loop.stop = interrupt.token();
  if (arguments.has("--svg") || arguments.has("--trace"))
    options->loop.timeline = static_cast<int>(arguments.integer("--iterations").value_or(8));
  const auto stopped = [&] {
    if (!interrupt.token().stop_requested()) return false;
    terminal.complain(interrupt.timed_out() ? "the time is up: the simulation was stopped before its end" : "interrupted");
    code = interrupt.timed_out() ? kNoProof : kInterrupted;
    return true;
  };
  if (arguments.has("--study")) {
    const int done = run_study(*inputs, *schedule, *options, arguments, terminal);
    return stopped() ? code : done;
  }
  SimulationAnswer answer = simulate_kernel(inputs->instance, *schedule, *options);
  if (options->loop.arbitration == Arbitration::Interleaved)
    answer.trust = trust_in(inputs->kernel().reference + (triangle ? "_causal" : ""), inputs->machine().arch, !inputs->changes().empty());
  if (answer.kernel.fault.empty())
    if (const int failed = write_pictures(answer.kernel, *options, arguments, terminal)) return failed;
  if (arguments.has("--csv"))
    terminal.out << simulation_csv(answer);
  else if (json)
    terminal.out << simulation_json(inputs->machine(), inputs->problem(), *schedule, answer).pretty();
  else if (terminal.quiet)
    terminal.out << kernel_headline(answer.kernel, terminal.style) << "\n";
  else
    terminal.out << simulation_summary(inputs->machine(), inputs->problem(), *schedule, answer, terminal.style);
  if (answer.kernel.fault == kStopped && stopped()) return code;
  if (!answer.kernel.fault.empty()) return kNegative;
  return code;
}

}  // namespace heddle::app

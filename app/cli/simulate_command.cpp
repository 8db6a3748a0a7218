// heddle simulate: a schedule run on the whole grid, and how it bears what the model does not know.
#include <fmt/format.h>

#include "app/cli/cli.h"
#include "app/cli/commands.h"
#include "app/cli/solving.h"
#include "core/check/checker.h"
#include "core/report/simulation_summary.h"

namespace heddle::app {
namespace {

KernelRunOptions options_of(const Arguments& arguments) {
  KernelRunOptions options;
  options.trips = arguments.integer("--trips");
  options.causal = arguments.has("--causal");
  options.persistent = arguments.has("--persistent");
  options.longest_first = arguments.has("--longest-first");
  if (const auto ctas = arguments.integer("--ctas")) options.ctas = static_cast<int>(*ctas);
  SimulateOptions& loop = options.loop;
  if (arguments.text("--arbitration") == "first-come") loop.arbitration = Arbitration::FirstCome;
  loop.jitter.percent = static_cast<int>(arguments.integer("--jitter").value_or(0));
  loop.jitter.every_op = arguments.has("--jitter-all");
  const std::string shape = arguments.text("--jitter-shape").value_or("uniform");
  loop.jitter.shape = shape == "normal" ? JitterShape::Normal : shape == "tail" ? JitterShape::Tail : JitterShape::Uniform;
  loop.jitter.seed = static_cast<std::uint64_t>(arguments.integer("--seed").value_or(1));
  return options;
}

}  // namespace

int run_simulate(const Arguments& arguments, const Terminal& terminal) {
  const bool json = arguments.has("--json");
  Result<Inputs> inputs = load_inputs(arguments, terminal);
  if (!inputs) return report(terminal, inputs.error(), json);
  int code = kDone;
  const auto schedule = schedule_to_show(*inputs, arguments, terminal, code);
  if (!schedule) return code;
  for (const Violation& violation : check(inputs->problem, *schedule, inputs->constraints).violations)
    terminal.note(fmt::format("{}: {}", violation.family, violation.message));
  const KernelRunOptions options = options_of(arguments);
  const SimulationAnswer answer = simulate_kernel(inputs->kernel, inputs->machine, inputs->changes, inputs->problem, *schedule, options);
  if (arguments.has("--csv"))
    terminal.out << simulation_csv(answer);
  else if (terminal.quiet)
    terminal.out << kernel_headline(inputs->machine, answer.kernel, terminal.style) << "\n";
  else
    terminal.out << simulation_summary(inputs->machine, inputs->problem, *schedule, answer, terminal.style);
  if (!answer.kernel.fault.empty()) return kNegative;
  return code;
}

}  // namespace heddle::app

// heddle diff: two schedules beside each other.
#include <fmt/format.h>

#include "app/cli/inputs.h"
#include "app/cli/second_schedule.h"
#include "app/cli/solving.h"
#include "app/command/commands.h"
#include "app/command/exit_code.h"
#include "app/command/interrupt.h"
#include "core/answers/difference.h"
#include "core/simulate/forecast.h"
#include "core/simulate/kernel_run.h"

namespace heddle::app {
namespace {

std::string title_of(const Schedule& schedule, const std::string& file) {
  return schedule.name.empty() || schedule.name == file ? file : fmt::format("{} ({})", schedule.name, file);
}

}  // namespace

int run_diff(const Arguments& arguments, const Terminal& terminal) {
  const bool json = arguments.has("--json");
  const std::string file_a = *arguments.text("A");
  Arguments with_a = arguments;
  with_a.set("SCHEDULE", {file_a});
  Result<CommandInputs> inputs = proved_inputs(with_a, terminal);
  if (!inputs) return report(terminal, inputs.error(), json);
  const Result<Alignment> alignment = alignment_of(inputs->problem(), arguments.text("--align").value_or("start"));
  if (!alignment) return report(terminal, alignment.error(), json);
  const Schedule in_a = *inputs->schedule;
  ComparedSchedule a = measure(inputs->problem(), in_a, inputs->constraints, title_of(in_a, file_a));

  Schedule in_b;
  ComparedSchedule b;
  std::optional<Schedule> read_b;
  if (const auto file_b = arguments.text("B")) {
    Result<std::optional<Schedule>> read = read_second(*file_b, *inputs, terminal);
    if (!read) return report(terminal, read.error(), json);
    read_b = *std::move(read);
  }
  if (read_b) {
    const std::string file_b = *arguments.text("B");
    in_b = *std::move(read_b);
    b = measure(inputs->problem(), in_b, inputs->constraints, title_of(in_b, file_b));
  } else {
    inputs->schedule.reset();
    const Result<SolveOutcome> outcome = solve_inputs(*inputs, arguments, terminal);
    if (!outcome) return report(terminal, outcome.error(), json);
    if (!outcome->schedule) {
      report(terminal, Error::input("there is no schedule to compare with: " + outcome->explanation), json);
      return exit_code(ended(*outcome));
    }
    in_b = *outcome->schedule;
    b = measure(inputs->problem(), in_b, inputs->constraints,
                outcome->status == Status::Optimal ? "the solver's optimum" : "the solver's best so far");
  }
  const InterruptScope interrupt(arguments.deadline());
  for (ComparedSchedule* one : {&a, &b}) {
    if (!one->verdict.valid()) continue;
    KernelRunOptions options;
    options.loop.stop = interrupt.token();
    options.loop.arbitration = Arbitration::Interleaved;
    one->predicted = predicted_of(run_kernel(inputs->instance, *one->schedule, options));
  }
  if (arguments.has("--swap")) std::swap(a, b);
  const Difference difference = compare_schedules(inputs->problem(), *a.schedule, *b.schedule, *alignment);
  if (json)
    terminal.out << difference_json(inputs->problem(), a, b, difference, *alignment).pretty();
  else if (terminal.quiet)
    terminal.out << difference_headline(difference, a, b, terminal.style) << "\n";
  else
    terminal.out << difference_summary({inputs->problem(), a, b, difference, *alignment}, arguments.has("--all"), terminal.style);
  return difference.same_program() ? kDone : kNegative;
}

}  // namespace heddle::app

// heddle traffic: rings as queues between warp groups.
#include <fmt/format.h>

#include <algorithm>

#include "app/cli/kernel_run_options.h"
#include "app/cli/solving.h"
#include "app/command/commands.h"
#include "app/command/exit_code.h"
#include "app/command/interrupt.h"
#include "core/answers/traffic.h"
#include "core/check/checker.h"
#include "core/library/trust.h"
#include "core/simulate/forecast.h"
#include "core/simulate/tile_grid.h"

namespace heddle::app {
namespace {

/// A schedule with what it is read against: its layouts decide costs.
struct Counted {
  CommandInputs inputs;
  Schedule schedule;
};

/// The inputs of SCHEDULE, then of every --schedule; all faults of all files at once. Where there is no SCHEDULE the first --schedule is
/// it.
Result<std::vector<CommandInputs>> read_all(const Arguments& arguments, const Terminal& terminal) {
  std::vector<std::string> names = arguments.all("--schedule");
  Arguments first = arguments;
  if (!arguments.has("SCHEDULE") && !names.empty()) {
    first.set("SCHEDULE", {names.front()});
    names.erase(names.begin());
  }
  std::vector<CommandInputs> all;
  Error error;
  const auto read = [&](const Arguments& of) {
    Result<CommandInputs> inputs = proved_inputs(of, terminal);
    if (inputs) return all.push_back(*std::move(inputs));
    error.kind = inputs.error().kind;
    for (const Fault& fault : inputs.error().faults) add_once(error.faults, fault);
  };
  read(first);
  for (const std::string& name : names) {
    Arguments of = arguments;
    of.set("SCHEDULE", {name});
    read(of);
  }
  if (!error.faults.empty()) return error;
  return all;
}

std::string name_of(const Counted& subject) {
  if (!subject.schedule.name.empty()) return subject.schedule.name;
  return subject.inputs.schedule_file.empty() ? "solver" : subject.inputs.schedule_file;
}

}  // namespace

int run_traffic(const Arguments& arguments, const Terminal& terminal) {
  const bool json = arguments.has("--json");
  if (json && arguments.has("--csv")) return refuse(terminal, "--json and --csv both want standard output; give one of them", json);
  Result<std::vector<CommandInputs>> read = read_all(arguments, terminal);
  if (!read) return report(terminal, read.error(), json);
  int code = kDone;
  std::vector<Counted> subjects;
  for (CommandInputs& inputs : *read) {
    const auto schedule = schedule_to_show(inputs, arguments, terminal, code);
    if (!schedule) return code;
    for (const Violation& violation : check(inputs.problem(), *schedule, inputs.constraints).violations)
      terminal.note(fmt::format("{}: {}", violation.family, violation.message));
    subjects.push_back({std::move(inputs), *schedule});
  }
  const Machine& machine = subjects.front().inputs.machine();
  Result<KernelRunOptions> options = kernel_run_options(arguments, machine);
  if (!options) return report(terminal, options.error(), json);
  const InterruptScope interrupt(arguments.deadline());
  options->loop.stop = interrupt.token();
  options->loop.timeline = kTrafficIterations;

  std::vector<Traffic> all;
  KernelRun shown;
  for (const Counted& subject : subjects) {
    const CommandInputs& in = subject.inputs;
    KernelRun run = run_kernel(in.instance, subject.schedule, *options);
    const std::vector<TimePart> parts = time_parts(in.instance, subject.schedule, *options, run);
    Traffic traffic = traffic_of(in.instance, subject.schedule, *options, run, parts);
    traffic.name = name_of(subject);
    if (!traffic.balance.empty()) traffic.balance.front().name = traffic.name;
    if (options->loop.arbitration == Arbitration::Interleaved)
      traffic.trust = trust_in(in.kernel().reference + (makes_triangle(in.kernel(), options->trips, options->causal) ? "_causal" : ""),
                               in.machine().arch, !in.changes().empty());
    if (interrupt.token().stop_requested()) {
      (void)report(terminal,
                   Error::input(interrupt.timed_out() ? "the time is up: the simulation was stopped before its end" : "interrupted"), json);
      return interrupt.timed_out() ? kNoProof : kInterrupted;
    }
    if (all.empty()) shown = std::move(run);
    all.push_back(std::move(traffic));
  }
  const Counted& first = subjects.front();
  if (arguments.has("--csv"))
    terminal.out << traffic_csv(first.inputs.problem(), all);
  else if (json)
    terminal.out << traffic_json(first.inputs.problem(), all).pretty();
  else if (terminal.quiet)
    for (const Traffic& traffic : all)
      terminal.out << styled(traffic.fault.empty() ? traffic.verdict.sentence : traffic.fault, terminal.style) << "\n";
  else
    terminal.out << traffic_summary(first.inputs.problem(), first.schedule, shown, all, terminal.style);
  return std::any_of(all.begin(), all.end(), [](const Traffic& t) { return !t.fault.empty(); }) ? kNegative : code;
}

}  // namespace heddle::app

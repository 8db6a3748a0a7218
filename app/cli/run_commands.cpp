// heddle run, profile and adopt: what a kernel really does.
#include <ctime>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "app/cli/lowering.h"
#include "app/cli/remote_run.h"
#include "app/cli/solving.h"
#include "app/command/commands.h"
#include "app/command/exit_code.h"
#include "app/command/interrupt.h"
#include "codegen/run/driver.h"
#include "codegen/run/measure.h"
#include "core/answers/measurement_summary.h"
#include "core/base/version.h"
#include "core/chart/chrome_trace.h"
#include "core/formats/constraints_json.h"
#include "core/formats/measurement_json.h"
#include "core/records/measurement.h"

namespace heddle::app {
namespace {

int code_of(RunStatus status) {
  switch (status) {
    case RunStatus::Verified:
    case RunStatus::Unverified: return kDone;
    case RunStatus::NoGpu: return kEnvironment;
    default: return kKernelFailed;
  }
}

/// To the terminal, then to the files that were asked for: a full disk must not cost a measurement.
int show(Measurement& m, const Arguments& arguments, const Terminal& terminal) {
  m.command = arguments.command_line;
  m.date = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  if (arguments.has("--json")) terminal.out << measurement_text(m);
  if (m.status == RunStatus::NoGpu && !m.host.empty())
    terminal.complain(fmt::format("on {}: {}; a driver there, or another host, would do", m.host, m.sentence));
  else if (m.status == RunStatus::NoGpu)
    terminal.complain(fmt::format("{}; {}", m.sentence, kWithoutGpu));
  else if (!arguments.has("--json") && terminal.quiet)
    terminal.out << measurement_headline(m, terminal.style) << "\n";
  else if (!arguments.has("--json"))
    terminal.out << measurement_summary(m, terminal.style);
  if (const auto path = arguments.text("--out"); path && m.status != RunStatus::NoGpu)
    if (const int failed = write_text(terminal, *path, measurement_text(m))) return failed;
  if (const auto path = arguments.text("--trace"); path && m.profile)
    if (const int failed = write_text(terminal, *path, measurement_trace(m))) return failed;
  return code_of(m.status);
}

/// Why there is no point in solving and compiling first; nothing where a driver can be opened.
std::optional<Measurement> no_driver(const CommandInputs& inputs) {
  const auto driver = codegen::cuda::open_driver();
  if (driver.ok()) return std::nullopt;
  Measurement m;
  m.kernel = inputs.kernel().name;
  m.machine = inputs.machine().name;
  m.params = inputs.problem().params;
  m.status = RunStatus::NoGpu;
  m.sentence = driver.error().faults.front().message;
  m.heddle = version();
  if (inputs.schedule) {
    m.schedule = inputs.schedule->name;
    m.schedule_hash = schedule_hash(inputs.problem(), *inputs.schedule);
    m.predicted_ii = inputs.schedule->ii;
  }
  return m;
}

int measure(const Arguments& arguments, const Terminal& terminal, bool profile) {
  const bool json = arguments.has("--json");
  for (const char* flag : {"--out", "--trace"})
    if (const auto path = arguments.text(flag))
      if (const int failed = expect_writable(terminal, *path, json)) return failed;
  if (const int refused = refuse_without_host(arguments, terminal)) return refused;
  if (arguments.has("--on")) {
    int code = kDone;
    auto m = measured_on_host(profile ? "profile" : "run", arguments, terminal, code);
    return m ? show(*m, arguments, terminal) : code;
  }
  {
    const Terminal silent{terminal.out, terminal.err, terminal.style, false, true, false};  // make_kernel() warns again
    Result<CommandInputs> inputs = load_inputs(arguments, silent);
    if (!inputs) return report(terminal, inputs.error(), json);
    if (auto m = no_driver(*inputs)) return show(*m, arguments, terminal);
  }
  codegen::CompileOptions compile;
  compile.compiler = compiler_of(arguments);
  compile.cache = codegen::default_cache();
  int code = kDone;
  const auto made = make_kernel(arguments, terminal, KernelGoal::Compiled, compile, code);
  if (!made) return code;
  const codegen::MeasureRequest request = measure_request(arguments, profile, *made, compile);
  const auto prepared = codegen::prepare_run(request);
  if (!prepared.ok()) return report(terminal, prepared.error(), json);
  if (!prepared->remark.empty() && request.verify) terminal.note("its result will not be looked at: " + prepared->remark);
  const InterruptScope interrupt;
  codegen::RunOptions options;
  options.limit_seconds = arguments.seconds("--limit").value_or(options.limit_seconds);
  options.stop = interrupt.token();
  options.note = [&](const std::string& text) { terminal.note(text); };
  auto result = codegen::run_plan(prepared->plan, options);
  if (!result.ok()) return report(terminal, result.error(), json);
  if (result->cancelled) {
    terminal.complain("interrupted");
    return kInterrupted;
  }
  Measurement m = codegen::measurement_of(request, *prepared, std::move(*result));
  m.predicted = prediction_of_run(arguments, *made);
  if (m.predicted && m.timing && m.timing->flops > 0 &&
      m.predicted->microseconds > 0)  // the same operations as counted for the measured speed
    m.predicted->tflops = static_cast<double>(m.timing->flops) / m.predicted->microseconds / 1e6;
  return show(m, arguments, terminal);
}

}  // namespace

int run_run(const Arguments& arguments, const Terminal& terminal) { return measure(arguments, terminal, false); }
int run_profile(const Arguments& arguments, const Terminal& terminal) { return measure(arguments, terminal, true); }

int run_adopt(const Arguments& arguments, const Terminal& terminal) {
  const bool json = arguments.has("--json");
  const std::string path = arguments.text("--out").value_or("-");
  if (const int failed = expect_writable(terminal, path, json)) return failed;
  const Result<CommandInputs> inputs = proved_inputs(arguments, terminal);
  if (!inputs) return report(terminal, inputs.error(), json);
  std::vector<Fault> warnings;
  const std::string file = *arguments.text("MEASUREMENT");
  const auto m = read_measurement(file, &warnings);
  print_warnings(terminal, warnings);
  if (!m.ok()) return report(terminal, m.error(), json);
  const auto refused = [&](std::string pointer, std::string message, std::string hint = {}) {
    return report(terminal, Error{ErrorKind::Input, {{file, std::move(pointer), std::move(message), std::move(hint)}}}, json);
  };
  if (m->kernel != inputs->kernel().name)
    return refused("/kernel", fmt::format("the measurement is of kernel '{}', not '{}'", m->kernel, inputs->kernel().name));
  if (!m->profile || m->profile->ops.empty())
    return refused("", "the measurement has no profile, so no op has a measured latency", "measure with heddle profile");
  if (m->machine != inputs->machine().name) terminal.note(fmt::format("the measurement was made for machine '{}'", printable(m->machine)));
  if (!m->profile->trusted)
    terminal.note(
        fmt::format("recording changed the kernel's time by {:.1f} %: its numbers are those of another kernel", 100 * m->profile->cost()));
  // A problem with these parameters, for the numbers that the measured ones replace.
  InstanceSpec measured = inputs->instance.spec();
  measured.params = m->params;
  measured.changes.clear();
  const auto problem = make_problem(measured);
  if (!problem.ok()) return report(terminal, problem.error(), json);
  const Adopted adopted = adopt(*problem, *m->profile);
  for (const std::string& op : adopted.unknown) terminal.note(fmt::format("the kernel has no op '{}'", printable(op)));
  if (adopted.changes.empty()) return refused("/profile/ops", "no latency that was measured differs from the kernel's");
  if (const int failed = write_text(terminal, path, constraints_text({}, adopted.changes))) return failed;
  std::string list;
  for (const std::string& op : adopted.bound_only) list += (list.empty() ? "" : ", ") + printable(op);
  if (!list.empty()) terminal.note("not adopted, because only a bound is known: " + list);
  terminal.note("measured latencies include waiting for units that other groups use at the same time");
  const std::string from = path == "-" ? "FILE" : path;
  terminal.note(fmt::format("solve again: heddle solve {} {} --constraints {}", *arguments.text("KERNEL"),
                            arguments.text("MACHINE").value_or(inputs->machine().name), from));
  return kDone;
}

}  // namespace heddle::app

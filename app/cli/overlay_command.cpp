// heddle overlay: what another profiler recorded of a kernel, beside what the schedule says, and as a measurement of Heddle's own form.
#include <fmt/format.h>

#include "app/cli/solving.h"
#include "app/command/commands.h"
#include "app/command/exit_code.h"
#include "core/answers/measurement_summary.h"
#include "core/base/suggest.h"
#include "core/formats/foreign_trace.h"
#include "core/formats/measurement_json.h"

namespace heddle::app {
namespace {

void tell_unmatched(const TraceMeasurement& trace, const Problem& problem, const Terminal& terminal) {
  constexpr std::size_t kMost = 20;
  for (std::size_t i = 0; i < trace.unmatched.size(); ++i) {
    const UnmatchedName& name = trace.unmatched[i];
    if (i == kMost) {
      terminal.note(fmt::format("and {} more names that are no op", trace.unmatched.size() - kMost));
      break;
    }
    terminal.note(fmt::format("'{}' is no op of this kernel ({}){}", printable(name.name), count_of(name.events, "event"),
                              name.nearest.empty() ? "" : fmt::format(": did you mean '{}'?", name.nearest)));
  }
  std::vector<std::string> missing;
  for (const OpId op : trace.missing) missing.push_back(printable(problem.op(op).name));
  if (!missing.empty()) terminal.note("no event of " + list_of(missing, 12));
}

}  // namespace

int run_overlay(const Arguments& arguments, const Terminal& terminal) {
  const bool json = arguments.has("--json");
  const auto out = arguments.text("--out");
  if (out)
    if (const int failed = expect_writable(terminal, *out, json)) return failed;
  Result<CommandInputs> inputs = proved_inputs(arguments, terminal);
  if (!inputs) return report(terminal, inputs.error(), json);
  const Result<ForeignTrace> trace = read_foreign_trace(*arguments.text("TRACE"));
  if (!trace) return report(terminal, trace.error(), json);
  TraceMap map;
  if (const auto path = arguments.text("--map")) {
    std::vector<Fault> warnings;
    Result<TraceMap> read = read_trace_map(*path, &warnings);
    print_warnings(terminal, warnings);
    if (!read) return report(terminal, read.error(), json);
    map = *std::move(read);
  }
  int code = kDone;
  const auto schedule = schedule_to_show(*inputs, arguments, terminal, code);
  if (!schedule) return code;
  Result<TraceMeasurement> found = measure_trace(*trace, map, inputs->machine().clock_mhz, inputs->problem(), *schedule);
  if (!found) {
    Error error = found.error();
    for (Fault& fault : error.faults) fault.file = fault.pointer.empty() ? *arguments.text("TRACE") : *arguments.text("--map");
    return report(terminal, error, json);
  }
  tell_unmatched(*found, inputs->problem(), terminal);
  const Measurement& m = found->measurement;
  if (json)
    terminal.out << measurement_text(m);
  else
    terminal.out << measurement_summary(m, terminal.style);
  if (!out) return code;
  const int written = write_text(terminal, *out, measurement_text(m));
  if (written == kDone && *out != "-")
    terminal.note(fmt::format("measurement written to {}: open it in the window to see it on the chart", *out));
  return written == kDone ? code : written;
}

}  // namespace heddle::app

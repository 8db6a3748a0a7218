// heddle period: the program with the least period, where warp groups take time from each other.
#include "app/ask/period.h"
#include "app/cli/questions/asking.h"
#include "app/command/commands.h"
#include "app/command/exit_code.h"
#include "core/formats/schedule_json.h"

namespace heddle::app {

int run_period(const Arguments& arguments, const Terminal& terminal) {
  const bool json = arguments.has("--json");
  const auto file = arguments.text("--out");
  if (json && file == "-") return refuse(terminal, "--json and --out - both want standard output; give --out a file", json);
  Result<CommandInputs> inputs = proved_inputs(arguments, terminal);
  if (!inputs) return report(terminal, inputs.error(), json);
  if (file)
    if (const int failed = expect_writable(terminal, *file, json)) return failed;
  int code = kDone;
  const std::optional<Schedule> schedule = schedule_to_show(*inputs, arguments, terminal, code);
  if (!schedule) return code;

  Subject subject = subject_of(*inputs, arguments);
  subject.schedule = schedule;
  if (code == kInterrupted) subject.limits.timeout_seconds = 0;
  PeriodOptions options;
  if (const auto stages = arguments.integer("--max-stages")) options.stages = static_cast<int>(*stages);
  if (const auto most = arguments.integer("--programs")) options.most_programs = *most;
  for (const std::string& text : arguments.all("--if")) {
    const Result<Change> change = parse_change(text, subject.instance.kernel(), subject.instance.machine());
    if (!change) return report(terminal, change.error(), json);
    options.what_if.push_back(*change);
  }
  LeastPeriod answer =
      asked<LeastPeriod>(terminal, [&](auto stop, const auto& listener) { return ask_period(subject, options, stop, listener); });
  if (code == kInterrupted) answer.cancelled = true;
  if (file && answer.schedule) {
    if (const int failed = write_text(terminal, *file, schedule_text(subject.problem(), *answer.schedule))) return failed;
    if (*file != "-") terminal.note("schedule saved as " + *file);
  }
  return tell(terminal, json, told(subject, answer, telling(terminal, json)), ended(answer));
}

}  // namespace heddle::app

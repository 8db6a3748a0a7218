// heddle check: the independent verdict on a schedule file.
#include <fmt/format.h>

#include "app/cli/inputs.h"
#include "app/cli/triton_check.h"
#include "app/command/called.h"
#include "app/command/commands.h"
#include "app/command/exit_code.h"
#include "core/analysis/period.h"
#include "core/answers/summary.h"

namespace heddle::app {

int run_check(const Arguments& arguments, const Terminal& terminal) {
  if (checks_text(arguments)) return check_text(arguments, terminal);
  const bool json = arguments.has("--json");
  const Result<Inputs> inputs = load_inputs(arguments, terminal);
  if (!inputs) return report(terminal, inputs.error(), json);
  const Schedule& schedule = *inputs->schedule;
  const Verdict verdict = check(inputs->problem, schedule, inputs->constraints);
  if (json) {
    terminal.out << verdict_text(inputs->problem, schedule, verdict);
  } else {
    terminal.out << verdict_summary(verdict);
    if (!terminal.quiet) {
      const Period period = sustainable_period(inputs->problem, schedule);
      terminal.out << join_facts({fmt::format("II {}", schedule.ii),
                                  period.deadlock ? "deadlocks" : fmt::format("sustainable period {}", period.cycles()),
                                  schedule.certificate ? fmt::format("bound {}", schedule.certificate->lower_bound) : claim_text(schedule),
                                  schedule.certificate && schedule.certificate->status == Status::Optimal ? "proved" : ""},
                                 terminal.style)
                   << "\n";
      if (!period.sentence.empty()) terminal.out << printable(period.sentence) << "\n";
      if (verdict.valid())
        if (const std::string line = give_back_line(*inputs, schedule); !line.empty()) terminal.out << as_called(printable(line)) << "\n";
    }
  }
  return verdict.valid() ? kDone : kNegative;
}

}  // namespace heddle::app

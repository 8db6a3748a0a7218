// heddle check: the independent verdict on a schedule file.
#include <fmt/format.h>

#include "app/cli/solving.h"
#include "app/cli/triton_check.h"
#include "app/command/called.h"
#include "app/command/commands.h"
#include "app/command/exit_code.h"
#include "core/analysis/period.h"
#include "core/answers/summary.h"

namespace heddle::app {
namespace {

/// A schedule of another kernel or machine may obey every rule here by chance.
void add_misfits(const Problem& problem, const Schedule& schedule, Verdict& verdict) {
  const auto made_for = [&](const char* what, const std::string& wanted, const std::string& given) {
    if (!wanted.empty() && wanted != given)
      verdict.violations.push_back(
          {"subject", fmt::format("the schedule was made for {} '{}', not '{}'", what, wanted, given), {}, -1, 0, 0});
  };
  made_for("kernel", schedule.kernel, problem.kernel);
  made_for("machine", schedule.machine, problem.machine);
}

/// What --prove came to.
int exit_code_of(const std::optional<SolveOutcome>& proof, Cycle ii) {
  if (!proof || proof->lower_bound == ii) return kDone;
  if (proof->schedule && proof->schedule->ii < ii) return kNegative;
  return proof->cancelled ? kInterrupted : kNoProof;
}

}  // namespace

int run_check(const Arguments& arguments, const Terminal& terminal) {
  if (checks_text(arguments)) return check_text(arguments, terminal);
  const bool json = arguments.has("--json");
  const Result<CommandInputs> inputs = proved_inputs(arguments, terminal);
  if (!inputs) return report(terminal, inputs.error(), json);
  const Schedule& schedule = *inputs->schedule;
  Verdict verdict = check(inputs->problem(), schedule, inputs->constraints);
  add_misfits(inputs->problem(), schedule, verdict);
  const int proved = exit_code_of(inputs->proof, schedule.ii);
  if (json) {
    terminal.out << verdict_text(inputs->problem(), schedule, verdict);
  } else {
    terminal.out << verdict_summary(verdict);
    if (!terminal.quiet) {
      const Period period = sustainable_period(inputs->problem(), schedule);
      terminal.out << join_facts({fmt::format("II {}", schedule.ii),
                                  period.deadlock ? "deadlocks" : fmt::format("sustainable period {}", period.cycles()),
                                  schedule.certificate ? fmt::format("bound {}", schedule.certificate->lower_bound) : claim_text(schedule),
                                  schedule.certificate && schedule.certificate->status == Status::Optimal ? "proved"
                                  : proved == kNegative                                                   ? "not the least"
                                  : proved == kDone                                                       ? ""
                                                                                                          : "not proved"},
                                 terminal.style)
                   << "\n";
      if (!period.sentence.empty()) terminal.out << printable(period.sentence) << "\n";
      if (verdict.valid())
        if (const std::string line = give_back_line(*inputs, schedule); !line.empty()) terminal.out << as_called(printable(line)) << "\n";
    }
  }
  return verdict.valid() ? proved : kNegative;
}

}  // namespace heddle::app

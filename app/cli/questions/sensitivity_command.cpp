// heddle sensitivity: which numbers matter when they are wrong.
#include <fmt/format.h>

#include "app/cli/solving.h"
#include "app/command/called.h"
#include "app/command/commands.h"
#include "app/command/exit_code.h"
#include "app/command/interrupt.h"
#include "app/command/progress_line.h"
#include "core/answers/sensitivity.h"
#include "core/problem/changes.h"
#include "solver/questions/sensitivity.h"

namespace heddle::app {

int run_sensitivity(const Arguments& arguments, const Terminal& terminal) {
  const bool json = arguments.has("--json");
  if (arguments.has("--ii")) return refuse(terminal, "the answer is about the least II, so --ii has no place here", json);
  const Result<Inputs> inputs = load_inputs(arguments, terminal);
  if (!inputs) return report(terminal, inputs.error(), json);
  if (inputs->open && !inputs->open->complete)
    return report(
        terminal,
        Error::input("--choose: there are more layouts than are looked at", "say some with --layout and --instruction, or choose fewer"),
        json);
  solver::SensitivityRequest request;
  request.solve = solve_request(*inputs, arguments);
  request.numbers = numbers_of(inputs->kernel(), inputs->machine(), inputs->problem());
  request.percent = static_cast<int>(arguments.integer("--percent").value_or(request.percent));
  request.problem_with = [&inputs](const Changes& changes) { return problem_with(*inputs, changes); };
  if (inputs->open) {
    request.open_with = [&inputs](const Changes& changes) { return open_again(*inputs, inputs->choices(), changes); };
    request.problem_with_layouts = [&inputs](const Changes& changes, const LayoutChoices& choices) {
      return problem_with(*inputs, choices, changes);
    };
  }

  const InterruptScope interrupt;
  Sensitivity answer;
  {
    ProgressLine progress(terminal);
    progress.show({"solving with the numbers as they are"});
    std::size_t moving = 0;
    answer = solver::sensitivity(request, interrupt.token(), [&](const Sensitivity& partial) {
      std::size_t open = 0, found = 0;
      for (const SensitivityRow& row : partial.rows) {
        open += partial.effect(row) == SensitivityEffect::Undecided;
        found += partial.effect(row) == SensitivityEffect::II;
      }
      if (found != moving) progress.say(fmt::format("{} of {} numbers change II, {} undecided", found, partial.rows.size(), open));
      moving = found;
      progress.show({fmt::format("{} numbers", partial.rows.size()), fmt::format("{} change II", found), fmt::format("{} undecided", open),
                     fmt::format("{} queries", partial.queries)});
    });
  }
  if (json)
    terminal.out << sensitivity_json(inputs->problem(), answer).pretty();
  else if (terminal.quiet)
    terminal.out << sensitivity_headline(answer, terminal.style) << "\n";
  else
    terminal.out << as_called(sensitivity_summary(inputs->problem(), answer, arguments.has("--all"), terminal.style));
  if (answer.cancelled) return kInterrupted;
  if (answer.status == Status::Infeasible) return kNegative;
  return answer.complete() ? kDone : kNoProof;
}

}  // namespace heddle::app

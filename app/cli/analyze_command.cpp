// heddle analyze: what arithmetic alone knows about II.
#include "app/cli/inputs.h"
#include "app/command/commands.h"
#include "app/command/exit_code.h"
#include "core/analysis/bounds.h"
#include "core/answers/summary.h"
#include "core/chart/op_rows.h"

namespace heddle::app {

int run_analyze(const Arguments& arguments, const Terminal& terminal) {
  const bool json = arguments.has("--json");
  const Result<CommandInputs> inputs = load_inputs(arguments, terminal);
  if (!inputs) return report(terminal, inputs.error(), json);
  const Bounds& bounds = inputs->instance.bounds();
  if (json) {
    terminal.out << bounds_text(inputs->problem(), bounds);
    return kDone;
  }
  terminal.out << bounds_summary(inputs->problem(), bounds, terminal.style);
  if (!terminal.quiet) terminal.out << "\nops\n" << op_table(inputs->problem(), nullptr);
  return kDone;
}

}  // namespace heddle::app

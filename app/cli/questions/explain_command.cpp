// heddle explain: why II is not smaller, or why there is no schedule, and what would help.
#include "app/ask/explain.h"
#include "app/cli/questions/asking.h"
#include "app/command/commands.h"

namespace heddle::app {

int run_explain(const Arguments& arguments, const Terminal& terminal) {
  const bool json = arguments.has("--json");
  const Result<CommandInputs> inputs = load_inputs(arguments, terminal);
  if (!inputs) return report(terminal, inputs.error(), json);
  const Subject subject = subject_of(*inputs, arguments);
  ExplainOptions options{arguments.integer("--ii"), arguments.seconds("--relax-seconds")};
  if (arguments.has("--no-relax")) options.relax_seconds = 0;
  const auto answer =
      asked<Explanation>(terminal, [&](auto stop, const auto& listener) { return ask_explain(subject, options, stop, listener); });
  return tell(terminal, json, told(subject, answer, telling(terminal, json)), ended(answer));
}

}  // namespace heddle::app

// heddle sensitivity: which numbers matter when they are wrong.
#include "app/ask/sensitivity.h"
#include "app/cli/questions/asking.h"
#include "app/command/commands.h"

namespace heddle::app {

int run_sensitivity(const Arguments& arguments, const Terminal& terminal) {
  const bool json = arguments.has("--json");
  if (arguments.has("--ii")) return refuse(terminal, "the answer is about the least II, so --ii has no place here", json);
  const Result<CommandInputs> inputs = load_inputs(arguments, terminal);
  if (!inputs) return report(terminal, inputs.error(), json);
  if (inputs->open && !inputs->open->complete)
    return report(
        terminal,
        Error::input("--choose: there are more layouts than are looked at", "say some with --layout and --instruction, or choose fewer"),
        json);
  const Subject subject = subject_of(*inputs, arguments);
  SensitivityOptions options;
  options.percent = static_cast<int>(arguments.integer("--percent").value_or(options.percent));
  const auto answer =
      asked<Sensitivity>(terminal, [&](auto stop, const auto& listener) { return ask_sensitivity(subject, options, stop, listener); });
  return tell(terminal, json, told(subject, answer, telling(terminal, json, arguments.has("--all"))), ended(answer));
}

}  // namespace heddle::app
